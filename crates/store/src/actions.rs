//! Recorded actions of sessions. Rows are never changed, and are removed when they are too old or
//! too many.

use helmdeck_wire::{
    SessionId,
    history::{ActionRecord, Actor, ActorKind},
};
use sqlx::{QueryBuilder, Row, Sqlite, sqlite::SqliteRow};
use time::OffsetDateTime;

use crate::{Store, StoreError, moment};

impl Store {
    /// Number of the newest action; 0 if there is none.
    pub async fn last_action(&self) -> Result<u64, StoreError> {
        let row = sqlx::query("SELECT coalesce(max(seq), 0) AS last FROM action")
            .fetch_one(&self.pool)
            .await?;
        Ok(row.try_get::<i64, _>("last")?.unsigned_abs())
    }

    /// Adds actions, each with the owner of its session, atomically.
    pub async fn add_actions(&self, records: &[(String, ActionRecord)]) -> Result<(), StoreError> {
        let moments = records.iter().map(|(_, record)| moment::write("at", record.at));
        let moments = moments.collect::<Result<Vec<_>, _>>()?;
        // A single statement needs no transaction, which a full disk could leave open.
        let mut insert = QueryBuilder::<Sqlite>::new("INSERT INTO action ");
        insert.push_values(records.iter().zip(moments), |mut row, ((owner, record), at)| {
            row.push_bind(record.seq.cast_signed())
                .push_bind(at)
                .push_bind(record.session_id.as_str())
                .push_bind(owner)
                .push_bind(record.by.kind.as_str())
                .push_bind(&record.by.subject)
                .push_bind(&record.action)
                .push_bind(record.detail.to_string())
                .push_bind(&record.outcome)
                .push_bind(record.duration_ms.cast_signed())
                .push_bind(&record.by.label);
        });
        insert.build().execute(&self.pool).await?;
        Ok(())
    }

    /// The last `limit` actions of a session before number `before`, oldest first. With `owner`,
    /// only actions of that owner's sessions.
    pub async fn actions(
        &self,
        session: &SessionId,
        owner: Option<&str>,
        before: u64,
        limit: u32,
    ) -> Result<Vec<ActionRecord>, StoreError> {
        let rows = sqlx::query(
            "SELECT * FROM action
             WHERE session_id = ?1 AND seq < ?2 AND (?3 IS NULL OR owner = ?3)
             ORDER BY seq DESC LIMIT ?4",
        )
        .bind(session.as_str())
        .bind(i64::try_from(before).unwrap_or(i64::MAX))
        .bind(owner)
        .bind(limit)
        .fetch_all(&self.pool)
        .await?;
        rows.iter().rev().map(read).collect()
    }

    /// When an agent last acted in a session, if known.
    pub async fn last_agent_action(
        &self,
        session: &SessionId,
    ) -> Result<Option<OffsetDateTime>, StoreError> {
        let at: Option<String> = sqlx::query_scalar(
            "SELECT at FROM action
             WHERE session_id = ? AND actor_kind = 'agent' AND outcome = 'ok'
             ORDER BY seq DESC LIMIT 1",
        )
        .bind(session.as_str())
        .fetch_optional(&self.pool)
        .await?;
        at.map(|at| moment::read("at", at)).transpose()
    }

    /// Removes actions older than `before`, at most `most` per call, and returns their number. The
    /// newest action always stays, because numbering continues from it.
    pub async fn remove_old_actions(
        &self,
        before: OffsetDateTime,
        most: u32,
    ) -> Result<u64, StoreError> {
        let removed = sqlx::query(
            "DELETE FROM action WHERE seq IN (
                 SELECT seq FROM action
                 WHERE at < ?1 AND seq < (SELECT max(seq) FROM action) ORDER BY at LIMIT ?2)",
        )
        .bind(moment::write("at", before)?)
        .bind(most)
        .execute(&self.pool)
        .await?;
        Ok(removed.rows_affected())
    }

    /// Removes what a caller did, at most `most` per call, and returns the number. The newest action
    /// always stays.
    pub async fn erase_actions(&self, subject: &str, most: u32) -> Result<u64, StoreError> {
        let removed = sqlx::query(
            "DELETE FROM action WHERE seq IN (
                 SELECT seq FROM action
                 WHERE subject = ?1 AND seq < (SELECT max(seq) FROM action) ORDER BY seq LIMIT ?2)",
        )
        .bind(subject)
        .bind(most)
        .execute(&self.pool)
        .await?;
        Ok(removed.rows_affected())
    }

    /// Sessions with more than this many actions.
    pub async fn busiest_sessions(&self, than: u32) -> Result<Vec<SessionId>, StoreError> {
        let ids: Vec<String> = sqlx::query_scalar(
            "SELECT session_id FROM action GROUP BY session_id HAVING count(*) > ?",
        )
        .bind(than)
        .fetch_all(&self.pool)
        .await?;
        Ok(ids.into_iter().map(SessionId::new).collect())
    }

    /// Removes all but the newest `kept` actions of a session, at most `most` per call, and returns
    /// their number.
    pub async fn remove_excess_actions(
        &self,
        session: &SessionId,
        kept: u32,
        most: u32,
    ) -> Result<u64, StoreError> {
        let removed = sqlx::query(
            "DELETE FROM action WHERE seq IN (
                 SELECT seq FROM action WHERE session_id = ?1 AND seq <= (
                     SELECT seq FROM action WHERE session_id = ?1
                     ORDER BY seq DESC LIMIT 1 OFFSET ?2)
                 ORDER BY seq LIMIT ?3)",
        )
        .bind(session.as_str())
        .bind(kept)
        .bind(most)
        .execute(&self.pool)
        .await?;
        Ok(removed.rows_affected())
    }
}

fn read(row: &SqliteRow) -> Result<ActionRecord, StoreError> {
    let detail: String = row.try_get("detail")?;
    let kind = match row.try_get::<String, _>("actor_kind")?.as_str() {
        "agent" => ActorKind::Agent,
        "human" => ActorKind::Human,
        "link" => ActorKind::Link,
        other => {
            return Err(StoreError::Nonsense { field: "actor_kind", value: other.to_owned() });
        }
    };
    Ok(ActionRecord {
        seq: row.try_get::<i64, _>("seq")?.unsigned_abs(),
        at: moment::read("at", row.try_get("at")?)?,
        session_id: SessionId::new(row.try_get::<String, _>("session_id")?),
        by: Actor {
            kind,
            subject: row.try_get("subject")?,
            label: row.try_get("label")?,
            address: None,
        },
        action: row.try_get("action")?,
        detail: serde_json::from_str(&detail)
            .map_err(|_| StoreError::Nonsense { field: "detail", value: detail })?,
        outcome: row.try_get("outcome")?,
        duration_ms: row.try_get::<i64, _>("duration_ms")?.unsigned_abs(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use time::Duration;

    use super::*;

    fn record(seq: u64, session: &str) -> (String, ActionRecord) {
        let record = ActionRecord {
            seq,
            at: OffsetDateTime::UNIX_EPOCH,
            session_id: SessionId::new(session),
            by: Actor {
                kind: ActorKind::Link,
                subject: "ann".into(),
                label: Some("for Bob".into()),
                address: None,
            },
            action: "click".into(),
            detail: json!({ "x": 1 }),
            outcome: "ok".into(),
            duration_ms: 2,
        };
        ("owner".into(), record)
    }

    #[tokio::test]
    async fn actions_come_back_by_session_oldest_first() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        assert_eq!(store.last_action().await.unwrap(), 0);
        let records = [record(1, "a"), record(2, "b"), record(3, "a"), record(4, "a")];
        store.add_actions(&records).await.unwrap();
        assert_eq!(store.last_action().await.unwrap(), 4);

        let session = SessionId::new("a");
        let of_owner = store.actions(&session, Some("owner"), u64::MAX, 2).await.unwrap();
        assert_eq!(of_owner, [records[2].1.clone(), records[3].1.clone()]);
        let earlier = store.actions(&session, None, 3, 10).await.unwrap();
        assert_eq!(earlier, [records[0].1.clone()]);
        assert!(store.actions(&session, Some("else"), u64::MAX, 9).await.unwrap().is_empty());

        assert_eq!(store.last_agent_action(&session).await.unwrap(), None, "all are a person's");
        let mut by_agent = record(5, "a");
        by_agent.1.by.kind = ActorKind::Agent;
        store.add_actions(&[by_agent.clone()]).await.unwrap();
        assert_eq!(store.last_agent_action(&session).await.unwrap(), Some(by_agent.1.at));
    }

    #[tokio::test]
    async fn old_actions_are_removed_but_the_newest_stays_to_continue_its_number() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let mut records = [record(1, "a"), record(2, "b"), record(3, "a"), record(4, "a")];
        let day = |n: i64| OffsetDateTime::UNIX_EPOCH + Duration::days(n);
        for ((_, record), n) in records.iter_mut().zip([1, 2, 30, 3]) {
            record.at = day(n);
        }
        store.add_actions(&records).await.unwrap();
        assert_eq!(store.remove_old_actions(day(10), 1).await.unwrap(), 1);
        assert_eq!(store.remove_old_actions(day(10), 9).await.unwrap(), 1);
        assert_eq!(store.remove_old_actions(day(10), 9).await.unwrap(), 0);
        let left = store.actions(&SessionId::new("a"), None, u64::MAX, 9).await.unwrap();
        assert_eq!(left, [records[2].1.clone(), records[3].1.clone()]);
        assert_eq!(store.remove_old_actions(day(100), 9).await.unwrap(), 1);
        assert_eq!(store.last_action().await.unwrap(), 4);
    }

    #[tokio::test]
    async fn a_busy_session_keeps_its_newest_actions_and_others_keep_all() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let records: Vec<_> =
            (1..=10).map(|n| record(n, if n % 5 == 0 { "b" } else { "a" })).collect();
        store.add_actions(&records).await.unwrap();
        let busy = SessionId::new("a");
        assert_eq!(store.busiest_sessions(3).await.unwrap(), std::slice::from_ref(&busy));
        assert_eq!(store.remove_excess_actions(&busy, 3, 2).await.unwrap(), 2);
        assert_eq!(store.remove_excess_actions(&busy, 3, 9).await.unwrap(), 3);
        assert_eq!(store.remove_excess_actions(&busy, 3, 9).await.unwrap(), 0);
        let left = |actions: Vec<ActionRecord>| actions.iter().map(|a| a.seq).collect::<Vec<_>>();
        assert_eq!(left(store.actions(&busy, None, u64::MAX, 9).await.unwrap()), [7, 8, 9]);
        let other = SessionId::new("b");
        assert_eq!(left(store.actions(&other, None, u64::MAX, 9).await.unwrap()), [5, 10]);
    }

    #[tokio::test]
    async fn numbers_are_unique_and_a_batch_is_atomic() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        store.add_actions(&[record(1, "a")]).await.unwrap();
        assert!(store.add_actions(&[record(2, "a"), record(1, "a")]).await.is_err());
        assert_eq!(store.last_action().await.unwrap(), 1);
    }
}
