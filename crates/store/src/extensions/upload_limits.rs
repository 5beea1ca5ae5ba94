//! Limits uploads per owner: few at once, and stored one at a time, so that the owner's total is
//! always accurate.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;

use crate::StoreError;

/// Maximum number of uploads at once. Each may use disk space before it is checked.
const MAX_UPLOADS: usize = 4;

/// A cheap handle to the uploads of all owners.
#[derive(Clone, Default)]
pub(super) struct UploadLimits {
    owners: Arc<Mutex<HashMap<String, Arc<Owner>>>>,
}

#[derive(Default)]
struct Owner {
    uploads: AtomicUsize,
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// An upload in progress. Dropping it ends it.
pub(super) struct Upload(Arc<Owner>);

/// The exclusive right of an owner to store an upload. It moves with the work, which continues if
/// the caller disconnects.
pub(super) struct UploadTurn {
    _first: OwnedMutexGuard<()>,
    _upload: Upload,
}

impl UploadLimits {
    /// Admits an upload of this owner.
    pub fn begin(&self, owner: &str) -> Result<Upload, StoreError> {
        let mut owners = self.owners.lock();
        owners.retain(|_, owner| Arc::strong_count(owner) > 1);
        let owner = owners.entry(owner.to_owned()).or_default();
        if owner.uploads.fetch_add(1, Ordering::AcqRel) >= MAX_UPLOADS {
            owner.uploads.fetch_sub(1, Ordering::AcqRel);
            return Err(StoreError::TooManyUploads { limit: MAX_UPLOADS });
        }
        Ok(Upload(owner.clone()))
    }
}

impl Upload {
    /// Waits for the right to store the upload. Repacking another one can take a while.
    pub async fn turn(self) -> UploadTurn {
        UploadTurn { _first: self.0.turn.clone().lock_owned().await, _upload: self }
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        self.0.uploads.fetch_sub(1, Ordering::AcqRel);
    }
}
