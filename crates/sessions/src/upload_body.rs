//! Streams archives to a guest or from a caller.

use std::{io, time::Duration};

use bytes::Bytes;
use helmdeck_link::{LinkError, Outgoing, STALL};
use helmdeck_store::Pieces;
use http_body_util::{
    BodyExt,
    channel::{Channel, Sender},
};
use tokio::time::timeout;

/// The body of a caller's request. A stalled body counts as ended early.
pub(crate) struct Received(pub Outgoing);

impl Pieces for Received {
    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        loop {
            let frame = timeout(STALL, self.0.frame()).await?;
            let Some(frame) = frame.transpose().map_err(io::Error::other)? else {
                return Ok(None);
            };
            if let Ok(piece) = frame.into_data() {
                return Ok(Some(piece));
            }
        }
    }
}

/// A body, and the sender for its pieces.
pub(crate) fn body() -> (Sender<Bytes, io::Error>, Outgoing) {
    let (pieces, body) = Channel::<Bytes, io::Error>::new(4);
    (pieces, body.map_err(Into::into).boxed_unsync())
}

/// Sends all pieces, while `sending` transfers the body.
pub(crate) async fn send(
    mut source: impl Pieces,
    mut pieces: Sender<Bytes, io::Error>,
    sending: impl Future<Output = Result<(), LinkError>> + Send,
    deadline: Duration,
) -> Result<(), String> {
    let reading = async move {
        loop {
            match source.next().await {
                Ok(Some(piece)) => {
                    if pieces.send_data(piece).await.is_err() {
                        return Ok(());
                    }
                }
                Ok(None) => return Ok(()),
                Err(error) => {
                    let why = error.to_string();
                    pieces.abort(error);
                    return Err(why);
                }
            }
        }
    };
    let (read, sent) = tokio::join!(reading, timeout(deadline, sending));
    read?;
    match sent {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("the transfer takes too long".to_owned()),
    }
}
