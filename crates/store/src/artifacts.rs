//! Artifacts: files that packs and callers keep for a while, each with an owner.
//!
//! The index is in the database ([`rows`]); equal content is stored once, in files ([`blobs`]) or in a
//! bucket of an S3 service ([`bucket_blobs`]). Content is durable before its row exists, and is removed
//! after its last row, so a crash leaves content without a row at most. [`Artifacts::sweep`] removes it.

mod blobs;
mod bucket_blobs;
mod erasure;
mod link;
mod new_artifact;
mod pending;
mod reader;
mod rows;
#[cfg(test)]
mod tests;
mod usage;

use std::{io, path::PathBuf, sync::Arc};

use helmdeck_s3::{Bucket, S3Error};
use helmdeck_wire::{
    Caller,
    artifact::{Artifact, ArtifactKey},
    byte_range::{ByteRange, Part},
};
use ring::digest;
use time::{Duration, OffsetDateTime};
use tokio::sync::Mutex;
use tracing::{info, warn};

use crate::{Pieces, Store, StoreError};
use blobs::{Blobs, FileBlobs};
use bucket_blobs::BucketBlobs;
use link::LinkKey;
pub use link::LinkQuery;
pub use new_artifact::{NewArtifact, is_content_type};
use pending::Pending;
pub use reader::ArtifactReader;
use usage::Uploads;

/// Maximum number of expired artifacts per deletion, because other queries wait meanwhile.
const BATCH: u32 = 100;

/// Rules for all artifacts.
pub struct ArtifactRules {
    /// How long an artifact is kept; forever if `None`.
    pub ttl: Option<Duration>,
    /// Maximum bytes of one owner's artifacts.
    pub quota: Option<u64>,
    /// Secret that signs links.
    pub link_secret: Vec<u8>,
    /// The clock.
    pub now: Box<dyn Fn() -> OffsetDateTime + Send + Sync>,
}

/// Which artifacts to list.
#[derive(Debug, Clone, Default)]
pub struct ArtifactFilter {
    /// Only of this pack.
    pub namespace: Option<String>,
    /// Only names that contain this text, in any case.
    pub name: Option<String>,
    /// Only media types that begin with this text.
    pub content_type: Option<String>,
    /// Only of this job.
    pub job: Option<String>,
    /// Only those after this position, as returned with the page before.
    pub before: Option<u64>,
    /// Maximum number of artifacts.
    pub limit: u32,
}

/// Some artifacts, newest first.
#[derive(Debug, Clone)]
pub struct ArtifactPage {
    /// The artifacts.
    pub artifacts: Vec<Artifact>,
    /// Position of the next page; `None` on the last one.
    pub next: Option<u64>,
}

/// A cheap handle to the artifacts.
#[derive(Clone)]
pub struct Artifacts {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    blobs: Box<dyn Blobs>,
    rules: ArtifactRules,
    links: LinkKey,
    uploads: Uploads,
    /// Content that is being made durable, which may take long, and that has no row yet.
    pending: Pending,
    /// Held while content and rows change together: otherwise content could be removed between the
    /// check that it exists and the row that needs it.
    changing: Mutex<()>,
}

impl Artifacts {
    /// Artifacts whose content is in this directory. Removes unfinished uploads of a crashed server.
    pub async fn open(store: Store, dir: PathBuf, rules: ArtifactRules) -> Self {
        Self::with_blobs(store, Box::new(FileBlobs::new(dir)), rules).await
    }

    /// Artifacts whose content is in a bucket, and is collected in this directory before it is uploaded.
    /// Content that is in the directory already stays there. Fails if the bucket cannot be used.
    pub async fn open_in_bucket(
        store: Store,
        bucket: Bucket,
        dir: PathBuf,
        rules: ArtifactRules,
    ) -> Result<Self, StoreError> {
        let blobs = BucketBlobs::open(bucket, dir, &store.instance_id().await?).await?;
        Ok(Self::with_blobs(store, Box::new(blobs), rules).await)
    }

    async fn with_blobs(store: Store, blobs: Box<dyn Blobs>, rules: ArtifactRules) -> Self {
        if let Err(error) = blobs.clean_up().await {
            warn!(%error, "Failed to remove unfinished artifacts");
        }
        let links = LinkKey::new(&rules.link_secret);
        let (uploads, pending, changing) =
            (Uploads::default(), Pending::default(), Mutex::default());
        let inner = Inner { store, blobs, rules, links, uploads, pending, changing };
        Self { inner: Arc::new(inner) }
    }

    /// Stores content for `owner`.
    ///
    /// Cancelling it stores nothing. Fails with [`StoreError::ArtifactQuota`],
    /// [`StoreError::ArtifactTooLarge`] or [`StoreError::DiskFull`] if there is no room,
    /// with [`StoreError::UploadBrokeOff`] if the source fails, and with
    /// [`StoreError::ArtifactService`] if the S3 service does.
    pub async fn put(
        &self,
        owner: &str,
        new: NewArtifact,
        mut content: impl Pieces,
    ) -> Result<Artifact, StoreError> {
        let Inner { store, blobs, rules, uploads, .. } = &*self.inner;
        let key = new.key()?;
        let stored = store.artifact_bytes(owner).await?;
        let mut blob = blobs.create().await.map_err(failed)?;
        let mut hash = digest::Context::new(&digest::SHA256);
        let mut upload = uploads.begin(owner);
        while let Some(piece) = content.next().await.map_err(|_| StoreError::UploadBrokeOff)? {
            let all = upload.add(piece.len() as u64);
            if let Some(limit) = new.max_bytes.filter(|limit| upload.size() > *limit) {
                return Err(StoreError::ArtifactTooLarge { limit });
            }
            if let Some(quota) = rules.quota.filter(|quota| stored.saturating_add(all) > *quota) {
                return Err(StoreError::ArtifactQuota { quota, used: stored });
            }
            hash.update(&piece);
            blob.write(&piece).await.map_err(failed)?;
        }
        let sha256: String =
            hash.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        let pending = self.keep_pending(&sha256).await;
        blob.finish(&sha256).await.map_err(failed)?;
        let now = (rules.now)();
        let artifact = Artifact {
            url: key.download_path(),
            filename: new.name,
            size: upload.size(),
            content_type: new.content_type,
            sha256,
            pack: new.namespace,
            job_id: new.job,
            owner: owner.to_owned(),
            created_at: now,
            // Whole seconds, which are compared as text.
            expires_at: rules.ttl.map(|ttl| whole_seconds(now.saturating_add(ttl))),
            key,
        };
        let _changing = self.inner.changing.lock().await;
        blob.keep(&artifact.sha256).await.map_err(failed)?;
        if !store.add_artifact(&artifact, rules.quota).await? {
            drop(pending);
            self.try_remove_unused(&artifact.sha256).await;
            let quota = rules.quota.unwrap_or_default();
            return Err(StoreError::ArtifactQuota { quota, used: stored });
        }
        info!(
            owner,
            artifact.key = artifact.key.as_str(),
            bytes = artifact.size,
            "Artifact stored"
        );
        Ok(artifact)
    }

    /// An artifact of the caller, or any for an admin.
    pub async fn show(&self, caller: &Caller, key: &ArtifactKey) -> Result<Artifact, StoreError> {
        self.find(key, caller.limited_to()).await
    }

    /// Opens an artifact of the caller, or any for an admin. With `range`, only that part.
    pub async fn get(
        &self,
        caller: &Caller,
        key: &ArtifactKey,
        range: Option<ByteRange>,
    ) -> Result<ArtifactReader, StoreError> {
        self.read(self.show(caller, key).await?, range).await
    }

    /// The artifact that a link is for.
    pub async fn show_linked(
        &self,
        link: &LinkQuery,
        key: &ArtifactKey,
    ) -> Result<Artifact, StoreError> {
        self.inner.links.check(key, link, (self.inner.rules.now)())?;
        self.find(key, None).await
    }

    /// Path and query of a link to an artifact of the caller, and when it expires. The link does not
    /// outlive the artifact.
    pub async fn link(
        &self,
        caller: &Caller,
        key: &ArtifactKey,
        life: Duration,
    ) -> Result<(String, OffsetDateTime), StoreError> {
        let artifact = self.show(caller, key).await?;
        let end = whole_seconds((self.inner.rules.now)().saturating_add(life));
        let expires_at = artifact.expires_at.map_or(end, |expires_at| expires_at.min(end));
        Ok((self.inner.links.path(key, expires_at), expires_at))
    }

    /// Lists artifacts of the caller, or all for an admin.
    pub async fn list(
        &self,
        caller: &Caller,
        filter: &ArtifactFilter,
    ) -> Result<ArtifactPage, StoreError> {
        let now = whole_seconds((self.inner.rules.now)());
        // One more, to know whether there is a next page.
        let asked = ArtifactFilter { limit: filter.limit.saturating_add(1), ..filter.clone() };
        let mut found = self.inner.store.artifacts(caller.limited_to(), &asked, now).await?;
        let more = found.len() > filter.limit as usize;
        found.truncate(filter.limit as usize);
        let next = found.last().filter(|_| more).map(|(number, _)| *number);
        Ok(ArtifactPage { artifacts: found.into_iter().map(|(_, it)| it).collect(), next })
    }

    /// Deletes an artifact of the caller, or any for an admin.
    pub async fn delete(&self, caller: &Caller, key: &ArtifactKey) -> Result<(), StoreError> {
        let _changing = self.inner.changing.lock().await;
        let removed = self.inner.store.remove_artifact(key, caller.limited_to()).await?;
        let sha256 = removed.ok_or_else(|| not_found(key))?;
        self.try_remove_unused(&sha256).await;
        Ok(())
    }

    /// Bytes of an owner's artifacts.
    pub async fn used(&self, owner: &str) -> Result<u64, StoreError> {
        self.inner.store.artifact_bytes(owner).await
    }

    /// Maximum bytes of one owner's artifacts.
    pub fn quota(&self) -> Option<u64> {
        self.inner.rules.quota
    }

    /// Deletes expired artifacts, and content that no artifact has. Returns the number of deleted
    /// artifacts.
    pub async fn sweep(&self) -> Result<u64, StoreError> {
        let Inner { store, blobs, rules, changing, .. } = &*self.inner;
        let mut deleted = 0;
        loop {
            let _changing = changing.lock().await;
            let now = whole_seconds((rules.now)());
            let expired = store.remove_expired_artifacts(now, BATCH).await?;
            if expired == 0 {
                break;
            }
            deleted += expired;
        }
        let mut after = None;
        loop {
            let page = blobs.list(after.as_deref()).await.map_err(failed)?;
            for sha256 in page.names {
                let _changing = changing.lock().await;
                self.remove_unused(&sha256).await?;
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(deleted),
            }
        }
    }

    /// Keeps content from being removed until its row is added.
    async fn keep_pending(&self, sha256: &str) -> pending::Kept {
        // A removal under way ends first.
        let _changing = self.inner.changing.lock().await;
        self.inner.pending.keep(sha256)
    }

    /// Removes content that no artifact has or is about to have. Needs the lock.
    async fn remove_unused(&self, sha256: &str) -> Result<(), StoreError> {
        let Inner { store, blobs, pending, .. } = &*self.inner;
        if pending.has(sha256) || store.has_content(sha256).await? {
            return Ok(());
        }
        blobs.remove(sha256).await.map_err(failed)
    }

    /// The same. What fails is tried again by the next sweep.
    async fn try_remove_unused(&self, sha256: &str) {
        if let Err(error) = self.remove_unused(sha256).await {
            let error = helmdeck_wire::error::with_causes(&error);
            warn!(sha256, error, "Failed to remove the content of a deleted artifact");
        }
    }

    async fn find(&self, key: &ArtifactKey, owner: Option<&str>) -> Result<Artifact, StoreError> {
        let now = whole_seconds((self.inner.rules.now)());
        let found = self.inner.store.artifact(key, owner, now).await?;
        found.ok_or_else(|| not_found(key))
    }

    /// Opens an artifact that was shown before. With `range`, only that part.
    pub async fn read(
        &self,
        artifact: Artifact,
        range: Option<ByteRange>,
    ) -> Result<ArtifactReader, StoreError> {
        let size = artifact.size;
        let part = match range {
            Some(range) => Some(range.of(size).ok_or(StoreError::NoSuchRange { size })?),
            None => None,
        };
        let wanted = part.unwrap_or(Part { first: 0, length: size });
        match self.inner.blobs.open(&artifact.sha256, wanted).await {
            Ok(content) => Ok(ArtifactReader::new(artifact, part, content)),
            // Deleted meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(not_found(&artifact.key)),
            Err(error) => Err(failed(error)),
        }
    }
}

fn not_found(key: &ArtifactKey) -> StoreError {
    StoreError::ArtifactNotFound { key: key.to_string() }
}

/// A failure of the disk or of the S3 service.
fn failed(error: io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::DiskFull(error),
        _ if error.get_ref().is_some_and(|inner| inner.is::<S3Error>()) => {
            StoreError::ArtifactService(error)
        }
        _ => StoreError::Artifacts(error),
    }
}

fn whole_seconds(at: OffsetDateTime) -> OffsetDateTime {
    at.replace_nanosecond(0).unwrap_or(at)
}
