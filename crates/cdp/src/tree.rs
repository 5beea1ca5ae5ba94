//! The owner of each session.
//!
//! A session belongs to the owner of the session it was attached from. A compromised renderer can
//! send any event in the name of its own session, so what a session reports about others counts
//! only for those below it.

use std::collections::{HashMap, HashSet};

use crate::session::SessionId;

/// Limit on sessions, more than any browser has; further ones are ignored.
const MAX_SESSIONS: usize = 16 << 10;

/// The owner of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    Us,
    Client(u64),
}

/// All sessions of a pipe.
#[derive(Default)]
pub(crate) struct Tree {
    /// INVARIANT: the parent of each is here too, or it is the pipe itself.
    sessions: HashMap<SessionId, Node>,
}

struct Node {
    parent: Option<SessionId>,
    children: Vec<SessionId>,
    owner: Owner,
    /// The target waits for its debugger to start it.
    waiting: bool,
}

impl Tree {
    /// The owner of a session, if it is known.
    pub fn owner(&self, session: &str) -> Option<Owner> {
        self.sessions.get(session).map(|node| node.owner)
    }

    /// `parent` reports that `session` was attached: it gets the same owner, unless it has one.
    pub fn attach(&mut self, parent: Option<&str>, session: &str, waiting: bool) {
        let owner = match parent {
            Some(parent) => self.owner(parent),
            None => Some(Owner::Us),
        };
        let full = self.sessions.len() >= MAX_SESSIONS;
        let Some(owner) = owner.filter(|_| !full && !self.sessions.contains_key(session)) else {
            return;
        };
        if let Some(parent) = parent.and_then(|parent| self.sessions.get_mut(parent)) {
            parent.children.push(session.into());
        }
        let parent = parent.map(SessionId::from);
        let node = Node { parent, children: Vec::new(), owner, waiting };
        self.sessions.insert(session.into(), node);
    }

    /// Transfers a session that we attached to a client; false if it is not ours.
    pub fn give(&mut self, session: &SessionId, client: u64) -> bool {
        match self.sessions.get_mut(session) {
            Some(node) if node.parent.is_none() && node.owner == Owner::Us => {
                node.owner = Owner::Client(client);
                true
            }
            _ => false,
        }
    }

    /// The sessions of a client whose targets wait for their debugger.
    pub fn waiting(&self, client: u64) -> impl Iterator<Item = &SessionId> {
        let theirs = move |node: &Node| node.waiting && node.owner == Owner::Client(client);
        self.sessions.iter().filter(move |(_, node)| theirs(node)).map(|(session, _)| session)
    }

    /// `parent` reports that `session` was detached. Returns all sessions that ended with it.
    pub fn detach(&mut self, parent: Option<&str>, session: &str) -> HashSet<SessionId> {
        match self.sessions.get(session) {
            Some(node) if node.parent.as_ref().map(SessionId::as_str) == parent => {}
            _ => return HashSet::new(),
        }
        if let Some(parent) = parent.and_then(|parent| self.sessions.get_mut(parent)) {
            parent.children.retain(|child| child.as_str() != session);
        }
        let mut gone = HashSet::new();
        let mut left = vec![SessionId::from(session)];
        while let Some(session) = left.pop() {
            left.extend(self.sessions.remove(&session).into_iter().flat_map(|node| node.children));
            gone.insert(session);
        }
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_ends_with_all_attached_from_it() {
        let mut tree = Tree::default();
        tree.attach(None, "root", false);
        assert!(tree.give(&"root".into(), 7));
        tree.attach(Some("root"), "page", false);
        tree.attach(Some("page"), "worker", false);
        tree.attach(None, "ours", false);
        assert_eq!(tree.owner("worker"), Some(Owner::Client(7)));

        let gone = tree.detach(None, "root");
        assert_eq!(gone, ["page", "root", "worker"].map(SessionId::from).into());
        assert_eq!(tree.owner("worker"), None);
        assert_eq!(tree.owner("ours"), Some(Owner::Us));
    }

    #[test]
    fn a_session_cannot_claim_or_end_sessions_outside_its_subtree() {
        let mut tree = Tree::default();
        tree.attach(None, "hers", false);
        tree.attach(None, "his", false);
        assert!(tree.give(&"hers".into(), 1) && tree.give(&"his".into(), 2));
        tree.attach(Some("hers"), "page", false);

        tree.attach(Some("his"), "page", false);
        tree.attach(Some("unknown"), "other", false);
        assert_eq!(tree.owner("page"), Some(Owner::Client(1)));
        assert_eq!(tree.owner("other"), None);
        assert!(tree.detach(Some("his"), "page").is_empty());
        assert!(tree.detach(None, "page").is_empty());
        assert!(!tree.give(&"page".into(), 2) && !tree.give(&"his".into(), 1));
        assert_eq!(tree.detach(Some("hers"), "page"), [SessionId::from("page")].into());
    }
}
