//! The body of an upload.

use std::{io, time::Duration};

use axum::body::Body;
use bytes::Bytes;
use helmdeck_store::Pieces;
use http_body_util::BodyExt;
use tokio::time::timeout;

use crate::App;

/// How long a client may pause while it sends a body.
const STALL: Duration = Duration::from_secs(60);
/// How long the rest of a refused upload is received.
const LINGER: Duration = Duration::from_secs(5);

/// The body of a request. A stalled body counts as ended early.
pub struct Received(pub Body);

impl Pieces for Received {
    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        loop {
            let Some(frame) = timeout(STALL, self.0.frame()).await? else { return Ok(None) };
            if let Ok(piece) = frame.map_err(io::Error::other)?.into_data() {
                return Ok(Some(piece));
            }
        }
    }
}

/// Receives and discards the rest of a refused upload, for a while. Otherwise the connection would be
/// reset while the client sends, and the client might not see why.
pub fn discard(app: &App, mut rest: impl Pieces + 'static) {
    let closing = app.closing.clone();
    app.live.spawn(async move {
        let all = async { while let Ok(Some(_)) = rest.next().await {} };
        tokio::select! {
            _ = timeout(LINGER, all) => {}
            () = closing.cancelled() => {}
        }
    });
}
