//! The visible elements as a tree, within limits, and as changes since an earlier tree.

use std::{
    collections::{HashMap, HashSet, VecDeque},
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
pub struct TreeLimits {
    /// Maximum number of elements.
    pub nodes: usize,
    /// Maximum size of the elements in bytes.
    pub bytes: usize,
}

/// Earlier trees, to answer with changes.
#[derive(Debug, Default)]
pub struct Past {
    last: u64,
    trees: VecDeque<(u64, Sent)>,
}

/// What a caller knows: elements by their ref.
type Sent = HashMap<String, SentNode>;

#[derive(Debug, Clone)]
struct SentNode {
    window: String,
    fingerprint: u64,
}

/// What a tree is made of.
#[derive(Debug, Default)]
pub struct Parts {
    /// The windows that are listed.
    pub windows: Vec<TreeWindow>,
    /// The element with the keyboard focus.
    pub focus: Option<String>,
    /// The elements of these windows.
    pub nodes: Vec<TreeNode>,
    /// The id of the only window that was read, if it was not all of them.
    pub only: Option<String>,
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
    /// Makes a tree, and remembers what is sent of it.
    pub fn tree(&mut self, parts: Parts, since: Option<u64>, limits: TreeLimits) -> Tree {
        let Parts { windows, focus, mut nodes, only } = parts;
        let before = since.and_then(|id| self.trees.iter().find(|(known, _)| *known == id));
        let delta = before.is_some();
        let mut sent = before.map(|(_, before)| before.clone()).unwrap_or_default();
        // Windows that were not read are as before.
        let read = |node: &SentNode| only.as_ref().is_none_or(|only| node.window == *only);
        let there: HashSet<&String> = nodes.iter().map(|node| &node.reference).collect();
        let gone = sent.extract_if(|known, node| read(node) && !there.contains(known));
        let mut removed: Vec<String> = gone.map(|(known, _)| known).collect();
        removed.sort_unstable();
        nodes.retain(|node| {
            sent.get(&node.reference).is_none_or(|known| known.fingerprint != fingerprint(node))
        });
        let truncated = cut(&mut nodes, limits);
        // What was left out is sent with a later tree.
        sent.extend(nodes.iter().map(|node| {
            let (window, fingerprint) = (node.window.clone(), fingerprint(node));
            (node.reference.clone(), SentNode { window, fingerprint })
        }));
        self.last += 1;
        let id = self.last;
        self.trees.push_back((id, sent));
        if self.trees.len() > MAX_PAST {
            self.trees.pop_front();
        }
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
fn cut(nodes: &mut Vec<TreeNode>, limits: TreeLimits) -> bool {
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

    const ALL: TreeLimits = TreeLimits { nodes: 1000, bytes: 1_000_000 };

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

    fn parts(scene: &Scene) -> Parts {
        Parts { nodes: nodes(scene), ..Parts::default() }
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
        let mut tree = |scene: &Scene, since| past.tree(parts(scene), since, ALL);
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
    fn what_limits_left_out_comes_with_the_next_delta() {
        let scene = scene(&[("button", "A", None), ("button", "B", None), ("button", "C", None)]);
        let (mut past, few) = (Past::default(), TreeLimits { nodes: 1, ..ALL });
        let mut tree = |since| past.tree(parts(&scene), since, few);
        let first = tree(None);
        assert!(first.truncated && lines(&first.nodes) == ["<button A"]);
        let second = tree(Some(first.id));
        assert!(second.truncated && lines(&second.nodes) == ["<button B"]);
        let third = tree(Some(second.id));
        assert!(!third.truncated && lines(&third.nodes) == ["<button C"]);
        assert_eq!((third.removed.len(), tree(Some(third.id)).nodes.len()), (0, 0));
    }

    #[test]
    fn a_delta_of_one_window_says_nothing_about_the_others() {
        let mut scene = scene(&[("button", "A", None), ("button", "B", None)]);
        scene.surfaces.push(scene.surfaces[0].clone());
        scene.surfaces[1].window.id = "8".to_owned();
        scene.elements[1].surface = Some(1);
        scene.elements[1].parts = scene.elements[0].parts.clone();
        let mut past = Past::default();
        let all = past.tree(parts(&scene), None, ALL);
        assert_eq!(all.nodes.len(), 2);
        let mut of_one = parts(&scene);
        of_one.nodes.retain(|node| node.window == "7");
        of_one.only = Some("7".to_owned());
        let one = past.tree(of_one, Some(all.id), ALL);
        assert!(one.nodes.is_empty() && one.removed.is_empty(), "{one:?}");
        // And a later one of all windows still knows them.
        let again = past.tree(parts(&scene), Some(one.id), ALL);
        assert!(again.nodes.is_empty() && again.removed.is_empty(), "{again:?}");
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
            let limits = TreeLimits { nodes: nodes_limit, bytes };
            Past::default().tree(parts(&scene(&elements)), None, limits)
        };
        let few = tree(3, 100_000);
        assert_eq!(lines(&few.nodes), ["<text a", "<button c", "<link d"]);
        assert!(few.truncated);
        assert_eq!(tree(100, 2 * (OVERHEAD + 1)).nodes.len(), 2);
        assert!(!tree(100, 100_000).truncated);
    }
}
