//! Archives on their way to a guest, in pieces.

use std::{io, time::Duration};

use bytes::Bytes;
use helmdeck_link::{LinkError, Outgoing};
use http_body_util::{
    BodyExt,
    channel::{Channel, Sender},
};
use tokio::time::timeout;

/// Where the pieces come from.
pub(crate) trait UploadBody: Send {
    /// The next one; none at the end.
    fn next(&mut self) -> impl Future<Output = io::Result<Option<Bytes>>> + Send;
}

/// A body, and where its pieces are to be put.
pub(crate) fn body() -> (Sender<Bytes, io::Error>, Outgoing) {
    let (pieces, body) = Channel::<Bytes, io::Error>::new(4);
    (pieces, body.map_err(Into::into).boxed_unsync())
}

/// Sends all pieces, while `sending` carries the body that they are put into.
pub(crate) async fn send(
    mut source: impl UploadBody,
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
        Err(_) => Err("it takes too long".to_owned()),
    }
}
