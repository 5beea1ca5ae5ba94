//! Deletes the artifacts that packs made of a caller's screen.

use super::{Artifacts, BATCH};
use crate::{Store, StoreError};

impl Artifacts {
    /// Deletes the artifacts of an owner that jobs of this pack made, except of those under way. Returns how many.
    pub async fn erase_made_by(&self, owner: &str, pack: &str) -> Result<u64, StoreError> {
        let mut erased = 0_u64;
        loop {
            let _changing = self.inner.changing.lock().await;
            let removed = self.inner.store.remove_artifacts_made_by(owner, pack, BATCH).await?;
            for sha256 in &removed {
                self.try_remove_unused(sha256).await;
            }
            erased = erased.saturating_add(u64::try_from(removed.len()).unwrap_or(u64::MAX));
            if removed.len() < BATCH as usize {
                return Ok(erased);
            }
        }
    }
}

impl Store {
    /// Deletes some of them, and returns the names of their contents.
    async fn remove_artifacts_made_by(
        &self,
        owner: &str,
        pack: &str,
        most: u32,
    ) -> Result<Vec<String>, StoreError> {
        let removed = sqlx::query_scalar(
            "DELETE FROM artifact WHERE number IN (
                 SELECT number FROM artifact
                 WHERE owner = ?1 AND namespace = ?2 AND job_id IS NOT NULL AND NOT EXISTS (
                     SELECT 1 FROM job WHERE job.id = artifact.job_id AND job.state = 'working')
                 LIMIT ?3)
             RETURNING sha256",
        );
        Ok(removed.bind(owner).bind(pack).bind(most).fetch_all(&self.pool).await?)
    }
}
