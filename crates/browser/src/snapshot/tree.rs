//! The elements of a page without meaningless ones.
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
    dom::Dom,
    frame::{Fate, fate},
};
use crate::refs::Node;

/// Deeper elements move up to this depth.
const MAX_DEPTH: usize = 40;
/// Limit on items in a snapshot; the rest of the page is left out.
pub(super) const MAX_ITEMS: usize = 200_000;

/// The data of one frame.
pub(crate) struct Source<'a> {
    pub session: SessionId,
    /// The frame's id.
    pub frame: String,
    /// The id of its document.
    pub document: String,
    pub url: String,
    pub dom: Dom<'a>,
    /// The index of the parent frame, and the backend id of the element that shows this frame.
    pub owner: Option<(usize, i64)>,
}

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
pub(crate) fn grow(sources: &[Source<'_>], root: Option<&Node>) -> Tree {
    let mut grower = Grower::new(sources);
    if let Some((frame, node)) = grower.root(root) {
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
    sources: &'a [Source<'a>],
    /// The upper edge of each frame in the viewport.
    tops: HashMap<usize, f64>,
    /// The frame that an element shows.
    shown: HashMap<(usize, i64), usize>,
    /// Guards against elements that own each other.
    seen: HashSet<(usize, usize)>,
    work: Vec<Work>,
    tree: Tree,
}

impl<'a> Grower<'a> {
    fn new(sources: &'a [Source<'a>]) -> Self {
        let shown = sources.iter().enumerate();
        let shown = shown.filter_map(|(index, source)| Some((source.owner?, index)));
        let root = Item { what: Content::Element(Element::default()), ..Item::default() };
        Self {
            sources,
            tops: HashMap::new(),
            shown: shown.collect(),
            seen: HashSet::new(),
            work: Vec::new(),
            tree: Tree { items: vec![root], cut: false },
        }
    }

    /// Where to begin: the main frame, or a node that is shown.
    fn root(&self, root: Option<&Node>) -> Option<(usize, usize)> {
        let Some(root) = root else { return Some((0, 0)) };
        let mut sources = self.sources.iter();
        let its =
            |source: &Source<'_>| source.session == root.session && source.frame == root.frame;
        let frame = sources.position(its)?;
        let dom = &self.sources.get(frame)?.dom;
        dom.find(root.backend_id).filter(|at| !dom.is_inside_gone(*at)).map(|at| (frame, at))
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
        let Some(source) = self.sources.get(frame_at) else { return };
        let Some(node) = source.dom.node(node_at) else { return };
        if !self.seen.insert(at) {
            return;
        }
        let edge = self.tops.get(&frame_at).copied().unwrap_or_default();
        let top = node.layout.map_or(top, |layout| layout.top + edge);
        let owned = self.shown.get(&(frame_at, node.backend_id)).copied();
        let id = Some((frame_at, node.backend_id));
        let mut hasher = DefaultHasher::new();
        (&source.frame, Some(node.backend_id)).hash(&mut hasher);
        let key = hasher.finish();
        match fate(&source.dom, &source.url, node_at) {
            Fate::Gone => {}
            Fate::Said(text) => {
                let what = Content::Text(text);
                self.add(parent, Item { what, children: Vec::new(), node: id, key, top });
            }
            Fate::Hoisted { block } => {
                if block {
                    self.add(parent, Item::default());
                    self.work.push(Work::Break { parent });
                }
                self.below(frame_at, source.dom.children(node_at), (parent, depth, top));
                self.show(owned, (parent, depth, top));
            }
            Fate::Kept { element, with_children } => {
                let children =
                    if with_children { source.dom.children(node_at) } else { Vec::new() };
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
            self.tops.insert(at, top);
            self.work.push(Work::Node { frame: at, node: 0, parent, depth, top });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::Fixture, *};

    fn source(page: Fixture) -> Source<'static> {
        Source {
            session: "s".into(),
            frame: "f".to_owned(),
            document: "d".to_owned(),
            url: "http://here/".to_owned(),
            dom: page.dom(),
            owner: None,
        }
    }

    #[test]
    fn deep_trees_are_handled() {
        const DEPTH: usize = 20_000;
        let mut page = Fixture::default();
        let mut at = page.element(0, "UL", "");
        for _ in 1..DEPTH {
            at = page.element(at, "UL", "");
        }
        page.element(at, "BUTTON", "");
        let tree = grow(&[source(page)], None);
        let elements = tree.items.iter().filter(|item| matches!(item.what, Content::Element(_)));
        assert_eq!(elements.count(), DEPTH + 2);
        let (mut at, mut depth) = (0, 0);
        while let Some(child) = tree.items[at].children.first() {
            (at, depth) = (*child, depth + 1);
        }
        assert_eq!(depth, MAX_DEPTH + 1);
    }

    #[test]
    fn elements_that_own_each_other_are_shown_once() {
        let mut page = Fixture::default();
        page.element(0, "MAIN", "id=a aria-owns=b");
        page.element(0, "NAV", "id=b aria-owns=a");
        let tree = grow(&[source(page)], None);
        let roles = tree.items.iter().filter_map(|item| match &item.what {
            Content::Element(element) => Some(element.role.as_str()),
            Content::Break | Content::Text(_) => None,
        });
        assert_eq!(roles.collect::<Vec<_>>(), ["", "main", "navigation"]);
    }

    #[test]
    fn oversized_trees_are_cut() {
        let mut page = Fixture::default();
        let main = page.element(0, "MAIN", "");
        for _ in 0..MAX_ITEMS {
            page.element(main, "BUTTON", "");
        }
        let tree = grow(&[source(page)], None);
        assert!(tree.cut && tree.items.len() == MAX_ITEMS);
        assert!(grow(&[], None).items.len() == 1);
    }
}
