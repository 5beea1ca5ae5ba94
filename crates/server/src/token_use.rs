//! When tokens were last used. Kept in memory, and written to the store once a minute.

use std::collections::HashMap;

use helmdeck_store::{Store, StoreError};
use parking_lot::Mutex;
use time::OffsetDateTime;

/// What is not written yet.
#[derive(Default)]
pub struct TokenUse {
    unsaved: Mutex<HashMap<String, OffsetDateTime>>,
}

impl TokenUse {
    /// Notes that a token is used now.
    pub fn note(&self, token: &str) {
        let now = OffsetDateTime::now_utc();
        let mut unsaved = self.unsaved.lock();
        match unsaved.get_mut(token) {
            Some(last) => *last = now,
            None => drop(unsaved.insert(token.to_owned(), now)),
        }
    }

    /// When a token was last used, if that is not written yet.
    pub fn last(&self, token: &str) -> Option<OffsetDateTime> {
        self.unsaved.lock().get(token).copied()
    }

    /// Writes what is new. After a failure it is tried again with the next call.
    pub async fn save(&self, store: &Store) -> Result<(), StoreError> {
        let used: Vec<_> = self.unsaved.lock().iter().map(|(id, at)| (id.clone(), *at)).collect();
        if used.is_empty() {
            return Ok(());
        }
        store.save_token_use(&used).await?;
        let mut unsaved = self.unsaved.lock();
        for (id, at) in used {
            // What was used meanwhile is written the next time.
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
    async fn what_is_written_is_no_longer_in_memory_and_a_failure_loses_nothing() {
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
