//! Files that a job removes from its session before it ends, whatever its result is.

use std::{collections::BTreeSet, sync::Arc};

use helmdeck_sessions::{Caller, Session};
use parking_lot::Mutex;

use crate::context::command;

/// Paths in a job's session that only this job needs. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Leftovers(Arc<Mutex<BTreeSet<String>>>);

impl Leftovers {
    /// Adds a file or folder.
    pub fn add(&self, path: &str) {
        self.0.lock().insert(path.to_owned());
    }

    /// Leaves a file or folder in the session after all.
    pub fn keep(&self, path: &str) {
        self.0.lock().remove(path);
    }

    /// Removes them. What fails is gone with the session.
    pub async fn remove(&self, session: &Session, caller: &Caller) {
        let paths = std::mem::take(&mut *self.0.lock());
        if paths.is_empty() {
            return;
        }
        let words = ["rm", "-rf", "--"].into_iter().chain(paths.iter().map(String::as_str));
        if let Ok(mut removing) = session.exec(caller, command(words)).await {
            let _ = removing.ended().await;
        }
    }
}
