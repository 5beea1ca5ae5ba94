//! The value, the states and the target of an element.

use super::{
    capture::DomNode,
    content,
    dom::{Dom, Mark},
    roles,
    words::{clip, quoted, tidy},
};

/// The longest value that is read, in characters.
const MAX_VALUE: usize = 2000;
/// The longest option, in characters.
const MAX_OPTION: usize = 60;
/// Limit on the options of a select that are shown.
const MOST: usize = 30;

/// The options of a native select.
pub(super) struct Choices {
    /// All of them, as they are shown.
    pub all: Option<String>,
    pub chosen: String,
}

/// Whether an element holds what only its owner may read: a password, or a secret of the vault,
/// which `conceal` of `element.js` has drawn as dots.
pub(super) fn is_secret(node: &DomNode<'_>) -> bool {
    node.has("type", "password")
        || node.attribute("style").is_some_and(|style| style.contains("-webkit-text-security"))
        || node.layout.is_some_and(|layout| layout.concealed)
}

/// The value or selection of an element with this name.
pub(super) fn value(dom: &Dom<'_>, index: usize, name: &str) -> String {
    let Some(node) = dom.node(index).filter(|node| !is_secret(node)) else { return String::new() };
    let role = dom.role(index);
    let field = field_value(dom, index);
    let written =
        matches!(role, "textbox" | "searchbox") || role == "combobox" && roles::is_focusable(node);
    let value = if field.is_empty() && written && !is_field(node) {
        content::text(dom, index)
    } else {
        field
    };
    if role == "link" || value == name { String::new() } else { clip(&value, MAX_VALUE) }
}

/// The value of an element that is not its content.
pub(super) fn field_value(dom: &Dom<'_>, index: usize) -> String {
    let Some(node) = dom.node(index).filter(|node| !is_secret(node)) else { return String::new() };
    let number = |name: &str| {
        let value: f64 = node.attribute(name)?.trim().parse().ok()?;
        value.is_finite().then(|| value.to_string())
    };
    match (node.tag, dom.role(index)) {
        ("TEXTAREA", _) => node.value.to_owned(),
        ("SELECT", _) => choices(dom, index).chosen,
        (
            "INPUT",
            "textbox" | "searchbox" | "combobox" | "slider" | "spinbutton" | "color" | "date",
        ) => node.value.to_owned(),
        ("INPUT", _) if node.has("type", "file") => {
            let file = node.value.rsplit(['\\', '/']).next().unwrap_or_default();
            if file.is_empty() { "No file chosen" } else { file }.to_owned()
        }
        ("METER", "meter") => number("value").unwrap_or_else(|| "0".to_owned()),
        ("PROGRESS", "progressbar") => number("value").unwrap_or_default(),
        (_, "slider" | "scrollbar") => number("aria-valuenow").unwrap_or_else(|| "50".to_owned()),
        (_, "spinbutton" | "meter") => number("aria-valuenow").unwrap_or_else(|| "0".to_owned()),
        (_, "progressbar" | "separator") => number("aria-valuenow").unwrap_or_default(),
        _ => String::new(),
    }
}

fn is_field(node: &DomNode<'_>) -> bool {
    matches!(node.tag, "INPUT" | "SELECT" | "TEXTAREA")
}

/// The options of a native select, which are chosen by text, not by click.
pub(super) fn choices(dom: &Dom<'_>, list: usize) -> Choices {
    let (mut all, mut chosen, mut more) = (Vec::new(), Vec::new(), 0);
    for (index, option) in dom.inside(list).filter(|(_, node)| node.tag == "OPTION") {
        if all.len() >= MOST && (!option.selected || chosen.len() >= MOST) {
            more += 1;
            continue;
        }
        let own = option.words("label").or_else(|| option.words("aria-label")).map(str::to_owned);
        let name = tidy(&own.unwrap_or_else(|| content::source(dom, index)), MAX_OPTION);
        if option.selected && chosen.len() < MOST {
            chosen.push(name.clone());
        }
        if all.len() < MOST {
            all.push(name);
        } else {
            more += 1;
        }
    }
    let more = if more > 0 { format!(" | … {more} more") } else { String::new() };
    let shown = (!all.is_empty()).then(|| format!("{}{more}", all.join(" | ")));
    Choices { all: shown, chosen: chosen.join(" | ") }
}

/// The target of a link, if it is useful: for a link without a name, or to another site.
pub(super) fn target(node: &DomNode<'_>, name: &str, page: &str) -> Option<String> {
    let href = node.attribute("href").or_else(|| node.attribute("xlink:href"));
    let href = tidy(href.unwrap_or_default(), 200);
    if name.trim().is_empty() {
        return Some(tidy(&href, 60)).filter(|href| !href.is_empty());
    }
    let host = host(&href)?;
    let known = host == self::host(page).unwrap_or_default() || name.contains(host);
    (!known).then(|| tidy(host, 40))
}

fn host(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("//")?;
    let host = rest.split(['/', '?', '#']).next()?;
    let host = host.strip_prefix("www.").unwrap_or(host);
    (matches!(scheme, "" | "http:" | "https:") && !host.is_empty()).then_some(host)
}

/// The states of an element with this name and value, in display order.
pub(super) fn states(dom: &Dom<'_>, index: usize, name: &str, value: &str) -> Vec<String> {
    let Some(node) = dom.node(index) else { return Vec::new() };
    let role = dom.role(index);
    let mut states = Vec::new();
    let mut add = |state: &str, holds: bool| {
        if holds {
            states.push(state.to_owned());
        }
    };
    let checked = checked(dom, index, node, role);
    add("checked", checked == Some(true));
    add("checked=mixed", checked.is_none());
    let toggle = role == "button" && node.tag != "INPUT";
    add("pressed", toggle && node.has("aria-pressed", "true"));
    add("pressed=mixed", toggle && node.has("aria-pressed", "mixed"));
    add("disabled", dom.is_disabled(index));
    let selectable = matches!(
        role,
        "gridcell"
            | "option"
            | "row"
            | "tab"
            | "columnheader"
            | "menuitemradio"
            | "rowheader"
            | "treeitem"
    );
    add("selected", selectable && node.has("aria-selected", "true"));
    add("focused", dom.is_marked(index, Mark::Focused));
    let required = node.has("aria-required", "true")
        || node.attribute("required").is_some() && matches!(node.tag, "INPUT" | "TEXTAREA");
    let asking = matches!(
        role,
        "textbox"
            | "spinbutton"
            | "listbox"
            | "combobox"
            | "radiogroup"
            | "tree"
            | "treegrid"
            | "gridcell"
    );
    add("required", required && asking);
    let read_only =
        node.has("aria-readonly", "true") || is_field(node) && node.attribute("readonly").is_some();
    add("readonly", read_only && matches!(role, "textbox" | "grid" | "treegrid"));
    let modal = dom.is_modal(index) || node.has("aria-modal", "true");
    add("modal", modal && matches!(role, "dialog" | "alertdialog"));
    let expanded = expanded(dom, index, node, role);
    add("expanded", expanded == Some(true));
    add("collapsed", expanded == Some(false));
    let said = node.words("aria-invalid");
    let invalid = said.map(|said| !said.eq_ignore_ascii_case("false"));
    add("invalid", invalid.unwrap_or_else(|| dom.is_marked(index, Mark::Invalid)));
    if role == "heading" {
        let level = node.attribute("aria-level").and_then(|level| level.trim().parse().ok());
        let level =
            level.filter(|level| *level > 0).or_else(|| node.tag.strip_prefix('H')?.parse().ok());
        states.push(format!("level={}", level.unwrap_or(2_u8)));
    }
    let placeholder = tidy(node.attribute("placeholder").unwrap_or_default(), 60);
    if value.is_empty()
        && !placeholder.is_empty()
        && placeholder != name
        && (node.value.is_empty() || !is_field(node))
    {
        states.push(format!("placeholder={}", quoted(&placeholder)));
    }
    states
}

/// Whether an element is checked; None if it is neither checked nor unchecked.
fn checked(dom: &Dom<'_>, index: usize, node: &DomNode<'_>, role: &str) -> Option<bool> {
    let roles = matches!(
        role,
        "checkbox"
            | "menuitemcheckbox"
            | "menuitemradio"
            | "radio"
            | "switch"
            | "treeitem"
            | "option"
    );
    if !roles {
        return Some(false);
    }
    if node.tag == "INPUT" && (node.has("type", "checkbox") || node.has("type", "radio")) {
        return (!dom.is_marked(index, Mark::Indeterminate)).then_some(node.checked);
    }
    (!node.has("aria-checked", "mixed")).then(|| node.has("aria-checked", "true"))
}

/// Whether what an element opens is shown.
fn expanded(dom: &Dom<'_>, index: usize, node: &DomNode<'_>, role: &str) -> Option<bool> {
    let opening = matches!(
        role,
        "application"
            | "button"
            | "checkbox"
            | "columnheader"
            | "combobox"
            | "gridcell"
            | "link"
            | "listbox"
            | "menuitem"
            | "menuitemcheckbox"
            | "menuitemradio"
            | "row"
            | "rowheader"
            | "switch"
            | "summary"
            | "tab"
            | "treeitem"
    );
    if !opening {
        return None;
    }
    if role == "summary" {
        let details = node.parent.and_then(|at| dom.node(at))?;
        return Some(details.attribute("open").is_some());
    }
    if node.has("aria-expanded", "true") || node.has("aria-expanded", "false") {
        return Some(node.has("aria-expanded", "true"));
    }
    let shows = node.words("command").is_some_and(|command| command.ends_with("-popover"));
    let popover =
        node.words("popovertarget").or_else(|| node.words("commandfor").filter(|_| shows));
    let popover = dom.by_id(popover?, index)?;
    dom.node(popover)?.attribute("popover")?;
    Some(dom.node(popover)?.layout.is_some())
}
