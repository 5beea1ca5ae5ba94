//! Which MCP sessions are in memory: those that were used last stay, and calls under way are never cut.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;

/// The most MCP sessions in memory per owner. One that gives way comes back from the store.
pub const MOST_PER_OWNER: usize = 100;

/// The sessions in memory. Cheap to clone.
#[derive(Clone, Default)]
pub struct LiveSessions {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    sessions: HashMap<String, Live>,
    /// Counts uses, so that the least recent one is known.
    uses: u64,
}

struct Live {
    owner: String,
    used: u64,
    /// Requests under way.
    busy: usize,
}

/// A request under way.
pub struct Busy {
    sessions: LiveSessions,
    id: String,
}

impl LiveSessions {
    /// Records a request in a session. Returns the session of the same owner that gives way, if there
    /// are too many: the one whose last use is longest ago and that nothing runs in.
    pub fn begin(&self, id: &str, owner: &str) -> (Busy, Option<String>) {
        let mut shared = self.shared.lock();
        shared.uses += 1;
        let used = shared.uses;
        let new = Live { owner: owner.to_owned(), used, busy: 0 };
        let live = shared.sessions.entry(id.to_owned()).or_insert(new);
        live.used = used;
        live.busy += 1;
        let own = || shared.sessions.iter().filter(|(_, live)| live.owner == owner);
        let given_up = match own().count() > MOST_PER_OWNER {
            true => own().filter(|(_, live)| live.busy == 0).min_by_key(|(_, live)| live.used),
            false => None,
        };
        let given_up = given_up.map(|(id, _)| id.clone());
        if let Some(id) = &given_up {
            shared.sessions.remove(id);
        }
        (Busy { sessions: self.clone(), id: id.to_owned() }, given_up)
    }

    /// Forgets a session that has ended.
    pub fn remove(&self, id: &str) {
        self.shared.lock().sessions.remove(id);
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if let Some(live) = self.sessions.shared.lock().sessions.get_mut(&self.id) {
            live.busy = live.busy.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_idle_session_of_the_same_owner_gives_way() {
        let sessions = LiveSessions::default();
        let _of_bob = sessions.begin("bob", "bob");
        let (running, _) = sessions.begin("running", "ann");
        for n in 0..MOST_PER_OWNER - 1 {
            assert_eq!(sessions.begin(&format!("s{n}"), "ann").1, None);
        }
        assert_eq!(sessions.begin("s0", "ann").1, None, "it is known");
        assert_eq!(sessions.begin("new", "ann").1.as_deref(), Some("s1"), "s0 was used since");
        drop(running);
        assert_eq!(sessions.begin("newer", "ann").1.as_deref(), Some("running"));
        sessions.remove("s0");
        assert_eq!(sessions.begin("newest", "ann").1, None);
    }
}
