//! Maps symbols to keys, and finds spare keys.

use std::collections::HashMap;

use x11rb::{
    connection::Connection as _,
    protocol::xproto::{ConnectionExt as _, Keycode},
};
use xkeysym::Keysym;

use crate::{connection::Connection, error::DisplayError};

/// With fewer empty keys than this, media keys count as spare, too.
const ENOUGH_SPARE: usize = 4;

/// A snapshot of the keyboard layout: the symbols of plain and shifted keys.
pub(crate) struct Keymap {
    keys: Vec<Key>,
    by_symbol: HashMap<u32, Stroke>,
    modifiers: Vec<Keycode>,
}

/// One key and all its symbols.
#[derive(Clone)]
struct Key {
    code: Keycode,
    symbols: Vec<u32>,
}

/// How to type a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stroke {
    pub(crate) code: Keycode,
    pub(crate) shift: bool,
}

impl Keymap {
    pub(crate) fn read(connection: &Connection) -> Result<Self, DisplayError> {
        let (min, max) = (connection.setup().min_keycode, connection.setup().max_keycode);
        let mapping =
            connection.get_keyboard_mapping(min, max.saturating_sub(min).saturating_add(1))?;
        let modifiers = connection.get_modifier_mapping()?;
        let mapping = mapping.reply()?;
        let mut modifiers = modifiers.reply()?.keycodes;
        modifiers.retain(|code| *code != 0);
        let width = usize::from(mapping.keysyms_per_keycode).max(1);
        let keys = (min..=max)
            .zip(mapping.keysyms.chunks(width))
            .map(|(code, symbols)| Key { code, symbols: symbols.to_vec() });
        Ok(Self::new(keys.collect(), modifiers))
    }

    fn new(keys: Vec<Key>, modifiers: Vec<Keycode>) -> Self {
        let mut by_symbol = HashMap::new();
        for (column, shift) in [(0, false), (1, true)] {
            for key in &keys {
                let symbol = key.symbols.get(column).copied().unwrap_or_default();
                if symbol != 0 {
                    by_symbol.entry(plain(symbol)).or_insert(Stroke { code: key.code, shift });
                }
            }
        }
        Self { keys, by_symbol, modifiers }
    }

    /// How to type a symbol, if a key has it.
    pub(crate) fn find(&self, symbol: u32) -> Option<Stroke> {
        self.by_symbol.get(&plain(symbol)).copied()
    }

    /// The key of a symbol that every keyboard has.
    pub(crate) fn code_of(&self, symbol: u32) -> Result<Keycode, DisplayError> {
        self.find(symbol)
            .map(|stroke| stroke.code)
            .ok_or_else(|| DisplayError::NoFreeKey(format!("{:?}", Keysym::new(symbol))))
    }

    /// The modifier keys.
    pub(crate) fn modifiers(&self) -> &[Keycode] {
        &self.modifiers
    }

    /// Spare keys: empty ones, and media keys if there are too few.
    pub(crate) fn spare(&self) -> Vec<Keycode> {
        let free = |key: &&Key| !self.modifiers.contains(&key.code);
        let empty = |key: &&Key| key.symbols.iter().all(|symbol| *symbol == 0);
        let media = |key: &&Key| {
            let first = key.symbols.first().copied().unwrap_or_default();
            // XF86 keys, and characters added by a viewer's keyboard.
            first >= 0x0100_0100 && !empty(key)
        };
        let codes = |kind: &dyn Fn(&&Key) -> bool| {
            let keys = self.keys.iter().filter(free).filter(kind);
            keys.map(|key| key.code).collect::<Vec<_>>()
        };
        let mut spare = codes(&empty);
        if spare.len() < ENOUGH_SPARE {
            spare.extend(codes(&media));
        }
        spare
    }

    /// The current symbols of a key.
    pub(crate) fn symbols(&self, code: Keycode) -> Vec<u32> {
        let key = self.keys.iter().find(|key| key.code == code);
        key.map(|key| key.symbols.clone()).unwrap_or_default()
    }
}

/// Normalizes a symbol: 0x01000000 + code point may also denote a Latin-1 character.
fn plain(symbol: u32) -> u32 {
    match symbol {
        0x0100_0020..=0x0100_00ff => symbol - 0x0100_0000,
        other if other < 0xfe00 => match Keysym::new(other).key_char() {
            Some(char) if u32::from(char) > 0xff => 0x0100_0000 + u32::from(char),
            _ => other,
        },
        other => other,
    }
}

/// The symbol of a character.
pub(crate) fn symbol_of(char: char) -> u32 {
    match u32::from(char) {
        latin @ (0x20..=0x7e | 0xa0..=0xff) => latin,
        other => 0x0100_0000 + other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keymap(keys: &[(Keycode, [u32; 2])]) -> Keymap {
        let keys =
            keys.iter().map(|(code, symbols)| Key { code: *code, symbols: symbols.to_vec() });
        Keymap::new(keys.collect(), vec![50])
    }

    #[test]
    fn a_plain_key_is_preferred_to_a_shifted_one() {
        let map = keymap(&[(10, [0x61, 0x2f]), (11, [0x2f, 0x3f])]);
        assert_eq!(map.find(0x2f), Some(Stroke { code: 11, shift: false }));
        assert_eq!(map.find(0x3f), Some(Stroke { code: 11, shift: true }));
        assert_eq!(map.find(0x42), None);
    }

    #[test]
    fn a_character_is_found_under_its_old_and_its_unicode_symbol() {
        // Cyrillic_a is 0x6c1, which is U+0430.
        let map = keymap(&[(10, [0x6c1, 0]), (11, [0x0100_20ac, 0])]);
        assert_eq!(map.find(symbol_of('а')).map(|stroke| stroke.code), Some(10));
        assert_eq!(map.find(symbol_of('€')).map(|stroke| stroke.code), Some(11));
        assert_eq!(map.find(xkeysym::key::EuroSign).map(|stroke| stroke.code), Some(11));
    }

    #[test]
    fn empty_keys_are_spare_and_media_keys_when_there_are_too_few() {
        let mute = 0x1008_ff12;
        let map = keymap(&[(10, [0, 0]), (11, [mute, 0]), (12, [0x61, 0x41]), (50, [0, 0])]);
        assert_eq!(map.spare(), [10, 11]);
    }
}
