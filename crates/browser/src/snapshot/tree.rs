//! The accessibility tree without meaningless elements.
//!
//! Elements that only group or decorate are removed and their children move up. A block element
//! leaves a break, so that two paragraphs do not become one. Nothing here recurses: pages may have
//! any depth.

use std::{
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use helmdeck_cdp::SessionId;

use super::{
    frame::{Fate, Frame},
    source::{AxTree, Facts},
};
use crate::refs::Node;

/// Deeper elements move up to this depth.
const MAX_DEPTH: usize = 40;
/// Limit on items in a snapshot; the rest of the page is left out.
pub(super) const MAX_ITEMS: usize = 200_000;

/// The data of one frame.
pub(crate) struct Source {
    pub session: SessionId,
    /// The frame's id.
    pub frame: String,
    /// The id of its document.
    pub document: String,
    pub url: String,
    pub tree: AxTree,
    /// The index of the parent frame, and the backend id of the element that shows this frame.
    pub owner: Option<(usize, i64)>,
}

/// The facts of each session's elements.
pub(crate) type AllFacts = HashMap<SessionId, HashMap<i64, Facts>>;

/// The reduced tree of a page. The first item is the root.
pub(crate) struct Tree {
    pub items: Vec<Item>,
    /// Whether the page has more items than the limit.
    pub cut: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Item {
    pub what: Content,
    pub children: Vec<usize>,
    /// The index of the frame, and the node in it.
    pub node: Option<(usize, i64)>,
    /// Identifies the node across snapshots.
    pub key: u64,
    /// The upper edge relative to the viewport.
    pub top: f64,
}

#[derive(Debug, Default)]
pub(crate) enum Content {
    /// Separates lines.
    #[default]
    Break,
    Text(String),
    Element(Element),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Element {
    pub role: String,
    pub name: String,
    pub value: String,
    /// In display order, without brackets.
    pub states: Vec<String>,
    /// Whether it can be used.
    pub acts: bool,
    /// An id or class, if it has no name.
    pub handle: String,
}

enum Work {
    Node { frame: usize, node: usize, parent: usize, depth: usize, top: f64 },
    Break { parent: usize },
}

/// Builds the tree of a page from its frames, main frame first, or of one node.
pub(crate) fn grow(sources: &[Source], facts: &AllFacts, root: Option<&Node>) -> Tree {
    let mut grower = Grower::new(sources, facts);
    for (frame, node) in grower.roots(root).into_iter().rev() {
        grower.work.push(Work::Node { frame, node, parent: 0, depth: 0, top: 0.0 });
    }
    while let Some(work) = grower.work.pop() {
        if grower.tree.items.len() >= MAX_ITEMS {
            grower.tree.cut = true;
            break;
        }
        match work {
            Work::Break { parent } => grower.add(parent, Item::default()),
            Work::Node { frame, node, parent, depth, top } => {
                grower.visit((frame, node), parent, depth, top);
            }
        }
    }
    grower.tree
}

struct Grower<'a> {
    frames: Vec<Frame<'a>>,
    /// The frame that an element shows.
    shown: HashMap<(usize, i64), usize>,
    /// Guards against cycles, which a compromised renderer could send.
    seen: HashSet<(usize, usize)>,
    work: Vec<Work>,
    tree: Tree,
}

impl<'a> Grower<'a> {
    fn new(sources: &'a [Source], facts: &'a AllFacts) -> Self {
        let frames = sources.iter().map(|source| Frame::new(source, facts.get(&source.session)));
        let shown = sources.iter().enumerate();
        let shown = shown.filter_map(|(index, source)| Some((source.owner?, index)));
        let root = Item { what: Content::Element(Element::default()), ..Item::default() };
        Self {
            frames: frames.collect(),
            shown: shown.collect(),
            seen: HashSet::new(),
            work: Vec::new(),
            tree: Tree { items: vec![root], cut: false },
        }
    }

    /// Where to begin: the main frame, or the topmost nodes within `root`.
    fn roots(&self, root: Option<&Node>) -> Vec<(usize, usize)> {
        let Some(root) = root else { return vec![(0, 0)] };
        let mut roots = Vec::new();
        for (at, frame) in self.frames.iter().enumerate() {
            if frame.source.session != root.session || frame.source.frame != root.frame {
                continue;
            }
            let nodes = &frame.source.tree.nodes;
            let inside = frame.inside(root.backend_id);
            let mut below: HashSet<usize> = HashSet::new();
            for (index, node) in nodes.iter().enumerate() {
                if inside.get(index) == Some(&true) {
                    below.extend(frame.children(node));
                }
            }
            let top = |index: &usize| inside.get(*index) == Some(&true) && !below.contains(index);
            roots.extend(frame.in_order().into_iter().filter(top).map(|index| (at, index)));
        }
        roots
    }

    fn add(&mut self, parent: usize, item: Item) {
        let index = self.tree.items.len();
        self.tree.items.push(item);
        if let Some(parent) = self.tree.items.get_mut(parent) {
            parent.children.push(index);
        }
    }

    fn visit(&mut self, at: (usize, usize), parent: usize, depth: usize, top: f64) {
        let (frame_at, node_at) = at;
        let Some(frame) = self.frames.get(frame_at) else { return };
        let Some(node) = frame.source.tree.nodes.get(node_at) else { return };
        if !self.seen.insert(at) {
            return;
        }
        let facts = frame.facts(node);
        let top = facts.and_then(|facts| facts.top).map_or(top, |top| top + frame.top);
        let owned = node.backend_id.and_then(|id| self.shown.get(&(frame_at, id))).copied();
        let id = node.backend_id.map(|id| (frame_at, id));
        let mut hasher = DefaultHasher::new();
        (&frame.source.frame, node.backend_id).hash(&mut hasher);
        let key = hasher.finish();
        match frame.fate(node, node_at) {
            Fate::Gone => {}
            Fate::Said(text) => {
                let what = Content::Text(text);
                self.add(parent, Item { what, children: Vec::new(), node: id, key, top });
            }
            Fate::Hoisted => {
                let block = facts.is_some_and(|facts| !facts.inline);
                let children: Vec<usize> = frame.children(node).collect();
                if block {
                    self.add(parent, Item::default());
                    self.work.push(Work::Break { parent });
                }
                self.below(frame_at, children, (parent, depth, top));
                self.show(owned, (parent, depth, top));
            }
            Fate::Kept { element, with_children } => {
                let children: Vec<usize> =
                    if with_children { frame.children(node).collect() } else { Vec::new() };
                let item = self.tree.items.len();
                let what = Content::Element(element);
                self.add(parent, Item { what, children: Vec::new(), node: id, key, top });
                let (parent, depth) =
                    if depth < MAX_DEPTH { (item, depth + 1) } else { (parent, depth) };
                self.below(frame_at, children, (parent, depth, top));
                self.show(owned, (parent, depth, top));
            }
        }
    }

    fn below(&mut self, frame: usize, children: Vec<usize>, to: (usize, usize, f64)) {
        let (parent, depth, top) = to;
        let children = children.into_iter().rev();
        self.work.extend(children.map(|node| Work::Node { frame, node, parent, depth, top }));
    }

    /// Adds the frame that an element shows below it.
    fn show(&mut self, frame: Option<usize>, to: (usize, usize, f64)) {
        let (parent, depth, top) = to;
        if let Some(at) = frame {
            if let Some(frame) = self.frames.get_mut(at) {
                frame.top = top;
            }
            self.work.push(Work::Node { frame: at, node: 0, parent, depth, top });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::source::AxNode, *};

    fn source(nodes: Vec<AxNode>) -> Source {
        Source {
            session: "s".into(),
            frame: "f".to_owned(),
            document: "d".to_owned(),
            url: "http://here/".to_owned(),
            tree: AxTree { nodes },
            owner: None,
        }
    }

    fn node(id: usize, role: &str, children: &[usize]) -> AxNode {
        AxNode {
            node_id: id.to_string(),
            ignored: false,
            role: role.to_owned(),
            name: "n".to_owned(),
            value: String::new(),
            properties: HashMap::new(),
            child_ids: children.iter().map(usize::to_string).collect(),
            backend_id: i64::try_from(id).ok(),
        }
    }

    #[test]
    fn deep_and_cyclic_trees_are_handled() {
        const DEPTH: usize = 20_000;
        let mut nodes: Vec<AxNode> =
            (0..DEPTH).map(|id| node(id, "list", &[id + 1, id.saturating_sub(1), id])).collect();
        nodes.push(node(DEPTH, "button", &[0]));
        let tree = grow(&[source(nodes)], &AllFacts::new(), None);
        assert_eq!(tree.items.len(), DEPTH + 2);
        let (mut at, mut depth) = (0, 0);
        while let Some(child) = tree.items[at].children.first() {
            (at, depth) = (*child, depth + 1);
        }
        assert_eq!(depth, MAX_DEPTH + 1);
    }

    #[test]
    fn oversized_trees_are_cut() {
        let all: Vec<usize> = (1..=MAX_ITEMS).collect();
        let mut nodes = vec![node(0, "main", &all)];
        nodes.extend(all.iter().map(|id| node(*id, "button", &[])));
        let tree = grow(&[source(nodes)], &AllFacts::new(), None);
        assert!(tree.cut && tree.items.len() == MAX_ITEMS);
        assert!(grow(&[], &AllFacts::new(), None).items.len() == 1);
    }
}
