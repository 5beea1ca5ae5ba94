//! An element that an instruction names.

use crate::clause::{quotation, strip, words};

/// An element that an instruction names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// Its name in the instruction.
    pub name: String,
    /// Its role, if the instruction names one.
    pub role: Option<&'static str>,
    /// Its name with the word for its role, which may be a part of the name: `New Tab`.
    pub whole: Option<String>,
}

/// What a role is called in instructions, and as pages name it.
const ROLES: [(&str, &str); 26] = [
    ("radio button", "radio"),
    ("toggle button", "button"),
    ("menu item", "menuitem"),
    ("text field", "textbox"),
    ("input field", "textbox"),
    ("search field", "searchbox"),
    ("search box", "searchbox"),
    ("text box", "textbox"),
    ("text area", "textbox"),
    ("check box", "checkbox"),
    ("drop-down", "combobox"),
    ("dropdown", "combobox"),
    ("checkbox", "checkbox"),
    ("textbox", "textbox"),
    ("button", "button"),
    ("switch", "switch"),
    ("field", "textbox"),
    ("input", "textbox"),
    ("entry", ""),
    ("link", "link"),
    ("menu", ""),
    ("tab", "tab"),
    ("icon", ""),
    ("option", ""),
    ("item", ""),
    ("box", ""),
];

/// Names of elements that people call otherwise.
const SYNONYMS: [(&str, &str); 7] = [
    ("url bar", "address and search bar"),
    ("address bar", "address and search bar"),
    ("location bar", "address and search bar"),
    ("omnibox", "address and search bar"),
    ("url", "address and search bar"),
    ("back arrow", "back"),
    ("refresh", "reload"),
];

/// Words around a quoted name that say nothing else of its element.
const AROUND: [&str; 22] = [
    "the", "a", "an", "this", "that", "on", "called", "named", "labelled", "labeled", "titled",
    "marked", "says", "reads", "with", "text", "label", "name", "caption", "element", "now",
    "please",
];

/// Reads the name of an element. Nothing if the text says more of it than its name and role, such as a condition, a
/// place or a second name.
pub fn element(text: &str) -> Option<Element> {
    let text = text.trim();
    let text =
        ["the ", "a ", "an "].iter().find_map(|word| strip(text, word)).unwrap_or(text).trim();
    if let Some((before, name, after)) = quotation(text) {
        return of_quote(name, before, after);
    }
    let lower = text.to_lowercase();
    let role = ROLES.iter().find(|(word, _)| {
        lower.ends_with(&format!(" {word}"))
            || lower.contains(&format!("{word} called "))
            || lower.contains(&format!("{word} named "))
            || lower.contains(&format!("{word} labelled "))
    });
    let named = [" called ", " named ", " labelled ", " labeled "]
        .iter()
        .find_map(|word| lower.find(word).and_then(|at| text.get(at + word.len()..)));
    let name = match (named, role) {
        (Some(name), _) => name.to_owned(),
        (None, Some((word, _))) => {
            text.get(..text.len().saturating_sub(word.len())).unwrap_or_default().to_owned()
        }
        (None, None) => text.to_owned(),
    };
    let name = name.trim().trim_end_matches(['.', ',', '!']).to_owned();
    let plain = role.is_some() && named.is_none();
    let whole = plain.then(|| text.trim_end_matches(['.', ',', '!']).to_owned());
    let role = role.map(|(_, role)| *role).filter(|role| !role.is_empty());
    (!words(&name).is_empty()).then_some(Element { name, role, whole })
}

/// An element whose name is quoted.
fn of_quote(name: &str, before: &str, after: &str) -> Option<Element> {
    let mut others = words(before);
    others.extend(words(after));
    let role = ROLES.iter().find_map(|(word, role)| {
        let wanted = words(word);
        let at = others.windows(wanted.len()).position(|part| part == wanted)?;
        Some((at..at + wanted.len(), *role))
    });
    if let Some((range, _)) = &role {
        others.drain(range.clone());
    }
    let is_plain = others.iter().all(|word| AROUND.contains(&word.as_str()));
    let role = role.map(|(_, role)| role).filter(|role| !role.is_empty());
    let name = name.trim_end_matches(['.', ',', '!']).to_owned();
    (is_plain && !words(&name).is_empty()).then_some(Element { name, role, whole: None })
}

/// Words around a name that are no part of it. A place selects one of several: it is a part.
const FILLERS: [&str; 16] = [
    "the", "a", "an", "button", "link", "icon", "field", "tab", "menu", "bar", "item", "option",
    "box", "checkbox", "called", "named",
];

impl Element {
    /// The names that it may have.
    pub fn names(&self) -> Vec<String> {
        let written: Vec<_> = std::iter::once(&self.name).chain(&self.whole).cloned().collect();
        let synonym = |name: &String| {
            let lower = words(name).join(" ");
            SYNONYMS.iter().find(|(word, _)| *word == lower).map(|(_, name)| (*name).to_owned())
        };
        let synonyms: Vec<_> = written.iter().filter_map(synonym).collect();
        written.into_iter().chain(synonyms).collect()
    }

    /// Whether a name is exactly this one.
    pub fn is(&self, name: &str) -> bool {
        let name = words(name);
        !name.is_empty() && self.names().iter().any(|own| words(own) == name)
    }

    /// Whether an element is exactly this one, by its name and role.
    pub fn fits(&self, name: &str, role: &str) -> bool {
        let is_role = self.role.is_none_or(|own| own == role || role.is_empty());
        let by_whole = self.whole.as_deref().is_some_and(|whole| words(whole) == words(name));
        self.is(name) && (is_role || by_whole)
    }

    /// Whether it is a box that is checked, or not. Nothing if its role has no such state.
    pub fn checked(role: &str, states: &[String]) -> Option<bool> {
        let boxes = ["checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"];
        let has = |any: &[&str]| states.iter().any(|state| any.contains(&state.as_str()));
        if states.iter().any(|state| state.contains("mixed")) {
            return None;
        }
        match has(&["checked", "pressed"]) {
            true => Some(true),
            // Only boxes tell that they are not checked.
            false => boxes.contains(&role).then_some(false),
        }
    }

    /// Whether a name is this one but for words around it.
    pub fn resembles(&self, name: &str) -> bool {
        let plain = |text: &str| {
            let mut words = words(text);
            words.retain(|word| !FILLERS.contains(&word.as_str()));
            words
        };
        let name_words = plain(name);
        self.is(name)
            || (!name_words.is_empty() && self.names().iter().any(|own| plain(own) == name_words))
    }
}
