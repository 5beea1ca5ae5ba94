//! Key names: X keysym names, and the names that models use. Pure.

use std::{collections::HashMap, sync::LazyLock};

use xkeysym::{Keysym, RawKeysym, key};

use crate::error::DisplayError;

/// Limit on chords in one action.
const MAX_CHORDS: usize = 100;

/// Names that X does not have, in lower case.
const ALIASES: &[(&str, RawKeysym)] = &[
    ("ctrl", key::Control_L),
    ("control", key::Control_L),
    ("shift", key::Shift_L),
    ("alt", key::Alt_L),
    ("option", key::Alt_L),
    ("altgr", key::ISO_Level3_Shift),
    ("altgraph", key::ISO_Level3_Shift),
    ("super", key::Super_L),
    ("meta", key::Super_L),
    ("cmd", key::Super_L),
    ("command", key::Super_L),
    ("win", key::Super_L),
    ("windows", key::Super_L),
    ("enter", key::Return),
    ("esc", key::Escape),
    ("del", key::Delete),
    ("ins", key::Insert),
    ("bksp", key::BackSpace),
    ("spacebar", key::space),
    ("capslock", key::Caps_Lock),
    ("numlock", key::Num_Lock),
    ("scrolllock", key::Scroll_Lock),
    ("arrowleft", key::Left),
    ("arrowright", key::Right),
    ("arrowup", key::Up),
    ("arrowdown", key::Down),
    ("leftarrow", key::Left),
    ("rightarrow", key::Right),
    ("uparrow", key::Up),
    ("downarrow", key::Down),
    ("pageup", key::Page_Up),
    ("pagedown", key::Page_Down),
    ("page_up", key::Page_Up),
    ("page_down", key::Page_Down),
    ("pgup", key::Page_Up),
    ("pgdn", key::Page_Down),
    ("pgdown", key::Page_Down),
    ("printscreen", key::Print),
    ("prtsc", key::Print),
    ("contextmenu", key::Menu),
    ("apps", key::Menu),
    ("dash", key::minus),
    ("dot", key::period),
    ("equals", key::equal),
    ("quote", key::apostrophe),
    ("backquote", key::grave),
    ("backtick", key::grave),
    ("numpadenter", key::KP_Enter),
    ("numpadadd", key::KP_Add),
    ("numpadsubtract", key::KP_Subtract),
    ("numpadmultiply", key::KP_Multiply),
    ("numpaddivide", key::KP_Divide),
    ("numpaddecimal", key::KP_Decimal),
    ("audiovolumeup", key::XF86_AudioRaiseVolume),
    ("volumeup", key::XF86_AudioRaiseVolume),
    ("audiovolumedown", key::XF86_AudioLowerVolume),
    ("volumedown", key::XF86_AudioLowerVolume),
    ("audiovolumemute", key::XF86_AudioMute),
    ("volumemute", key::XF86_AudioMute),
    ("mediaplaypause", key::XF86_AudioPlay),
    ("playpause", key::XF86_AudioPlay),
    ("browserback", key::XF86_Back),
    ("browserforward", key::XF86_Forward),
    ("browserrefresh", key::XF86_Refresh),
];

/// Ranges of named keysyms: the legacy sets, and media keys.
const NAMED: [std::ops::RangeInclusive<RawKeysym>; 3] =
    [0x20..=0xffff, 0x1008_1000..=0x1008_13ff, 0x1008_fe00..=0x1008_ffff];

/// X's names in their own spelling and in lower case.
static NAMES: LazyLock<HashMap<String, RawKeysym>> = LazyLock::new(|| {
    let mut names = HashMap::new();
    for symbol in NAMED.into_iter().flatten() {
        if let Some(name) = Keysym::new(symbol).name() {
            let name = name.replacen("XK_", "", 1);
            names.entry(name.to_ascii_lowercase()).or_insert(symbol);
            names.insert(name, symbol);
        }
    }
    names
});

/// Keys that are pressed together.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Chord(Vec<RawKeysym>);

impl Chord {
    /// In the order in which they are pressed.
    pub(crate) fn symbols(&self) -> &[RawKeysym] {
        &self.0
    }
}

/// Parses chords separated by white space; a chord is keys joined by `+`.
///
/// With Ctrl, Alt or Super, a capital letter does not imply Shift: models write `CTRL+C` for
/// ctrl+c.
pub(crate) fn parse(keys: &str) -> Result<Vec<Chord>, DisplayError> {
    if keys == " " {
        return Ok(vec![Chord(vec![key::space])]);
    }
    let chords = keys.split_whitespace().map(chord).collect::<Result<Vec<_>, _>>()?;
    match chords.len() {
        0 => Err(DisplayError::MissingKeys),
        1..=MAX_CHORDS => Ok(chords),
        _ => Err(DisplayError::TextTooLong { limit: MAX_CHORDS, unit: "chords" }),
    }
}

fn chord(text: &str) -> Result<Chord, DisplayError> {
    let mut symbols = Vec::new();
    for name in names(text) {
        let symbol = symbol(name).ok_or_else(|| DisplayError::UnknownKey(name.to_owned()))?;
        if !symbols.contains(&symbol) {
            symbols.push(symbol);
        }
    }
    let command = symbols.iter().any(|symbol| {
        matches!(*symbol, key::Control_L | key::Control_R | key::Alt_L | key::Alt_R)
            || matches!(*symbol, key::Super_L | key::Super_R | key::Meta_L | key::Meta_R)
    });
    if command {
        for symbol in &mut symbols {
            if let capital @ key::A..=key::Z = *symbol {
                *symbol = capital - key::A + key::a;
            }
        }
    }
    Ok(Chord(symbols))
}

/// The names in a chord. A `+` in place of a name is the plus key; `U+20AC` is one name.
fn names(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = text;
    loop {
        // A name has at least one character, so search for its end after the first.
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let start = if code_point(rest).is_some() { rest.len() } else { first };
        let end = rest.get(start..).and_then(|tail| tail.find('+')).map(|at| start + at);
        match end.and_then(|end| rest.split_at_checked(end)) {
            Some((name, tail)) => {
                names.push(name);
                rest = tail.strip_prefix('+').unwrap_or(tail);
            }
            None => {
                names.push(rest);
                return names;
            }
        }
    }
}

fn symbol(name: &str) -> Option<RawKeysym> {
    let mut chars = name.chars();
    if let (Some(char), None) = (chars.next(), chars.next()) {
        return (!char.is_control()).then(|| crate::keymap::symbol_of(char));
    }
    let lower = name.to_ascii_lowercase();
    let alias = || ALIASES.iter().find(|(alias, _)| *alias == lower).map(|(_, symbol)| *symbol);
    let number = || {
        let digit = lower.strip_prefix("numpad")?.trim_start_matches('_').parse::<u32>().ok()?;
        (digit <= 9).then(|| key::KP_0 + digit)
    };
    NAMES
        .get(name)
        .copied()
        .or_else(alias)
        .or_else(|| NAMES.get(&lower).copied())
        .or_else(number)
        .or_else(|| code_point(name).map(crate::keymap::symbol_of))
}

/// Parses `U+20AC` and `U20AC`.
fn code_point(name: &str) -> Option<char> {
    let digits = name.strip_prefix(['U', 'u'])?;
    let digits = digits.strip_prefix('+').unwrap_or(digits);
    let hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let code = u32::from_str_radix(digits, 16).ok()?;
    char::from_u32(code).filter(|char| hex && (4..=6).contains(&digits.len()) && !char.is_control())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(keys: &str) -> Vec<RawKeysym> {
        let mut chords = parse(keys).unwrap();
        assert_eq!(chords.len(), 1, "{keys}");
        chords.remove(0).0
    }

    #[test]
    fn anthropic_and_xdotool_key_names_are_known() {
        for (keys, expected) in [
            ("Return", vec![key::Return]),
            ("ctrl+a", vec![key::Control_L, key::a]),
            ("alt+Tab", vec![key::Alt_L, key::Tab]),
            ("super+l", vec![key::Super_L, key::l]),
            ("ctrl+shift+t", vec![key::Control_L, key::Shift_L, key::t]),
            ("Page_Down", vec![key::Page_Down]),
            ("KP_Enter", vec![key::KP_Enter]),
            ("BackSpace", vec![key::BackSpace]),
            ("XF86AudioMute", vec![key::XF86_AudioMute]),
            ("semicolon", vec![key::semicolon]),
            ("F12", vec![key::F12]),
            ("Control_R+x", vec![key::Control_R, key::x]),
            ("eacute", vec![key::eacute]),
            ("Eacute", vec![key::Eacute]),
            ("ISO_Left_Tab", vec![key::ISO_Left_Tab]),
        ] {
            assert_eq!(one(keys), expected, "{keys}");
        }
    }

    #[test]
    fn openai_key_names_are_known() {
        for (keys, expected) in [
            ("ENTER", vec![key::Return]),
            ("CTRL+C", vec![key::Control_L, key::c]),
            ("CTRL+SHIFT+T", vec![key::Control_L, key::Shift_L, key::t]),
            ("ARROWLEFT", vec![key::Left]),
            ("ArrowDown", vec![key::Down]),
            ("ESC", vec![key::Escape]),
            ("BACKSPACE", vec![key::BackSpace]),
            ("DELETE", vec![key::Delete]),
            ("PAGEUP", vec![key::Page_Up]),
            ("PAGEDOWN", vec![key::Page_Down]),
            ("CMD+L", vec![key::Super_L, key::l]),
            ("OPTION+F4", vec![key::Alt_L, key::F4]),
            ("META", vec![key::Super_L]),
            ("WIN", vec![key::Super_L]),
            ("SPACE", vec![key::space]),
            ("CAPSLOCK", vec![key::Caps_Lock]),
            ("HOME", vec![key::Home]),
            ("INSERT", vec![key::Insert]),
            ("TAB", vec![key::Tab]),
            ("/", vec![key::slash]),
        ] {
            assert_eq!(one(keys), expected, "{keys}");
        }
    }

    #[test]
    fn gemini_key_names_are_known() {
        for (keys, expected) in [
            ("control+c", vec![key::Control_L, key::c]),
            ("enter", vec![key::Return]),
            ("backspace", vec![key::BackSpace]),
            ("delete", vec![key::Delete]),
            ("escape", vec![key::Escape]),
            ("page_up", vec![key::Page_Up]),
            ("left", vec![key::Left]),
            ("f5", vec![key::F5]),
            ("command+a", vec![key::Super_L, key::a]),
            ("space", vec![key::space]),
            ("capslock", vec![key::Caps_Lock]),
            ("numpad0", vec![key::KP_0]),
        ] {
            assert_eq!(one(keys), expected, "{keys}");
        }
    }

    #[test]
    fn delete_never_becomes_backspace() {
        for keys in ["Delete", "delete", "DELETE", "Del", "del", "DEL"] {
            assert_eq!(one(keys), [key::Delete], "{keys}");
        }
    }

    #[test]
    fn a_plus_can_be_a_key() {
        assert_eq!(one("+"), [key::plus]);
        assert_eq!(one("plus"), [key::plus]);
        assert_eq!(one("ctrl++"), [key::Control_L, key::plus]);
        assert_eq!(one("ctrl+plus"), [key::Control_L, key::plus]);
    }

    #[test]
    fn characters_and_code_points_are_keys() {
        assert_eq!(one("é"), [0xe9]);
        assert_eq!(one("€"), [0x0100_20ac]);
        assert_eq!(one("U+20AC"), [0x0100_20ac]);
        assert_eq!(one("U20ac"), [0x0100_20ac]);
        assert_eq!(one("ctrl+U+00e9"), [key::Control_L, 0xe9]);
        assert_eq!(one("A"), [key::A]);
        assert_eq!(one(" "), [key::space]);
    }

    #[test]
    fn chords_are_separated_by_spaces() {
        let chords = parse("ctrl+a  Delete\nTab").unwrap();
        assert_eq!(chords.len(), 3);
    }

    #[test]
    fn unknown_keys_are_refused() {
        for keys in ["ctrl+", "hello", "ctrl+nothing", "U+", "U+D800", "U+0007", "ctrl+a+"] {
            assert!(matches!(parse(keys), Err(DisplayError::UnknownKey(_))), "{keys}");
        }
        for keys in ["", "  ", "\n"] {
            assert!(matches!(parse(keys), Err(DisplayError::MissingKeys)), "{keys:?}");
        }
    }
}
