//! Uploads of files: small ones in one request, others in parts.

use std::io;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Method, header};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    sync::SemaphorePermit,
};
use tracing::{debug, warn};

use crate::{Bucket, S3Error, request::Call, xml};

/// Size of a part, and of the largest file that is uploaded in one request. The last part may be
/// smaller; services accept no others below 5 MiB.
const PART: u64 = 8 << 20;
/// Maximum number of parts.
const MAX_PARTS: u64 = 10_000;
/// How often unfinished uploads are listed to abort them. A list has up to a thousand.
const MAX_LISTS: usize = 100;

impl Bucket {
    /// Uploads a file of this size. The object exists only when all of it has arrived; a failed or
    /// cancelled upload leaves nothing.
    pub async fn put_file(
        &self,
        key: &str,
        file: &mut (impl AsyncRead + Unpin),
        size: u64,
    ) -> Result<(), S3Error> {
        if size <= PART {
            let (_permit, content) = self.read_part(file, size).await?;
            return self.put(key, content).await;
        }
        let mut upload = Upload::begin(self, key).await?;
        let part_size = PART.max(size.div_ceil(MAX_PARTS));
        let mut left = size;
        while left > 0 {
            let length = left.min(part_size);
            let (_permit, part) = self.read_part(file, length).await?;
            upload.add(part).await?;
            left -= length;
        }
        upload.complete(size).await
    }

    /// Waits for room in memory, and reads a part.
    async fn read_part(
        &self,
        file: &mut (impl AsyncRead + Unpin),
        length: u64,
    ) -> Result<(SemaphorePermit<'_>, Bytes), S3Error> {
        let closed = |_| S3Error::Source(io::ErrorKind::BrokenPipe.into());
        let permit = self.parts().acquire().await.map_err(closed)?;
        let mut part = BytesMut::with_capacity(usize::try_from(length).unwrap_or_default());
        let mut rest = file.take(length);
        while (part.len() as u64) < length {
            if rest.read_buf(&mut part).await.map_err(S3Error::Source)? == 0 {
                return Err(S3Error::Source(io::ErrorKind::UnexpectedEof.into()));
            }
        }
        Ok((permit, part.freeze()))
    }

    /// Aborts uploads that a crashed process left. Must not run during uploads.
    pub async fn abort_unfinished(&self) -> Result<(), S3Error> {
        for _ in 0..MAX_LISTS {
            let pairs = [("uploads", ""), ("prefix", self.prefix())];
            let call = Call::new(Method::GET, self.bucket_path(), &pairs);
            let (_, body) = self.sender().fetch(&call).await?;
            let uploads = xml::all(&body, "Upload").into_iter().filter_map(|it| {
                let key = xml::text(it, "Key")?;
                Some((key.strip_prefix(self.prefix())?.to_owned(), xml::text(it, "UploadId")?))
            });
            let uploads: Vec<_> = uploads.collect();
            if uploads.is_empty() {
                return Ok(());
            }
            for (key, id) in uploads {
                self.abort(&key, &id).await?;
            }
        }
        Ok(())
    }

    async fn abort(&self, key: &str, id: &str) -> Result<(), S3Error> {
        let call = Call::new(Method::DELETE, self.path(key), &[("uploadId", id)]);
        match self.sender().fetch(&call).await {
            Err(error) if !is_unknown(&error) => Err(error),
            _ => Ok(()),
        }
    }
}

/// Whether the service does not know the upload, because it was completed or aborted.
fn is_unknown(error: &S3Error) -> bool {
    match error {
        S3Error::NotFound => true,
        S3Error::Refused { code, .. } => code == "NoSuchUpload",
        _ => false,
    }
}

/// An upload in parts. Dropping it aborts it.
struct Upload {
    bucket: Bucket,
    key: String,
    id: String,
    /// What the service calls the parts so far.
    tags: Vec<String>,
    is_complete: bool,
}

impl Upload {
    async fn begin(bucket: &Bucket, key: &str) -> Result<Self, S3Error> {
        let call = Call::new(Method::POST, bucket.path(key), &[("uploads", "")]);
        let (_, body) = bucket.sender().fetch(&call).await?;
        let id = xml::text(&body, "UploadId").filter(|id| !id.is_empty());
        let id = id.ok_or_else(|| bucket.sender().not_s3("an upload without an id"))?;
        let (bucket, key) = (bucket.clone(), key.to_owned());
        Ok(Self { bucket, key, id, tags: Vec::new(), is_complete: false })
    }

    async fn add(&mut self, part: Bytes) -> Result<(), S3Error> {
        let number = (self.tags.len() + 1).to_string();
        let pairs = [("partNumber", number.as_str()), ("uploadId", &self.id)];
        let call = Call::new(Method::PUT, self.bucket.path(&self.key), &pairs);
        let call = call.body(part).limit(self.bucket.sender().limits.part);
        let (head, _) = self.bucket.sender().fetch(&call).await?;
        let tag = tag(&head.headers);
        self.tags.push(tag.ok_or_else(|| self.bucket.sender().not_s3("a part without a tag"))?);
        Ok(())
    }

    async fn complete(mut self, size: u64) -> Result<(), S3Error> {
        let mut list = String::from("<CompleteMultipartUpload>");
        for (index, tag) in self.tags.iter().enumerate() {
            let (number, tag) = (index + 1, xml::escaped(tag));
            list += &format!("<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>");
        }
        list += "</CompleteMultipartUpload>";
        let call = Call::new(Method::POST, self.bucket.path(&self.key), &[("uploadId", &self.id)]);
        let sender = self.bucket.sender();
        match sender.fetch(&call.body(list).limit(sender.limits.completion)).await {
            Ok(_) => {}
            // An earlier attempt succeeded, and its response was lost.
            Err(error) if is_unknown(&error) => {
                if self.bucket.size(&self.key).await? != Some(size) {
                    return Err(error);
                }
            }
            Err(error) => return Err(error),
        }
        self.is_complete = true;
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if self.is_complete {
            return;
        }
        let (bucket, key, id) = (self.bucket.clone(), self.key.clone(), self.id.clone());
        // Ends by its deadlines. What it cannot abort, the next start does.
        runtime.spawn(async move {
            match bucket.abort(&key, &id).await {
                Ok(()) => debug!("Aborted an S3 upload"),
                Err(error) => warn!(%error, "Failed to abort an S3 upload; the next start does"),
            }
        });
    }
}

fn tag(headers: &HeaderMap) -> Option<String> {
    Some(headers.get(header::ETAG)?.to_str().ok()?.to_owned())
}
