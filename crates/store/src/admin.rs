//! The admin account, which logs in with a password.

use sqlx::Row;
use time::OffsetDateTime;

use crate::{Store, StoreError, moment};

/// The stored admin account.
#[derive(Clone, PartialEq, Eq)]
pub struct Admin {
    /// The name it logs in with.
    pub username: String,
    /// A password hash. The server chooses the algorithm.
    pub password_hash: String,
    /// When name or password last changed.
    pub updated_at: OffsetDateTime,
}

impl Store {
    /// The admin account, if it exists.
    pub async fn admin(&self) -> Result<Option<Admin>, StoreError> {
        let row = sqlx::query("SELECT username, password_hash, updated_at FROM admin")
            .fetch_optional(&self.pool)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let updated_at: String = row.try_get("updated_at")?;
        Ok(Some(Admin {
            username: row.try_get("username")?,
            password_hash: row.try_get("password_hash")?,
            updated_at: moment::read("updated_at", updated_at)?,
        }))
    }

    /// Creates or replaces the admin account.
    pub async fn set_admin(
        &self,
        username: &str,
        password_hash: &str,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let updated_at = moment::write("updated_at", now)?;
        sqlx::query(
            "INSERT INTO admin (only_row, username, password_hash, updated_at)
             VALUES (1, ?1, ?2, ?3)
             ON CONFLICT (only_row) DO UPDATE
             SET username = ?1, password_hash = ?2, updated_at = ?3",
        )
        .bind(username)
        .bind(password_hash)
        .bind(updated_at)
        .execute(&self.pool)
        .await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn there_is_at_most_one_admin_and_it_survives_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        assert!(store.admin().await.unwrap().is_none());

        let now = OffsetDateTime::UNIX_EPOCH;
        store.set_admin("admin", "first", now).await.unwrap();
        store.set_admin("root", "second", now).await.unwrap();
        store.close().await;

        let kept = Store::open(dir.path()).await.unwrap().admin().await.unwrap().unwrap();
        assert_eq!((kept.username.as_str(), kept.password_hash.as_str()), ("root", "second"));
        assert_eq!(kept.updated_at, now);
    }
}
