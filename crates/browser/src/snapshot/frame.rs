//! One frame of a page: the structure of its nodes, and how each is shown.

use std::collections::{HashMap, HashSet};

use super::{
    role::{ACTING, NAMED_BY_TEXT, PLAIN, edited, role, states, target, value},
    source::{AxNode, Facts},
    tree::{Element, MAX_ITEMS, Source},
    words::{clip, tidy},
};

/// A clickable element with more nodes than this is taken for a container with a shared listener.
const MAX_CLICKABLE: usize = 60;
/// The longest name or text that is read, in characters.
const MAX_TEXT: usize = 2000;

/// How a node is shown.
pub(super) enum Fate {
    /// The node and its descendants are left out.
    Gone,
    /// The node is left out and its children move up.
    Hoisted,
    Said(String),
    Kept {
        element: Element,
        with_children: bool,
    },
}

/// A frame and the structure of its nodes.
pub(super) struct Frame<'a> {
    pub source: &'a Source,
    facts: Option<&'a HashMap<i64, Facts>>,
    index: HashMap<&'a str, usize>,
    /// The number of nodes in each subtree, including its root.
    sizes: Vec<usize>,
    /// The upper edge of the frame in the viewport.
    pub top: f64,
}

impl<'a> Frame<'a> {
    pub fn new(source: &'a Source, facts: Option<&'a HashMap<i64, Facts>>) -> Self {
        let nodes = source.tree.nodes.iter().enumerate();
        let index = nodes.map(|(index, node)| (node.node_id.as_str(), index)).collect();
        let mut frame = Self { source, facts, index, sizes: Vec::new(), top: 0.0 };
        let mut sizes = vec![1_usize; source.tree.nodes.len()];
        for at in frame.in_order().into_iter().rev() {
            let node = source.tree.nodes.get(at);
            let below = node.into_iter().flat_map(|node| frame.children(node));
            let size = below
                .filter_map(|child| sizes.get(child))
                .fold(1, |sum: usize, size| sum.saturating_add(*size));
            if let Some(known) = sizes.get_mut(at) {
                *known = size;
            }
        }
        frame.sizes = sizes;
        frame
    }

    /// The children of a node.
    pub fn children<'b>(&'b self, node: &'b AxNode) -> impl Iterator<Item = usize> + 'b {
        node.child_ids.iter().filter_map(|id| self.index.get(id.as_str()).copied())
    }

    /// All nodes, parents before children.
    pub fn in_order(&self) -> Vec<usize> {
        let mut order = Vec::new();
        let mut seen = HashSet::new();
        let mut left = vec![0];
        while let Some(at) = left.pop() {
            let Some(node) = self.source.tree.nodes.get(at).filter(|_| seen.insert(at)) else {
                continue;
            };
            order.push(at);
            let first = left.len();
            left.extend(self.children(node));
            if let Some(added) = left.get_mut(first..) {
                added.reverse();
            }
        }
        order
    }

    /// The facts of a node that the accessibility tree does not contain.
    pub fn facts(&self, node: &AxNode) -> Option<&'a Facts> {
        self.facts?.get(&node.backend_id?)
    }

    /// Marks the element with this backend id and its descendants.
    pub fn inside(&self, root: i64) -> Vec<bool> {
        let mut known = HashMap::from([(root, true)]);
        let inside = |node: &AxNode| {
            let mut path = Vec::new();
            let mut at = node.backend_id;
            let answer = loop {
                let Some(id) = at else { break false };
                if let Some(answer) = known.get(&id) {
                    break *answer;
                }
                // A preliminary value, which also ends cycles.
                known.insert(id, false);
                path.push(id);
                at = self.facts.and_then(|facts| facts.get(&id)?.parent);
            };
            known.extend(path.into_iter().map(|id| (id, answer)));
            answer
        };
        self.source.tree.nodes.iter().map(inside).collect()
    }

    /// Decides how a node is shown.
    pub fn fate(&self, node: &AxNode, at: usize) -> Fate {
        if !node.ignored {
            match node.role.as_str() {
                "InlineTextBox" | "ListMarker" => return Fate::Gone,
                "LineBreak" => return Fate::Said(" ".to_owned()),
                "StaticText" => return Fate::Said(clip(&node.name, MAX_TEXT)),
                "RootWebArea" => return Fate::Hoisted,
                _ => {}
            }
        }
        let none = Facts::default();
        let facts = self.facts(node).unwrap_or(&none);
        let acts = self.acts(node, at, facts);
        let role = role(node);
        let name = if NAMED_BY_TEXT.contains(&node.role.as_str()) { "" } else { &node.name };
        let name = tidy(name, MAX_TEXT);
        if (node.ignored || PLAIN.contains(&role)) && !acts && name.is_empty() {
            return Fate::Hoisted;
        }
        let (value, mut states) = (value(node, facts), states(node, facts));
        let target = target(node, facts, &self.source.url);
        states.extend(target.map(|target| format!("to {target}")));
        let mut element =
            Element { role: role.to_owned(), name, value, states, acts, handle: String::new() };
        let list = facts.tag == "SELECT";
        if list {
            self.choices(node, &mut element);
        }
        if acts && element.name.is_empty() && element.value.is_empty() {
            element.handle.clone_from(&facts.handle);
        }
        let said = matches!(role, "textbox" | "searchbox") && !element.value.is_empty();
        let native = list || matches!(facts.tag.as_str(), "INPUT" | "TEXTAREA");
        Fate::Kept { element, with_children: !native && !said }
    }

    /// Whether an element can be used: by its role, or because the page handles its events.
    fn acts(&self, node: &AxNode, at: usize, facts: &Facts) -> bool {
        if !node.ignored && ACTING.contains(&node.role.as_str()) {
            return true;
        }
        if matches!(facts.tag.as_str(), "" | "HTML" | "BODY" | "OPTION" | "IFRAME") || !facts.shown
        {
            return false;
        }
        let size = self.sizes.get(at).copied().unwrap_or(1);
        if facts.tag == "LABEL" && (node.ignored || self.holds_control(node)) {
            return false;
        }
        if edited(node) {
            return true;
        }
        // A listener on a large container does not make it one thing to click.
        facts.hand && size <= MAX_CLICKABLE * 4
            || facts.clickable && size <= MAX_CLICKABLE
            || facts.tab_stop && !node.ignored && size <= MAX_CLICKABLE
    }

    fn holds_control(&self, node: &AxNode) -> bool {
        let nodes = &self.source.tree.nodes;
        let mut left: Vec<usize> = self.children(node).collect();
        let mut steps = 0;
        while let Some(node) = left.pop().and_then(|at| nodes.get(at)) {
            if ACTING.contains(&node.role.as_str()) {
                return true;
            }
            steps += 1;
            if steps > MAX_CLICKABLE {
                return true;
            }
            left.extend(self.children(node));
        }
        false
    }

    /// Adds the options of a native select, which are chosen by text, not by click.
    fn choices(&self, node: &AxNode, element: &mut Element) {
        const MOST: usize = 30;
        let nodes = &self.source.tree.nodes;
        let mut left: Vec<usize> = self.children(node).collect();
        left.reverse();
        let (mut choices, mut chosen, mut more) = (Vec::new(), Vec::new(), 0);
        let mut steps = 0;
        while let Some(node) = left.pop().and_then(|at| nodes.get(at)) {
            steps += 1;
            if steps > MAX_ITEMS {
                break;
            }
            if node.role == "option" {
                let name = tidy(&node.name, 60);
                if node.is("selected") && chosen.len() < MOST {
                    chosen.push(name.clone());
                }
                if choices.len() < MOST {
                    choices.push(name)
                } else {
                    more += 1
                }
                continue;
            }
            let first = left.len();
            left.extend(self.children(node));
            if let Some(added) = left.get_mut(first..) {
                added.reverse();
            }
        }
        if !chosen.is_empty() {
            element.value = chosen.join(" | ");
        }
        if !choices.is_empty() {
            let more = if more > 0 { format!(" | … {more} more") } else { String::new() };
            element.states.push(format!("options: {}{more}", choices.join(" | ")));
        }
    }
}
