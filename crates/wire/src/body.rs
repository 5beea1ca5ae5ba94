//! Replies that are not JSON: their bytes are the body, their facts are headers.

use bytes::Bytes;

/// A reply whose body is a picture or a document.
pub trait BytesReply {
    /// What it is, for documents.
    const DOC: &'static str;
    /// Every media type it may have.
    const MEDIA_TYPES: &'static [&'static str];
    /// The headers that carry its facts.
    const HEADERS: &'static [&'static str];

    /// Its media type.
    fn media_type(&self) -> &'static str;

    /// What its headers say.
    fn facts(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// The body.
    fn into_bytes(self) -> Bytes;
}
