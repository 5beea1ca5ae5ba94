//! When tokens were last used. Kept in memory and saved once a minute.

use std::collections::HashMap;

use helmdeck_store::{Store, StoreError};
use parking_lot::Mutex;
use time::OffsetDateTime;

/// Last uses that are not saved yet.
#[derive(Default)]
pub struct TokenUse {
    unsaved: Mutex<HashMap<String, OffsetDateTime>>,
}

impl TokenUse {
    /// Records a use of a token.
    pub fn note(&self, token: &str) {
        let now = OffsetDateTime::now_utc();
        let mut unsaved = self.unsaved.lock();
        match unsaved.get_mut(token) {
            Some(last) => *last = now,
            None => drop(unsaved.insert(token.to_owned(), now)),
        }
    }

    /// The last use of a token, if it is not saved yet.
    pub fn last(&self, token: &str) -> Option<OffsetDateTime> {
        self.unsaved.lock().get(token).copied()
    }

    /// Saves what is new. After a failure, the next call tries again.
    pub async fn save(&self, store: &Store) -> Result<(), StoreError> {
        let used: Vec<_> = self.unsaved.lock().iter().map(|(id, at)| (id.clone(), *at)).collect();
        if used.is_empty() {
            return Ok(());
        }
        store.save_token_use(&used).await?;
        let mut unsaved = self.unsaved.lock();
        for (id, at) in used {
            // A use in the meantime is saved the next time.
            if unsaved.get(&id) == Some(&at) {
                unsaved.remove(&id);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_failed_save_loses_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let used = TokenUse::default();
        used.note("t1");
        assert!(used.last("t1").is_some());
        used.save(&store).await.unwrap();
        assert_eq!(used.last("t1"), None);

        used.note("t1");
        store.close().await;
        assert!(used.save(&store).await.is_err());
        assert!(used.last("t1").is_some());
    }
}
