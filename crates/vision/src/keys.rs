//! Names of keys: one table for all dialects.
//!
//! Our own names are X's, with lower-case modifiers: `ctrl+shift+Return`. A chord is joined by `+`, and
//! chords are separated by spaces.

use helmdeck_wire::pointer::Modifier;

/// How a dialect names keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// As X does: Anthropic, Qwen and our own.
    X,
    /// Upper-case names as of browsers: OpenAI.
    Upper,
    /// Lower-case words: Gemini and UI-TARS.
    Lower,
}

/// Our name, OpenAI's, Gemini's, and others that models use, in lower case.
const TABLE: [(&str, &str, &str, &[&str]); 34] = [
    ("ctrl", "CTRL", "control", &["control_l", "control_r"]),
    ("shift", "SHIFT", "shift", &["shift_l", "shift_r"]),
    ("alt", "ALT", "alt", &["option", "alt_l", "alt_r", "opt"]),
    ("super", "META", "meta", &["cmd", "command", "win", "windows", "super_l", "super_r", "os"]),
    ("Return", "ENTER", "enter", &["ret", "newline", "\n"]),
    ("Escape", "ESC", "escape", &[]),
    ("Tab", "TAB", "tab", &["\t"]),
    ("space", "SPACE", "space", &[" ", "spacebar"]),
    ("BackSpace", "BACKSPACE", "backspace", &["back_space", "bksp"]),
    ("Delete", "DELETE", "delete", &["del", "forward_delete"]),
    ("Insert", "INSERT", "insert", &["ins"]),
    ("Home", "HOME", "home", &[]),
    ("End", "END", "end", &[]),
    ("Page_Up", "PAGEUP", "pageup", &["prior", "pgup"]),
    ("Page_Down", "PAGEDOWN", "pagedown", &["next", "pgdn", "pgdown"]),
    ("Left", "ARROWLEFT", "arrowleft", &["left_arrow"]),
    ("Right", "ARROWRIGHT", "arrowright", &["right_arrow"]),
    ("Up", "ARROWUP", "arrowup", &["up_arrow"]),
    ("Down", "ARROWDOWN", "arrowdown", &["down_arrow"]),
    ("Caps_Lock", "CAPSLOCK", "capslock", &[]),
    ("Num_Lock", "NUMLOCK", "numlock", &[]),
    ("Scroll_Lock", "SCROLLLOCK", "scrolllock", &[]),
    ("Print", "PRINTSCREEN", "printscreen", &["prtsc", "print_screen"]),
    ("Pause", "PAUSE", "pause", &["break"]),
    ("Menu", "CONTEXTMENU", "contextmenu", &["apps"]),
    ("plus", "PLUS", "plus", &[]),
    ("minus", "-", "minus", &["hyphen", "subtract"]),
    ("equal", "=", "equal", &["equals"]),
    ("comma", ",", "comma", &[]),
    ("period", ".", "period", &["dot"]),
    ("slash", "/", "slash", &["divide"]),
    ("backslash", "\\", "backslash", &[]),
    ("semicolon", ";", "semicolon", &[]),
    ("apostrophe", "'", "apostrophe", &["quote"]),
];

/// Our name of one key.
pub fn canonical(key: &str) -> String {
    let plain = |name: &str| name.to_lowercase().replace(['_', '-'], "");
    let lower = key.to_lowercase();
    let found = TABLE.iter().find(|(own, upper, small, others)| {
        let same = |name: &str| {
            name.to_lowercase() == lower || (plain(name) == plain(key) && !plain(key).is_empty())
        };
        same(own) || same(upper) || same(small) || others.iter().any(|other| same(other))
    });
    if let Some((own, ..)) = found {
        return (*own).to_owned();
    }
    let is_function = lower.strip_prefix('f').is_some_and(|rest| rest.parse::<u8>().is_ok());
    if is_function {
        return lower.to_uppercase();
    }
    // A single letter in upper case is the letter's key: shift is named if it is meant.
    match key.chars().count() {
        1 => lower,
        _ => key.to_owned(),
    }
}

/// Our name of a chord that is one text, such as `Control+Shift+T` or `ctrl c`.
pub fn chord(text: &str) -> String {
    let text = text.trim();
    if text == "+" {
        return "plus".to_owned();
    }
    // `ctrl++` is the plus key.
    let text = text.strip_suffix("++").map_or(text.to_owned(), |start| format!("{start}+plus"));
    let parts = text.split('+').map(str::trim).filter(|part| !part.is_empty());
    parts.map(canonical).collect::<Vec<_>>().join("+")
}

/// Our name of keys of a dialect whose chords are separated by spaces.
pub fn chords(text: &str) -> String {
    if text == " " {
        return "space".to_owned();
    }
    text.split_whitespace().map(chord).collect::<Vec<_>>().join(" ")
}

/// Our name of keys that are pressed together, as a list.
pub fn together<'a>(keys: impl IntoIterator<Item = &'a str>) -> String {
    keys.into_iter()
        .map(|key| chord(if key == " " { "space" } else { key }))
        .collect::<Vec<_>>()
        .join("+")
}

/// The keys of a chord as a dialect names them.
pub fn named(chord: &str, names: Names) -> Vec<String> {
    let name = |key: &str| {
        let known = TABLE.iter().find(|(own, ..)| *own == key);
        match (names, known) {
            (Names::X, _) | (Names::Lower, None) => key.to_owned(),
            (Names::Upper, Some((_, upper, ..))) => (*upper).to_owned(),
            (Names::Lower, Some((_, _, lower, _))) => (*lower).to_owned(),
            (Names::Upper, None) => key.to_uppercase(),
        }
    };
    chord.split('+').filter(|key| !key.is_empty()).map(name).collect()
}

/// Modifiers in a chord or list of keys; an unknown one is returned as an error.
pub fn modifiers<'a>(keys: impl IntoIterator<Item = &'a str>) -> Result<Vec<Modifier>, String> {
    let parts = keys.into_iter().flat_map(|keys| keys.split('+')).map(str::trim);
    let modifier = |key: &str| match canonical(key).as_str() {
        "ctrl" => Ok(Modifier::Ctrl),
        "shift" => Ok(Modifier::Shift),
        "alt" => Ok(Modifier::Alt),
        "super" => Ok(Modifier::Super),
        _ => Err(key.to_owned()),
    };
    parts.filter(|key| !key.is_empty()).map(modifier).collect()
}

/// Our name of a modifier.
pub fn modifier(modifier: Modifier) -> &'static str {
    match modifier {
        Modifier::Ctrl => "ctrl",
        Modifier::Shift => "shift",
        Modifier::Alt => "alt",
        Modifier::Super => "super",
    }
}

/// The keys for people, without those that type a character: together they may be a password.
pub fn shown(keys: &str) -> String {
    let silent = |chord: &str| {
        let parts: Vec<_> = chord.split('+').collect();
        let command = |part: &&str| matches!(*part, "ctrl" | "alt" | "super");
        let named = |part: &&str| {
            TABLE.iter().take(25).any(|(own, ..)| own == part && *own != "space")
                || part.strip_prefix('F').is_some_and(|number| number.parse::<u8>().is_ok())
        };
        (parts.len() > 1 && parts.iter().any(command)) || parts.iter().all(named)
    };
    let shown = keys.split_whitespace().map(|chord| if silent(chord) { chord } else { "•" });
    shown.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_anthropic_are_those_of_x() {
        for (text, own) in [
            ("Return", "Return"),
            ("ctrl+s", "ctrl+s"),
            ("Control_L+Shift_L+T", "ctrl+shift+t"),
            ("alt+F4", "alt+F4"),
            ("Page_Down", "Page_Down"),
            ("Next", "Page_Down"),
            ("super", "super"),
            ("ctrl++", "ctrl+plus"),
            ("KP_Enter", "KP_Enter"),
            ("Down Down Return", "Down Down Return"),
        ] {
            assert_eq!(chords(text), own, "{text}");
        }
    }

    #[test]
    fn names_of_openai_are_those_of_browsers_in_upper_case() {
        for (keys, own) in [
            (&["CTRL", "L"][..], "ctrl+l"),
            (&["ENTER"], "Return"),
            (&["ESC"], "Escape"),
            (&["ARROWLEFT"], "Left"),
            (&["CMD", "SHIFT", "P"], "super+shift+p"),
            (&["PAGEDOWN"], "Page_Down"),
            (&["DELETE"], "Delete"),
            (&["BACKSPACE"], "BackSpace"),
            (&["SPACE"], "space"),
            (&[" "], "space"),
            (&["F5"], "F5"),
            (&["/"], "slash"),
        ] {
            assert_eq!(together(keys.iter().copied()), own, "{keys:?}");
        }
        assert_eq!(named("ctrl+shift+Left", Names::Upper), ["CTRL", "SHIFT", "ARROWLEFT"]);
        assert_eq!(named("ctrl+l", Names::Upper), ["CTRL", "L"]);
    }

    #[test]
    fn names_of_gemini_are_words_in_lower_case() {
        for (text, own) in [
            ("control+c", "ctrl+c"),
            ("enter", "Return"),
            ("meta+arrowup", "super+Up"),
            ("delete", "Delete"),
        ] {
            assert_eq!(chord(text), own);
        }
        assert_eq!(named("ctrl+Return", Names::Lower), ["control", "enter"]);
    }

    #[test]
    fn delete_never_becomes_backspace() {
        for key in ["Delete", "DEL", "delete", "DELETE", "del"] {
            assert_eq!(canonical(key), "Delete");
        }
    }

    #[test]
    fn every_name_of_the_table_means_its_key() {
        for (own, upper, lower, others) in TABLE {
            for name in [own, upper, lower].into_iter().chain(others.iter().copied()) {
                assert_eq!(canonical(name), own, "{name}");
            }
        }
    }

    #[test]
    fn a_modifier_is_told_from_other_keys() {
        assert_eq!(modifiers(["shift"]), Ok(vec![Modifier::Shift]));
        assert_eq!(modifiers(["CTRL", "ALT"]), Ok(vec![Modifier::Ctrl, Modifier::Alt]));
        assert_eq!(modifiers(["ctrl+shift"]), Ok(vec![Modifier::Ctrl, Modifier::Shift]));
        assert_eq!(modifiers(["a"]), Err("a".to_owned()));
    }
}
