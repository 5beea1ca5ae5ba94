//! Roles: which elements can be used, which only group others, and what callers call them.

/// Roles of elements that can be used.
const INTERACTIVE: [&str; 23] = [
    "button",
    "checkbox",
    "color",
    "combobox",
    "date",
    "link",
    "listbox",
    "menu",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "option",
    "radio",
    "searchbox",
    "slider",
    "spinbutton",
    "summary",
    "switch",
    "tab",
    "terminal",
    "textbox",
    "treeitem",
    "video",
];
/// Roles of elements that only group others.
const CONTAINERS: [&str; 7] =
    ["group", "generic", "none", "presentation", "application", "scrollbar", "separator"];
/// Roles whose children are drawn in a separate window.
const POPUPS: [&str; 3] = ["menu", "combobox", "tooltip"];

/// Whether elements of this role can be used.
pub fn is_interactive(role: &str) -> bool {
    INTERACTIVE.contains(&role)
}

/// Whether elements of this role only group others.
pub fn is_container(role: &str) -> bool {
    CONTAINERS.contains(&role)
}

/// Whether the children of such an element are drawn in a separate window.
pub fn opens_popup(role: &str) -> bool {
    POPUPS.contains(&role)
}

/// Whether an element has the role that a caller names, in any of its usual spellings.
pub fn is(role: &str, wanted: &str) -> bool {
    let wanted: String = wanted.chars().filter(char::is_ascii_alphanumeric).collect();
    let wanted = wanted.to_ascii_lowercase();
    role == wanted || names(&wanted).contains(&role)
}

/// The roles that other vocabularies call by this name.
fn names(wanted: &str) -> &'static [&'static str] {
    match wanted {
        "pushbutton" | "togglebutton" | "toolbutton" => &["button"],
        "input" | "entry" | "textfield" | "edit" | "field" | "textarea" | "passwordtext" => {
            &["textbox", "searchbox", "combobox", "spinbutton"]
        }
        "textbox" => &["searchbox"],
        "radiobutton" => &["radio"],
        "select" | "dropdown" | "popupbutton" => &["combobox", "listbox"],
        "menuitem" => &["menu", "menuitemcheckbox", "menuitemradio"],
        "checkmenuitem" => &["menuitemcheckbox"],
        "radiomenuitem" => &["menuitemradio"],
        "pagetab" => &["tab"],
        "label" | "static" | "statictext" | "paragraph" => &["text"],
        "image" | "icon" | "picture" => &["img"],
        "frame" => &["window"],
        "tablecell" | "gridcell" => &["cell", "gridcell"],
        "cell" => &["gridcell"],
        "treetable" | "grid" => &["treegrid", "table", "grid"],
        "spinner" => &["spinbutton"],
        "a" => &["link"],
        "document" => &["main"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_known_by_the_names_of_other_vocabularies() {
        for (role, wanted) in [
            ("button", "button"),
            ("button", "Push Button"),
            ("menuitem", "menu_item"),
            ("menu", "menuitem"),
            ("textbox", "entry"),
            ("img", "image"),
        ] {
            assert!(is(role, wanted), "{role} {wanted}");
        }
        assert!(!is("link", "button") && !is("menuitem", "menu"));
    }
}
