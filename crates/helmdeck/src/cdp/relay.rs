//! Relays one client's messages, with its file transfers.

use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message as ToClient, WebSocket};
use futures_util::{SinkExt, StreamExt};
use helmdeck_cdp::{ClientMessage, refusal};
use serde_json::{Value, json};
use tokio::{
    sync::mpsc,
    task::JoinSet,
    time::{interval, timeout},
};
use tokio_tungstenite::tungstenite::Message as ToServer;

use super::{
    files::Files,
    transfers::{Arrived, Folders, Transfers, Upload},
};
use crate::remote::Socket;

/// A peer that reads nothing for this long is gone.
const SEND_DEADLINE: Duration = Duration::from_secs(30);
/// Keeps connections alive through proxies.
const PING_EVERY: Duration = Duration::from_secs(20);
/// Close code of an ended session.
const SESSION_OVER: u16 = 4000;
/// The protocol's error code for a failed command.
const SERVER_ERROR: i64 = -32000;
/// Maximum number of simultaneous transfers.
const MAX_TRANSFERS: usize = 64;

/// Result of a transfer.
enum Done {
    ToServer(String),
    ToClient(String),
}

/// Relays until either side ends. Returns the reason if the session ended.
pub async fn relay(
    client: WebSocket,
    server: Socket,
    files: Files,
    folders: Folders,
) -> Option<String> {
    let (mut to_client, mut from_client) = client.split();
    let (mut to_server, mut from_server) = server.split();
    let mut transfers = Transfers::new(folders);
    // They end with this function.
    let mut running = JoinSet::new();
    let (done, mut finished) = mpsc::channel(MAX_TRANSFERS);
    let mut pings = interval(PING_EVERY);
    let closing = loop {
        let (up, down) = tokio::select! {
            message = from_client.next() => match message {
                Some(Ok(ToClient::Text(text))) => match transfers.up(&text) {
                    Some(upload) => {
                        let (files, done) = (files.clone(), done.clone());
                        running.spawn(async move { done.send(bring(&files, upload).await).await });
                        continue;
                    }
                    None => (Some(ToServer::text(text.as_str())), None),
                },
                Some(Ok(ToClient::Ping(_) | ToClient::Pong(_) | ToClient::Binary(_))) => continue,
                Some(Ok(ToClient::Close(_)) | Err(_)) | None => break None,
            },
            message = from_server.next() => match message {
                Some(Ok(ToServer::Text(text))) => match transfers.down(&text) {
                    Some(arrived) => {
                        let (files, done) = (files.clone(), done.clone());
                        running.spawn(async move { done.send(fetch(&files, arrived).await).await });
                        continue;
                    }
                    None => (None, Some(ToClient::Text(text.as_str().into()))),
                },
                Some(Ok(ToServer::Close(frame))) => {
                    break frame.map(|frame| (u16::from(frame.code), frame.reason.to_string()));
                }
                Some(Ok(_)) => continue,
                Some(Err(_)) | None => break Some((1011, "the server is unreachable".to_owned())),
            },
            Some(done) = finished.recv() => match done {
                Done::ToServer(text) => (Some(ToServer::text(text)), None),
                Done::ToClient(text) => (None, Some(ToClient::Text(text.into()))),
            },
            _ = pings.tick() => (Some(ToServer::Ping(bytes::Bytes::new())), None),
        };
        while running.try_join_next().is_some() {}
        if let Some(message) = up
            && !matches!(timeout(SEND_DEADLINE, to_server.send(message)).await, Ok(Ok(())))
        {
            break Some((1011, "the server is unreachable".to_owned()));
        }
        if let Some(message) = down
            && !matches!(timeout(SEND_DEADLINE, to_client.send(message)).await, Ok(Ok(())))
        {
            break None;
        }
    };
    let _ = timeout(SEND_DEADLINE, to_server.close()).await;
    let (code, reason) = closing?;
    eprintln!("disconnected a client: {reason}");
    let frame = CloseFrame { code, reason: reason.as_str().into() };
    let _ = timeout(SEND_DEADLINE, to_client.send(ToClient::Close(Some(frame)))).await;
    (code == SESSION_OVER).then_some(reason)
}

/// Uploads the files into the session, then forwards the command to the browser.
async fn bring(files: &Files, upload: Upload) -> Done {
    let text = upload.message.to_string();
    match files.bring(upload).await {
        Ok(message) => Done::ToServer(message),
        Err(error) => {
            let why = format!("the file cannot be uploaded to the session: {error}");
            let asked = ClientMessage::at(&text).ok();
            let session = asked.as_ref().and_then(|asked| asked.session_id.as_deref());
            Done::ToClient(refusal(asked.as_ref().map(|it| it.id), session, SERVER_ERROR, &why))
        }
    }
}

/// Downloads the file, then notifies the client.
async fn fetch(files: &Files, mut arrived: Arrived) -> Done {
    let told = match files.fetch(&arrived).await {
        Ok(path) => ("filePath", json!(path)),
        Err(error) => {
            eprintln!("failed to download {} from the session: {error}", arrived.from);
            ("state", json!("canceled"))
        }
    };
    if let Some(params) = arrived.event.get_mut("params").and_then(Value::as_object_mut) {
        params.insert(told.0.to_owned(), told.1);
    }
    Done::ToClient(arrived.event.to_string())
}
