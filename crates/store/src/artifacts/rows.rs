//! The index of artifacts in the database.

use helmdeck_wire::artifact::{Artifact, ArtifactKey};
use sqlx::{Row, sqlite::SqliteRow};
use time::OffsetDateTime;

use super::ArtifactFilter;
use crate::{Store, StoreError, moment};

impl Store {
    /// Adds an artifact, unless its owner would have more than `quota` bytes. Tells whether it did.
    pub(super) async fn add_artifact(
        &self,
        artifact: &Artifact,
        quota: Option<u64>,
    ) -> Result<bool, StoreError> {
        let expires_at =
            artifact.expires_at.map(|at| moment::write("expires_at", at)).transpose()?;
        // A single statement, so that two uploads cannot both take the last bytes.
        let added = sqlx::query(
            "INSERT INTO artifact (key, sha256, size, content_type, filename, namespace, owner,
                                   job_id, created_at, expires_at)
             SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
             WHERE ?11 IS NULL
                OR (SELECT coalesce(sum(size), 0) FROM artifact WHERE owner = ?7) + ?3 <= ?11",
        )
        .bind(artifact.key.as_str())
        .bind(&artifact.sha256)
        .bind(signed(artifact.size))
        .bind(&artifact.content_type)
        .bind(&artifact.filename)
        .bind(&artifact.pack)
        .bind(&artifact.owner)
        .bind(&artifact.job_id)
        .bind(moment::write("created_at", artifact.created_at)?)
        .bind(expires_at)
        .bind(quota.map(signed))
        .execute(&self.pool)
        .await?;
        Ok(added.rows_affected() > 0)
    }

    /// An artifact that has not expired; with `owner`, only if it is that owner's.
    pub(super) async fn artifact(
        &self,
        key: &ArtifactKey,
        owner: Option<&str>,
        now: OffsetDateTime,
    ) -> Result<Option<Artifact>, StoreError> {
        let row = sqlx::query(
            "SELECT * FROM artifact WHERE key = ?1 AND (?2 IS NULL OR owner = ?2)
             AND (expires_at IS NULL OR expires_at > ?3)",
        )
        .bind(key.as_str())
        .bind(owner)
        .bind(moment::write("expires_at", now)?)
        .fetch_optional(&self.pool)
        .await?;
        row.as_ref().map(read).transpose()
    }

    /// Artifacts that have not expired, newest first, each with its number.
    pub(super) async fn artifacts(
        &self,
        owner: Option<&str>,
        filter: &ArtifactFilter,
        now: OffsetDateTime,
    ) -> Result<Vec<(u64, Artifact)>, StoreError> {
        let rows = sqlx::query(
            "SELECT * FROM artifact
             WHERE (?1 IS NULL OR owner = ?1)
               AND (?2 IS NULL OR namespace = ?2)
               AND (?3 IS NULL OR instr(lower(filename), lower(?3)) > 0)
               AND (?4 IS NULL OR substr(content_type, 1, length(?4)) = ?4)
               AND (?5 IS NULL OR job_id = ?5)
               AND (?6 IS NULL OR number < ?6)
               AND (expires_at IS NULL OR expires_at > ?7)
             ORDER BY number DESC LIMIT ?8",
        )
        .bind(owner)
        .bind(&filter.namespace)
        .bind(&filter.name)
        .bind(&filter.content_type)
        .bind(&filter.job)
        .bind(filter.before.map(signed))
        .bind(moment::write("expires_at", now)?)
        .bind(filter.limit)
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(|row| Ok((unsigned(row.try_get("number")?), read(row)?))).collect()
    }

    /// Bytes of an owner's artifacts, including expired ones that are not deleted yet.
    pub(super) async fn artifact_bytes(&self, owner: &str) -> Result<u64, StoreError> {
        let sum = sqlx::query_scalar("SELECT coalesce(sum(size), 0) FROM artifact WHERE owner = ?")
            .bind(owner)
            .fetch_one(&self.pool)
            .await?;
        Ok(unsigned(sum))
    }

    /// Deletes an artifact, and returns the name of its content.
    pub(super) async fn remove_artifact(
        &self,
        key: &ArtifactKey,
        owner: Option<&str>,
    ) -> Result<Option<String>, StoreError> {
        let removed = sqlx::query_scalar(
            "DELETE FROM artifact WHERE key = ?1 AND (?2 IS NULL OR owner = ?2) RETURNING sha256",
        );
        Ok(removed.bind(key.as_str()).bind(owner).fetch_optional(&self.pool).await?)
    }

    /// Deletes some expired artifacts, and returns how many.
    pub(super) async fn remove_expired_artifacts(
        &self,
        now: OffsetDateTime,
        most: u32,
    ) -> Result<u64, StoreError> {
        let removed = sqlx::query(
            "DELETE FROM artifact WHERE number IN (
                 SELECT number FROM artifact WHERE expires_at <= ? LIMIT ?)",
        );
        let removed = removed.bind(moment::write("expires_at", now)?).bind(most);
        Ok(removed.execute(&self.pool).await?.rows_affected())
    }

    /// Whether an artifact has this content.
    pub(super) async fn has_content(&self, sha256: &str) -> Result<bool, StoreError> {
        let found = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM artifact WHERE sha256 = ?)")
            .bind(sha256)
            .fetch_one(&self.pool)
            .await?;
        Ok(found)
    }
}

fn read(row: &SqliteRow) -> Result<Artifact, StoreError> {
    let key: String = row.try_get("key")?;
    let key = ArtifactKey::parse(&key).ok_or(StoreError::Nonsense { field: "key", value: key })?;
    let expires_at: Option<String> = row.try_get("expires_at")?;
    Ok(Artifact {
        url: key.download_path(),
        key,
        filename: row.try_get("filename")?,
        size: unsigned(row.try_get("size")?),
        content_type: row.try_get("content_type")?,
        sha256: row.try_get("sha256")?,
        pack: row.try_get("namespace")?,
        job_id: row.try_get("job_id")?,
        owner: row.try_get("owner")?,
        created_at: moment::read("created_at", row.try_get("created_at")?)?,
        expires_at: expires_at.map(|at| moment::read("expires_at", at)).transpose()?,
    })
}

/// SQLite's integers are signed.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
