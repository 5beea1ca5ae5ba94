//! Content that arrives in pieces: a file that is read, or an upload.

use std::io;

use bytes::Bytes;

/// A source of pieces.
pub trait Pieces: Send {
    /// The next piece; `None` at the end.
    fn next(&mut self) -> impl Future<Output = io::Result<Option<Bytes>>> + Send;
}
