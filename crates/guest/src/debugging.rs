//! The browser's debugging protocol for somebody outside: Playwright, Puppeteer, any client.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use helmdeck_browser::Incoming;
use helmdeck_cdp::{Absence, Cdp, CdpError, Client, Current, MAX_REQUEST};
use helmdeck_wire::{ErrorBody, ErrorCode, error::with_causes, guest::OneClient};
use serde::de::IgnoredAny;
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader},
    sync::mpsc,
};

use crate::{error::GuestError, handover, nest::HOME, transfers};

/// A browser that has died is back within this, or not at all.
const OPEN_DEADLINE: Duration = Duration::from_secs(25);

/// A client's share of the browser of the moment.
pub async fn open(browser: &Current, whose: &OneClient) -> Result<(Cdp, Client), GuestError> {
    let unavailable = |error: CdpError| {
        let message = format!("the browser cannot be reached now: {}", with_causes(&error));
        GuestError::Refused(ErrorBody::new(ErrorCode::CdpUnavailable, message))
    };
    let cdp = browser.get(OPEN_DEADLINE).await.map_err(|error| match browser.absence() {
        Some(Absence { how, next }) => {
            let seconds = next.saturating_duration_since(Instant::now()).as_secs() + 1;
            let message = format!("the browser ended ({how}); it is started again in {seconds} s");
            GuestError::Refused(ErrorBody::new(ErrorCode::CdpUnavailable, message))
        }
        None => unavailable(error),
    })?;
    let client = cdp.client(&whose.key, OPEN_DEADLINE).await.map_err(unavailable)?;
    Ok((cdp, client))
}

/// Says again where downloads go: with a client goes what it said of them. Those of a browser that is
/// not our own go where it likes.
pub async fn tidy_up(browser: &Cdp, own: bool) {
    let params = if own {
        let downloads = format!("{HOME}/Downloads");
        json!({ "behavior": "allow", "downloadPath": downloads, "eventsEnabled": true })
    } else {
        json!({ "behavior": "default", "eventsEnabled": true })
    };
    // Fails only with the browser.
    let method = "Browser.setDownloadBehavior";
    let _ = browser.call::<IgnoredAny>(None, method, params, OPEN_DEADLINE).await;
}

/// Passes messages both ways until either side ends. `incoming` is where downloads of a browser of the
/// session's own arrive; in another, files are those of its own machine.
pub async fn serve(
    client: &Client,
    incoming: Option<Arc<Incoming>>,
    stream: impl AsyncRead + AsyncWrite,
) {
    let (from_server, mut to_server) = tokio::io::split(stream);
    let mut from_server = BufReader::new(from_server);
    let (refusals, mut refused) = mpsc::channel(1);
    let sandboxed = incoming.is_some();
    let up = async {
        let mut message = Vec::new();
        loop {
            message.clear();
            let mut limited = (&mut from_server).take(MAX_REQUEST as u64 + 1);
            match limited.read_until(0, &mut message).await {
                Ok(1..) if message.pop() == Some(0) => {}
                _ => return,
            }
            let Ok(text) = std::str::from_utf8(&message) else { return };
            if let Some(refusal) = sandboxed.then(|| transfers::refused_upload(text)).flatten() {
                if refusals.send(refusal).await.is_err() {
                    return;
                }
                continue;
            }
            handover::named_in(text);
            if client.send(text).await.is_err() {
                return;
            }
        }
    };
    let down = async {
        let mut downloads = incoming.map(transfers::Downloads::new);
        loop {
            let message = tokio::select! {
                message = client.next() => match message {
                    Some(message) => message,
                    None => return,
                },
                Some(refusal) = refused.recv() => refusal,
            };
            let renamed = downloads.as_mut().and_then(|downloads| downloads.settled(&message));
            let mut bytes = renamed.unwrap_or(message).into_bytes();
            bytes.push(0);
            if to_server.write_all(&bytes).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = up => {}
        () = down => {}
    }
}
