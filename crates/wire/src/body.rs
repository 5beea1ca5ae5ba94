//! Replies that are not JSON: the bytes are the body, and the metadata is in headers.

use bytes::Bytes;

/// A reply whose body is a picture or a document.
pub trait BytesReply {
    /// Description for the API documentation.
    const DOC: &'static str;
    /// Media types that the reply can have.
    const MEDIA_TYPES: &'static [&'static str];
    /// Headers that carry the metadata.
    const HEADERS: &'static [&'static str];

    /// Media type of this reply.
    fn media_type(&self) -> &'static str;

    /// Values of the headers.
    fn facts(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// The body.
    fn into_bytes(self) -> Bytes;
}
