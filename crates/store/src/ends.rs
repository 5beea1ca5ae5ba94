//! How sessions ended, with their last descriptions and pictures.

use helmdeck_wire::{SessionId, session::EndReason};
use sqlx::{Row, sqlite::SqliteRow};
use time::OffsetDateTime;

use crate::{Store, StoreError, moment};

/// The end of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// The session.
    pub session_id: SessionId,
    /// Its owner.
    pub owner: String,
    /// Why it ended.
    pub reason: EndReason,
    /// When.
    pub ended_at: OffsetDateTime,
}

/// What is kept of an ended session.
#[derive(Debug, Clone, Default)]
pub struct EndDetails {
    /// The last description of the session, as JSON.
    pub session: Option<String>,
    /// Its last picture, a JPEG.
    pub picture: Option<Vec<u8>>,
}

impl Store {
    /// Stores how a session ended, and removes all but the newest `kept` ends.
    pub async fn add_end(
        &self,
        end: &End,
        details: &EndDetails,
        kept: u32,
    ) -> Result<(), StoreError> {
        // An attached session may have been resumed. Its old picture is removed with the row.
        sqlx::query("DELETE FROM ended WHERE session_id = ?")
            .bind(end.session_id.as_str())
            .execute(&self.pool)
            .await?;
        sqlx::query(
            "INSERT INTO ended (session_id, owner, reason, ended_at, session)
             VALUES (?, ?, ?, ?, ?)",
        )
        .bind(end.session_id.as_str())
        .bind(&end.owner)
        .bind(end.reason.as_str())
        .bind(moment::write("ended_at", end.ended_at)?)
        .bind(&details.session)
        .execute(&self.pool)
        .await?;
        if let Some(jpeg) = &details.picture {
            sqlx::query("INSERT INTO last_picture (session_id, jpeg) VALUES (?, ?)")
                .bind(end.session_id.as_str())
                .bind(jpeg)
                .execute(&self.pool)
                .await?;
        }
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

    /// Last descriptions of ended sessions, newest first. With `owner`, only that owner's sessions.
    pub async fn ended_sessions(
        &self,
        owner: Option<&str>,
        limit: u32,
    ) -> Result<Vec<String>, StoreError> {
        let sessions = sqlx::query_scalar(
            "SELECT session FROM ended
             WHERE session IS NOT NULL AND (?1 IS NULL OR owner = ?1)
             ORDER BY number DESC LIMIT ?2",
        );
        Ok(sessions.bind(owner).bind(limit).fetch_all(&self.pool).await?)
    }

    /// The last description of one ended session.
    pub async fn ended_session(
        &self,
        id: &SessionId,
        owner: Option<&str>,
    ) -> Result<Option<String>, StoreError> {
        let session = sqlx::query_scalar(
            "SELECT session FROM ended
             WHERE session_id = ?1 AND session IS NOT NULL AND (?2 IS NULL OR owner = ?2)",
        );
        Ok(session.bind(id.as_str()).bind(owner).fetch_optional(&self.pool).await?)
    }

    /// The last picture of an ended session, a JPEG.
    pub async fn last_picture(
        &self,
        id: &SessionId,
        owner: Option<&str>,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let jpeg = sqlx::query_scalar(
            "SELECT jpeg FROM last_picture JOIN ended USING (session_id)
             WHERE session_id = ?1 AND (?2 IS NULL OR owner = ?2)",
        );
        Ok(jpeg.bind(id.as_str()).bind(owner).fetch_optional(&self.pool).await?)
    }

    /// Removes pictures of sessions that ended before `before`, and returns their number.
    pub async fn remove_old_pictures(&self, before: OffsetDateTime) -> Result<u64, StoreError> {
        let removed = sqlx::query(
            "DELETE FROM last_picture WHERE session_id IN (
                 SELECT session_id FROM ended WHERE ended_at < ?)",
        )
        .bind(moment::write("ended_at", before)?)
        .execute(&self.pool)
        .await?;
        Ok(removed.rows_affected())
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
            let details = EndDetails { session: Some(id.into()), picture: Some(id.into()) };
            store.add_end(&end(id, EndReason::Idle), &details, 2).await.unwrap();
        }
        let details = EndDetails { session: Some("b again".into()), picture: None };
        store.add_end(&end("b", EndReason::GuestLost), &details, 2).await.unwrap();
        store.close().await;

        let store = Store::open(dir.path()).await.unwrap();
        let kept = [end("c", EndReason::Idle), end("b", EndReason::GuestLost)];
        assert_eq!(store.ends().await.unwrap(), kept);
        assert_eq!(store.ended_sessions(None, 9).await.unwrap(), ["b again", "c"]);
        assert_eq!(store.ended_sessions(Some("ann"), 1).await.unwrap(), ["b again"]);
        assert!(store.ended_sessions(Some("bob"), 9).await.unwrap().is_empty());
        let picture =
            async |id: &str, owner| store.last_picture(&SessionId::new(id), owner).await.unwrap();
        assert_eq!(picture("a", None).await, None, "it is removed with its end");
        assert_eq!(picture("b", None).await, None, "it belongs to an earlier end");
        assert_eq!(picture("c", Some("ann")).await, Some(b"c".to_vec()));
        assert_eq!(picture("c", Some("bob")).await, None, "another owner cannot see it");
        let one = store.ended_session(&SessionId::new("c"), Some("bob")).await.unwrap();
        assert_eq!(one, None);
    }

    #[tokio::test]
    async fn old_pictures_are_removed_and_their_ends_stay() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let day = |n: i64| OffsetDateTime::UNIX_EPOCH + time::Duration::days(n);
        for (id, n) in [("old", 1), ("new", 9)] {
            let end = End {
                session_id: SessionId::new(id),
                owner: "ann".into(),
                reason: EndReason::Idle,
                ended_at: day(n),
            };
            let details = EndDetails { session: Some(id.into()), picture: Some(id.into()) };
            store.add_end(&end, &details, 9).await.unwrap();
        }
        assert_eq!(store.remove_old_pictures(day(5)).await.unwrap(), 1);
        assert!(store.last_picture(&SessionId::new("old"), None).await.unwrap().is_none());
        assert!(store.last_picture(&SessionId::new("new"), None).await.unwrap().is_some());
        assert_eq!(store.ended_sessions(None, 9).await.unwrap(), ["new", "old"]);
    }
}
