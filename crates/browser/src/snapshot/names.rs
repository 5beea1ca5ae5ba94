//! The accessible name of an element, as Chromium computes it.

use super::{
    capture::{Display, DomNode, Kind},
    dom::Dom,
    states,
    words::tidy,
};

/// The longest name, in characters.
pub(super) const MAX_NAME: usize = 2000;
/// More is not read for one name: a name needs four bytes for a character, and some white space.
const MAX_READ: usize = MAX_NAME * 8;
/// Limit on the nodes that are read for one name.
const MAX_STEPS: usize = 5000;

/// The name of an element on one line.
pub(super) fn name(dom: &Dom<'_>, index: usize) -> String {
    let Some(node) = dom.node(index).filter(|node| node.kind == Kind::Element) else {
        return String::new();
    };
    let named = |text: String| Some(tidy(&text, MAX_NAME)).filter(|text| !text.is_empty());
    labelled_by(dom, index, node)
        .and_then(named)
        .or_else(|| named(node.attribute("aria-label")?.to_owned()))
        .or_else(|| named(by_labels(dom, index)))
        .or_else(|| named(native(dom, index, node)?))
        .or_else(|| {
            let role = dom.role(index);
            let by_content = is_named_by_content(role) && !is_field(node);
            by_content.then(|| content(dom, index, Reading::default())).and_then(named)
        })
        .or_else(|| named(titled(dom, index, node)?.to_owned()))
        .unwrap_or_default()
}

/// Whether a label within a line is only the name of its checkbox or radio button.
pub(super) fn is_redundant(dom: &Dom<'_>, index: usize) -> bool {
    let Some(label) = dom.node(index).filter(|node| node.tag == "LABEL") else { return false };
    let Some(control) = dom.control(index) else { return false };
    let Some(node) = dom.node(control).filter(|node| node.tag == "INPUT") else { return false };
    let own = ["aria-label", "aria-labelledby"].iter().any(|name| node.words(name).is_some());
    let checked = node.has("type", "checkbox") || node.has("type", "radio");
    let inline = label.layout.is_some_and(|layout| layout.display == Display::Inline);
    let mut parts = label.children.iter().filter_map(|at| Some((*at, dom.node(*at)?)));
    checked
        && inline
        && !own
        && label.attribute("onclick").is_none()
        && !dom.is_gone(control)
        && parts.all(|(at, part)| at == control || part.kind != Kind::Element)
}

fn labelled_by(dom: &Dom<'_>, index: usize, node: &DomNode<'_>) -> Option<String> {
    let ids = node.words("aria-labelledby").or_else(|| node.words("aria-labeledby"))?;
    let mut said = String::new();
    for label in ids.split_ascii_whitespace().filter_map(|id| dom.by_id(id, index)) {
        said.push(' ');
        said.push_str(&as_label(dom, label));
    }
    Some(said)
}

/// What an element says as the label of another one.
fn as_label(dom: &Dom<'_>, label: usize) -> String {
    let Some(node) = dom.node(label) else { return String::new() };
    if let Some(own) = node.words("aria-label") {
        return own.to_owned();
    }
    if let Some(alternative) = alternative(dom, label, node) {
        return alternative;
    }
    let hidden = dom.is_gone(label) || !node.is_visible();
    let said = content(dom, label, Reading { hidden, referenced: true, skipped: None });
    if said.trim().is_empty() { name_of_its_own(dom, label, node) } else { said }
}

fn name_of_its_own(dom: &Dom<'_>, index: usize, node: &DomNode<'_>) -> String {
    let labels = by_labels(dom, index);
    if labels.is_empty() { titled(dom, index, node).unwrap_or_default().to_owned() } else { labels }
}

fn by_labels(dom: &Dom<'_>, index: usize) -> String {
    let mut said = String::new();
    for label in dom.labels(index) {
        let own = dom.node(label).and_then(|label| label.words("aria-label"));
        let reading =
            Reading { hidden: dom.is_gone(label), referenced: true, skipped: Some(index) };
        said.push(' ');
        said.push_str(&own.map_or_else(|| content(dom, label, reading), str::to_owned));
    }
    said
}

/// The name by an element's own kind.
fn native(dom: &Dom<'_>, index: usize, node: &DomNode<'_>) -> Option<String> {
    let inner = |tag: &str| {
        let reading = Reading { referenced: true, ..Reading::default() };
        dom.child(index, tag).map(|at| content(dom, at, reading))
    };
    match node.tag {
        "INPUT" => button(node).map(str::to_owned),
        "IMG" | "AREA" => node.attribute("alt").map(str::to_owned),
        "OPTION" | "OPTGROUP" => node.attribute("label").map(str::to_owned),
        "FIELDSET" => inner("LEGEND"),
        "DETAILS" if dom.role(index) == "summary" => Some("Details".to_owned()),
        "TABLE" => inner("CAPTION").or_else(|| node.attribute("summary").map(str::to_owned)),
        _ if is_drawing(node) => dom.child(index, "title").map(|at| source(dom, at)),
        _ => None,
    }
}

/// The text of an input that is a button.
fn button<'a>(node: &DomNode<'a>) -> Option<&'a str> {
    let value = node.words("value");
    match node.attribute("type")?.trim().to_ascii_lowercase().as_str() {
        "button" => value,
        "submit" => value.or(Some("Submit")),
        "reset" => value.or(Some("Reset")),
        "file" => Some("Choose File"),
        "image" => node.words("alt").or(value).or(node.words("title")).or(Some("Submit")),
        _ => None,
    }
}

fn titled<'a>(dom: &Dom<'a>, index: usize, node: &DomNode<'a>) -> Option<&'a str> {
    let title = node.words("title").filter(|_| !is_untitled(dom.role(index)));
    let title = title.or_else(|| node.words("title").filter(|_| node.tag == "ABBR"));
    let hint = || {
        let field = matches!(node.tag, "INPUT" | "TEXTAREA");
        node.words("placeholder").filter(|_| field).or_else(|| {
            let edited = matches!(dom.role(index), "textbox" | "searchbox");
            node.words("aria-placeholder").filter(|_| edited)
        })
    };
    title.or_else(hint)
}

fn is_drawing(node: &DomNode<'_>) -> bool {
    node.tag.starts_with(|c: char| c.is_ascii_lowercase())
}

fn is_field(node: &DomNode<'_>) -> bool {
    matches!(node.tag, "INPUT" | "SELECT" | "TEXTAREA")
}

/// The text inside an element as the document has it.
pub(super) fn source(dom: &Dom<'_>, index: usize) -> String {
    let texts = dom.inside(index).filter(|(_, node)| node.kind == Kind::Text);
    texts.map(|(_, node)| node.source_text).collect()
}

/// How the content of an element is read.
#[derive(Clone, Copy, Default)]
struct Reading {
    /// Also what is hidden, because the element itself is.
    hidden: bool,
    /// For another element.
    referenced: bool,
    /// The control that is being named.
    skipped: Option<usize>,
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

fn content(dom: &Dom<'_>, index: usize, reading: Reading) -> String {
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
                if steps > MAX_STEPS {
                    break;
                }
                read(dom, at, reading, &mut said, &mut left);
            }
        }
    }
    said
}

fn below<'a>(dom: &Dom<'_>, index: usize, reading: Reading) -> Vec<Step<'a>> {
    let children = if reading.hidden {
        dom.node(index).map_or_else(Vec::new, |node| node.children.clone())
    } else {
        dom.children(index)
    };
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
            // What somebody wrote says more than the name of a field.
            let written = Some(states::field_value(dom, index)).filter(|_| is_field(node));
            let named = written.filter(|value| !value.is_empty()).or_else(|| {
                let ids = node.words("aria-labelledby").filter(|_| !reading.referenced);
                ids.and_then(|_| labelled_by(dom, index, node))
            });
            let named = named.or_else(|| node.words("aria-label").map(str::to_owned));
            let named = named.filter(|name| !name.trim().is_empty());
            if let Some(named) = named.or_else(|| alternative(dom, index, node)) {
                // Names are words of their own.
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
fn alternative(dom: &Dom<'_>, index: usize, node: &DomNode<'_>) -> Option<String> {
    let said = match node.tag {
        "IMG" => node.words("alt").or_else(|| node.words("title")).map(str::to_owned),
        "INPUT" | "OPTION" | "OPTGROUP" => native(dom, index, node),
        _ if is_drawing(node) => native(dom, index, node),
        _ => None,
    };
    let said = said.or_else(|| Some(states::field_value(dom, index)));
    said.filter(|said| !said.trim().is_empty())
}

/// Whether elements of a role are named by their content.
fn is_named_by_content(role: &str) -> bool {
    matches!(
        role,
        "button"
            | "link"
            | "cell"
            | "checkbox"
            | "columnheader"
            | "gridcell"
            | "heading"
            | "menuitem"
            | "menuitemcheckbox"
            | "menuitemradio"
            | "option"
            | "radio"
            | "rowheader"
            | "switch"
            | "tab"
            | "tooltip"
            | "treeitem"
            | "summary"
            | "math"
            | "doc-backlink"
            | "doc-biblioref"
            | "doc-glossref"
            | "doc-noteref"
    )
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

/// Whether a title does not name elements of a role.
fn is_untitled(role: &str) -> bool {
    matches!(
        role,
        "none"
            | "generic"
            | "paragraph"
            | "strong"
            | "emphasis"
            | "caption"
            | "code"
            | "deletion"
            | "insertion"
            | "subscript"
            | "superscript"
            | "suggestion"
            | "definition"
            | "mark"
            | "time"
            | "term"
            | "listitem"
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

/// Whether elements of a role are controls, which are words of their own.
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
