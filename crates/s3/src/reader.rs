//! Reading an object.

use bytes::Bytes;
use http::{Method, StatusCode, header};
use http_body_util::BodyExt;
use tokio::time::timeout;
use tracing::debug;

use crate::{
    Bucket, S3Error,
    request::{Call, Opened},
};

/// How often a reader continues after a broken connection without having received anything.
const MAX_RESUMES: u32 = 3;

/// A part of an object that is being read. It continues after a broken connection.
pub struct ObjectReader {
    bucket: Bucket,
    key: String,
    /// The next byte.
    first: u64,
    left: u64,
    resumes: u32,
    opened: Option<Opened>,
}

impl ObjectReader {
    pub(crate) async fn open(
        bucket: Bucket,
        key: &str,
        first: u64,
        length: u64,
    ) -> Result<Self, S3Error> {
        let key = key.to_owned();
        let mut reader = Self { bucket, key, first, left: length, resumes: 0, opened: None };
        if length > 0 {
            reader.opened = Some(reader.get().await?);
        }
        Ok(reader)
    }

    /// The next piece; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, S3Error> {
        while self.left > 0 {
            let error = match self.piece().await {
                Ok(piece) => {
                    self.resumes = 0;
                    self.first += piece.len() as u64;
                    self.left -= piece.len() as u64;
                    return Ok(Some(piece));
                }
                Err(error) => error,
            };
            // Closes the connection.
            self.opened = None;
            self.resumes += 1;
            if self.resumes > MAX_RESUMES || !error.may_pass() {
                return Err(error);
            }
            debug!(%error, "Reading an S3 object is resumed");
            self.opened = Some(self.get().await?);
        }
        Ok(None)
    }

    /// A piece that is not empty, and not longer than what is left.
    async fn piece(&mut self) -> Result<Bytes, S3Error> {
        let sender = self.bucket.sender();
        let Some(opened) = &mut self.opened else { return Err(sender.not_s3("no response")) };
        loop {
            let limit = sender.limits.piece;
            let frame = timeout(limit, opened.body.frame()).await;
            let frame = frame.map_err(|_| sender.silent(limit))?;
            let Some(frame) = frame else {
                let source = std::io::ErrorKind::UnexpectedEof.into();
                let endpoint = sender.connector().endpoint();
                return Err(S3Error::Unreachable { endpoint, source });
            };
            let Ok(mut data) = frame.map_err(|error| sender.broken(error))?.into_data() else {
                continue;
            };
            data.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
            if !data.is_empty() {
                return Ok(data);
            }
        }
    }

    async fn get(&self) -> Result<Opened, S3Error> {
        let (sender, last) = (self.bucket.sender(), self.first + self.left - 1);
        let mut call = Call::new(Method::GET, self.bucket.path(&self.key), &[]);
        call.range = Some((self.first, last));
        let opened = sender.open(&call).await?;
        sender.expect(&opened.head, StatusCode::PARTIAL_CONTENT)?;
        let range = opened.head.headers.get(header::CONTENT_RANGE);
        let range = range.and_then(|it| it.to_str().ok()).unwrap_or_default();
        if !range.starts_with(&format!("bytes {}-{last}/", self.first)) {
            return Err(sender.not_s3(format!("range {range:?}")));
        }
        Ok(opened)
    }
}
