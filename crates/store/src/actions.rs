//! What was done in sessions. Rows are only ever added.

use helmdeck_wire::{
    SessionId,
    history::{ActionRecord, Actor, ActorKind},
};
use sqlx::{QueryBuilder, Row, Sqlite, sqlite::SqliteRow};

use crate::{Store, StoreError, moment};

impl Store {
    /// The number of the newest action, 0 if there is none.
    pub async fn last_action(&self) -> Result<u64, StoreError> {
        let row = sqlx::query("SELECT coalesce(max(seq), 0) AS last FROM action")
            .fetch_one(&self.pool)
            .await?;
        Ok(row.try_get::<i64, _>("last")?.unsigned_abs())
    }

    /// Adds actions, each with the owner of its session, all or none of them.
    pub async fn add_actions(&self, records: &[(String, ActionRecord)]) -> Result<(), StoreError> {
        let moments = records.iter().map(|(_, record)| moment::write("at", record.at));
        let moments = moments.collect::<Result<Vec<_>, _>>()?;
        // One statement: it needs no transaction, which a full disk could leave open.
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
                .push_bind(record.duration_ms.cast_signed());
        });
        insert.build().execute(&self.pool).await?;
        Ok(())
    }

    /// The last `limit` actions of a session before number `before`, oldest first; only those of
    /// sessions of `owner`, if one is given.
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
}

fn read(row: &SqliteRow) -> Result<ActionRecord, StoreError> {
    let detail: String = row.try_get("detail")?;
    let kind = match row.try_get::<String, _>("actor_kind")?.as_str() {
        "agent" => ActorKind::Agent,
        "human" => ActorKind::Human,
        other => {
            return Err(StoreError::Nonsense { field: "actor_kind", value: other.to_owned() });
        }
    };
    Ok(ActionRecord {
        seq: row.try_get::<i64, _>("seq")?.unsigned_abs(),
        at: moment::read("at", row.try_get("at")?)?,
        session_id: SessionId::new(row.try_get::<String, _>("session_id")?),
        by: Actor { kind, subject: row.try_get("subject")? },
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
    use time::OffsetDateTime;

    use super::*;

    fn record(seq: u64, session: &str) -> (String, ActionRecord) {
        let record = ActionRecord {
            seq,
            at: OffsetDateTime::UNIX_EPOCH,
            session_id: SessionId::new(session),
            by: Actor { kind: ActorKind::Human, subject: "ann".into() },
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
    }

    #[tokio::test]
    async fn a_number_is_used_once_and_a_batch_goes_in_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        store.add_actions(&[record(1, "a")]).await.unwrap();
        assert!(store.add_actions(&[record(2, "a"), record(1, "a")]).await.is_err());
        assert_eq!(store.last_action().await.unwrap(), 1);
    }
}
