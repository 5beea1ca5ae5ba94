//! Refs: short names of elements in snapshots, such as `e12`.

use std::collections::{BTreeMap, HashMap};

use helmdeck_cdp::SessionId;
use parking_lot::Mutex;

use crate::{page::Frame, snapshot::Past};

/// Limit on refs of one tab; the oldest are forgotten first.
const MAX_REFS: usize = 100_000;

/// A node of a page, identified within its session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Node {
    pub session: SessionId,
    /// The frame it is in.
    pub frame: String,
    pub backend_id: i64,
}

/// The refs of a tab's elements, and its latest snapshots.
///
/// INVARIANT: a ref is never reused, and an element keeps its ref while its document is shown.
#[derive(Default)]
pub(crate) struct Refs {
    names: Mutex<Names>,
    past: Past,
}

#[derive(Default)]
struct Names {
    last: u64,
    /// With the document of the frame.
    elements: BTreeMap<u64, (Node, String)>,
    numbers: HashMap<Node, u64>,
}

impl Refs {
    /// The ref of an element; assigns one if it has none.
    ///
    /// `document` is the id of the frame's document. Node numbers start again in another process,
    /// so
    /// the same number in another document is another node.
    pub(crate) fn name(&self, node: &Node, document: &str) -> String {
        let mut names = self.names.lock();
        let known = names.numbers.get(node).copied();
        let same = |number: &u64| names.elements.get(number).is_some_and(|(_, of)| of == document);
        if let Some(number) = known.filter(same) {
            return format!("e{number}");
        }
        names.last += 1;
        let number = names.last;
        names.elements.insert(number, (node.clone(), document.to_owned()));
        names.numbers.insert(node.clone(), number);
        if names.elements.len() > MAX_REFS
            && let Some((oldest, (node, _))) = names.elements.pop_first()
            && names.numbers.get(&node) == Some(&oldest)
        {
            names.numbers.remove(&node);
        }
        format!("e{number}")
    }

    /// The element of a ref, if the tab still shows its document. The element may have been
    /// removed.
    pub(crate) fn find(&self, name: &str, frames: &[Frame]) -> Option<Node> {
        let number = name.strip_prefix('e')?.parse().ok()?;
        let (node, document) = self.names.lock().elements.get(&number).cloned()?;
        let shown = frames.iter().any(|frame| {
            frame.session == node.session && frame.id == node.frame && frame.loader == document
        });
        shown.then_some(node)
    }

    /// The latest snapshots of the tab.
    pub(crate) fn past(&self) -> &Past {
        &self.past
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(backend_id: i64) -> Node {
        Node { session: "s".into(), frame: "f".to_owned(), backend_id }
    }

    fn shown(loader: &str) -> [Frame; 1] {
        let (session, id) = ("s".into(), "f".to_owned());
        [Frame { session, id, parent: None, url: String::new(), loader: loader.to_owned() }]
    }

    #[test]
    fn an_element_keeps_its_ref_and_no_other_gets_it() {
        let refs = Refs::default();
        let first = refs.name(&node(7), "a");
        assert_eq!(first, "e1");
        assert_eq!(refs.name(&node(8), "a"), "e2");
        assert_eq!(refs.name(&node(7), "a"), first);
        assert_eq!(refs.find(&first, &shown("a")), Some(node(7)));

        // Another document in another process, where node numbers start again.
        assert_eq!(refs.find(&first, &shown("b")), None);
        let next = refs.name(&node(7), "b");
        assert_eq!(next, "e3");
        assert_eq!(refs.find(&next, &shown("b")), Some(node(7)));
        assert_eq!(refs.find(&first, &shown("b")), None);
    }

    #[test]
    fn invalid_refs_find_nothing() {
        let refs = Refs::default();
        refs.name(&node(7), "a");
        for name in ["", "e", "e0", "e2", "1", "x1", "e-1", "e99999999999999999999"] {
            assert_eq!(refs.find(name, &shown("a")), None, "{name}");
        }
    }
}
