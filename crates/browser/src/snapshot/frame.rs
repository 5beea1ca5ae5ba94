//! One frame of a page: how each of its nodes is shown.

use super::{
    capture::{Display, DomNode, Kind},
    dom::{Dom, is_tab_stop},
    names,
    roles::{is_acting, is_plain, table_role},
    states::{self, Choices},
    tree::Element,
    words::{clip, tidy},
};

/// A clickable element with more nodes than this is taken for a container with a shared listener.
const MAX_CLICKABLE: usize = 60;
/// The longest text that is read, in characters.
const MAX_TEXT: usize = 2000;

/// How a node is shown.
pub(super) enum Fate {
    /// The node and its descendants are left out.
    Gone,
    /// The node is left out and its children move up, as a block of its own or within a line.
    Hoisted {
        block: bool,
    },
    Said(String),
    Kept {
        element: Element,
        with_children: bool,
    },
}

/// Decides how a node of the document with this address is shown.
pub(super) fn fate(dom: &Dom<'_>, url: &str, index: usize) -> Fate {
    let Some(node) = dom.node(index) else { return Fate::Gone };
    match node.kind {
        Kind::Document => return Fate::Hoisted { block: false },
        Kind::Other => return Fate::Gone,
        Kind::Text | Kind::Element if dom.is_gone(index) => return Fate::Gone,
        Kind::Text => return said(dom, index, node),
        // The pronunciation of words.
        Kind::Element if matches!(node.tag, "RT" | "RP") => return Fate::Gone,
        Kind::Element if node.tag == "BR" => return Fate::Said(" ".to_owned()),
        Kind::Element => {}
    }
    let block = node.layout.is_some_and(|layout| layout.display == Display::Block);
    let unseen = node.layout.is_some_and(|layout| !layout.visible);
    let role = dom.role(index);
    if unseen || role == "none" && !acts(dom, index, node) {
        return Fate::Hoisted { block };
    }
    let acts = acts(dom, index, node);
    let named_by_text = matches!(role, "term" | "listitem" | "paragraph" | "caption")
        || matches!(node.tag, "LABEL" | "LEGEND")
        || role == "cell" && table_role(dom, index) == "generic";
    let name = if named_by_text { String::new() } else { names::name(dom, index) };
    if is_plain(role) && !acts && name.is_empty() {
        return Fate::Hoisted { block };
    }
    let value = states::value(dom, index, &name);
    let mut states = states::states(dom, index, &name, &value);
    if role == "link" {
        let target = states::target(node, &name, url);
        states.extend(target.map(|target| format!("to {target}")));
    }
    let mut element =
        Element { role: role.to_owned(), name, value, states, acts, handle: String::new() };
    let list = node.tag == "SELECT";
    if list {
        let Choices { all, chosen } = states::choices(dom, index);
        element.value = chosen;
        element.states.extend(all.map(|all| format!("options: {all}")));
    }
    if acts && element.name.is_empty() && element.value.is_empty() {
        element.handle = handle(node);
    }
    let said = matches!(role, "textbox" | "searchbox") && !element.value.is_empty();
    let native = list || matches!(node.tag, "INPUT" | "TEXTAREA");
    Fate::Kept { element, with_children: !native && !said }
}

fn said(dom: &Dom<'_>, index: usize, node: &DomNode<'_>) -> Fate {
    if node.parent.is_some_and(|label| names::is_redundant(dom, label)) {
        return Fate::Gone;
    }
    if dom.is_in_canvas(index) {
        return Fate::Said(clip(node.source_text, MAX_TEXT));
    }
    if node.is_visible() { Fate::Said(clip(node.text, MAX_TEXT)) } else { Fate::Gone }
}

/// Whether an element can be used: by its role, or because the page handles its events.
fn acts(dom: &Dom<'_>, index: usize, node: &DomNode<'_>) -> bool {
    if is_acting(dom.role(index)) {
        return true;
    }
    let Some(layout) = node.layout.filter(|layout| layout.visible && layout.area) else {
        return false;
    };
    if matches!(node.tag, "HTML" | "BODY" | "OPTION" | "IFRAME") {
        return false;
    }
    if node.tag == "LABEL" && (names::is_redundant(dom, index) || holds_control(dom, index)) {
        return false;
    }
    if dom.is_edited(index) {
        return true;
    }
    if matches!(node.tag, "VIDEO" | "AUDIO") && node.attribute("controls").is_some() {
        return true;
    }
    let parent = node.parent.and_then(|at| dom.node(at)?.layout);
    let hand = layout.hand && !parent.is_some_and(|parent| parent.hand);
    let size = dom.size(index);
    // A listener on a large container does not make it one thing to click.
    hand && size <= MAX_CLICKABLE * 4
        || (node.clickable || is_tab_stop(node)) && size <= MAX_CLICKABLE
}

fn holds_control(dom: &Dom<'_>, label: usize) -> bool {
    let mut inside = dom.inside(label).filter(|(at, _)| !dom.is_gone(*at));
    inside.any(|(at, _)| is_acting(dom.role(at))) || dom.size(label) > MAX_CLICKABLE
}

/// An id or class, for an element without a name.
fn handle(node: &DomNode<'_>) -> String {
    if let Some(id) = node.words("id") {
        return format!("#{}", tidy(id, 40));
    }
    let class = node.words("class");
    class.map_or_else(String::new, |class| format!(".{}", tidy(class, 40).replace(' ', ".")))
}
