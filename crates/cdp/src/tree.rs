//! Which session belongs to whom.
//!
//! A session is somebody's because the one it was attached from is. A page that took over its own
//! process can put any event in its own session's name, so what a session says about others counts
//! only for those that are below it.

use std::collections::{HashMap, HashSet};

use crate::session::SessionId;

/// More sessions than any browser has; further ones are not known.
const MAX_SESSIONS: usize = 16 << 10;

/// Whose a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    Us,
    Client(u64),
}

/// Every session there is on the pipe.
#[derive(Default)]
pub(crate) struct Tree {
    /// INVARIANT: the parent of each is here too, or it is the pipe itself.
    sessions: HashMap<SessionId, Node>,
}

struct Node {
    parent: Option<SessionId>,
    children: Vec<SessionId>,
    owner: Owner,
    /// What it is attached to was told not to run before somebody says so.
    waiting: bool,
}

impl Tree {
    /// Whose it is, if it is known at all.
    pub fn owner(&self, session: &str) -> Option<Owner> {
        self.sessions.get(session).map(|node| node.owner)
    }

    /// `parent` says that `session` was attached: it belongs to the same owner, unless it has one.
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

    /// Gives a session that we attached to a client; false if it is not ours to give.
    pub fn give(&mut self, session: &SessionId, client: u64) -> bool {
        match self.sessions.get_mut(session) {
            Some(node) if node.parent.is_none() && node.owner == Owner::Us => {
                node.owner = Owner::Client(client);
                true
            }
            _ => false,
        }
    }

    /// The sessions of a client that somebody may still be waited for on.
    pub fn waiting(&self, client: u64) -> impl Iterator<Item = &SessionId> {
        let theirs = move |node: &Node| node.waiting && node.owner == Owner::Client(client);
        self.sessions.iter().filter(move |(_, node)| theirs(node)).map(|(session, _)| session)
    }

    /// `parent` says that `session` was detached. Returns all that are gone with it.
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
    fn a_session_goes_with_all_that_were_attached_from_it() {
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
    fn no_session_takes_or_ends_one_that_is_not_below_it() {
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
