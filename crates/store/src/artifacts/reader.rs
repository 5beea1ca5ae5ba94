//! Reading the content of an artifact.

use std::io;

use bytes::{Bytes, BytesMut};
use helmdeck_wire::{artifact::Artifact, byte_range::Part};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::Pieces;

/// Size of the pieces of a reader.
const PIECE: usize = 128 << 10;

/// An artifact that is being read, by [`Pieces`].
pub struct ArtifactReader {
    artifact: Artifact,
    part: Option<Part>,
    content: Box<dyn AsyncRead + Send + Unpin>,
    left: u64,
}

impl ArtifactReader {
    pub(super) fn new(
        artifact: Artifact,
        part: Option<Part>,
        content: Box<dyn AsyncRead + Send + Unpin>,
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
        let mut piece =
            BytesMut::with_capacity(PIECE.min(usize::try_from(self.left).unwrap_or(PIECE)));
        self.content.read_buf(&mut piece).await?;
        if piece.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left = self.left.saturating_sub(piece.len() as u64);
        Ok(Some(piece.freeze()))
    }
}
