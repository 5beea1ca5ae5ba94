//! Replies of a guest.

use bytes::Bytes;
use http::HeaderMap;

/// A reply as received: JSON or a picture, with its headers.
#[derive(Debug, Clone)]
pub struct Reply {
    /// `content-type` and, for pictures, the headers of [`helmdeck_wire::screen::header`].
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}
