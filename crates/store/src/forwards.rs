//! Forwarded ports of sessions.

use helmdeck_wire::{SessionId, forward::ForwardRule};
use sqlx::{Row, sqlite::SqliteRow};

use crate::{Store, StoreError};

impl Store {
    /// Stores a forward of a session.
    pub async fn add_forward(
        &self,
        session: &SessionId,
        rule: ForwardRule,
    ) -> Result<(), StoreError> {
        sqlx::query("INSERT OR REPLACE INTO forward (session_id, port, to_port) VALUES (?, ?, ?)")
            .bind(session.as_str())
            .bind(rule.port)
            .bind(rule.to)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Removes a forward of a session.
    pub async fn remove_forward(&self, session: &SessionId, port: u16) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM forward WHERE session_id = ? AND port = ?")
            .bind(session.as_str())
            .bind(port)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Removes all forwards of a session.
    pub async fn remove_forwards(&self, session: &SessionId) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM forward WHERE session_id = ?")
            .bind(session.as_str())
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// The forwards of a session.
    pub async fn forwards(&self, session: &SessionId) -> Result<Vec<ForwardRule>, StoreError> {
        let rows =
            sqlx::query("SELECT port, to_port FROM forward WHERE session_id = ? ORDER BY port")
                .bind(session.as_str())
                .fetch_all(&self.pool)
                .await?;
        rows.iter().map(read).collect()
    }

    /// The sessions that have forwards.
    pub async fn sessions_with_forwards(&self) -> Result<Vec<SessionId>, StoreError> {
        let rows = sqlx::query("SELECT DISTINCT session_id FROM forward");
        let rows = rows.fetch_all(&self.pool).await?;
        let id = |row: &SqliteRow| Ok(SessionId::new(row.try_get::<String, _>("session_id")?));
        rows.iter().map(id).collect()
    }
}

fn read(row: &SqliteRow) -> Result<ForwardRule, StoreError> {
    Ok(ForwardRule { port: row.try_get("port")?, to: row.try_get("to_port")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn forwards_of_a_session_survive_a_restart_until_they_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let (a, b) = (SessionId::new("a"), SessionId::new("b"));
        let rules = [ForwardRule { port: 3000, to: 80 }, ForwardRule { port: 5173, to: 5173 }];
        for rule in rules {
            store.add_forward(&a, rule).await.unwrap();
        }
        store.add_forward(&b, rules[0]).await.unwrap();
        store.close().await;

        let store = Store::open(dir.path()).await.unwrap();
        assert_eq!(store.forwards(&a).await.unwrap(), rules);
        assert_eq!(store.sessions_with_forwards().await.unwrap(), [a.clone(), b.clone()]);
        store.remove_forward(&a, 3000).await.unwrap();
        store.remove_forwards(&b).await.unwrap();
        assert_eq!(store.forwards(&a).await.unwrap(), rules[1..]);
        assert_eq!(store.sessions_with_forwards().await.unwrap(), [a]);
    }
}
