//! Content of artifacts in a bucket of an S3 service.
//!
//! The name of content is known only at its end, so it is collected in a file of the data directory
//! first, and then uploaded under that name. Content that is in the data directory from before the
//! bucket was configured is read and removed there.

use std::{io, path::PathBuf};

use async_trait::async_trait;
use bytes::Bytes;
use helmdeck_s3::{Bucket, ObjectReader, S3Error};
use helmdeck_wire::byte_range::Part;
use tracing::{info, warn};

use super::blobs::{BlobPage, BlobReader, Blobs, FileBlobs, NewBlob, NewFile};
use crate::StoreError;

/// Object with the id of the installation that the artifacts belong to. Two of them would delete each
/// other's content.
const OWNER: &str = "helmdeck-owner";

/// Objects in a bucket. Their keys are the paths of [`FileBlobs`].
pub(crate) struct BucketBlobs {
    bucket: Bucket,
    files: FileBlobs,
}

impl BucketBlobs {
    /// Fails if the bucket cannot be used or belongs to another installation.
    pub async fn open(bucket: Bucket, dir: PathBuf, instance: &str) -> Result<Self, StoreError> {
        bucket.check().await.map_err(StoreError::ArtifactBucket)?;
        match bucket.get_text(OWNER).await.map_err(StoreError::ArtifactBucket)? {
            Some(owner) if owner.trim() == instance => {}
            Some(_) => {
                let place = bucket.place().to_owned();
                return Err(StoreError::ForeignBucket { place, marker: OWNER });
            }
            None => {
                let claimed = bucket.put(OWNER, instance.to_owned()).await;
                claimed.map_err(StoreError::ArtifactBucket)?;
            }
        }
        info!("Artifacts are stored in {}", bucket.place());
        Ok(Self { bucket, files: FileBlobs::new(dir) })
    }
}

fn key(sha256: &str) -> String {
    format!("{}/{sha256}", sha256.get(..2).unwrap_or_default())
}

/// The name of content, if an object is content.
fn name(key: &str) -> Option<String> {
    let (dir, name) = key.split_once('/')?;
    let is_hash = name.len() == 64 && name.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    (is_hash && name.starts_with(dir) && dir.len() == 2).then(|| name.to_owned())
}

fn failed(error: S3Error) -> io::Error {
    match error {
        S3Error::Source(error) => error,
        S3Error::NotFound => io::Error::new(io::ErrorKind::NotFound, error),
        S3Error::Full { .. } => io::Error::new(io::ErrorKind::StorageFull, error),
        error => io::Error::other(error),
    }
}

#[async_trait]
impl Blobs for BucketBlobs {
    async fn clean_up(&self) -> io::Result<()> {
        self.files.clean_up().await?;
        // Not all services can list them, and they cost space only.
        if let Err(error) = self.bucket.abort_unfinished().await {
            warn!(%error, "Failed to abort unfinished uploads in the bucket");
        }
        Ok(())
    }

    async fn create(&self) -> io::Result<Box<dyn NewBlob>> {
        let file = self.files.create_file().await?;
        Ok(Box::new(NewObject { file, size: 0, bucket: self.bucket.clone() }))
    }

    async fn open(&self, sha256: &str, part: Part) -> io::Result<Box<dyn BlobReader>> {
        match self.files.open(sha256, part).await {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let reader = self.bucket.get(&key(sha256), part.first, part.length).await;
                Ok(Box::new(reader.map_err(failed)?))
            }
            found => found,
        }
    }

    async fn remove(&self, sha256: &str) -> io::Result<()> {
        self.files.remove(sha256).await?;
        self.bucket.delete(&key(sha256)).await.map_err(failed)
    }

    async fn list(&self, after: Option<&str>) -> io::Result<BlobPage> {
        let page = self.bucket.list(after).await.map_err(failed)?;
        let mut names: Vec<_> = page.keys.iter().filter_map(|key| name(key)).collect();
        if page.next.is_none() {
            names.extend(self.files.list(None).await?.names);
        }
        Ok(BlobPage { names, next: page.next })
    }
}

#[async_trait]
impl BlobReader for ObjectReader {
    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        ObjectReader::next(self).await.map_err(failed)
    }
}

/// Content that is collected and then uploaded. Dropping it removes the file and ends the upload.
struct NewObject {
    file: NewFile,
    size: u64,
    bucket: Bucket,
}

#[async_trait]
impl NewBlob for NewObject {
    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.size += bytes.len() as u64;
        self.file.write(bytes).await
    }

    async fn finish(&mut self, sha256: &str) -> io::Result<()> {
        let key = key(sha256);
        let mut file = self.file.reopen().await?;
        if self.bucket.size(&key).await.map_err(failed)? == Some(self.size) {
            return Ok(());
        }
        self.bucket.put_file(&key, &mut file, self.size).await.map_err(failed)
    }

    async fn keep(self: Box<Self>, _sha256: &str) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_objects_with_names_of_content_are_content() {
        let sha256 = "ab".repeat(32);
        assert_eq!(name(&key(&sha256)), Some(sha256.clone()));
        for other in [OWNER, "ab/cd", &sha256, &format!("cd/{sha256}"), &format!("x/ab/{sha256}")] {
            assert_eq!(name(other), None, "{other}");
        }
    }
}
