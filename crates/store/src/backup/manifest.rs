//! The list of a backup's files, with their checksums.

use std::io::{self, Read};

use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::{ARTIFACTS, BackupError};

/// Name of the last entry.
pub const NAME: &str = "manifest.json";
/// Larger manifests are not ours.
pub const MAX: u64 = 256 << 20;
/// Version of the format.
const FORMAT: u32 = 1;

/// What a backup has to contain.
#[derive(Serialize, Deserialize)]
pub struct Manifest {
    format: u32,
    helmdeck: String,
    #[serde(with = "time::serde::rfc3339")]
    pub created_at: OffsetDateTime,
    pub files: Vec<Entry>,
}

/// A file of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Entry {
    pub path: String,
    pub size: u64,
    pub sha256: String,
}

impl Entry {
    /// The name of content, if it belongs to artifacts.
    pub fn content_of_artifact(&self) -> Option<&str> {
        let path = self.path.strip_prefix(ARTIFACTS)?.strip_prefix('/')?;
        path.rsplit('/').next()
    }
}

impl Manifest {
    pub fn new(files: Vec<Entry>, created_at: OffsetDateTime) -> Self {
        let helmdeck = env!("CARGO_PKG_VERSION").to_owned();
        Self { format: FORMAT, helmdeck, created_at, files }
    }

    pub fn to_json(&self) -> Vec<u8> {
        // Types of ours are always valid JSON.
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub fn parse(json: &[u8]) -> Result<Self, BackupError> {
        let manifest: Self = serde_json::from_slice(json)
            .map_err(|error| BackupError::Broken(format!("its manifest is invalid: {error}")))?;
        if manifest.format != FORMAT {
            let made = format!("it was made by helmdeck {}, in another format", manifest.helmdeck);
            return Err(BackupError::Broken(made));
        }
        Ok(manifest)
    }
}

/// Computes the checksum of what is read.
pub struct Digesting<R> {
    inner: R,
    digest: Context,
    read: u64,
}

impl<R: Read> Digesting<R> {
    pub fn new(inner: R) -> Self {
        Self { inner, digest: Context::new(&SHA256), read: 0 }
    }

    /// How many bytes were read, and their checksum.
    pub fn finish(self) -> (u64, String) {
        let digest = self.digest.finish();
        (self.read, digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl<R: Read> Read for Digesting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.digest.update(buffer.get(..count).unwrap_or_default());
        self.read += count as u64;
        Ok(count)
    }
}
