//! New artifacts, and which ones are valid.

use helmdeck_wire::artifact::ArtifactKey;

use crate::StoreError;

/// Maximum length of a media type.
const MAX_CONTENT_TYPE: usize = 127;

/// A new artifact.
#[derive(Debug, Clone, Default)]
pub struct NewArtifact {
    /// The pack that makes it, or [`helmdeck_wire::artifact::UPLOADS`].
    pub namespace: String,
    /// File name.
    pub name: String,
    /// Media type.
    pub content_type: String,
    /// The job that makes it.
    pub job: Option<String>,
    /// Maximum size in bytes. The owner's quota applies as well.
    pub max_bytes: Option<u64>,
}

impl NewArtifact {
    /// A new key. Fails if the name, the namespace or the media type is invalid.
    pub(super) fn key(&self) -> Result<ArtifactKey, StoreError> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(StoreError::Random)?;
        let key = ArtifactKey::new(&self.namespace, random, &self.name);
        let key = key.map_err(|bad| StoreError::BadArtifact(bad.to_string()))?;
        if !is_content_type(&self.content_type) {
            let why = format!("{:?} is not a media type such as image/png", self.content_type);
            return Err(StoreError::BadArtifact(why));
        }
        Ok(key)
    }
}

/// Whether a text is `type/subtype`, possibly with parameters.
pub fn is_content_type(text: &str) -> bool {
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&b);
    let essence = text.split(';').next().unwrap_or_default().trim_end();
    let is_type = essence.split_once('/').is_some_and(|(kind, subtype)| {
        let named = |name: &str| !name.is_empty() && name.bytes().all(token);
        named(kind) && named(subtype)
    });
    let printable = text.bytes().all(|b| b == b' ' || b.is_ascii_graphic());
    is_type && printable && text.len() <= MAX_CONTENT_TYPE
}
