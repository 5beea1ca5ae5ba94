//! Key names, and the events that a page gets for each key. Pure.

use serde_json::{Value, json};

use crate::BrowserError;

/// Limit on chords in one action.
const MAX_CHORDS: usize = 100;

/// Lower-case names: from the DOM, from X, and those that models use.
const NAMED: &[(&[&str], Key)] = &[
    (&["enter", "return", "kp_enter"], key("Enter", "Enter", 13, "\r")),
    (&["tab"], key("Tab", "Tab", 9, "")),
    (&["escape", "esc"], key("Escape", "Escape", 27, "")),
    (&["backspace", "bksp"], key("Backspace", "Backspace", 8, "")),
    (&["delete", "del"], key("Delete", "Delete", 46, "")),
    (&["insert", "ins"], key("Insert", "Insert", 45, "")),
    (&["home"], key("Home", "Home", 36, "")),
    (&["end"], key("End", "End", 35, "")),
    (&["pageup", "page_up", "prior", "pgup"], key("PageUp", "PageUp", 33, "")),
    (&["pagedown", "page_down", "next", "pgdn", "pgdown"], key("PageDown", "PageDown", 34, "")),
    (&["arrowleft", "left", "leftarrow"], key("ArrowLeft", "ArrowLeft", 37, "")),
    (&["arrowup", "up", "uparrow"], key("ArrowUp", "ArrowUp", 38, "")),
    (&["arrowright", "right", "rightarrow"], key("ArrowRight", "ArrowRight", 39, "")),
    (&["arrowdown", "down", "downarrow"], key("ArrowDown", "ArrowDown", 40, "")),
    (&["space", "spacebar"], key(" ", "Space", 32, " ")),
    (&["plus"], key("+", "Equal", 187, "+")),
    (&["minus", "dash"], key("-", "Minus", 189, "-")),
    (&["comma"], key(",", "Comma", 188, ",")),
    (&["period", "dot"], key(".", "Period", 190, ".")),
    (&["slash"], key("/", "Slash", 191, "/")),
    (&["backslash"], key("\\", "Backslash", 220, "\\")),
    (&["semicolon"], key(";", "Semicolon", 186, ";")),
    (&["equal", "equals"], key("=", "Equal", 187, "=")),
    (&["apostrophe", "quote"], key("'", "Quote", 222, "'")),
    (&["grave", "backquote", "backtick"], key("`", "Backquote", 192, "`")),
    (&["bracketleft"], key("[", "BracketLeft", 219, "[")),
    (&["bracketright"], key("]", "BracketRight", 221, "]")),
    (&["capslock", "caps_lock"], key("CapsLock", "CapsLock", 20, "")),
    (&["numlock", "num_lock"], key("NumLock", "NumLock", 144, "")),
    (&["scrolllock", "scroll_lock"], key("ScrollLock", "ScrollLock", 145, "")),
    (&["pause"], key("Pause", "Pause", 19, "")),
    (&["printscreen", "print", "prtsc"], key("PrintScreen", "PrintScreen", 44, "")),
    (&["contextmenu", "menu", "apps"], key("ContextMenu", "ContextMenu", 93, "")),
    (&["f1"], key("F1", "F1", 112, "")),
    (&["f2"], key("F2", "F2", 113, "")),
    (&["f3"], key("F3", "F3", 114, "")),
    (&["f4"], key("F4", "F4", 115, "")),
    (&["f5"], key("F5", "F5", 116, "")),
    (&["f6"], key("F6", "F6", 117, "")),
    (&["f7"], key("F7", "F7", 118, "")),
    (&["f8"], key("F8", "F8", 119, "")),
    (&["f9"], key("F9", "F9", 120, "")),
    (&["f10"], key("F10", "F10", 121, "")),
    (&["f11"], key("F11", "F11", 122, "")),
    (&["f12"], key("F12", "F12", 123, "")),
];

/// Modifier keys, with their bits in the protocol.
const MODIFIERS: &[(&[&str], Key, u8)] = &[
    (&["alt", "option", "alt_l"], key("Alt", "AltLeft", 18, ""), 1),
    (&["control", "ctrl", "control_l", "controlormeta"], key("Control", "ControlLeft", 17, ""), 2),
    (
        &["meta", "super", "cmd", "command", "win", "windows", "super_l"],
        key("Meta", "MetaLeft", 91, ""),
        4,
    ),
    (&["shift", "shift_l"], key("Shift", "ShiftLeft", 16, ""), 8),
];
const SHIFT: u8 = 8;

/// Characters of a US keyboard: without and with Shift, code, key number.
const SIGNS: &[(char, char, &str, u16)] = &[
    ('`', '~', "Backquote", 192),
    ('1', '!', "Digit1", 49),
    ('2', '@', "Digit2", 50),
    ('3', '#', "Digit3", 51),
    ('4', '$', "Digit4", 52),
    ('5', '%', "Digit5", 53),
    ('6', '^', "Digit6", 54),
    ('7', '&', "Digit7", 55),
    ('8', '*', "Digit8", 56),
    ('9', '(', "Digit9", 57),
    ('0', ')', "Digit0", 48),
    ('-', '_', "Minus", 189),
    ('=', '+', "Equal", 187),
    ('[', '{', "BracketLeft", 219),
    (']', '}', "BracketRight", 221),
    ('\\', '|', "Backslash", 220),
    (';', ':', "Semicolon", 186),
    ('\'', '"', "Quote", 222),
    (',', '<', "Comma", 188),
    ('.', '>', "Period", 190),
    ('/', '?', "Slash", 191),
    (' ', ' ', "Space", 32),
];

/// A key as it is reported to a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Key {
    key: &'static str,
    code: &'static str,
    number: u16,
    text: &'static str,
}

const fn key(key: &'static str, code: &'static str, number: u16, text: &'static str) -> Key {
    Key { key, code, number, text }
}

/// The events that press and release each chord. Each inner list is sent together, so that nothing
/// stays pressed.
pub(crate) fn chords(keys: &str) -> Result<Vec<Vec<Value>>, BrowserError> {
    let chords: Vec<_> = keys.split_whitespace().collect();
    if chords.is_empty() {
        return Err(BrowserError::MissingKeys);
    }
    if chords.len() > MAX_CHORDS {
        let message = "keys has more than 100 chords; split them into several calls";
        return Err(BrowserError::Invalid { field: "keys", message });
    }
    chords.into_iter().map(chord).collect()
}

/// The events that type a character; `None` if no key has it.
pub(crate) fn character(character: char) -> Option<Vec<Value>> {
    if character == '\n' {
        return chord("Enter").ok();
    }
    if character == '\t' {
        return chord("Tab").ok();
    }
    let (shown, shifted) = sign(character)?;
    let held = if shifted { SHIFT } else { 0 };
    Some(vec![shown.event("keyDown", held, true), shown.event("keyUp", held, true)])
}

fn chord(chord: &str) -> Result<Vec<Value>, BrowserError> {
    let unknown = || BrowserError::UnknownKey(chord.to_owned());
    // A plus may be the key itself: `+`, `ctrl++`.
    let (held, last) = match chord.strip_suffix('+') {
        Some("") => ("", "+"),
        Some(held) => (held.strip_suffix('+').ok_or_else(unknown)?, "+"),
        None => chord.rsplit_once('+').unwrap_or(("", chord)),
    };
    let mut down = Vec::new();
    let mut up = Vec::new();
    let mut bits = 0;
    for name in held.split('+').filter(|name| !name.is_empty()) {
        let (pressed, bit) = modifier(name).ok_or_else(unknown)?;
        let pressed = Pressed::from(pressed);
        up.insert(0, pressed.event("keyUp", bits, false));
        bits |= bit;
        down.push(pressed.event("keyDown", bits, false));
    }
    let pressed = named(last).ok_or_else(unknown)?;
    if let Some((_, bit)) = modifier(last) {
        down.push(pressed.event("keyDown", bits | bit, false));
        down.push(pressed.event("keyUp", bits, false));
    } else {
        let bits = if pressed.shifted { bits | SHIFT } else { bits };
        // With Control or Alt a key is a command and produces no text.
        let writes = bits & !SHIFT == 0;
        let pressed = if bits & SHIFT != 0 { pressed.upper() } else { pressed };
        down.push(pressed.event("keyDown", bits, writes));
        down.push(pressed.event("keyUp", bits, writes));
    }
    down.extend(up);
    Ok(down)
}

/// A key and the text it produces.
struct Pressed {
    key: String,
    code: String,
    number: u16,
    text: String,
    shifted: bool,
}

impl From<Key> for Pressed {
    fn from(Key { key, code, number, text }: Key) -> Self {
        Self {
            key: key.to_owned(),
            code: code.to_owned(),
            number,
            text: text.to_owned(),
            shifted: false,
        }
    }
}

impl Pressed {
    /// The key with Shift held.
    fn upper(mut self) -> Self {
        let mut characters = self.key.chars();
        if let (Some(only), None) = (characters.next(), characters.next()) {
            let upper =
                SIGNS.iter().find(|(plain, ..)| *plain == only).map(|(_, upper, ..)| *upper);
            self.key = upper.unwrap_or_else(|| only.to_ascii_uppercase()).to_string();
            self.text = self.key.clone();
        }
        self
    }

    fn event(&self, kind: &str, modifiers: u8, writes: bool) -> Value {
        let silent = !writes || self.text.is_empty();
        let kind = if silent && kind == "keyDown" { "rawKeyDown" } else { kind };
        let mut event = json!({
            "type": kind,
            "modifiers": modifiers,
            "key": self.key,
            "code": self.code,
            "windowsVirtualKeyCode": self.number,
        });
        if kind == "keyDown"
            && let Some(event) = event.as_object_mut()
        {
            event.insert("text".into(), self.text.clone().into());
            event.insert("unmodifiedText".into(), self.text.clone().into());
        }
        event
    }
}

fn modifier(name: &str) -> Option<(Key, u8)> {
    let name = name.to_ascii_lowercase();
    let found = MODIFIERS.iter().find(|(names, ..)| names.contains(&name.as_str()));
    found.map(|(_, key, bit)| (*key, *bit))
}

fn named(name: &str) -> Option<Pressed> {
    let mut characters = name.chars();
    if let (Some(only), None) = (characters.next(), characters.next()) {
        let (pressed, shifted) = sign(only)?;
        return Some(Pressed { shifted, ..pressed });
    }
    let small = name.to_ascii_lowercase();
    let found = NAMED.iter().find(|(names, _)| names.contains(&small.as_str()));
    if let Some((_, key)) = found {
        return Some((*key).into());
    }
    if let Some((key, _)) = modifier(name) {
        return Some(key.into());
    }
    // `KeyA` and `Digit1` are DOM key codes.
    let code = name.strip_prefix("Key").or_else(|| name.strip_prefix("Digit"))?;
    let mut characters = code.chars();
    match (characters.next(), characters.next()) {
        (Some(only), None) => sign(only.to_ascii_lowercase()).map(|(pressed, _)| pressed),
        _ => None,
    }
}

/// The key for a character, and whether it needs Shift.
fn sign(character: char) -> Option<(Pressed, bool)> {
    let pressed = |code: String, number: u16| Pressed {
        key: character.to_string(),
        code,
        number,
        text: character.to_string(),
        shifted: false,
    };
    if character.is_ascii_alphabetic() {
        let upper = character.to_ascii_uppercase();
        let number = u16::try_from(u32::from(upper)).ok()?;
        return Some((pressed(format!("Key{upper}"), number), character.is_ascii_uppercase()));
    }
    let found = SIGNS.iter().find(|(plain, upper, ..)| [*plain, *upper].contains(&character));
    found
        .map(|(plain, _, code, number)| (pressed((*code).to_owned(), *number), character != *plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(keys: &str) -> Vec<(String, String, u64, String)> {
        let text = |event: &Value, name: &str| event[name].as_str().unwrap_or("").to_owned();
        let events = chords(keys).unwrap().into_iter().flatten();
        events
            .map(|event| {
                let bits = event["modifiers"].as_u64().unwrap();
                (text(&event, "type"), text(&event, "key"), bits, text(&event, "text"))
            })
            .collect()
    }

    fn event(kind: &str, key: &str, bits: u64, text: &str) -> (String, String, u64, String) {
        (kind.into(), key.into(), bits, text.into())
    }

    #[test]
    fn a_key_is_known_by_dom_x11_and_common_names() {
        for names in [["Enter", "Return"], ["ArrowDown", "Down"], ["ctrl+a", "Control+a"]] {
            assert_eq!(told(names[0]), told(names[1]));
        }
        assert_eq!(
            told("Enter"),
            [event("keyDown", "Enter", 0, "\r"), event("keyUp", "Enter", 0, "")]
        );
        assert_eq!(told("F5")[0], event("rawKeyDown", "F5", 0, ""));
    }

    #[test]
    fn a_chord_presses_and_releases_its_modifiers() {
        let expected = [
            event("rawKeyDown", "Control", 2, ""),
            event("rawKeyDown", "a", 2, ""),
            event("keyUp", "a", 2, ""),
            event("keyUp", "Control", 0, ""),
        ];
        assert_eq!(told("Control+a"), expected);
        assert_eq!(told("Shift+a")[1], event("keyDown", "A", 8, "A"));
        assert_eq!(told("Shift+1")[1], event("keyDown", "!", 8, "!"));
        assert_eq!(told("A")[0], event("keyDown", "A", 8, "A"));
        assert_eq!(told("ctrl++")[1], event("rawKeyDown", "+", 10, ""));
        assert_eq!(told("+")[0], event("keyDown", "+", 8, "+"));
    }

    #[test]
    fn unknown_keys_are_refused() {
        for bad in ["Bogus", "ctrl+Bogus", "Bogus+a", "é", "KeyÄÖ"] {
            assert!(matches!(chords(bad), Err(BrowserError::UnknownKey(_))), "{bad}");
        }
        assert!(matches!(chords(" "), Err(BrowserError::MissingKeys)));
        assert!(character('é').is_none());
    }
}
