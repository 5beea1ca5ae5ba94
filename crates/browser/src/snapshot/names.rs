//! The accessible name of an element, as Chromium computes it.

use super::{
    capture::{Display, DomNode, Kind},
    content::{Reading, alternative, content, source},
    dom::Dom,
    words::tidy,
};

/// The longest name, in characters.
pub(super) const MAX_NAME: usize = 2000;

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

pub(super) fn labelled_by(dom: &Dom<'_>, index: usize, node: &DomNode<'_>) -> Option<String> {
    let ids = node.words("aria-labelledby").or_else(|| node.words("aria-labeledby"))?;
    let mut said = String::new();
    for id in ids.split_ascii_whitespace().take_while(|_| dom.step()) {
        let Some(label) = dom.by_id(id, index) else { continue };
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
pub(super) fn native(dom: &Dom<'_>, index: usize, node: &DomNode<'_>) -> Option<String> {
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
pub(super) fn button<'a>(node: &DomNode<'a>) -> Option<&'a str> {
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

pub(super) fn titled<'a>(dom: &Dom<'a>, index: usize, node: &DomNode<'a>) -> Option<&'a str> {
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

pub(super) fn is_drawing(node: &DomNode<'_>) -> bool {
    node.tag.starts_with(|c: char| c.is_ascii_lowercase())
}

pub(super) fn is_field(node: &DomNode<'_>) -> bool {
    matches!(node.tag, "INPUT" | "SELECT" | "TEXTAREA")
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

#[cfg(test)]
mod tests {
    use super::{super::fixture::Fixture, *};

    /// The name of the last of these elements. Text is that of an element without attributes.
    fn name_of(elements: &[(&'static str, &'static str, &'static str)]) -> String {
        let mut page = Fixture::default();
        let mut last = 0;
        for (tag, attributes, text) in elements {
            last = page.element(0, tag, attributes);
            if !text.is_empty() {
                page.text(last, text);
            }
        }
        name(&page.dom(), last)
    }

    #[test]
    fn an_element_is_named_by_the_first_that_applies() {
        let label = ("LABEL", "for=a", "By label");
        let other = ("B", "id=b", "By other");
        for (attributes, expected) in [
            ("id=a aria-labelledby=b aria-label=Own title=Hint", "By other"),
            ("id=a aria-labelledby=none aria-label=Own title=Hint", "Own"),
            ("id=a title=Hint placeholder=Sample", "By label"),
            ("title=Hint placeholder=Sample", "Hint"),
            ("placeholder=Sample", "Sample"),
            ("", ""),
        ] {
            assert_eq!(name_of(&[label, other, ("INPUT", attributes, "")]), expected);
        }
    }

    #[test]
    fn elements_have_names_of_their_own_kind() {
        for (tag, attributes, text, expected) in [
            ("INPUT", "type=submit", "", "Submit"),
            ("INPUT", "type=button value=Go", "", "Go"),
            ("INPUT", "type=image alt=Find", "", "Find"),
            ("IMG", "alt=A_cat title=Hint", "", "A cat"),
            ("BUTTON", "title=Hint", "Save  all", "Save all"),
            ("H1", "", "Head", "Head"),
            ("DIV", "title=Hint", "words", ""),
            ("DIV", "aria-label=Part", "words", "Part"),
            ("NAV", "title=Hint", "words", "Hint"),
            ("DIV", "role=tab", "First", "First"),
            ("DIV", "role=alert", "Wrong", ""),
        ] {
            assert_eq!(name_of(&[(tag, attributes, text)]), expected, "{tag} {attributes}");
        }
    }

    #[test]
    fn names_by_content_have_spaces_around_boxes_and_leave_out_what_is_hidden() {
        let mut page = Fixture::default();
        let button = page.element(0, "BUTTON", "");
        page.text(button, "a");
        let bold = page.element(button, "B", "");
        page.text(bold, "b");
        let block = page.element(button, "DIV", "");
        page.text(block, "c");
        page.element(button, "IMG", "alt=d");
        let hidden = page.element(button, "SPAN", "");
        let text = page.text(hidden, "e");
        page.hide(hidden);
        page.hide(text);
        let silent = page.element(button, "SPAN", "aria-hidden=true");
        page.text(silent, "f");
        let list = page.element(button, "DIV", "role=group");
        page.text(list, "g");
        page.element(button, "INPUT", "type=password");
        assert_eq!(name(&page.dom(), button), "ab c d");
    }

    #[test]
    fn a_label_does_not_say_what_is_in_its_control() {
        let mut page = Fixture::default();
        let label = page.element(0, "LABEL", "");
        page.text(label, "Size ");
        let field = page.element(label, "INPUT", "");
        page.nodes[field].value = "42";
        page.text(label, " cm");
        assert_eq!(name(&page.dom(), field), "Size cm");
    }

    #[test]
    fn elements_that_label_each_other_have_names() {
        let page =
            [("B", "id=a aria-labelledby=b", "A"), ("BUTTON", "id=b aria-labelledby=a", "B")];
        assert_eq!(name_of(&page), "A");
    }
}
