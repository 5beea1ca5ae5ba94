//! Revoked tokens and tickets. They are checked with every request, and close open connections.

use std::{collections::HashMap, sync::Arc};

use helmdeck_store::{Store, StoreError};
use parking_lot::RwLock;
use time::OffsetDateTime;
use tokio::sync::watch;

/// Tokens are accepted slightly after their expiry, so revocations are kept slightly longer.
const CLOCKS_DIFFER: time::Duration = time::Duration::minutes(2);

/// All revoked ids that have not expired.
pub struct Revocations {
    store: Store,
    ids: RwLock<HashMap<Arc<str>, OffsetDateTime>>,
    /// Changes whenever an id is added.
    changed: watch::Sender<()>,
}

impl Revocations {
    pub async fn load(store: Store) -> Result<Self, StoreError> {
        let ids = store.revoked().await?.into_iter().map(|(id, end)| (id.into(), end)).collect();
        Ok(Self { store, ids: RwLock::new(ids), changed: watch::Sender::default() })
    }

    pub fn contains(&self, id: &str) -> bool {
        self.ids.read().contains_key(id)
    }

    /// Revokes an id immediately and permanently. It takes effect even if it cannot be stored.
    pub async fn add(&self, id: &str, expires_at: OffsetDateTime) -> Result<(), StoreError> {
        let now = OffsetDateTime::now_utc();
        let expires_at = expires_at + CLOCKS_DIFFER;
        {
            let mut ids = self.ids.write();
            ids.retain(|_, end| *end > now);
            ids.insert(id.into(), expires_at);
        }
        self.changed.send_replace(());
        self.store.revoke(id, now, expires_at).await
    }

    /// Waits until one of these ids is revoked.
    pub async fn any_of(&self, ids: &[String]) {
        let mut changed = self.changed.subscribe();
        while !ids.iter().any(|id| self.contains(id)) {
            // The sender lives in `self`.
            let _ = changed.changed().await;
        }
    }
}
