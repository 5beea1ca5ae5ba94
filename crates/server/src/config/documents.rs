//! Settings of document packs.

use helmdeck_packs::Endpoint;
use http::Uri;

use super::layers::{ConfigError, Layers};

/// What reads documents.
#[derive(Debug, Clone)]
pub struct DocumentSettings {
    /// `HELMDECK_DOCLING_ENABLED`: reads documents with the Docling service at `HELMDECK_DOCLING_URL`
    /// instead of helmdeck's own programs. Default `false`.
    pub docling_enabled: bool,
    /// `HELMDECK_DOCLING_URL`: the address of a Docling service, for `doc.parse`. Default
    /// `http://helmdeck-docling:5001`.
    pub docling_url: Option<Uri>,
}

impl DocumentSettings {
    pub(super) fn read(layers: &mut Layers) -> Result<Self, ConfigError> {
        Ok(Self {
            docling_enabled: layers.value(
                "docling_enabled",
                "true or false",
                |text| text.parse().ok(),
                || false,
            )?,
            docling_url: layers.value(
                "docling_url",
                "an address such as http://127.0.0.1:5001",
                address,
                || Some(Uri::from_static("http://helmdeck-docling:5001")),
            )?,
        })
    }

    /// The Docling service, if it is enabled.
    pub(crate) fn endpoint(&self) -> Option<Endpoint> {
        let url = self.docling_url.as_ref().filter(|_| self.docling_enabled)?;
        Some(Endpoint::configured(&url.to_string()))
    }
}

fn address(text: &str) -> Option<Option<Uri>> {
    if text.is_empty() {
        return Some(None);
    }
    let address: Uri = text.parse().ok()?;
    let is_web = matches!(address.scheme_str(), Some("http" | "https"));
    (is_web && address.authority().is_some() && address.query().is_none()).then_some(Some(address))
}
