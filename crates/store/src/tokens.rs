//! Issued and revoked tokens.

use std::collections::HashMap;

use helmdeck_task::BoxFuture;
use helmdeck_wire::token::TokenInfo;
use sqlx::{Row, sqlite::SqliteRow};
use time::OffsetDateTime;

use crate::{Store, StoreError, moment, token_use};

impl Store {
    /// Stores a new token, and removes tokens that expired before `forget`.
    pub fn add_token<'a>(
        &'a self,
        token: &'a TokenInfo,
        forget: OffsetDateTime,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let forget = moment::write("expires_at", forget)?;
            sqlx::query(
                "INSERT INTO token
             (id, subject, client, scopes, created_at, expires_at, human, made_for)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            )
            .bind(&token.id)
            .bind(&token.subject)
            .bind(&token.client)
            .bind(token.scopes.join(" "))
            .bind(moment::write("created_at", token.created_at)?)
            .bind(moment::write("expires_at", token.expires_at)?)
            .bind(token.human)
            .bind(&token.made_for)
            .execute(&self.pool)
            .await?;
            for table in [
                "DELETE FROM token WHERE expires_at < ?",
                "DELETE FROM revoked WHERE expires_at < ?",
            ] {
                sqlx::query(table).bind(&forget).execute(&self.pool).await?;
            }
            Ok(())
        })
    }

    /// Tokens, newest first. With `subject`, only that subject's.
    pub async fn tokens(&self, subject: Option<&str>) -> Result<Vec<TokenInfo>, StoreError> {
        let rows = sqlx::query(
            "SELECT token.*, revoked.revoked_at, mcp_client.* FROM token
             LEFT JOIN revoked USING (id) LEFT JOIN mcp_client ON token_id = token.id
             WHERE ?1 IS NULL OR subject = ?1 ORDER BY created_at DESC, token.rowid DESC",
        )
        .bind(subject)
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(read).collect()
    }

    /// Revokes a token or ticket. The revocation is kept until it would have expired.
    pub async fn revoke(
        &self,
        id: &str,
        now: OffsetDateTime,
        expires_at: OffsetDateTime,
    ) -> Result<(), StoreError> {
        sqlx::query("INSERT INTO revoked VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING")
            .bind(id)
            .bind(moment::write("revoked_at", now)?)
            .bind(moment::write("expires_at", expires_at)?)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Whether a token or ticket is revoked.
    pub async fn is_revoked(&self, id: &str) -> Result<bool, StoreError> {
        let found: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM revoked WHERE id = ?)")
            .bind(id)
            .fetch_one(&self.pool)
            .await?;
        Ok(found)
    }

    /// All revoked ids, with their expiry.
    pub async fn revoked(&self) -> Result<HashMap<String, OffsetDateTime>, StoreError> {
        let rows = sqlx::query("SELECT id, expires_at FROM revoked").fetch_all(&self.pool).await?;
        let pair = |row: &SqliteRow| {
            Ok((row.try_get("id")?, moment::read("expires_at", row.try_get("expires_at")?)?))
        };
        rows.iter().map(pair).collect()
    }
}

fn read(row: &SqliteRow) -> Result<TokenInfo, StoreError> {
    let revoked_at: Option<String> = row.try_get("revoked_at")?;
    let last_used_at: Option<String> = row.try_get("last_used_at")?;
    let connected: Option<String> = row.try_get("token_id")?;
    let scopes: String = row.try_get("scopes")?;
    Ok(TokenInfo {
        id: row.try_get("id")?,
        subject: row.try_get("subject")?,
        client: row.try_get("client")?,
        human: row.try_get("human")?,
        scopes: scopes.split_whitespace().map(str::to_owned).collect(),
        created_at: moment::read("created_at", row.try_get("created_at")?)?,
        expires_at: moment::read("expires_at", row.try_get("expires_at")?)?,
        revoked_at: revoked_at.map(|text| moment::read("revoked_at", text)).transpose()?,
        made_for: row.try_get("made_for")?,
        last_used_at: last_used_at.map(|text| moment::read("last_used_at", text)).transpose()?,
        mcp_client: connected.map(|_| token_use::read_client(row)).transpose()?,
    })
}

#[cfg(test)]
mod tests {
    use time::Duration;

    use super::*;

    fn token(id: &str, subject: &str) -> TokenInfo {
        let created_at = OffsetDateTime::UNIX_EPOCH;
        TokenInfo {
            id: id.into(),
            subject: subject.into(),
            client: None,
            human: subject == "ann",
            scopes: vec!["sessions:*".into()],
            created_at,
            expires_at: created_at + Duration::hours(1),
            revoked_at: None,
            made_for: (subject == "bob").then(|| "codex".into()),
            last_used_at: None,
            mcp_client: None,
        }
    }

    #[tokio::test]
    async fn a_revoked_token_is_listed_as_such_and_forgotten_after_its_time() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let (one, two) = (token("1", "ann"), token("2", "bob"));
        let now = one.created_at;
        store.add_token(&one, now).await.unwrap();
        store.add_token(&two, now).await.unwrap();
        store.revoke("1", now, one.expires_at).await.unwrap();
        store.revoke("1", now + Duration::SECOND, one.expires_at).await.unwrap();

        let all = store.tokens(None).await.unwrap();
        assert_eq!(all, [two.clone(), TokenInfo { revoked_at: Some(now), ..one.clone() }]);
        assert_eq!(store.tokens(Some("bob")).await.unwrap(), [two]);
        assert_eq!(store.revoked().await.unwrap(), [("1".to_owned(), one.expires_at)].into());

        let later = now + Duration::hours(2);
        let third = TokenInfo { expires_at: later, ..token("3", "ann") };
        store.add_token(&third, later).await.unwrap();
        assert_eq!(store.tokens(None).await.unwrap(), [third]);
        assert!(store.revoked().await.unwrap().is_empty());
    }
}
