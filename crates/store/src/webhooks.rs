//! Deliveries of webhooks.
//!
//! A delivery is added with its job and becomes due in the transaction that ends the job, so that no
//! crash can come between the two.

use helmdeck_wire::{
    job::JobId,
    webhook::{Delivery, DeliveryId, DeliveryState},
};
use sqlx::{QueryBuilder, Row, SqliteConnection, sqlite::SqliteRow};
use time::OffsetDateTime;

use crate::{Store, StoreError, StoredJob, moment};

/// A webhook of a new job.
#[derive(Debug, Clone)]
pub struct NewDelivery {
    /// Its id.
    pub id: DeliveryId,
    /// Where to send it.
    pub url: String,
    /// The secret that signs it.
    pub secret: Option<SealedSecret>,
}

/// A secret that only the vault can open.
#[derive(Debug, Clone)]
pub struct SealedSecret {
    /// The sealed bytes.
    pub(crate) bytes: Vec<u8>,
    /// Version of the vault's key.
    pub(crate) key_version: u32,
}

/// A delivery as it is stored.
#[derive(Debug, Clone)]
pub struct StoredDelivery {
    /// The delivery as clients see it.
    pub delivery: Delivery,
    /// Subject of the caller.
    pub owner: String,
    /// The secret that signs it.
    pub secret: Option<SealedSecret>,
}

/// Which deliveries to list.
#[derive(Debug, Clone, Default)]
pub struct DeliveryFilter {
    /// Deliveries of this owner only.
    pub owner: Option<String>,
    /// Deliveries in this state only.
    pub state: Option<DeliveryState>,
    /// Deliveries of this job only.
    pub job: Option<JobId>,
    /// Deliveries older than this one.
    pub before: Option<DeliveryId>,
    /// How many at most.
    pub limit: u32,
}

const SELECT: &str = "SELECT delivery.*, job.pack FROM delivery JOIN job ON job.id = job_id";

impl Store {
    /// Deliveries, newest first.
    pub async fn deliveries(
        &self,
        filter: &DeliveryFilter,
    ) -> Result<Vec<StoredDelivery>, StoreError> {
        let mut query = QueryBuilder::new(SELECT);
        query.push(" WHERE 1");
        if let Some(owner) = &filter.owner {
            query.push(" AND delivery.owner = ").push_bind(owner);
        }
        if let Some(state) = filter.state {
            query.push(" AND delivery.state = ").push_bind(state.as_str());
        }
        if let Some(job) = &filter.job {
            query.push(" AND job_id = ").push_bind(job.as_str());
        }
        if let Some(before) = &filter.before {
            query.push(
                " AND (delivery.created_at, delivery.id) < \
                 (SELECT created_at, id FROM delivery WHERE id = ",
            );
            query.push_bind(before.as_str()).push(")");
        }
        query.push(" ORDER BY delivery.created_at DESC, delivery.id DESC LIMIT ");
        let rows = query.push_bind(filter.limit).build().fetch_all(&self.pool).await?;
        rows.iter().map(read).collect()
    }

    /// A delivery.
    pub async fn delivery(&self, id: &DeliveryId) -> Result<Option<StoredDelivery>, StoreError> {
        let mut query = QueryBuilder::new(SELECT);
        query.push(" WHERE delivery.id = ").push_bind(id.as_str());
        let row = query.build().fetch_optional(&self.pool).await?;
        row.map(|row| read(&row)).transpose()
    }

    /// The delivery of a job.
    pub async fn delivery_of(&self, job: &JobId) -> Result<Option<StoredDelivery>, StoreError> {
        let filter = DeliveryFilter { job: Some(job.clone()), limit: 1, ..Default::default() };
        Ok(self.deliveries(&filter).await?.pop())
    }

    /// Deliveries that wait for an attempt, the most overdue first, and at most `per_owner` of one owner.
    pub async fn pending_deliveries(
        &self,
        limit: u32,
        per_owner: u32,
    ) -> Result<Vec<StoredDelivery>, StoreError> {
        let rows = sqlx::query(
            "SELECT delivery.*, job.pack FROM (
                 SELECT *, row_number() OVER (PARTITION BY owner ORDER BY due_ms, id) AS place
                 FROM delivery WHERE state = 'pending') AS delivery
             JOIN job ON job.id = job_id WHERE place <= ? ORDER BY due_ms LIMIT ?",
        )
        .bind(per_owner)
        .bind(limit)
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(read).collect()
    }

    /// Saves the result of an attempt. Has no effect if the delivery was replayed meanwhile.
    pub async fn save_attempt(&self, delivery: &Delivery) -> Result<(), StoreError> {
        let delivered = delivery.delivered_at.map(|at| moment::write("delivered_at", at));
        sqlx::query(
            "UPDATE delivery SET state = ?, attempts = ?, due_ms = ?, last_status = ?,
                 last_error = ?, delivered_at = ?
             WHERE id = ? AND state = 'pending' AND attempts = ? - 1",
        )
        .bind(delivery.state.as_str())
        .bind(delivery.attempts)
        .bind(delivery.next_attempt_at.map(millis))
        .bind(delivery.last_status)
        .bind(&delivery.last_error)
        .bind(delivered.transpose()?)
        .bind(delivery.id.as_str())
        .bind(delivery.attempts)
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Makes a delivery due again, with all its attempts. `false` if its job has not ended.
    pub async fn replay_delivery(
        &self,
        id: &DeliveryId,
        now: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let changed = sqlx::query(
            "UPDATE delivery SET state = 'pending', attempts = 0, due_ms = ?, delivered_at = NULL
             WHERE id = ? AND state != 'waiting'",
        )
        .bind(millis(now))
        .bind(id.as_str())
        .execute(&self.pool)
        .await?;
        Ok(changed.rows_affected() > 0)
    }
}

/// Adds the webhook of a new job.
pub(crate) async fn add(
    connection: &mut SqliteConnection,
    job: &StoredJob,
    new: &NewDelivery,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO delivery (id, job_id, owner, url, sealed, key_version, state, created_at)
         VALUES (?, ?, ?, ?, ?, ?, 'waiting', ?)",
    )
    .bind(new.id.as_str())
    .bind(job.id.as_str())
    .bind(&job.owner)
    .bind(&new.url)
    .bind(new.secret.as_ref().map(|secret| secret.bytes.as_slice()))
    .bind(new.secret.as_ref().map(|secret| secret.key_version))
    .bind(moment::write("created_at", job.created_at)?)
    .execute(connection)
    .await?;
    Ok(())
}

/// Makes the webhook of a job that has ended due. Part of the transaction that ends the job. Returns
/// whether the job has one.
pub(crate) async fn job_ended(
    connection: &mut SqliteConnection,
    job: &StoredJob,
) -> Result<bool, StoreError> {
    let due = sqlx::query(
        "UPDATE delivery SET state = 'pending', due_ms = ? WHERE job_id = ? AND state = 'waiting'",
    )
    .bind(millis(job.ended_at.unwrap_or(job.created_at)))
    .bind(job.id.as_str())
    .execute(connection)
    .await?;
    Ok(due.rows_affected() > 0)
}

/// Every sealed secret, to seal it with another key.
pub(crate) async fn sealed(
    connection: &mut SqliteConnection,
) -> Result<Vec<StoredDelivery>, StoreError> {
    let mut query = QueryBuilder::new(SELECT);
    let rows = query.push(" WHERE sealed IS NOT NULL").build().fetch_all(connection).await?;
    rows.iter().map(read).collect()
}

/// Replaces the sealed secret of a delivery.
pub(crate) async fn reseal(
    connection: &mut SqliteConnection,
    id: &DeliveryId,
    secret: &SealedSecret,
) -> Result<(), StoreError> {
    sqlx::query("UPDATE delivery SET sealed = ?, key_version = ? WHERE id = ?")
        .bind(&secret.bytes)
        .bind(secret.key_version)
        .bind(id.as_str())
        .execute(connection)
        .await?;
    Ok(())
}

fn millis(at: OffsetDateTime) -> i64 {
    i64::try_from(at.unix_timestamp_nanos() / 1_000_000).unwrap_or(i64::MAX)
}

fn from_millis(millis: i64) -> Option<OffsetDateTime> {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(millis) * 1_000_000).ok()
}

fn read(row: &SqliteRow) -> Result<StoredDelivery, StoreError> {
    let state: String = row.try_get("state")?;
    let state = DeliveryState::named(&state)
        .ok_or(StoreError::Nonsense { field: "delivery.state", value: state })?;
    let sealed: Option<Vec<u8>> = row.try_get("sealed")?;
    let key_version: Option<u32> = row.try_get("key_version")?;
    let due: Option<i64> = row.try_get("due_ms")?;
    let delivered_at: Option<String> = row.try_get("delivered_at")?;
    let secret = sealed.zip(key_version);
    let delivery = Delivery {
        id: DeliveryId::new(row.try_get::<String, _>("id")?),
        job_id: JobId::new(row.try_get::<String, _>("job_id")?),
        pack: row.try_get("pack")?,
        url: row.try_get("url")?,
        signed: secret.is_some(),
        state,
        attempts: row.try_get("attempts")?,
        last_status: row.try_get("last_status")?,
        last_error: row.try_get("last_error")?,
        next_attempt_at: due.filter(|_| state == DeliveryState::Pending).and_then(from_millis),
        created_at: moment::read("created_at", row.try_get("created_at")?)?,
        delivered_at: delivered_at.map(|at| moment::read("delivered_at", at)).transpose()?,
    };
    let secret = secret.map(|(bytes, key_version)| SealedSecret { bytes, key_version });
    Ok(StoredDelivery { delivery, owner: row.try_get("owner")?, secret })
}
