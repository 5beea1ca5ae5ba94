//! Reading the content of an artifact.

use std::io;

use bytes::Bytes;
use helmdeck_wire::{artifact::Artifact, byte_range::Part};

use super::blobs::BlobReader;
use crate::Pieces;

/// An artifact that is being read, by [`Pieces`].
pub struct ArtifactReader {
    artifact: Artifact,
    part: Option<Part>,
    content: Box<dyn BlobReader>,
    left: u64,
}

impl ArtifactReader {
    pub(super) fn new(
        artifact: Artifact,
        part: Option<Part>,
        content: Box<dyn BlobReader>,
    ) -> Self {
        let left = part.map_or(artifact.size, |part| part.length);
        Self { artifact, part, content, left }
    }

    /// The artifact.
    pub fn artifact(&self) -> &Artifact {
        &self.artifact
    }

    /// The part that is read; `None` if all of it is.
    pub fn part(&self) -> Option<Part> {
        self.part
    }
}

impl Pieces for ArtifactReader {
    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        if self.left == 0 {
            return Ok(None);
        }
        let piece = self.content.next().await?.ok_or(io::ErrorKind::UnexpectedEof)?;
        self.left = self.left.saturating_sub(piece.len() as u64);
        Ok(Some(piece))
    }
}
