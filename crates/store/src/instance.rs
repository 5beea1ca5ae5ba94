//! The id of this installation, created once.

use std::fmt::Write;

use crate::{Store, StoreError};

impl Store {
    /// Sixteen hexadecimal digits that identify this data directory. Created on the first call.
    pub async fn instance_id(&self) -> Result<String, StoreError> {
        // Single statements, so that two processes that start together agree on one id.
        sqlx::query("INSERT OR IGNORE INTO instance (name, value) VALUES ('id', ?1)")
            .bind(random_id()?)
            .execute(&self.pool)
            .await?;
        let id = sqlx::query_scalar("SELECT value FROM instance WHERE name = 'id'")
            .fetch_one(&self.pool)
            .await?;
        Ok(id)
    }
}

fn random_id() -> Result<String, StoreError> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(StoreError::Random)?;
    Ok(bytes.iter().fold(String::new(), |mut id, byte| {
        // Writing to a String cannot fail.
        let _ = write!(id, "{byte:02x}");
        id
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_instance_keeps_its_id_and_differs_from_others() {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let id = Store::open(here.path()).await.unwrap().instance_id().await.unwrap();
        assert_eq!(id.len(), 16);
        assert_eq!(Store::open(here.path()).await.unwrap().instance_id().await.unwrap(), id);
        assert_ne!(Store::open(there.path()).await.unwrap().instance_id().await.unwrap(), id);
    }
}
