//! The role, states and value of an element.

use super::{
    source::{AxNode, Facts},
    words::{clip, quoted, tidy},
};

/// The longest value that is read, in characters.
const MAX_VALUE: usize = 2000;

/// Roles without meaning: shown only if the element can be used or has a name.
pub(super) const PLAIN: [&str; 31] = [
    "none",
    "presentation",
    "generic",
    "paragraph",
    "strong",
    "emphasis",
    "code",
    "time",
    "mark",
    "superscript",
    "subscript",
    "insertion",
    "deletion",
    "blockquote",
    "group",
    "figure",
    "caption",
    "rowgroup",
    "term",
    "definition",
    "document",
    "region",
    "form",
    "sectionheader",
    "sectionfooter",
    "separator",
    "img",
    "canvas",
    "graphics-symbol",
    "graphics-document",
    "iframe",
];

/// Roles whose name in Chromium is only their text.
pub(super) const NAMED_BY_TEXT: [&str; 9] = [
    "LabelText",
    "LayoutTableCell",
    "LayoutTableRow",
    "DescriptionListTerm",
    "Legend",
    "term",
    "listitem",
    "paragraph",
    "caption",
];

/// Roles of elements that can be used.
pub(super) const ACTING: [&str; 25] = [
    "button",
    "link",
    "textbox",
    "searchbox",
    "checkbox",
    "radio",
    "switch",
    "combobox",
    "listbox",
    "option",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "tab",
    "treeitem",
    "slider",
    "spinbutton",
    "scrollbar",
    "DisclosureTriangle",
    "ColorWell",
    "Date",
    "DateTime",
    "InputTime",
    "PopUpButton",
    "ToggleButton",
];

/// The role as it is shown. Chromium has roles that ARIA does not.
pub(super) fn role(node: &AxNode) -> &str {
    if node.ignored {
        return "generic";
    }
    match node.role.as_str() {
        "generic" if edited(node) => "textbox",
        "image" => "img",
        "DisclosureTriangle" | "DisclosureTriangleGrouped" => "summary",
        "Iframe" | "IframePresentational" => "iframe",
        "Video" => "video",
        "Audio" => "audio",
        "Canvas" => "canvas",
        "ColorWell" => "color",
        "Date" | "DateTime" | "InputTime" => "date",
        "PopUpButton" => "combobox",
        "ToggleButton" => "button",
        "LayoutTable" if !node.name.is_empty() => "table",
        "LayoutTableRow" => "row",
        "LayoutTableCell" => "cell",
        "doc-backlink" | "doc-biblioref" | "doc-glossref" | "doc-noteref" => "link",
        role if role.starts_with(|c: char| !c.is_ascii_lowercase()) => "generic",
        role => role,
    }
}

/// Whether the element is editable. Also true for the content of an editable element, unless that
/// has its own focus.
pub(super) fn edited(node: &AxNode) -> bool {
    node.is("focusable") && node.properties.contains_key("editable")
}

/// The value or selection.
pub(super) fn value(node: &AxNode, facts: &Facts) -> String {
    let secret = facts.password || node.role == "link" || node.value == node.name;
    if secret { String::new() } else { clip(&node.value, MAX_VALUE) }
}

/// The target of a link, if it is useful: for a link without a name, or to another site.
pub(super) fn target(node: &AxNode, facts: &Facts, page: &str) -> Option<String> {
    if node.role != "link" {
        return None;
    }
    if node.name.trim().is_empty() {
        return Some(tidy(&facts.href, 60)).filter(|href| !href.is_empty());
    }
    let host = host(&facts.href)?;
    let known = host == self::host(page).unwrap_or_default() || node.name.contains(host);
    (!known).then(|| tidy(host, 40))
}

fn host(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("//")?;
    let host = rest.split(['/', '?', '#']).next()?;
    let host = host.strip_prefix("www.").unwrap_or(host);
    (matches!(scheme, "" | "http:" | "https:") && !host.is_empty()).then_some(host)
}

pub(super) fn states(node: &AxNode, facts: &Facts) -> Vec<String> {
    let mut states = Vec::new();
    for property in ["checked", "pressed"] {
        match node.properties.get(property).map(String::as_str) {
            Some("true") => states.push(property.to_owned()),
            Some("mixed") => states.push(format!("{property}=mixed")),
            _ => {}
        }
    }
    for property in ["disabled", "selected", "focused", "required", "readonly", "modal"] {
        let cell = matches!(node.role.as_str(), "columnheader" | "rowheader" | "gridcell");
        if node.is(property) && !(cell && property == "readonly") {
            states.push(property.to_owned());
        }
    }
    match node.properties.get("expanded").map(String::as_str) {
        Some("true") => states.push("expanded".to_owned()),
        Some("false") if facts.tag != "SELECT" => states.push("collapsed".to_owned()),
        _ => {}
    }
    if node.properties.get("invalid").is_some_and(|invalid| invalid != "false") {
        states.push("invalid".to_owned());
    }
    if let Some(level) = node.properties.get("level").filter(|_| node.role == "heading") {
        states.push(format!("level={level}"));
    }
    if node.value.is_empty() && !facts.placeholder.is_empty() && facts.placeholder != node.name {
        states.push(format!("placeholder={}", quoted(&facts.placeholder)));
    }
    states
}
