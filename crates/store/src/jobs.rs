//! Jobs: calls of packs and their results.

use helmdeck_wire::{
    ErrorBody, SessionId,
    job::{Job, JobArtifact, JobId, JobState},
};
use serde_json::Value;
use sqlx::{Executor, QueryBuilder, Row, Sqlite, sqlite::SqliteRow};
use time::OffsetDateTime;

use crate::{NewDelivery, Store, StoreError, moment, webhooks};

/// A job as it is stored.
#[derive(Debug, Clone)]
pub struct StoredJob {
    /// Its id.
    pub id: JobId,
    /// Subject of the caller.
    pub owner: String,
    /// The caller, as JSON.
    pub caller: String,
    /// The pack.
    pub pack: String,
    /// The pack's version.
    pub version: u32,
    /// The checked input.
    pub input: Value,
    /// Its state.
    pub state: JobState,
    /// Progress in percent.
    pub progress: u8,
    /// What it does now, or did last.
    pub message: Option<String>,
    /// The pack's output.
    pub output: Option<Value>,
    /// Files that it created.
    pub artifacts: Vec<JobArtifact>,
    /// Why it failed.
    pub error: Option<ErrorBody>,
    /// The session that it works in.
    pub session_id: Option<SessionId>,
    /// A session that ends with it.
    pub own_session_id: Option<SessionId>,
    /// The caller's key for this call.
    pub idempotency_key: Option<String>,
    /// How often it began.
    pub attempts: u32,
    /// When it was submitted.
    pub created_at: OffsetDateTime,
    /// When it began.
    pub started_at: Option<OffsetDateTime>,
    /// When it ended.
    pub ended_at: Option<OffsetDateTime>,
}

/// Which jobs to list.
#[derive(Debug, Clone, Default)]
pub struct JobFilter {
    /// Jobs of this owner only.
    pub owner: Option<String>,
    /// Jobs in this state only.
    pub state: Option<JobState>,
    /// Jobs of this pack only.
    pub pack: Option<String>,
    /// Jobs older than this one.
    pub before: Option<JobId>,
    /// How many at most.
    pub limit: u32,
}

impl StoredJob {
    /// The job as clients see it, at this time.
    pub fn view(&self, now: OffsetDateTime) -> Job {
        let ran = self.started_at.map(|from| self.ended_at.unwrap_or(now) - from);
        let duration_ms = ran.map_or(0, |ran| ran.whole_milliseconds().max(0));
        Job {
            job_id: self.id.clone(),
            pack: self.pack.clone(),
            version: format!("v{}", self.version),
            state: self.state,
            progress: self.progress,
            message: self.message.clone(),
            output: self.output.clone(),
            artifacts: self.artifacts.clone(),
            error: self.error.clone(),
            duration_ms: u64::try_from(duration_ms).unwrap_or(u64::MAX),
            cached: false,
            age_s: None,
            session_id: self.session_id.clone(),
            next_session_id: self.session_id.clone(),
            created_at: self.created_at,
            started_at: self.started_at,
            ended_at: self.ended_at,
        }
    }
}

impl Store {
    /// Adds a job and its webhook. Returns the existing job, and adds nothing, if the owner has used
    /// its idempotency key before.
    pub async fn add_job(
        &self,
        job: &StoredJob,
        webhook: Option<&NewDelivery>,
    ) -> Result<Option<StoredJob>, StoreError> {
        let added = match webhook {
            // One statement is a transaction.
            None => insert(&self.pool, job).await?,
            Some(webhook) => {
                let mut work = self.pool.begin().await?;
                let added = insert(&mut *work, job).await?;
                if added {
                    webhooks::add(&mut work, job, webhook).await?;
                    work.commit().await?;
                }
                added
            }
        };
        if added {
            return Ok(None);
        }
        let row = sqlx::query("SELECT * FROM job WHERE owner = ? AND idempotency_key = ?")
            .bind(&job.owner)
            .bind(&job.idempotency_key)
            .fetch_optional(&self.pool)
            .await?;
        row.map(|row| read(&row)).transpose()
    }

    /// Saves everything about a job that changes, except that its webhook is due.
    pub async fn save_job(&self, job: &StoredJob) -> Result<(), StoreError> {
        update(&self.pool, job).await
    }

    /// Saves a job that has ended, and makes its webhook due. Returns whether it has one.
    pub async fn end_job(&self, job: &StoredJob) -> Result<bool, StoreError> {
        let mut work = self.pool.begin().await?;
        update(&mut *work, job).await?;
        let due = webhooks::job_ended(&mut work, job).await?;
        work.commit().await?;
        Ok(due)
    }

    /// A job.
    pub async fn job(&self, id: &JobId) -> Result<Option<StoredJob>, StoreError> {
        let row = sqlx::query("SELECT * FROM job WHERE id = ?")
            .bind(id.as_str())
            .fetch_optional(&self.pool)
            .await?;
        row.map(|row| read(&row)).transpose()
    }

    /// The newest job that completed after a time, with the caller, pack, version and input of this one.
    pub async fn earlier_job(
        &self,
        like: &StoredJob,
        since: OffsetDateTime,
    ) -> Result<Option<StoredJob>, StoreError> {
        let row = sqlx::query(
            "SELECT * FROM job WHERE owner = ? AND caller = ? AND pack = ? AND version = ? AND input = ?
                 AND state = 'completed' AND ended_at >= ? ORDER BY ended_at DESC LIMIT 1",
        )
        .bind(&like.owner)
        .bind(&like.caller)
        .bind(&like.pack)
        .bind(like.version)
        .bind(like.input.to_string())
        .bind(moment::write("ended_at", since)?)
        .fetch_optional(&self.pool)
        .await?;
        row.map(|row| read(&row)).transpose()
    }

    /// Jobs, newest first, without inputs and outputs, which may be large.
    pub async fn jobs(&self, filter: &JobFilter) -> Result<Vec<StoredJob>, StoreError> {
        let mut query = QueryBuilder::new("SELECT ");
        query.push(LISTED).push(" FROM job WHERE 1");
        if let Some(owner) = &filter.owner {
            query.push(" AND owner = ").push_bind(owner);
        }
        if let Some(state) = filter.state {
            query.push(" AND state = ").push_bind(state.as_str());
        }
        if let Some(pack) = &filter.pack {
            query.push(" AND pack = ").push_bind(pack);
        }
        if let Some(before) = &filter.before {
            query.push(" AND (created_at, id) < (SELECT created_at, id FROM job WHERE id = ");
            query.push_bind(before.as_str()).push(")");
        }
        query.push(" ORDER BY created_at DESC, id DESC LIMIT ").push_bind(filter.limit);
        let rows = query.build().fetch_all(&self.pool).await?;
        rows.iter().map(read).collect()
    }

    /// Deletes jobs that ended before this time, with their deliveries. A job whose webhook was not
    /// delivered stays until it ended before `undelivered`.
    pub async fn forget_jobs(
        &self,
        before: OffsetDateTime,
        undelivered: OffsetDateTime,
    ) -> Result<(), StoreError> {
        sqlx::query(
            "DELETE FROM job WHERE ended_at < ?1 AND (ended_at < ?2 OR NOT EXISTS (
                 SELECT 1 FROM delivery WHERE job_id = job.id AND delivery.state != 'delivered'))",
        )
        .bind(moment::write("ended_at", before)?)
        .bind(moment::write("ended_at", undelivered)?)
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Deletes the jobs of a caller that have ended, with their inputs, outputs and deliveries. Returns
    /// how many there were.
    pub async fn erase_jobs(&self, owner: &str) -> Result<u64, StoreError> {
        let erased = sqlx::query("DELETE FROM job WHERE owner = ? AND state != 'working'")
            .bind(owner)
            .execute(&self.pool)
            .await?;
        Ok(erased.rows_affected())
    }

    /// The session behind a workspace of `owner`.
    pub async fn workspace(
        &self,
        owner: &str,
        name: &str,
    ) -> Result<Option<SessionId>, StoreError> {
        let row = sqlx::query("SELECT session_id FROM workspace WHERE owner = ? AND name = ?")
            .bind(owner)
            .bind(name)
            .fetch_optional(&self.pool)
            .await?;
        Ok(row.map(|row| SessionId::new(row.get::<String, _>("session_id"))))
    }

    /// The sessions behind all workspaces.
    pub async fn workspace_sessions(&self) -> Result<Vec<SessionId>, StoreError> {
        let ids: Vec<String> = sqlx::query_scalar("SELECT DISTINCT session_id FROM workspace")
            .fetch_all(&self.pool)
            .await?;
        Ok(ids.into_iter().map(SessionId::new).collect())
    }

    /// Removes the workspaces of a session that has ended.
    pub async fn forget_workspaces(&self, session: &SessionId) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM workspace WHERE session_id = ?")
            .bind(session.as_str())
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Sets the session behind a workspace of `owner`.
    pub async fn set_workspace(
        &self,
        owner: &str,
        name: &str,
        session: &SessionId,
    ) -> Result<(), StoreError> {
        sqlx::query("INSERT OR REPLACE INTO workspace VALUES (?, ?, ?)")
            .bind(owner)
            .bind(name)
            .bind(session.as_str())
            .execute(&self.pool)
            .await?;
        Ok(())
    }
}

/// The columns of a list.
const LISTED: &str = "id, owner, caller, pack, version, 'null' AS input, state, progress, message, \
    NULL AS output, artifacts, error, session_id, own_session_id, idempotency_key, attempts, \
    created_at, started_at, ended_at";

/// Adds the row of a job. `false` if the owner has used its idempotency key before.
async fn insert(
    connection: impl Executor<'_, Database = Sqlite>,
    job: &StoredJob,
) -> Result<bool, StoreError> {
    let added = sqlx::query(
        "INSERT INTO job (id, owner, caller, pack, version, input, state, progress,
                          idempotency_key, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?) ON CONFLICT DO NOTHING",
    )
    .bind(job.id.as_str())
    .bind(&job.owner)
    .bind(&job.caller)
    .bind(&job.pack)
    .bind(job.version)
    .bind(job.input.to_string())
    .bind(job.state.as_str())
    .bind(&job.idempotency_key)
    .bind(moment::write("created_at", job.created_at)?)
    .execute(connection)
    .await?;
    Ok(added.rows_affected() > 0)
}

/// Saves what changes of a job.
async fn update(
    connection: impl Executor<'_, Database = Sqlite>,
    job: &StoredJob,
) -> Result<(), StoreError> {
    let at = |field, at: Option<OffsetDateTime>| at.map(|at| moment::write(field, at));
    sqlx::query(
        "UPDATE job SET state = ?, progress = ?, message = ?, output = ?, artifacts = ?,
             error = ?, session_id = ?, own_session_id = ?, attempts = ?, started_at = ?,
             ended_at = ?
         WHERE id = ?",
    )
    .bind(job.state.as_str())
    .bind(job.progress)
    .bind(&job.message)
    .bind(job.output.as_ref().map(Value::to_string))
    .bind(json(&job.artifacts))
    .bind(job.error.as_ref().map(json))
    .bind(job.session_id.as_ref().map(SessionId::as_str))
    .bind(job.own_session_id.as_ref().map(SessionId::as_str))
    .bind(job.attempts)
    .bind(at("started_at", job.started_at).transpose()?)
    .bind(at("ended_at", job.ended_at).transpose()?)
    .bind(job.id.as_str())
    .execute(connection)
    .await?;
    Ok(())
}

fn json(value: &impl serde::Serialize) -> String {
    // Types of ours are always valid JSON.
    serde_json::to_string(value).unwrap_or_default()
}

fn read(row: &SqliteRow) -> Result<StoredJob, StoreError> {
    let text = |column: &str| row.get::<Option<String>, _>(column);
    let at = |column: &'static str| text(column).map(|it| moment::read(column, it)).transpose();
    let state: String = row.get("state");
    let input: String = row.get("input");
    Ok(StoredJob {
        id: JobId::new(row.get::<String, _>("id")),
        owner: row.get("owner"),
        caller: row.get("caller"),
        pack: row.get("pack"),
        version: row.get("version"),
        input: parse("input", input)?,
        state: JobState::named(&state)
            .ok_or(StoreError::Nonsense { field: "state", value: state })?,
        progress: row.get("progress"),
        message: text("message"),
        output: text("output").map(|it| parse("output", it)).transpose()?,
        artifacts: text("artifacts").map_or(Ok(Vec::new()), |it| parse("artifacts", it))?,
        error: text("error").map(|it| parse("error", it)).transpose()?,
        session_id: text("session_id").map(SessionId::new),
        own_session_id: text("own_session_id").map(SessionId::new),
        idempotency_key: text("idempotency_key"),
        attempts: row.get("attempts"),
        created_at: moment::read("created_at", row.get("created_at"))?,
        started_at: at("started_at")?,
        ended_at: at("ended_at")?,
    })
}

fn parse<T: serde::de::DeserializeOwned>(
    field: &'static str,
    text: String,
) -> Result<T, StoreError> {
    serde_json::from_str(&text).map_err(|_| StoreError::Nonsense { field, value: text })
}

#[cfg(test)]
mod tests;
