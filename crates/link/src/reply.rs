//! What comes back from a guest.

use bytes::Bytes;
use http::HeaderMap;

/// An answer as it travelled: JSON or a picture, with its headers.
#[derive(Debug, Clone)]
pub struct Reply {
    /// `content-type` and, for pictures, the headers of [`helmdeck_wire::screen::header`].
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}
