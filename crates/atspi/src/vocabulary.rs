//! Roles and states: the numbers of AT-SPI, and the names that web pages use for the same things.

/// A state of an element: its bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of the specification")]
pub enum State {
    Active = 1,
    Checked = 4,
    Collapsed = 5,
    Defunct = 6,
    Editable = 7,
    Enabled = 8,
    Expandable = 9,
    Expanded = 10,
    Focusable = 11,
    Focused = 12,
    Modal = 16,
    MultiLine = 17,
    Pressed = 20,
    Selected = 23,
    Sensitive = 24,
    Showing = 25,
    ManagesDescendants = 31,
    Indeterminate = 32,
    Required = 33,
    InvalidEntry = 36,
    ReadOnly = 43,
}

impl State {
    /// Whether the state is set.
    pub fn is_in(self, states: u64) -> bool {
        states >> (self as u32) & 1 == 1
    }
}

/// Roles that the reader treats in a special way.
pub mod roles {
    #![allow(missing_docs, reason = "the names of the specification")]
    pub const COMBO_BOX: u32 = 11;
    pub const DATE_EDITOR: u32 = 12;
    pub const LIST: u32 = 31;
    pub const MENU: u32 = 33;
    pub const MENU_BAR: u32 = 34;
    pub const PAGE_TAB: u32 = 37;
    pub const PASSWORD_TEXT: u32 = 40;
    pub const POPUP_MENU: u32 = 41;
    pub const PROGRESS_BAR: u32 = 42;
    pub const PUSH_BUTTON: u32 = 43;
    pub const SCROLL_BAR: u32 = 48;
    pub const SLIDER: u32 = 51;
    pub const SPIN_BUTTON: u32 = 52;
    pub const TABLE: u32 = 55;
    pub const TERMINAL: u32 = 60;
    pub const TEXT: u32 = 61;
    pub const TOGGLE_BUTTON: u32 = 62;
    pub const TREE: u32 = 65;
    pub const TREE_TABLE: u32 = 66;
    pub const APPLICATION: u32 = 75;
    pub const ENTRY: u32 = 79;
    pub const DOCUMENT_WEB: u32 = 95;
    pub const LIST_BOX: u32 = 98;
}

/// The role as web pages name it. Containers without a meaning are `group`.
pub fn role(number: u32) -> &'static str {
    match number {
        2 | 101 | 102 => "alert",
        5 => "calendar",
        6 | 18 => "canvas",
        7 => "checkbox",
        8 => "menuitemcheckbox",
        9 | 19 | 22 | 16 => "dialog",
        10 | 57 => "columnheader",
        11 => "combobox",
        12 => "date",
        13 | 26 | 27 | 100 => "img",
        15 | 51 => "slider",
        23 | 28 | 69 => "window",
        29 | 73 | 81 | 97 | 116 | 122 | 123 => "text",
        31 | 98 => "list",
        32 => "listitem",
        33 => "menu",
        34 => "menubar",
        35 | 59 => "menuitem",
        37 => "tab",
        38 => "tablist",
        40 | 61 | 77 | 79 => "textbox",
        41 => "menu",
        42 | 103 => "progressbar",
        43 | 62 | 129 => "button",
        44 => "radio",
        45 => "menuitemradio",
        47 | 58 => "rowheader",
        48 => "scrollbar",
        50 => "separator",
        52 => "spinbutton",
        54 | 115 => "status",
        55 => "table",
        56 => "cell",
        60 => "terminal",
        63 => "toolbar",
        64 => "tooltip",
        65 => "tree",
        66 => "treegrid",
        75 => "application",
        80 => "img",
        82 | 92..=96 => "document",
        83 => "heading",
        87 => "form",
        88 => "link",
        90 => "row",
        91 => "treeitem",
        106 => "audio",
        107 => "video",
        109 => "article",
        111 => "log",
        130 => "switch",
        _ => "group",
    }
}

/// The names of the states that matter to a reader, with `disabled` for what cannot be used.
pub fn states(role: u32, states: u64) -> Vec<&'static str> {
    let is = |state: State| state.is_in(states);
    let mut names = Vec::new();
    let mut add = |name, set: bool| {
        if set {
            names.push(name);
        }
    };
    add("checked", is(State::Checked));
    add("mixed", is(State::Indeterminate) && role != roles::PROGRESS_BAR);
    add("pressed", is(State::Pressed));
    add("disabled", !is(State::Enabled) && !is(State::Sensitive) && role != roles::APPLICATION);
    add("selected", is(State::Selected));
    add("focused", is(State::Focused));
    add("required", is(State::Required));
    add("readonly", is(State::ReadOnly));
    add("modal", is(State::Modal));
    add("expanded", is(State::Expanded));
    add("collapsed", is(State::Collapsed) || is(State::Expandable) && !is(State::Expanded));
    add("invalid", is(State::InvalidEntry));
    add("protected", role == roles::PASSWORD_TEXT);
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_have_the_names_of_web_pages() {
        let of = |bits: &[State]| bits.iter().fold(0, |all, state| all | 1 << (*state as u32));
        let on = [State::Enabled, State::Sensitive];
        let button = roles::PUSH_BUTTON;
        assert!(states(button, of(&on)).is_empty());
        assert_eq!(states(button, 0), ["disabled"]);
        let checked = [State::Checked, State::Focused, on[0], on[1]];
        assert_eq!(states(7, of(&checked)), ["checked", "focused"]);
        assert_eq!(role(button), "button");
        assert_eq!(role(9999), "group");
    }
}
