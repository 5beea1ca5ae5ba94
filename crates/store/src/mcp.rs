//! What MCP clients expect to find again after a restart of the server.

use helmdeck_wire::SessionId;
use sqlx::Row;
use time::OffsetDateTime;

use crate::{Store, StoreError, moment};

/// The most MCP sessions of one owner; those used longest ago give way.
const MOST_PER_OWNER: u32 = 1000;

impl Store {
    /// Stores an MCP session of `owner` with the parameters of its `initialize` request.
    pub async fn add_mcp_session(
        &self,
        id: &str,
        owner: &str,
        initialize: &str,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        sqlx::query("INSERT OR REPLACE INTO mcp_session VALUES (?, ?, ?, ?)")
            .bind(id)
            .bind(owner)
            .bind(initialize)
            .bind(moment::write("used_at", now)?)
            .execute(&self.pool)
            .await?;
        sqlx::query(
            "DELETE FROM mcp_session WHERE id IN (SELECT id FROM mcp_session WHERE owner = ? \
             ORDER BY used_at DESC LIMIT -1 OFFSET ?)",
        )
        .bind(owner)
        .bind(MOST_PER_OWNER)
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Records that an MCP session was used, so that it is not forgotten.
    pub async fn use_mcp_session(
        &self,
        id: &str,
        owner: &str,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        sqlx::query("UPDATE mcp_session SET used_at = ? WHERE id = ? AND owner = ?")
            .bind(moment::write("used_at", now)?)
            .bind(id)
            .bind(owner)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// The parameters of an MCP session's `initialize` request, if the session is `owner`'s.
    pub async fn mcp_session(&self, id: &str, owner: &str) -> Result<Option<String>, StoreError> {
        let row = sqlx::query("SELECT initialize FROM mcp_session WHERE id = ? AND owner = ?")
            .bind(id)
            .bind(owner)
            .fetch_optional(&self.pool)
            .await?;
        Ok(row.map(|row| row.try_get("initialize")).transpose()?)
    }

    /// Deletes an MCP session and its current session.
    pub async fn remove_mcp_session(&self, id: &str, owner: &str) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM mcp_session WHERE id = ? AND owner = ?")
            .bind(id)
            .bind(owner)
            .execute(&self.pool)
            .await?;
        self.set_current_session(owner, id, None, OffsetDateTime::UNIX_EPOCH).await
    }

    /// The session that a client of `owner` works in.
    pub async fn current_session(
        &self,
        owner: &str,
        client: &str,
    ) -> Result<Option<SessionId>, StoreError> {
        let row = sqlx::query(
            "SELECT session_id FROM mcp_current_session WHERE owner = ? AND client = ?",
        )
        .bind(owner)
        .bind(client)
        .fetch_optional(&self.pool)
        .await?;
        let id = row.map(|row| row.try_get::<String, _>("session_id")).transpose()?;
        Ok(id.map(SessionId::new))
    }

    /// Sets or clears the session that a client of `owner` works in.
    pub async fn set_current_session(
        &self,
        owner: &str,
        client: &str,
        session: Option<&SessionId>,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let query = match session {
            Some(session) => {
                sqlx::query("INSERT OR REPLACE INTO mcp_current_session VALUES (?, ?, ?, ?)")
                    .bind(owner)
                    .bind(client)
                    .bind(session.as_str())
                    .bind(moment::write("used_at", now)?)
            }
            None => sqlx::query("DELETE FROM mcp_current_session WHERE owner = ? AND client = ?")
                .bind(owner)
                .bind(client),
        };
        query.execute(&self.pool).await?;
        Ok(())
    }

    /// Deletes what MCP clients have not used since `before`.
    pub async fn forget_mcp(&self, before: OffsetDateTime) -> Result<(), StoreError> {
        let before = moment::write("used_at", before)?;
        for query in [
            "DELETE FROM mcp_session WHERE used_at < ?",
            "DELETE FROM mcp_current_session WHERE used_at < ?",
        ] {
            sqlx::query(query).bind(&before).execute(&self.pool).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use time::Duration;

    use super::*;

    #[tokio::test]
    async fn an_mcp_session_is_found_by_its_owner_only() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let now = OffsetDateTime::UNIX_EPOCH + Duration::days(2);
        store.add_mcp_session("m1", "ann", "{}", now).await.unwrap();

        assert_eq!(store.mcp_session("m1", "ann").await.unwrap().as_deref(), Some("{}"));
        assert_eq!(store.mcp_session("m1", "bob").await.unwrap(), None);
        store.remove_mcp_session("m1", "bob").await.unwrap();
        assert!(store.mcp_session("m1", "ann").await.unwrap().is_some());
        store.forget_mcp(now + Duration::SECOND).await.unwrap();
        assert_eq!(store.mcp_session("m1", "ann").await.unwrap(), None);
    }

    #[tokio::test]
    async fn an_mcp_session_that_is_used_is_not_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let now = OffsetDateTime::UNIX_EPOCH + Duration::days(2);
        for id in ["m1", "m2"] {
            store.add_mcp_session(id, "ann", "{}", now).await.unwrap();
        }
        store.use_mcp_session("m1", "ann", now + Duration::DAY).await.unwrap();
        store.use_mcp_session("m2", "bob", now + Duration::DAY).await.unwrap();
        store.forget_mcp(now + Duration::HOUR).await.unwrap();
        assert!(store.mcp_session("m1", "ann").await.unwrap().is_some());
        assert_eq!(store.mcp_session("m2", "ann").await.unwrap(), None);
    }

    #[tokio::test]
    async fn the_current_session_of_a_client_is_replaced_and_cleared() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let now = OffsetDateTime::UNIX_EPOCH;
        let (one, two) = (SessionId::new("s1"), SessionId::new("s2"));
        for session in [&one, &two] {
            store.set_current_session("ann", "c", Some(session), now).await.unwrap();
        }
        assert_eq!(store.current_session("ann", "c").await.unwrap(), Some(two));
        assert_eq!(store.current_session("bob", "c").await.unwrap(), None);
        store.set_current_session("ann", "c", None, now).await.unwrap();
        assert_eq!(store.current_session("ann", "c").await.unwrap(), None);
    }
}
