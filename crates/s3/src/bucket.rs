//! One bucket, and what can be done with its objects.

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, header};
use secrecy::SecretString;
use tokio::sync::Semaphore;
use tokio_rustls::rustls::ClientConfig;

use crate::{
    Addressing, Endpoint, ObjectReader, RequestDeadlines, S3Error,
    address::{BucketAddress, is_bucket, is_key},
    connection::Connector,
    request::{Call, Sender},
    sign::Signer,
    xml,
};

/// How many parts are in memory at once, of all uploads.
const PARTS_IN_MEMORY: usize = 2;

/// A bucket, and how to reach it.
#[derive(Debug, Clone)]
pub struct BucketSettings {
    /// The service.
    pub endpoint: Endpoint,
    /// Its region.
    pub region: String,
    /// The bucket.
    pub bucket: String,
    /// Begins the key of every object; empty, or segments that are separated by `/`.
    pub prefix: String,
    /// Where requests name the bucket.
    pub addressing: Addressing,
    /// Id of the key.
    pub access_key: String,
    /// The key that signs requests.
    pub secret_key: SecretString,
    /// How long requests may take.
    pub limits: RequestDeadlines,
}

/// A cheap handle to a bucket. Keys do not include the prefix.
#[derive(Clone)]
pub struct Bucket {
    inner: Arc<Inner>,
}

struct Inner {
    sender: Sender,
    /// Empty, or ends with `/`.
    prefix: String,
    /// Where the objects are, for people.
    place: String,
    parts: Semaphore,
}

/// Some keys of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The keys.
    pub keys: Vec<String>,
    /// Continues the list; `None` on the last page.
    pub next: Option<String>,
}

impl Bucket {
    /// A bucket. `tls` is used if the endpoint is encrypted. Nothing is sent.
    pub fn new(settings: BucketSettings, tls: Arc<ClientConfig>) -> Result<Self, S3Error> {
        let BucketSettings { endpoint, region, bucket, prefix, addressing, .. } = settings;
        let prefix = prefix.trim_matches('/');
        if !is_bucket(&bucket) {
            return Err(S3Error::Settings("HELMDECK_S3_BUCKET is not the name of a bucket"));
        }
        if !prefix.is_empty() && !is_key(prefix) {
            return Err(S3Error::Settings(
                "HELMDECK_S3_PREFIX has other characters than letters, digits, `-`, `_`, `.`, `/`",
            ));
        }
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        let place = format!("{bucket}/{prefix} at {endpoint}");
        let address = BucketAddress::new(&endpoint, &bucket, addressing);
        let tls = endpoint.secure.then_some(tls);
        let connector = Connector::new(address, endpoint.to_string(), tls);
        let signer = Signer::new(settings.access_key, settings.secret_key, region);
        let sender = Sender::new(connector, signer, bucket, settings.limits);
        let parts = Semaphore::new(PARTS_IN_MEMORY);
        Ok(Self { inner: Arc::new(Inner { sender, prefix, place, parts }) })
    }

    /// Bucket, prefix and service, for people.
    pub fn place(&self) -> &str {
        &self.inner.place
    }

    /// Whether the bucket exists and can be listed.
    pub async fn check(&self) -> Result<(), S3Error> {
        let pairs = [("list-type", "2"), ("max-keys", "1"), ("prefix", &self.inner.prefix)];
        self.sender().fetch(&Call::new(Method::GET, self.bucket_path(), &pairs)).await?;
        Ok(())
    }

    /// Stores a small object. Replaces one with the same key.
    pub async fn put(&self, key: &str, content: impl Into<Bytes>) -> Result<(), S3Error> {
        let call = Call::new(Method::PUT, self.path(key), &[]).body(content);
        self.sender().fetch(&call.limit(self.sender().limits.part)).await?;
        Ok(())
    }

    /// Reads a part of an object, which must have that part.
    pub async fn get(&self, key: &str, first: u64, length: u64) -> Result<ObjectReader, S3Error> {
        ObjectReader::open(self.clone(), key, first, length).await
    }

    /// A small object as text; `None` if it does not exist.
    pub async fn get_text(&self, key: &str) -> Result<Option<String>, S3Error> {
        match self.sender().fetch(&Call::new(Method::GET, self.path(key), &[])).await {
            Ok((_, text)) => Ok(Some(text)),
            Err(S3Error::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The size of an object; `None` if it does not exist.
    pub async fn size(&self, key: &str) -> Result<Option<u64>, S3Error> {
        match self.sender().fetch(&Call::new(Method::HEAD, self.path(key), &[])).await {
            Ok((head, _)) => {
                let length = head.headers.get(header::CONTENT_LENGTH);
                let length = length.and_then(|it| it.to_str().ok()?.parse().ok());
                length.map(Some).ok_or_else(|| self.sender().not_s3("an object without a size"))
            }
            Err(S3Error::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Deletes an object. Succeeds if it does not exist.
    pub async fn delete(&self, key: &str) -> Result<(), S3Error> {
        let call = Call::new(Method::DELETE, self.path(key), &[]);
        let call = call.limit(self.sender().limits.deletion);
        match self.sender().fetch(&Call { attempts: 2, ..call }).await {
            Ok(_) | Err(S3Error::NotFound) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Keys of objects, at most a thousand. Continues at `after`, if given.
    pub async fn list(&self, after: Option<&str>) -> Result<Page, S3Error> {
        let mut pairs = vec![("list-type", "2"), ("prefix", self.inner.prefix.as_str())];
        pairs.extend(after.map(|token| ("continuation-token", token)));
        let call = Call::new(Method::GET, self.bucket_path(), &pairs);
        let (_, body) = self.sender().fetch(&call).await?;
        if xml::all(&body, "ListBucketResult").is_empty() {
            return Err(self.sender().not_s3("not a list of objects"));
        }
        let keys = xml::all(&body, "Contents").into_iter();
        let keys = keys.filter_map(|it| xml::text(it, "Key"));
        let keys = keys.filter_map(|key| key.strip_prefix(&self.inner.prefix).map(str::to_owned));
        let more = xml::text(&body, "IsTruncated").is_some_and(|it| it == "true");
        let next = xml::text(&body, "NextContinuationToken").filter(|_| more);
        Ok(Page { keys: keys.collect(), next })
    }

    pub(crate) fn sender(&self) -> &Sender {
        &self.inner.sender
    }

    /// Limits parts in memory.
    pub(crate) fn parts(&self) -> &Semaphore {
        &self.inner.parts
    }

    pub(crate) fn prefix(&self) -> &str {
        &self.inner.prefix
    }

    /// The path of an object.
    pub(crate) fn path(&self, key: &str) -> String {
        self.sender().connector().address().object(&format!("{}{key}", self.inner.prefix))
    }

    pub(crate) fn bucket_path(&self) -> String {
        self.sender().connector().address().bucket().to_owned()
    }
}
