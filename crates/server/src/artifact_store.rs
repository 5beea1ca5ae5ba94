//! Where artifacts are stored: in the data directory, or in a bucket of an S3 service.

use helmdeck_s3::Bucket;
use helmdeck_sessions::Clock;
use helmdeck_store::{ArtifactRules, Artifacts, Store, StoreError};

use crate::{Config, ServerError, token::Signer};

/// Opens the artifacts. Fails if a bucket is configured that cannot be used.
pub(crate) async fn open(
    config: &Config,
    signer: &Signer,
    store: Store,
    clock: Clock,
) -> Result<Artifacts, ServerError> {
    let rules = ArtifactRules {
        ttl: config.artifacts.ttl.and_then(|ttl| ttl.try_into().ok()),
        quota: config.artifacts.quota.map(|quota| quota.0),
        link_secret: signer.derive("artifact links")?,
        now: Box::new(move || clock.now_utc()),
    };
    let dir = config.data_dir.join("artifacts");
    match bucket(config)? {
        Some(bucket) => Ok(Artifacts::open_in_bucket(store, bucket, dir, rules).await?),
        None => Ok(Artifacts::open(store, dir, rules).await),
    }
}

/// Checks the bucket, if one is configured, and returns where it is. Changes nothing.
pub async fn check(config: &Config) -> Result<Option<String>, ServerError> {
    let Some(bucket) = bucket(config)? else { return Ok(None) };
    bucket.check().await.map_err(StoreError::ArtifactBucket)?;
    Ok(Some(bucket.place().to_owned()))
}

fn bucket(config: &Config) -> Result<Option<Bucket>, ServerError> {
    let Some(settings) = config.s3.bucket_settings()? else { return Ok(None) };
    let tls = helmdeck_tls::client_config().map_err(ServerError::HttpClient)?;
    Ok(Some(Bucket::new(settings, tls).map_err(StoreError::ArtifactBucket)?))
}
