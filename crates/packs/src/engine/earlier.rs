//! Earlier results, in place of a new call, for callers that accept one.

use std::sync::Arc;

use helmdeck_sessions::Caller;
use helmdeck_store::StoredJob;
use helmdeck_wire::{artifact::ArtifactKey, job::Job};
use time::{Duration, OffsetDateTime};

use super::Engine;
use crate::{Pack, PackError, PackResult};

impl Engine {
    /// The newest result of the same caller, pack, version and input, if it is not too old and its
    /// files still exist. The caller is the token, not the subject alone: other tokens may have other
    /// credentials.
    pub(super) async fn earlier(
        &self,
        caller: &Caller,
        pack: &Arc<Pack>,
        job: &StoredJob,
        max_age_s: u32,
    ) -> PackResult<Option<Job>> {
        if !pack.may_reuse(&job.input) {
            let message =
                "max_age_s: this call is never answered with an earlier result: leave it out";
            return Err(PackError::invalid("max_age_s", message));
        }
        if max_age_s == 0 {
            return Ok(None);
        }
        let services = &self.shared.services;
        let since = job.created_at - Duration::seconds(max_age_s.into());
        let Some(found) = services.store.earlier_job(job, since).await? else { return Ok(None) };
        for artifact in &found.artifacts {
            let Some(key) = ArtifactKey::parse(&artifact.key) else { return Ok(None) };
            if services.artifacts.show(caller, &key).await.is_err() {
                return Ok(None);
            }
        }
        let now = OffsetDateTime::now_utc();
        let age = found.ended_at.map_or(Duration::ZERO, |ended| now - ended);
        let age_s = u64::try_from(age.whole_seconds()).unwrap_or_default();
        Ok(Some(Job { cached: true, age_s: Some(age_s), ..found.view(now) }))
    }
}
