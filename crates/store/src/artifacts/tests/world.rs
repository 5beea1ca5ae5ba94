//! Artifacts of a test, in a directory or in a bucket of a fake service.

use std::sync::atomic::{AtomicI64, Ordering};

use helmdeck_s3::{Addressing, BucketSettings, Endpoint, RequestDeadlines};
use helmdeck_testkit::FakeS3;
use tempfile::TempDir;

use super::*;

/// Where content is.
#[derive(Clone, Copy)]
pub enum Place {
    Disk,
    Bucket,
}

pub struct World {
    pub artifacts: Artifacts,
    pub seconds: Arc<AtomicI64>,
    pub dir: TempDir,
    pub service: Option<FakeS3>,
}

pub fn rules(quota: Option<u64>, seconds: &Arc<AtomicI64>) -> ArtifactRules {
    let seconds = seconds.clone();
    ArtifactRules {
        ttl: Some(Duration::hours(2)),
        quota,
        link_secret: b"secret".to_vec(),
        now: Box::new(move || {
            OffsetDateTime::UNIX_EPOCH
                + Duration::days(9000)
                + Duration::seconds(seconds.load(Ordering::Relaxed))
        }),
    }
}

/// The bucket of a service.
pub fn bucket(service: &FakeS3) -> Bucket {
    let settings = BucketSettings {
        endpoint: Endpoint::parse(&service.endpoint(), true).unwrap(),
        region: FakeS3::REGION.into(),
        bucket: FakeS3::BUCKET.into(),
        prefix: "desk".into(),
        addressing: Addressing::Path,
        access_key: FakeS3::ACCESS_KEY.into(),
        secret_key: FakeS3::SECRET_KEY.into(),
        limits: RequestDeadlines::default(),
    };
    Bucket::new(settings, helmdeck_tls::client_config().unwrap()).unwrap()
}

impl World {
    pub async fn new(place: Place, quota: Option<u64>) -> Self {
        let (dir, seconds) = (tempfile::tempdir().unwrap(), Arc::default());
        let service = match place {
            Place::Disk => None,
            Place::Bucket => Some(FakeS3::start().await),
        };
        Self::open(dir, service, seconds, quota).await
    }

    async fn open(
        dir: TempDir,
        service: Option<FakeS3>,
        seconds: Arc<AtomicI64>,
        quota: Option<u64>,
    ) -> Self {
        let store = Store::open(dir.path()).await.unwrap();
        let (rules, content) = (rules(quota, &seconds), dir.path().join("artifacts"));
        let artifacts = match &service {
            None => Artifacts::open(store, content, rules).await,
            Some(service) => {
                Artifacts::open_in_bucket(store, bucket(service), content, rules).await.unwrap()
            }
        };
        Self { artifacts, seconds, dir, service }
    }

    /// The next server on the same directory.
    pub async fn restart(self) -> Self {
        let service = self.service;
        Self { service: None, ..self }.restart_in(service).await
    }

    /// The next server on the same directory, with another place for content.
    pub async fn restart_in(self, service: Option<FakeS3>) -> Self {
        self.artifacts.inner.store.close().await;
        Self::open(self.dir, service, self.seconds, self.artifacts.inner.rules.quota).await
    }

    pub async fn put(&self, owner: &str, name: &str, content: &'static str) -> Artifact {
        self.try_put(owner, name, content).await.unwrap()
    }

    pub async fn try_put(
        &self,
        owner: &str,
        name: &str,
        content: &'static str,
    ) -> Result<Artifact, StoreError> {
        self.artifacts.put(owner, new(name), Bytes::from_static(content.as_bytes())).await
    }

    /// Stores content without an artifact, as a crash leaves it.
    pub fn put_orphan(&self, sha256: &str) {
        let (dir, name) = (&sha256[..2], format!("{}/{sha256}", &sha256[..2]));
        let content = self.dir.path().join("artifacts");
        match &self.service {
            Some(service) => service.put(&format!("desk/{name}"), "x"),
            None => {
                std::fs::create_dir_all(content.join(dir)).unwrap();
                std::fs::write(content.join(name), "x").unwrap();
            }
        }
    }

    /// Names of content on disk and in the bucket, and of unfinished files.
    pub fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut look_in = vec![self.dir.path().join("artifacts")];
        while let Some(dir) = look_in.pop() {
            for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
                match entry.path().is_dir() {
                    true => look_in.push(entry.path()),
                    false => found.push(entry.file_name().into_string().unwrap()),
                }
            }
        }
        for key in self.service.iter().flat_map(FakeS3::keys) {
            let name = key.rsplit('/').next().unwrap();
            found.extend(Some(name.to_owned()).filter(|name| name != "helmdeck-owner"));
        }
        found.sort();
        found
    }
}
