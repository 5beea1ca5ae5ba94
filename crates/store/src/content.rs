//! Content that arrives in pieces: a file that is read, or an upload.

use std::io;

use bytes::Bytes;

/// A source of pieces.
pub trait Pieces: Send {
    /// The next piece; `None` at the end.
    fn next(&mut self) -> impl Future<Output = io::Result<Option<Bytes>>> + Send;
}

impl<P: Pieces> Pieces for &mut P {
    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        P::next(self).await
    }
}

/// Content that is in memory already.
impl Pieces for Bytes {
    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        Ok(Some(std::mem::take(self)).filter(|piece| !piece.is_empty()))
    }
}
