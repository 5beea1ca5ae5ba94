//! When tokens were last used, and by which MCP clients.

use helmdeck_wire::token::McpClient;
use sqlx::{Row, sqlite::SqliteRow};
use time::OffsetDateTime;

use crate::{Store, StoreError, moment};

/// An MCP client and the token that it used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenClient {
    /// The token's id.
    pub token: String,
    /// When the token expires.
    pub expires_at: OffsetDateTime,
    /// The client.
    pub client: McpClient,
}

impl Store {
    /// Saves when tokens were last used. Skips tokens that are not in the store.
    pub async fn save_token_use(
        &self,
        used: &[(String, OffsetDateTime)],
    ) -> Result<(), StoreError> {
        let mut transaction = self.pool.begin().await?;
        for (id, at) in used {
            sqlx::query("UPDATE token SET last_used_at = ? WHERE id = ?")
                .bind(moment::write("last_used_at", *at)?)
                .bind(id)
                .execute(&mut *transaction)
                .await?;
        }
        Ok(transaction.commit().await?)
    }

    /// Saves which clients connected with which tokens. Skips tokens that are not in the store.
    pub async fn save_mcp_clients(
        &self,
        clients: &[(String, McpClient)],
    ) -> Result<(), StoreError> {
        let mut transaction = self.pool.begin().await?;
        for (id, client) in clients {
            sqlx::query(
                "INSERT OR REPLACE INTO mcp_client
                 SELECT id, ?, ?, ?, ?, ?, ? FROM token WHERE id = ?",
            )
            .bind(&client.name)
            .bind(&client.version)
            .bind(&client.protocol_version)
            .bind(&client.transport)
            .bind(moment::write("first_seen", client.first_seen)?)
            .bind(moment::write("last_seen", client.last_seen)?)
            .bind(id)
            .execute(&mut *transaction)
            .await?;
        }
        Ok(transaction.commit().await?)
    }

    /// Every client that has connected, with its token.
    pub async fn mcp_clients(&self) -> Result<Vec<TokenClient>, StoreError> {
        let rows = sqlx::query(
            "SELECT mcp_client.*, token.expires_at FROM mcp_client
             JOIN token ON token.id = mcp_client.token_id",
        )
        .fetch_all(&self.pool)
        .await?;
        let read = |row: &SqliteRow| {
            Ok(TokenClient {
                token: row.try_get("token_id")?,
                expires_at: moment::read("expires_at", row.try_get("expires_at")?)?,
                client: read_client(row)?,
            })
        };
        rows.iter().map(read).collect()
    }
}

pub(crate) fn read_client(row: &SqliteRow) -> Result<McpClient, StoreError> {
    Ok(McpClient {
        name: row.try_get("name")?,
        version: row.try_get("version")?,
        protocol_version: row.try_get("protocol_version")?,
        transport: row.try_get("transport")?,
        first_seen: moment::read("first_seen", row.try_get("first_seen")?)?,
        last_seen: moment::read("last_seen", row.try_get("last_seen")?)?,
    })
}

#[cfg(test)]
mod tests {
    use helmdeck_wire::token::TokenInfo;
    use time::Duration;

    use super::*;

    #[tokio::test]
    async fn the_use_of_tokens_survives_a_restart_and_is_deleted_with_the_token() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let now = OffsetDateTime::UNIX_EPOCH;
        let token = TokenInfo {
            id: "1".into(),
            subject: "ann".into(),
            client: None,
            human: false,
            scopes: Vec::new(),
            created_at: now,
            expires_at: now + Duration::hours(1),
            revoked_at: None,
            made_for: None,
            last_used_at: None,
            mcp_client: None,
        };
        store.add_token(&token, now).await.unwrap();
        let client = McpClient {
            name: "claude-code".into(),
            version: "2".into(),
            protocol_version: "2025-11-25".into(),
            transport: "http".into(),
            first_seen: now,
            last_seen: now + Duration::SECOND,
        };
        let unlisted = "2".to_owned();
        let used = [("1".to_owned(), now), (unlisted.clone(), now)];
        store.save_token_use(&used).await.unwrap();
        let clients = [("1".to_owned(), client.clone()), (unlisted, client.clone())];
        store.save_mcp_clients(&clients).await.unwrap();
        store.save_mcp_clients(&clients).await.unwrap();
        store.close().await;

        let store = Store::open(dir.path()).await.unwrap();
        let expected = TokenInfo {
            last_used_at: Some(now),
            mcp_client: Some(client.clone()),
            ..token.clone()
        };
        assert_eq!(store.tokens(None).await.unwrap(), [expected]);
        let known = TokenClient { token: "1".into(), expires_at: token.expires_at, client };
        assert_eq!(store.mcp_clients().await.unwrap(), [known]);

        let later = now + Duration::hours(2);
        let other = TokenInfo { id: "3".into(), expires_at: later, ..token };
        store.add_token(&other, later).await.unwrap();
        assert_eq!(store.mcp_clients().await.unwrap(), []);
    }
}
