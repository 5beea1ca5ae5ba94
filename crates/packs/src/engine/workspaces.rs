//! Lets one call at a time find or create the session of a workspace, so that calls with a new name
//! share one session.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// Owner and name of a workspace.
type Key = (String, String);

type Lock = AsyncMutex<()>;

/// Workspaces whose session is being found or created. Cheap to clone.
#[derive(Clone, Default)]
pub struct Workspaces {
    locks: Arc<Mutex<HashMap<Key, Weak<Lock>>>>,
}

/// A workspace that only one call finds or creates. Dropping it lets the next one do so.
pub struct Held {
    workspaces: Workspaces,
    key: Key,
    lock: Option<Arc<Lock>>,
    guard: Option<OwnedMutexGuard<()>>,
}

impl Workspaces {
    /// Waits until no other call finds or creates this workspace.
    pub async fn hold(&self, owner: &str, name: &str) -> Held {
        let key = (owner.to_owned(), name.to_owned());
        let lock = self.lock_of(&key);
        // It exists before the wait, so that a call that is cancelled while it waits leaves no entry.
        let mut held =
            Held { workspaces: self.clone(), key, lock: Some(lock.clone()), guard: None };
        held.guard = Some(lock.lock_owned().await);
        held
    }

    fn lock_of(&self, key: &Key) -> Arc<Lock> {
        let mut locks = self.locks.lock();
        if let Some(lock) = locks.get(key).and_then(Weak::upgrade) {
            return lock;
        }
        let lock = Arc::new(Lock::new(()));
        locks.insert(key.clone(), Arc::downgrade(&lock));
        lock
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.guard = None;
        self.lock = None;
        let mut locks = self.workspaces.locks.lock();
        if locks.get(&self.key).is_some_and(|lock| lock.strong_count() == 0) {
            locks.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_workspace_is_held_by_one_call_and_forgotten_after_the_last() {
        let workspaces = Workspaces::default();
        let first = workspaces.hold("ann", "calc").await;
        let mut second = Box::pin(workspaces.hold("ann", "calc"));
        let mut cancelled = Box::pin(workspaces.hold("ann", "calc"));
        assert!((&mut second).now_or_never().is_none(), "it waits");
        assert!((&mut cancelled).now_or_never().is_none(), "it waits");
        assert!(workspaces.hold("ann", "other").now_or_never().is_some(), "another name");
        assert!(workspaces.hold("bob", "calc").now_or_never().is_some(), "another owner");
        drop(first);
        let second = second.await;
        drop(cancelled);
        assert_eq!(workspaces.locks.lock().len(), 1);
        drop(second);
        assert!(workspaces.locks.lock().is_empty());
    }
}
