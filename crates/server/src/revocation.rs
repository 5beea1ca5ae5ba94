//! Tokens and tickets that count no more: checked at every request, and told to open connections.

use std::{collections::HashMap, sync::Arc};

use helmdeck_store::{Store, StoreError};
use parking_lot::RwLock;
use time::OffsetDateTime;
use tokio::sync::watch;

/// A token is accepted a little after its time, so its revocation is kept a little longer.
const CLOCKS_DIFFER: time::Duration = time::Duration::minutes(2);

/// All ids that were revoked and would still be good.
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

    /// Makes an id count no more, at once and after a restart. At once even if it cannot be kept.
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
