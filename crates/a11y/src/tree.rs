//! The visible elements as a tree, within limits, and as changes since an earlier tree.

use std::{
    collections::{HashMap, VecDeque},
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use helmdeck_wire::tree::{Tree, TreeNode, TreeWindow};

use crate::{
    role,
    scene::{Element, Scene},
};

/// Trees that are remembered.
const MAX_PAST: usize = 8;
/// What the JSON of an element takes in addition to its texts.
const OVERHEAD: usize = 110;

/// Limits of a tree.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Maximum number of elements.
    pub nodes: usize,
    /// Maximum size of the elements in bytes.
    pub bytes: usize,
}

/// Earlier trees, to answer with changes.
#[derive(Debug, Default)]
pub struct Past {
    last: u64,
    trees: VecDeque<(u64, HashMap<String, u64>)>,
}

/// The visible elements that have a meaning, in the order of a reader.
pub fn nodes(scene: &Scene) -> Vec<TreeNode> {
    let order = scene.order();
    let kept = |at: usize| scene.elements.get(at).is_some_and(|element| is_kept(scene, element));
    let mut nodes = Vec::new();
    for at in order.into_iter().filter(|at| kept(*at)) {
        let Some(element) = scene.elements.get(at) else { continue };
        let surface = element.surface.and_then(|at| scene.surfaces.get(at));
        let (Some(rect), Some(surface)) = (element.shown(), surface) else { continue };
        let container = ancestors(scene, element).find(|above| is_kept(scene, above));
        nodes.push(TreeNode {
            reference: element.reference.clone(),
            parent: container.map(|container| container.reference.clone()),
            window: surface.window.id.clone(),
            role: element.role.clone(),
            name: element.name.trim().to_owned(),
            value: element.value.clone(),
            states: element.states.clone(),
            rect,
        });
    }
    nodes
}

fn ancestors<'a>(scene: &'a Scene, element: &Element) -> impl Iterator<Item = &'a Element> {
    let parent = |element: &Element| element.parent.and_then(|at| scene.elements.get(at));
    std::iter::successors(parent(element), move |element| parent(element))
}

fn is_kept(scene: &Scene, element: &Element) -> bool {
    let listed = element.surface.and_then(|at| scene.surfaces.get(at)).is_some_and(|s| s.listed);
    let named = !element.name.trim().is_empty() || !element.value.trim().is_empty();
    if element.parts.is_empty() || !listed {
        return false;
    }
    match element.role.as_str() {
        // The window itself is listed.
        "window" | "document" => false,
        "text" | "img" => {
            // The text of a button is its name.
            let repeats = |above: &Element| {
                role::is_interactive(&above.role) && above.name.contains(element.name.trim())
            };
            let mut above =
                ancestors(scene, element).filter(|above| !role::is_container(&above.role));
            named && !above.next().is_some_and(repeats)
        }
        role if role::is_container(role) => named,
        _ => true,
    }
}

impl Past {
    /// Makes a tree, and remembers it.
    pub fn tree(
        &mut self,
        windows: Vec<TreeWindow>,
        focus: Option<String>,
        mut nodes: Vec<TreeNode>,
        since: Option<u64>,
        limits: Limits,
    ) -> Tree {
        let now: HashMap<String, u64> =
            nodes.iter().map(|node| (node.reference.clone(), fingerprint(node))).collect();
        let before = since.and_then(|id| self.trees.iter().find(|(known, _)| *known == id));
        let mut removed = Vec::new();
        let delta = before.is_some();
        if let Some((_, before)) = before {
            nodes.retain(|node| before.get(&node.reference) != now.get(&node.reference));
            removed.extend(before.keys().filter(|known| !now.contains_key(*known)).cloned());
            removed.sort_unstable();
        }
        self.last += 1;
        let id = self.last;
        self.trees.push_back((id, now));
        if self.trees.len() > MAX_PAST {
            self.trees.pop_front();
        }
        let truncated = cut(&mut nodes, limits);
        Tree { id, delta, windows, focus, nodes, removed, truncated, notes: Vec::new() }
    }
}

fn fingerprint(node: &TreeNode) -> u64 {
    let TreeNode { reference: _, parent, window, role, name, value, states, rect } = node;
    let mut hasher = DefaultHasher::new();
    (parent, window, role, name, value, states, rect).hash(&mut hasher);
    hasher.finish()
}

/// Leaves out what exceeds the limits: texts and groups first, then what is lowest on the screen's
/// stack. Returns whether anything was left out.
fn cut(nodes: &mut Vec<TreeNode>, limits: Limits) -> bool {
    let mut ranked: Vec<(bool, usize, usize)> = nodes
        .iter()
        .enumerate()
        .map(|(at, node)| (!role::is_interactive(&node.role), at, size(node)))
        .collect();
    ranked.sort_unstable();
    let mut bytes = 0;
    let mut kept = vec![false; nodes.len()];
    for (_, at, size) in ranked.into_iter().take(limits.nodes) {
        bytes += size;
        if bytes > limits.bytes {
            break;
        }
        if let Some(kept) = kept.get_mut(at) {
            *kept = true;
        }
    }
    let before = nodes.len();
    let mut kept = kept.into_iter();
    nodes.retain(|_| kept.next().unwrap_or(false));
    nodes.len() < before
}

fn size(node: &TreeNode) -> usize {
    let states: usize = node.states.iter().map(|state| state.len() + 3).sum();
    OVERHEAD + node.name.len() + node.value.len() + states
}

#[cfg(test)]
mod tests {
    use helmdeck_wire::point::Rect;

    use super::*;
    use crate::scene::Surface;

    const ALL: Limits = Limits { nodes: 1000, bytes: 1_000_000 };

    fn scene(elements: &[(&str, &str, Option<usize>)]) -> Scene {
        let screen = Rect { x: 0, y: 0, width: 100, height: 100 };
        let window = TreeWindow { id: "7".to_owned(), rect: screen, ..TreeWindow::default() };
        let elements = elements.iter().enumerate().map(|(at, (role, name, parent))| Element {
            reference: format!("a{at}"),
            role: (*role).to_owned(),
            name: (*name).to_owned(),
            parent: *parent,
            surface: Some(0),
            rect: Some(Rect { x: 0, y: 0, width: 10, height: 10 }),
            ..Element::default()
        });
        let mut scene = Scene {
            screen,
            surfaces: vec![Surface { window, frame: screen, listed: true }],
            elements: elements.collect(),
        };
        scene.reveal();
        scene
    }

    fn lines(nodes: &[TreeNode]) -> Vec<String> {
        let parent = |node: &TreeNode| node.parent.clone().unwrap_or_default();
        nodes.iter().map(|node| format!("{}<{} {}", parent(node), node.role, node.name)).collect()
    }

    #[test]
    fn elements_that_only_group_are_left_out_and_their_children_move_up() {
        let scene = scene(&[
            ("window", "Editor", None),
            ("group", "", Some(0)),
            ("toolbar", "", Some(1)),
            ("button", "Save", Some(2)),
            ("text", "Save", Some(3)),
            ("text", "Ready", Some(1)),
            ("img", "", Some(1)),
            ("group", "Size", Some(1)),
        ]);
        let expected = ["<toolbar ", "a2<button Save", "<text Ready", "<group Size"];
        assert_eq!(lines(&nodes(&scene)), expected);
    }

    #[test]
    fn a_delta_has_what_changed_and_what_is_gone() {
        let mut past = Past::default();
        let mut tree = |scene: &Scene, since| past.tree(Vec::new(), None, nodes(scene), since, ALL);
        let first = tree(&scene(&[("button", "A", None), ("button", "B", None)]), None);
        assert!(!first.delta && first.nodes.len() == 2);
        let same = tree(&scene(&[("button", "A", None), ("button", "B", None)]), Some(first.id));
        assert!(same.delta && same.nodes.is_empty() && same.removed.is_empty());
        let changed = tree(&scene(&[("button", "A2", None)]), Some(first.id));
        assert_eq!(lines(&changed.nodes), ["<button A2"]);
        assert_eq!(changed.removed, ["a1"]);
        let unknown = tree(&scene(&[("button", "A2", None)]), Some(999));
        assert!(!unknown.delta && unknown.nodes.len() == 1);
    }

    #[test]
    fn limits_keep_what_can_be_used() {
        let elements = [
            ("text", "a", None),
            ("heading", "b", None),
            ("button", "c", None),
            ("link", "d", None),
        ];
        let tree = |nodes_limit, bytes| {
            let limits = Limits { nodes: nodes_limit, bytes };
            Past::default().tree(Vec::new(), None, nodes(&scene(&elements)), None, limits)
        };
        let few = tree(3, 100_000);
        assert_eq!(lines(&few.nodes), ["<text a", "<button c", "<link d"]);
        assert!(few.truncated);
        assert_eq!(tree(100, 2 * (OVERHEAD + 1)).nodes.len(), 2);
        assert!(!tree(100, 100_000).truncated);
    }
}
