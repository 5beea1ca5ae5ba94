//! Contents that come piece by piece: a file that is read, or an upload.

use std::io;

use bytes::Bytes;

/// Where pieces come from.
pub trait Pieces: Send {
    /// The next piece; none at the end.
    fn next(&mut self) -> impl Future<Output = io::Result<Option<Bytes>>> + Send;
}
