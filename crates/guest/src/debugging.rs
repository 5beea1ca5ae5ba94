//! The browser's debugging protocol for outside clients: Playwright, Puppeteer and others.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use helmdeck_browser::DownloadFiles;
use helmdeck_cdp::{Cdp, CdpError, Client, Current, MAX_REQUEST, Restarting};
use helmdeck_wire::{ErrorBody, ErrorCode, error::with_causes, guest::OneClient};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader},
    sync::mpsc,
};

use crate::{error::GuestError, handover, transfers};

/// Long enough for a browser to restart.
pub const OPEN_DEADLINE: Duration = Duration::from_secs(25);

/// Opens a client's share of the current browser.
pub async fn open(browser: &Current, whose: &OneClient) -> Result<(Cdp, Client), GuestError> {
    let unavailable = |error: CdpError| {
        let message = format!("the browser is not reachable now: {}", with_causes(&error));
        GuestError::Refused(ErrorBody::new(ErrorCode::CdpUnavailable, message))
    };
    let cdp = browser.get(OPEN_DEADLINE).await.map_err(|error| match browser.absence() {
        Some(Restarting { how, next }) => {
            let seconds = next.saturating_duration_since(Instant::now()).as_secs() + 1;
            let message = format!("the browser ended ({how}); it restarts in {seconds} s");
            GuestError::Refused(ErrorBody::new(ErrorCode::CdpUnavailable, message))
        }
        None => unavailable(error),
    })?;
    let client = cdp.client(&whose.key, OPEN_DEADLINE).await.map_err(unavailable)?;
    Ok((cdp, client))
}

/// Passes messages both ways until either side ends. `download_files` is the download folder of the
/// session's own browser; in other browsers, files belong to their own machine.
pub async fn serve(
    client: &Client,
    download_files: Option<Arc<DownloadFiles>>,
    stream: impl AsyncRead + AsyncWrite,
) {
    let (from_server, mut to_server) = tokio::io::split(stream);
    let mut from_server = BufReader::new(from_server);
    let (refusals, mut refused) = mpsc::channel(1);
    let sandboxed = download_files.is_some();
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
            handover::page_in(text);
            if client.send(text).await.is_err() {
                return;
            }
        }
    };
    let down = async {
        let mut downloads = download_files.map(transfers::Downloads::new);
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
