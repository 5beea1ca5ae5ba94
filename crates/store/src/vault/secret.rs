//! A secret that a caller may use now.

use std::fmt;

use helmdeck_wire::vault::{CredentialType, MAX_SECRET, MIN_SECRET};
use secrecy::{ExposeSecret, SecretSlice};
use serde_json::{Map, Value};

use super::{VaultError, totp::Totp};

/// A secret of the vault, or the current code of a `totp` credential. Wiped from memory when dropped.
#[derive(Clone)]
pub struct Secret {
    name: String,
    kind: CredentialType,
    bytes: SecretSlice<u8>,
    metadata: Map<String, Value>,
}

impl Secret {
    pub(crate) fn new(name: &str, kind: CredentialType, bytes: Vec<u8>) -> Self {
        Self { name: name.to_owned(), kind, bytes: bytes.into(), metadata: Map::new() }
    }

    /// Adds the credential's notes for programs.
    pub(super) fn with_metadata(self, metadata: Option<&Map<String, Value>>) -> Self {
        Self { metadata: metadata.cloned().unwrap_or_default(), ..self }
    }

    /// A note for programs. It is not secret.
    pub fn note(&self, name: &str) -> Option<&Value> {
        self.metadata.get(name)
    }

    /// The credential's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is.
    pub fn kind(&self) -> CredentialType {
        self.kind
    }

    /// The secret itself.
    pub fn reveal(&self) -> &[u8] {
        self.bytes.expose_secret()
    }

    /// The secret itself, as text.
    pub fn text(&self) -> Result<&str, VaultError> {
        std::str::from_utf8(self.reveal())
            .map_err(|_| VaultError::NotText { name: self.name.clone() })
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({}, •••)", self.name)
    }
}

/// Checks a secret of this type.
pub(super) fn check(kind: CredentialType, secret: &[u8]) -> Result<(), VaultError> {
    let invalid = |reason| Err(VaultError::Invalid { field: "value", reason });
    if secret.len() < MIN_SECRET {
        return invalid("expected at least 4 bytes");
    }
    if secret.len() > MAX_SECRET {
        return invalid("expected at most 65536 bytes");
    }
    let totp = || std::str::from_utf8(secret).ok().and_then(Totp::parse);
    match kind {
        CredentialType::Totp if totp().is_none() => {
            invalid("expected a key in base32, or an address that begins with otpauth://totp/")
        }
        _ => Ok(()),
    }
}
