//! How sessions ended that nothing else is known of.

use helmdeck_wire::{SessionId, session::EndReason};
use sqlx::{Row, sqlite::SqliteRow};
use time::OffsetDateTime;

use crate::{Store, StoreError, moment};

/// The end of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// Which one.
    pub session_id: SessionId,
    /// Whose it was.
    pub owner: String,
    /// Why it ended.
    pub reason: EndReason,
    /// When.
    pub ended_at: OffsetDateTime,
}

impl Store {
    /// Remembers how a session ended, and forgets all but the newest `kept`.
    pub async fn add_end(&self, end: &End, kept: u32) -> Result<(), StoreError> {
        // A session that was attached may have come back.
        sqlx::query(
            "INSERT OR REPLACE INTO ended (session_id, owner, reason, ended_at) VALUES (?, ?, ?, ?)",
        )
        .bind(end.session_id.as_str())
        .bind(&end.owner)
        .bind(end.reason.as_str())
        .bind(moment::write("ended_at", end.ended_at)?)
        .execute(&self.pool)
        .await?;
        sqlx::query("DELETE FROM ended WHERE number <= (SELECT max(number) FROM ended) - ?")
            .bind(kept)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// How sessions ended, oldest first.
    pub async fn ends(&self) -> Result<Vec<End>, StoreError> {
        let rows = sqlx::query("SELECT * FROM ended ORDER BY number").fetch_all(&self.pool).await?;
        rows.iter().map(read).collect()
    }
}

fn read(row: &SqliteRow) -> Result<End, StoreError> {
    let reason: String = row.try_get("reason")?;
    Ok(End {
        session_id: SessionId::new(row.try_get::<String, _>("session_id")?),
        owner: row.try_get("owner")?,
        reason: serde_json::from_value(reason.clone().into())
            .map_err(|_| StoreError::Nonsense { field: "reason", value: reason })?,
        ended_at: moment::read("ended_at", row.try_get("ended_at")?)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_newest_ends_are_kept_and_one_session_has_one() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let end = |id: &str, reason| End {
            session_id: SessionId::new(id),
            owner: "ann".into(),
            reason,
            ended_at: OffsetDateTime::UNIX_EPOCH,
        };
        for id in ["a", "b", "c"] {
            store.add_end(&end(id, EndReason::Idle), 2).await.unwrap();
        }
        store.add_end(&end("b", EndReason::GuestLost), 2).await.unwrap();
        store.close().await;

        let store = Store::open(dir.path()).await.unwrap();
        let kept = [end("c", EndReason::Idle), end("b", EndReason::GuestLost)];
        assert_eq!(store.ends().await.unwrap(), kept);
    }
}
