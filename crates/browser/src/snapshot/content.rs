//! What the content of an element says, in words.

use super::{
    capture::{Display, DomNode, Kind},
    dom::Dom,
    names::{MAX_NAME, is_drawing, is_field, labelled_by, native, titled},
    states,
};

/// More is not read for one name: a name needs four bytes for a character, and some white space.
const MAX_READ: usize = MAX_NAME * 8;
/// Limit on the nodes that are read for one name.
const MAX_STEPS: usize = 5000;

/// The text inside an element as the document has it.
pub(super) fn source(dom: &Dom<'_>, index: usize) -> String {
    let texts = dom.inside(index).filter(|(_, node)| node.kind == Kind::Text);
    texts.map(|(_, node)| node.source_text).collect()
}

/// How the content of an element is read.
#[derive(Clone, Copy, Default)]
pub(super) struct Reading {
    /// Also what is hidden, because the element itself is.
    pub hidden: bool,
    /// For another element.
    pub referenced: bool,
    /// The control that is being named.
    pub skipped: Option<usize>,
}

enum Step<'a> {
    Node(usize),
    Space,
    /// Said if nothing was since then.
    Else(usize, &'a str),
}

/// What the content of an element says, with spaces around boxes.
pub(super) fn text(dom: &Dom<'_>, index: usize) -> String {
    content(dom, index, Reading { referenced: true, ..Reading::default() })
}

pub(super) fn content(dom: &Dom<'_>, index: usize, reading: Reading) -> String {
    let mut said = String::new();
    let mut left: Vec<Step<'_>> = below(dom, index, reading);
    let mut steps = 0;
    while let Some(step) = left.pop().filter(|_| said.len() < MAX_READ) {
        match step {
            Step::Space => said.push(' '),
            Step::Else(since, words) => {
                if said.get(since..).is_none_or(|since| since.trim().is_empty()) {
                    said.push(' ');
                    said.push_str(words);
                    said.push(' ');
                }
            }
            Step::Node(at) => {
                steps += 1;
                if steps > MAX_STEPS || !dom.step() {
                    break;
                }
                read(dom, at, reading, &mut said, &mut left);
            }
        }
    }
    said
}

fn below<'a>(dom: &Dom<'_>, index: usize, reading: Reading) -> Vec<Step<'a>> {
    let mut children = if reading.hidden {
        dom.node(index).map_or_else(Vec::new, |node| node.children.clone())
    } else {
        dom.children(index)
    };
    children.truncate(MAX_STEPS);
    children.into_iter().rev().map(Step::Node).collect()
}

fn read<'a>(
    dom: &Dom<'a>,
    index: usize,
    reading: Reading,
    said: &mut String,
    left: &mut Vec<Step<'a>>,
) {
    let Some(node) = dom.node(index).filter(|_| reading.skipped != Some(index)) else { return };
    match node.kind {
        Kind::Text if reading.hidden && node.layout.is_none() => said.push_str(node.source_text),
        Kind::Text if dom.is_in_canvas(index) => said.push_str(node.source_text),
        Kind::Text if node.is_visible() => said.push_str(node.text),
        Kind::Element if reading.hidden => {
            if !matches!(node.tag, "SCRIPT" | "STYLE" | "TEMPLATE") {
                left.extend(below(dom, index, reading));
            }
        }
        Kind::Element if node.layout.is_some_and(|layout| !layout.visible) => {
            left.extend(below(dom, index, reading));
        }
        Kind::Element if !dom.is_gone(index) => {
            let display = node.layout.map_or(Display::Inline, |layout| layout.display);
            let apart =
                display != Display::Inline || is_boxed(node.tag) || is_control(dom.role(index));
            if apart {
                said.push(' ');
                left.push(Step::Space);
            }
            // What a user wrote says more than the name of a field.
            let written = Some(states::field_value(dom, index)).filter(|_| is_field(node));
            let named = written.filter(|value| !value.is_empty()).or_else(|| {
                let ids = node.words("aria-labelledby").filter(|_| !reading.referenced);
                ids.and_then(|_| labelled_by(dom, index, node))
            });
            let named = named.or_else(|| node.words("aria-label").map(str::to_owned));
            let named = named.filter(|name| !name.trim().is_empty());
            if let Some(named) = named.or_else(|| alternative(dom, index, node)) {
                // Names are separate words.
                said.push(' ');
                said.push_str(&named);
                said.push(' ');
                return;
            }
            if node.tag == "BR" {
                said.push(' ');
                return;
            }
            if let Some(title) = titled(dom, index, node) {
                left.push(Step::Else(said.len(), title));
            }
            let inside = !is_apart(dom.role(index)) || matches!(node.tag, "ADDRESS" | "FOOTER");
            if inside && !is_field(node) {
                left.extend(below(dom, index, reading));
            }
        }
        Kind::Text | Kind::Element | Kind::Document | Kind::Other => {}
    }
}

/// What an element says instead of its content.
pub(super) fn alternative(dom: &Dom<'_>, index: usize, node: &DomNode<'_>) -> Option<String> {
    let said = match node.tag {
        "IMG" => node.words("alt").or_else(|| node.words("title")).map(str::to_owned),
        "INPUT" | "OPTION" | "OPTGROUP" => native(dom, index, node),
        _ if is_drawing(node) => native(dom, index, node),
        _ => None,
    };
    let said = said.or_else(|| Some(states::field_value(dom, index)));
    said.filter(|said| !said.trim().is_empty())
}

/// Whether the content of a role does not name what it is in.
fn is_apart(role: &str) -> bool {
    matches!(
        role,
        "alert"
            | "alertdialog"
            | "application"
            | "article"
            | "banner"
            | "blockquote"
            | "combobox"
            | "complementary"
            | "contentinfo"
            | "dialog"
            | "document"
            | "feed"
            | "figure"
            | "form"
            | "grid"
            | "group"
            | "img"
            | "listbox"
            | "log"
            | "main"
            | "menu"
            | "menubar"
            | "navigation"
            | "note"
            | "progressbar"
            | "radiogroup"
            | "row"
            | "rowgroup"
            | "search"
            | "separator"
            | "status"
            | "table"
            | "tablist"
            | "tabpanel"
            | "timer"
            | "toolbar"
            | "tree"
            | "treegrid"
            | "audio"
            | "video"
            | "iframe"
            | "meter"
            | "scrollbar"
            | "slider"
            | "spinbutton"
            | "date"
            | "color"
    )
}

/// Whether an element is drawn as a box even on a line of text.
fn is_boxed(tag: &str) -> bool {
    matches!(
        tag,
        "IMG"
            | "svg"
            | "INPUT"
            | "SELECT"
            | "TEXTAREA"
            | "BUTTON"
            | "CANVAS"
            | "VIDEO"
            | "AUDIO"
            | "IFRAME"
            | "METER"
            | "PROGRESS"
    )
}

/// Whether elements of a role are controls, which are separate words.
fn is_control(role: &str) -> bool {
    matches!(
        role,
        "button"
            | "checkbox"
            | "combobox"
            | "menuitem"
            | "radio"
            | "searchbox"
            | "slider"
            | "spinbutton"
            | "switch"
            | "tab"
            | "textbox"
            | "meter"
            | "scrollbar"
    )
}
