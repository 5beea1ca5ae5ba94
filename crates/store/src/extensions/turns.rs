//! Uploads of one owner: few at once, and kept one after the other, so that what is counted against the
//! owner's room is all there is.

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

/// Each may lie on the disk before it is checked.
const MAX_UPLOADS: usize = 4;

/// A cheap handle to the uploads of all owners.
#[derive(Clone, Default)]
pub(super) struct Turns {
    owners: Arc<Mutex<HashMap<String, Arc<Owner>>>>,
}

#[derive(Default)]
struct Owner {
    uploads: AtomicUsize,
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// An upload that is under way. Dropping it ends it.
pub(super) struct Upload(Arc<Owner>);

/// The right to keep an upload: nobody else of this owner's has it. It goes along with the work, which
/// goes on when its caller is gone.
pub(super) struct Turn {
    _first: OwnedMutexGuard<()>,
    _upload: Upload,
}

impl Turns {
    /// Admits an upload of this owner's.
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
    /// Waits for the right to keep it: others take as long as this machine needs to repack one.
    pub async fn turn(self) -> Turn {
        Turn { _first: self.0.turn.clone().lock_owned().await, _upload: self }
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        self.0.uploads.fetch_sub(1, Ordering::AcqRel);
    }
}
