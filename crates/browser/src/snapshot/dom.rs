//! One document: which of its nodes are shown, and how they belong together.

use std::{cell::Cell, collections::HashMap};

use super::{
    capture::{Display, DomNode, Kind},
    roles,
};

/// Elements that a label can be for.
const LABELABLE: [&str; 7] =
    ["INPUT", "SELECT", "TEXTAREA", "BUTTON", "METER", "PROGRESS", "OUTPUT"];

/// Limit on the labels of a control.
const MAX_LABELS: usize = 100;
/// Limit on the nodes that are read for all names of a document.
const MAX_STEPS: usize = 1_000_000;

/// States of elements that their attributes do not tell: see `marks.js`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Focused,
    /// A checkbox that is neither checked nor unchecked.
    Indeterminate,
    /// A field that the browser finds invalid.
    Invalid,
    /// A table whose cells have borders.
    Ruled,
}

/// A document and what follows from its structure.
#[derive(Default)]
pub(crate) struct Dom<'a> {
    nodes: Vec<DomNode<'a>>,
    marks: HashMap<i64, Vec<Mark>>,
    inherited: Vec<Inherited>,
    /// The end of each node's subtree.
    ends: Vec<usize>,
    /// Whether a node or a descendant is shown.
    shown: Vec<bool>,
    /// The number of lines and boxes before each node.
    sizes: Vec<usize>,
    ids: HashMap<&'a str, Vec<usize>>,
    /// The labels that name a control by its id.
    labels: HashMap<&'a str, Vec<usize>>,
    /// The elements that an element owns by `aria-owns`, and the owner of each.
    owned: HashMap<usize, Vec<usize>>,
    owners: HashMap<usize, usize>,
    /// The dialog that makes everything outside of it inert.
    modal: Option<usize>,
    roles: Vec<&'static str>,
    /// The nodes that were read for names.
    steps: Cell<usize>,
}

/// What a node has from the elements that contain it.
#[derive(Debug, Clone, Copy, Default)]
struct Inherited {
    editable: bool,
    /// Inside an element with `aria-disabled`.
    disabled: bool,
    /// Inside a disabled fieldset.
    off: bool,
    /// Inside a canvas: described, but not drawn.
    in_canvas: bool,
}

impl<'a> Dom<'a> {
    pub fn new(nodes: Vec<DomNode<'a>>, marks: HashMap<i64, Vec<Mark>>) -> Self {
        let mut dom = Self { nodes, marks, ..Self::default() };
        let mut owning = Vec::new();
        for (index, node) in dom.nodes.iter().enumerate() {
            let inherited = dom.inherit(index, node);
            dom.inherited.push(inherited);
            dom.ends.push(index + 1);
            let area = node.tag == "AREA" && node.attribute("href").is_some();
            dom.shown.push(node.layout.is_some() || inherited.in_canvas || area);
            if let Some(id) = node.attribute("id") {
                dom.ids.entry(id).or_default().push(index);
            }
            if let Some(control) = node.attribute("for").filter(|_| node.tag == "LABEL") {
                dom.labels.entry(control).or_default().push(index);
            }
            if node.attribute("aria-owns").is_some() {
                owning.push(index);
            }
            if node.tag == "DIALOG"
                && node.attribute("popover").is_none()
                && node.layout.is_some_and(|layout| layout.on_top)
            {
                dom.modal = Some(index);
            }
        }
        dom.sum_up();
        owning.into_iter().for_each(|owner| dom.own(owner));
        let mut size = 0;
        for index in 0..dom.nodes.len() {
            let role = roles::role(&dom, index);
            dom.roles.push(role);
            dom.sizes.push(size);
            size += dom.node(index).map_or(0, |node| weight(node, role));
        }
        dom.sizes.push(size);
        dom
    }

    fn inherit(&self, index: usize, node: &DomNode<'_>) -> Inherited {
        let parent =
            node.parent.and_then(|at| Some((self.nodes.get(at)?, self.inherited.get(at)?)));
        let Some((parent, inherited)) = parent else { return Inherited::default() };
        let first = |tag: &str| {
            let mut children = parent.children.iter().filter_map(|at| self.nodes.get(*at));
            let first = children.position(|child| child.tag == tag);
            first.and_then(|at| parent.children.get(at)) == Some(&index)
        };
        let off = parent.tag == "FIELDSET" && parent.attribute("disabled").is_some();
        Inherited {
            editable: is_editing_host(node).unwrap_or(inherited.editable),
            disabled: inherited.disabled || parent.has("aria-disabled", "true"),
            off: inherited.off || off && !(node.tag == "LEGEND" && first("LEGEND")),
            in_canvas: inherited.in_canvas || parent.tag == "CANVAS" && parent.layout.is_some(),
        }
    }

    /// Tells elements about what they contain.
    fn sum_up(&mut self) {
        for (index, node) in self.nodes.iter().enumerate().rev() {
            let (end, shown) = (self.ends.get(index).copied(), self.shown.get(index).copied());
            let Some(parent) = node.parent else { continue };
            if let (Some(known), Some(end)) = (self.ends.get_mut(parent), end) {
                *known = end.max(*known);
            }
            if let (Some(known), Some(shown)) = (self.shown.get_mut(parent), shown) {
                *known |= shown;
            }
        }
    }

    fn own(&mut self, owner: usize) {
        let ids = self.nodes.get(owner).and_then(|node| node.attribute("aria-owns"));
        for id in ids.unwrap_or_default().split_ascii_whitespace() {
            let Some(owned) = self.by_id(id, owner) else { continue };
            // An element cannot own what contains it.
            let mut above = Some(owner);
            while let Some(at) = above.filter(|at| *at != owned) {
                let parent = self.nodes.get(at).and_then(|node| node.parent);
                above = self.owners.get(&at).copied().or(parent);
            }
            if above.is_none() && !self.owners.contains_key(&owned) {
                self.owners.insert(owned, owner);
                self.owned.entry(owner).or_default().push(owned);
            }
        }
    }

    /// Counts a node that is read for a name; false if there were too many.
    pub fn step(&self) -> bool {
        self.steps.set(self.steps.get().saturating_add(1));
        self.steps.get() <= MAX_STEPS
    }

    pub fn node(&self, index: usize) -> Option<&DomNode<'a>> {
        self.nodes.get(index)
    }

    /// The nodes that are shown inside a node.
    pub fn children(&self, index: usize) -> Vec<usize> {
        let Some(node) = self.nodes.get(index) else { return Vec::new() };
        let mut children = node.children.clone();
        if !self.owners.is_empty() {
            children.retain(|child| !self.owners.contains_key(child));
            children.extend(self.owned.get(&index).into_iter().flatten());
        }
        children
    }

    /// The elements inside an element that have this tag, not those further inside.
    pub fn child(&self, index: usize, tag: &str) -> Option<usize> {
        let mut children = self.nodes.get(index)?.children.iter().copied();
        children.find(|at| self.nodes.get(*at).is_some_and(|node| node.tag == tag))
    }

    /// The nodes that contain a node, from inside out.
    pub fn around(&self, index: usize) -> impl Iterator<Item = (usize, &DomNode<'a>)> {
        let mut next = self.nodes.get(index).and_then(|node| node.parent);
        std::iter::from_fn(move || {
            let index = next?;
            let node = self.nodes.get(index)?;
            next = node.parent;
            Some((index, node))
        })
    }

    /// The nodes inside a node, parents before children.
    pub fn inside(&self, index: usize) -> impl Iterator<Item = (usize, &DomNode<'a>)> {
        let end = self.ends.get(index).copied().unwrap_or(index);
        let first = index.saturating_add(1);
        let inside = self.nodes.get(first..end).into_iter().flatten();
        inside.enumerate().map(move |(at, node)| (first + at, node))
    }

    fn contains(&self, outer: usize, inner: usize) -> bool {
        self.ends.get(outer).is_some_and(|end| (outer..*end).contains(&inner))
    }

    /// The node with this id of the browser.
    pub fn find(&self, backend_id: i64) -> Option<usize> {
        self.nodes.iter().position(|node| node.backend_id == backend_id)
    }

    /// The element with this `id` in the tree of `near`. Each shadow tree has its own ids: of
    /// several elements, the one whose surroundings are shared most is meant.
    pub fn by_id(&self, id: &str, near: usize) -> Option<usize> {
        let found = self.ids.get(id)?;
        if let [only] = found.as_slice() {
            return Some(*only);
        }
        let in_shadow = self.nodes.get(near)?.in_shadow;
        let same = |at: &&usize| self.nodes.get(**at).is_some_and(|it| it.in_shadow == in_shadow);
        if !in_shadow {
            return found.iter().find(same).copied();
        }
        // One of the nearest shares most.
        let (before, after) = found.split_at(found.partition_point(|at| *at < near));
        let nearest = [before.iter().rev().find(same), after.iter().find(same)];
        let shared = |at: usize| self.around(near).find(|(outer, _)| self.contains(*outer, at));
        let nearest = nearest.into_iter().flatten().rev();
        nearest.max_by_key(|at| shared(**at).map(|(outer, _)| outer)).copied()
    }

    /// The role of what contains or owns an element, apart from elements without meaning.
    pub fn context(&self, index: usize) -> &'static str {
        let above = |at: usize| {
            let parent = self.nodes.get(at).and_then(|node| node.parent);
            self.owners.get(&at).copied().or(parent)
        };
        let roles = std::iter::successors(above(index), |at| above(*at)).map(|at| self.role(at));
        roles.into_iter().find(|role| !matches!(*role, "generic" | "none")).unwrap_or_default()
    }

    /// The role of an element, empty for other nodes.
    pub fn role(&self, index: usize) -> &'static str {
        self.roles.get(index).copied().unwrap_or_default()
    }

    pub fn is_marked(&self, index: usize, mark: Mark) -> bool {
        let id = self.nodes.get(index).map(|node| node.backend_id);
        id.and_then(|id| self.marks.get(&id)).is_some_and(|marks| marks.contains(&mark))
    }

    fn inherited(&self, index: usize) -> Inherited {
        self.inherited.get(index).copied().unwrap_or_default()
    }

    /// Whether an element is a place to write in, apart from fields of forms.
    pub fn is_edited(&self, index: usize) -> bool {
        let Some(node) = self.nodes.get(index).filter(|_| self.inherited(index).editable) else {
            return false;
        };
        is_editing_host(node) == Some(true) || is_tab_stop(node)
    }

    /// Whether an element, or one that contains it, can be edited.
    pub fn is_editable(&self, index: usize) -> bool {
        self.inherited(index).editable
    }

    /// Whether an element of a form cannot be used, or says so.
    pub fn is_disabled(&self, index: usize) -> bool {
        const NATIVE: [&str; 4] = ["INPUT", "BUTTON", "SELECT", "TEXTAREA"];
        let Some(node) = self.nodes.get(index) else { return false };
        let inherited = self.inherited(index);
        let native = NATIVE.contains(&node.tag);
        if node.has("aria-disabled", "true")
            || native && (node.attribute("disabled").is_some() || inherited.off)
        {
            return true;
        }
        inherited.disabled && roles::is_focusable(node) && !node.has("aria-disabled", "false")
    }

    /// Whether nothing of a node is shown to anyone: it has no box, or is hidden from assistive
    /// technology, or is behind a modal dialog.
    pub fn is_gone(&self, index: usize) -> bool {
        if !self.shown.get(index).copied().unwrap_or_default() {
            return true;
        }
        let Some(node) = self.nodes.get(index) else { return true };
        let Some(modal) = self.modal else { return is_silent(node) };
        let (around, inside) = (self.contains(index, modal), self.contains(modal, index));
        !around && (!inside || is_silent(node))
    }

    /// Whether a node, or one that contains it, is gone.
    pub fn is_inside_gone(&self, index: usize) -> bool {
        self.is_gone(index) || self.around(index).any(|(at, _)| self.is_gone(at))
    }

    /// Whether a node is drawn, and not only described.
    pub fn is_in_canvas(&self, index: usize) -> bool {
        self.inherited(index).in_canvas
    }

    /// Whether an element is a dialog that makes the rest of the document inert.
    pub fn is_modal(&self, index: usize) -> bool {
        self.modal == Some(index)
    }

    /// The number of lines and boxes in an element, including itself.
    pub fn size(&self, index: usize) -> usize {
        let end = self.ends.get(index).and_then(|end| self.sizes.get(*end));
        let start = self.sizes.get(index);
        end.zip(start).map_or(0, |(end, start)| end.saturating_sub(*start))
    }

    /// The labels of a control.
    pub fn labels(&self, index: usize) -> Vec<usize> {
        let Some(node) = self.nodes.get(index).filter(|node| LABELABLE.contains(&node.tag)) else {
            return Vec::new();
        };
        let by_id = node.attribute("id").and_then(|id| Some((id, self.labels.get(id)?)));
        let mut labels = Vec::new();
        if let Some((id, all)) = by_id {
            let all = all.iter().take(MAX_LABELS);
            labels.extend(all.filter(|at| self.by_id(id, **at) == Some(index)));
        }
        let around = self.around(index).find(|(_, node)| node.tag == "LABEL");
        let own = around.filter(|(_, label)| label.attribute("for").is_none());
        labels.extend(own.map(|(at, _)| at).filter(|at| self.control(*at) == Some(index)));
        labels
    }

    /// The control that a label is for.
    pub fn control(&self, label: usize) -> Option<usize> {
        let is_control = |node: &DomNode<'_>| {
            LABELABLE.contains(&node.tag) && !(node.tag == "INPUT" && node.has("type", "hidden"))
        };
        match self.nodes.get(label)?.attribute("for") {
            Some(id) => {
                let control = self.by_id(id, label)?;
                self.nodes.get(control).filter(|node| is_control(node)).map(|_| control)
            }
            None => self.inside(label).find(|(_, node)| is_control(node)).map(|(at, _)| at),
        }
    }
}

/// What a node adds to the size of the elements that contain it.
fn weight(node: &DomNode<'_>, role: &str) -> usize {
    match (node.kind, node.layout) {
        (_, None) => 0,
        (Kind::Text, Some(_)) => 1 + node.lines,
        (_, Some(layout)) => usize::from(layout.display != Display::Inline || role != "generic"),
    }
}

/// Whether an element and all it contains are kept from assistive technology.
fn is_silent(node: &DomNode<'_>) -> bool {
    node.has("aria-hidden", "true") || node.layout.is_some_and(|layout| layout.inert)
}

/// Whether an element says that its content can or cannot be edited.
fn is_editing_host(node: &DomNode<'_>) -> Option<bool> {
    if node.kind != Kind::Element {
        return None;
    }
    let value = node.attribute("contenteditable")?.trim();
    match value.to_ascii_lowercase().as_str() {
        "" | "true" | "plaintext-only" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// Whether `tabindex` makes an element focusable by keyboard.
pub(super) fn is_tab_stop(node: &DomNode<'_>) -> bool {
    let index = node.attribute("tabindex").and_then(|index| index.trim().parse::<i32>().ok());
    index.is_some_and(|index| index >= 0)
}
