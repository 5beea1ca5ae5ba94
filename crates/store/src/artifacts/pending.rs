//! Content that is being made durable and has no row yet.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;

/// A cheap handle to the hashes of such content, with how many uploads have it.
#[derive(Clone, Default)]
pub(super) struct Pending {
    hashes: Arc<Mutex<HashMap<String, usize>>>,
}

/// Keeps content from being removed until it is dropped.
pub(super) struct Kept {
    pending: Pending,
    sha256: String,
}

impl Pending {
    pub fn keep(&self, sha256: &str) -> Kept {
        *self.hashes.lock().entry(sha256.to_owned()).or_default() += 1;
        Kept { pending: self.clone(), sha256: sha256.to_owned() }
    }

    pub fn has(&self, sha256: &str) -> bool {
        self.hashes.lock().contains_key(sha256)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let mut hashes = self.pending.hashes.lock();
        if let Some(uploads) = hashes.get_mut(&self.sha256) {
            *uploads -= 1;
            if *uploads == 0 {
                hashes.remove(&self.sha256);
            }
        }
    }
}
