//! Settings that an admin changed at runtime.

use time::OffsetDateTime;

use crate::{Store, StoreError, moment};

impl Store {
    /// A setting as text; `None` if it was never changed.
    pub async fn setting(&self, name: &str) -> Result<Option<String>, StoreError> {
        let value = sqlx::query_scalar("SELECT value FROM setting WHERE name = ?")
            .bind(name)
            .fetch_optional(&self.pool)
            .await?;
        Ok(value)
    }

    /// Changes a setting.
    pub async fn set_setting(
        &self,
        name: &str,
        value: &str,
        by: &str,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        sqlx::query("INSERT OR REPLACE INTO setting VALUES (?, ?, ?, ?)")
            .bind(name)
            .bind(value)
            .bind(moment::write("changed_at", now)?)
            .bind(by)
            .execute(&self.pool)
            .await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_changed_setting_survives_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        assert_eq!(store.setting("light").await.unwrap(), None);
        for value in ["on", "off"] {
            store.set_setting("light", value, "ann", OffsetDateTime::UNIX_EPOCH).await.unwrap();
        }
        store.close().await;
        let store = Store::open(dir.path()).await.unwrap();
        assert_eq!(store.setting("light").await.unwrap().as_deref(), Some("off"));
    }
}
