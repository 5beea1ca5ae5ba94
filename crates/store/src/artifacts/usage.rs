//! Bytes of uploads that are under way, by owner, so that a quota ends uploads early.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;

/// A cheap handle to the uploads of all owners.
#[derive(Clone, Default)]
pub(super) struct Uploads {
    bytes: Arc<Mutex<HashMap<String, u64>>>,
}

/// One upload. Dropping it ends it.
pub(super) struct Upload {
    uploads: Uploads,
    owner: String,
    size: u64,
}

impl Uploads {
    pub fn begin(&self, owner: &str) -> Upload {
        Upload { uploads: self.clone(), owner: owner.to_owned(), size: 0 }
    }
}

impl Upload {
    /// Counts more bytes, and returns the bytes of all uploads of the owner.
    pub fn add(&mut self, more: u64) -> u64 {
        self.size = self.size.saturating_add(more);
        let mut bytes = self.uploads.bytes.lock();
        let all = bytes.entry(self.owner.clone()).or_default();
        *all = all.saturating_add(more);
        *all
    }

    /// Its own bytes.
    pub fn size(&self) -> u64 {
        self.size
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let mut bytes = self.uploads.bytes.lock();
        if let Some(all) = bytes.get_mut(&self.owner) {
            *all = all.saturating_sub(self.size);
            if *all == 0 {
                bytes.remove(&self.owner);
            }
        }
    }
}
