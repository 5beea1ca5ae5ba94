//! The frames of a tab, in all its processes. Pure: fed by events of the tab's sessions.

use std::{collections::HashMap, iter};

use helmdeck_cdp::SessionId;
use serde::Deserialize;

/// A document of a tab: the page itself or an iframe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The session that reaches the frame.
    pub session: SessionId,
    pub id: String,
    /// None for the page itself.
    pub parent: Option<String>,
    pub url: String,
    /// The current document; changes with each navigation.
    pub loader: String,
}

/// A frame as described by the browser.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Described {
    pub id: String,
    #[serde(default)]
    pub parent_id: Option<String>,
    #[serde(default)]
    pub loader_id: String,
    #[serde(default)]
    pub url: String,
    #[serde(default)]
    pub url_fragment: String,
}

/// A frame tree as listed by the browser.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Listed {
    pub frame: Described,
    #[serde(default)]
    pub child_frames: Vec<Listed>,
}

/// Every frame of a tab.
#[derive(Default)]
pub(crate) struct FrameTree {
    main: Option<String>,
    /// INVARIANT: no frame is its own ancestor, and each has at most one parent.
    nodes: HashMap<String, Node>,
}

struct Node {
    frame: Frame,
    children: Vec<String>,
    /// The execution context of our scripts in this document.
    world: Option<i64>,
}

impl FrameTree {
    /// Starts with the page itself. Its frame id equals its tab id.
    pub fn of(session: &SessionId, id: &str, url: &str) -> Self {
        let mut frames = Self::default();
        let described = Described {
            id: id.to_owned(),
            parent_id: None,
            loader_id: String::new(),
            url: url.to_owned(),
            url_fragment: String::new(),
        };
        frames.navigated(session, &described);
        frames
    }

    /// Adds frames that existed before we subscribed.
    pub fn listed(&mut self, session: &SessionId, listed: &Listed) {
        let id = &listed.frame.id;
        let stale = self
            .nodes
            .get(id)
            .is_none_or(|node| node.frame.session != *session || node.frame.loader.is_empty());
        if stale {
            self.navigated(session, &listed.frame);
        }
        for child in &listed.child_frames {
            self.listed(session, child);
        }
    }

    pub fn attached(&mut self, session: &SessionId, id: &str, parent: &str) {
        let described = Described {
            id: id.to_owned(),
            parent_id: Some(parent.to_owned()),
            loader_id: String::new(),
            url: String::new(),
            url_fragment: String::new(),
        };
        if !self.nodes.contains_key(id) {
            self.navigated(session, &described);
        }
    }

    /// A frame navigated or appeared. Reports that would make a frame its own ancestor are ignored.
    pub fn navigated(&mut self, session: &SessionId, described: &Described) {
        let Described { id, parent_id, loader_id, url, url_fragment } = described;
        if parent_id.as_deref().is_some_and(|parent| self.is_within(parent, id)) {
            return;
        }
        let before = self.nodes.get(id).and_then(|node| node.frame.parent.as_ref());
        if before.is_some() && parent_id.is_some() && before != parent_id.as_ref() {
            self.removed(id);
        }
        let known = self.nodes.remove(id);
        let (parent, children) = match known {
            Some(node) => (parent_id.clone().or(node.frame.parent), node.children),
            None => (parent_id.clone(), Vec::new()),
        };
        for child in &children {
            // Children of the previous document; those of the new one are reported later.
            self.forget(child);
        }
        match &parent {
            Some(parent) => {
                if let Some(node) = self.nodes.get_mut(parent)
                    && !node.children.contains(id)
                {
                    node.children.push(id.clone());
                }
            }
            None => self.main = Some(id.clone()),
        }
        let frame = Frame {
            session: session.clone(),
            id: id.clone(),
            parent,
            url: format!("{url}{url_fragment}"),
            loader: loader_id.clone(),
        };
        self.nodes.insert(id.clone(), Node { frame, children: Vec::new(), world: None });
    }

    /// The address changed within the same document.
    pub fn moved_within(&mut self, id: &str, url: &str) {
        if let Some(node) = self.nodes.get_mut(id) {
            url.clone_into(&mut node.frame.url);
        }
    }

    /// A frame was removed from its page.
    pub fn removed(&mut self, id: &str) {
        let parent = self.nodes.get(id).and_then(|node| node.frame.parent.clone());
        if let Some(parent) = parent.and_then(|parent| self.nodes.get_mut(&parent)) {
            parent.children.retain(|child| child != id);
        }
        self.forget(id);
    }

    /// A frame moved to another session.
    pub fn moved_to(&mut self, session: &SessionId, id: &str) {
        if let Some(node) = self.nodes.get_mut(id) {
            node.frame.session = session.clone();
            node.frame.loader.clear();
            node.world = None;
        }
    }

    /// A session ended; its frames are gone.
    pub fn lost(&mut self, session: &SessionId) {
        let lost: Vec<_> = self
            .nodes
            .values()
            .filter(|node| node.frame.session == *session && node.frame.parent.is_some())
            .map(|node| node.frame.id.clone())
            .collect();
        for id in lost {
            self.removed(&id);
        }
    }

    /// The page itself.
    pub fn main(&self) -> Option<&Frame> {
        self.nodes.get(self.main.as_ref()?).map(|node| &node.frame)
    }

    /// All frames: the page itself first, then in document order.
    pub fn list(&self) -> Vec<Frame> {
        let mut found = Vec::new();
        let mut left: Vec<_> = self.main.iter().collect();
        while let Some(node) = left.pop().and_then(|id| self.nodes.get(id)) {
            found.push(node.frame.clone());
            left.extend(node.children.iter().rev().filter(|id| self.nodes.contains_key(*id)));
        }
        found
    }

    /// Whether a frame still shows the same document.
    pub fn shows(&self, frame: &Frame) -> bool {
        self.nodes.get(&frame.id).is_some_and(|node| {
            node.frame.session == frame.session && node.frame.loader == frame.loader
        })
    }

    /// The execution context of our scripts in a document, if it was created.
    pub fn world(&self, frame: &Frame) -> Option<i64> {
        self.shows(frame).then(|| self.nodes.get(&frame.id)?.world)?
    }

    pub fn set_world(&mut self, frame: &Frame, world: Option<i64>) {
        if self.shows(frame)
            && let Some(node) = self.nodes.get_mut(&frame.id)
        {
            node.world = world;
        }
    }

    /// Whether frame `id` is `other` or a descendant of it.
    fn is_within(&self, id: &str, other: &str) -> bool {
        iter::successors(Some(id), |id| self.nodes.get(*id)?.frame.parent.as_deref())
            .any(|id| id == other)
    }

    fn forget(&mut self, id: &str) {
        let mut left = vec![id.to_owned()];
        while let Some(id) = left.pop() {
            left.extend(self.nodes.remove(&id).into_iter().flat_map(|node| node.children));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(id: &str, parent: Option<&str>, loader: &str) -> Described {
        Described {
            id: id.to_owned(),
            parent_id: parent.map(str::to_owned),
            loader_id: loader.to_owned(),
            url: format!("http://{id}/"),
            url_fragment: String::new(),
        }
    }

    fn ids(frames: &FrameTree) -> Vec<String> {
        frames.list().into_iter().map(|frame| frame.id).collect()
    }

    #[test]
    fn frames_are_listed_from_the_page_down_in_their_order() {
        let (page, other) = (SessionId::from("page"), SessionId::from("other"));
        let mut frames = FrameTree::of(&page, "main", "about:blank");
        frames.attached(&page, "a", "main");
        frames.attached(&page, "b", "main");
        frames.attached(&page, "a1", "a");
        assert_eq!(ids(&frames), ["main", "a", "a1", "b"]);

        // It moves to another process and keeps its place.
        frames.moved_to(&other, "a");
        frames.navigated(&other, &described("a", Some("main"), "2"));
        assert_eq!(ids(&frames), ["main", "a", "b"]);
        assert_eq!(frames.list()[1].session, other);

        frames.lost(&other);
        assert_eq!(ids(&frames), ["main", "b"]);
        frames.navigated(&page, &described("main", None, "3"));
        assert_eq!(ids(&frames), ["main"]);
    }

    #[test]
    fn a_frame_is_never_within_itself() {
        let page = SessionId::from("page");
        let mut frames = FrameTree::of(&page, "main", "about:blank");
        frames.attached(&page, "a", "main");
        frames.attached(&page, "b", "a");
        frames.attached(&page, "self", "self");
        for (id, parent) in [("main", "main"), ("main", "b"), ("a", "a"), ("a", "b")] {
            frames.navigated(&page, &described(id, Some(parent), "2"));
        }
        assert_eq!(ids(&frames), ["main", "a", "b"]);
        // Two frames that are not known yet.
        frames.attached(&page, "c", "d");
        frames.attached(&page, "d", "c");
        assert_eq!(ids(&frames), ["main", "a", "b"]);
        assert!(frames.nodes.contains_key("c") && !frames.nodes.contains_key("d"));
    }

    #[test]
    fn a_frame_is_in_one_place_only() {
        let page = SessionId::from("page");
        let mut frames = FrameTree::of(&page, "main", "about:blank");
        frames.attached(&page, "a", "main");
        frames.attached(&page, "b", "main");
        frames.attached(&page, "c", "a");
        frames.navigated(&page, &described("c", Some("b"), "2"));
        assert_eq!(ids(&frames), ["main", "a", "b", "c"]);
    }

    #[test]
    fn a_world_ends_with_its_document() {
        let page = SessionId::from("page");
        let mut frames = FrameTree::of(&page, "main", "about:blank");
        let before = frames.main().unwrap().clone();
        frames.set_world(&before, Some(7));
        assert_eq!(frames.world(&before), Some(7));
        frames.navigated(&page, &described("main", None, "2"));
        assert_eq!(frames.world(&before), None);
        frames.set_world(&before, Some(8));
        assert_eq!(frames.world(&before), None);
    }
}
