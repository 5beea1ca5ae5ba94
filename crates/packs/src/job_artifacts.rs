//! Files that a job reads and writes.

use std::{borrow::Cow, io, sync::Arc};

use bytes::{Bytes, BytesMut};
use helmdeck_sessions::Caller;
use helmdeck_store::{
    ArtifactFilter, ArtifactPage, ArtifactReader, Artifacts, NewArtifact, Pieces, is_content_type,
    vault::{RedactedStream, Redactor},
};
use helmdeck_wire::{
    ErrorCode,
    artifact::{Artifact, ArtifactKey, file_name},
    byte_range::ByteRange,
    job::{JobArtifact, JobId},
};
use parking_lot::Mutex;

use crate::{PackError, PackResult, engine::Progress, secrets::Secrets};

/// The artifacts of a job's caller.
pub struct JobArtifacts {
    pub(crate) artifacts: Artifacts,
    pub(crate) caller: Caller,
    pub(crate) job: JobId,
    pub(crate) pack: String,
    pub(crate) secrets: Secrets,
    pub(crate) progress: Arc<Mutex<Progress>>,
}

impl JobArtifacts {
    /// Stores a file. It is listed in the job's reply. Used secrets are replaced in its name and content.
    pub async fn put(
        &self,
        name: &str,
        content_type: &str,
        content: impl Pieces,
    ) -> PackResult<JobArtifact> {
        self.put_in(&self.pack, name, content_type, content).await
    }

    /// Stores a file in another namespace than the pack's.
    pub async fn put_in(
        &self,
        namespace: &str,
        name: &str,
        content_type: &str,
        content: impl Pieces,
    ) -> PackResult<JobArtifact> {
        let redactor = self.secrets.redactor();
        let new = NewArtifact {
            namespace: namespace.to_owned(),
            name: redacted_name(&redactor, name),
            content_type: media_type(&redactor.apply(content_type)),
            job: Some(self.job.to_string()),
            max_bytes: None,
        };
        let content = Redacted { content, stream: Some(redactor.stream()) };
        let artifact = self.artifacts.put(&self.caller.subject, new, content).await?;
        let made = JobArtifact {
            key: artifact.key.to_string(),
            url: artifact.url,
            size: artifact.size,
            content_type: artifact.content_type,
        };
        self.progress.lock().add_artifact(made.clone());
        Ok(made)
    }

    /// Opens a file of the caller.
    pub async fn open(&self, field: &str, key: &str) -> PackResult<ArtifactReader> {
        self.open_part(field, key, None).await
    }

    /// Opens a part of a file of the caller.
    pub async fn open_part(
        &self,
        field: &str,
        key: &str,
        part: Option<ByteRange>,
    ) -> PackResult<ArtifactReader> {
        Ok(self.artifacts.get(&self.caller, &parse(field, key)?, part).await?)
    }

    /// Describes a file of the caller.
    pub async fn show(&self, field: &str, key: &str) -> PackResult<Artifact> {
        Ok(self.artifacts.show(&self.caller, &parse(field, key)?).await?)
    }

    /// Reads a file of the caller into memory.
    pub async fn read(
        &self,
        field: &str,
        key: &str,
        max_bytes: u64,
    ) -> PackResult<(Artifact, Bytes)> {
        let mut reader = self.open(field, key).await?;
        let artifact = reader.artifact().clone();
        if artifact.size > max_bytes {
            let message =
                format!("{key} has {} bytes; the limit is {max_bytes} bytes", artifact.size);
            return Err(PackError::invalid(field, message));
        }
        let mut content = BytesMut::new();
        let failed = |error: io::Error| {
            PackError::new(ErrorCode::ArtifactFailed, format!("{key} cannot be read: {error}"))
        };
        while let Some(piece) = reader.next().await.map_err(failed)? {
            content.extend_from_slice(&piece);
        }
        Ok((artifact, content.freeze()))
    }

    /// Lists files of the caller.
    pub async fn list(&self, filter: &ArtifactFilter) -> PackResult<ArtifactPage> {
        Ok(self.artifacts.list(&self.caller, filter).await?)
    }
}

/// A file name without used secrets. The name may come from a server.
fn redacted_name(redactor: &Redactor, name: &str) -> String {
    match redactor.apply(name) {
        Cow::Borrowed(name) => name.to_owned(),
        // A mark may be longer than the secret.
        Cow::Owned(name) => file_name(&name),
    }
}

/// A media type, or the one for any bytes: servers send what they like.
fn media_type(given: &str) -> String {
    match is_content_type(given) {
        true => given.to_owned(),
        false => "application/octet-stream".to_owned(),
    }
}

fn parse(field: &str, key: &str) -> PackResult<ArtifactKey> {
    ArtifactKey::parse(key).ok_or_else(|| {
        let message = format!("{key:?} is not an artifact key; artifact.list shows yours");
        PackError::invalid(field, message)
    })
}

/// Content without used secrets.
struct Redacted<P> {
    content: P,
    stream: Option<RedactedStream>,
}

impl<P: Pieces> Pieces for Redacted<P> {
    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        while let Some(stream) = &mut self.stream {
            let piece = match self.content.next().await? {
                Some(piece) => stream.push(&piece),
                None => self.stream.take().map(RedactedStream::finish).unwrap_or_default(),
            };
            if !piece.is_empty() {
                return Ok(Some(piece.into()));
            }
        }
        Ok(None)
    }
}
