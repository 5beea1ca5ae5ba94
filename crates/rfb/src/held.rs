//! The keys and buttons that a viewer holds down.

/// Limit on simultaneously held keys; further presses are ignored.
pub const MAX_HELD_KEYS: usize = 64;

/// A key as the X server identifies it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Symbol(u32),
    Place(u32),
}

/// INVARIANT: contains everything that the X server believes this viewer holds down.
#[derive(Clone, Default)]
pub(crate) struct Held {
    /// Each key with the symbol of its first press, which the X server uses until the release.
    keys: Vec<(Key, u32)>,
    buttons: u8,
    x: u16,
    y: u16,
}

impl Held {
    /// Records a press or release; returns whether it may pass.
    ///
    /// A press that cannot be recorded must not pass, because it could not be released later. A
    /// release of a key that this viewer does not hold must not pass, because another viewer may
    /// hold it.
    pub fn key(&mut self, key: Key, symbol: u32, down: bool) -> bool {
        let at = self.keys.iter().position(|(held, _)| *held == key);
        match (down, at) {
            (true, Some(_)) => true,
            (true, None) if self.keys.len() < MAX_HELD_KEYS => {
                self.keys.push((key, symbol));
                true
            }
            (false, Some(at)) => {
                self.keys.remove(at);
                true
            }
            (true, None) | (false, None) => false,
        }
    }

    /// Records the pointer's position and buttons; returns the newly pressed buttons.
    pub fn pointer(&mut self, x: u16, y: u16, buttons: u8) -> u8 {
        let pressed = buttons & !self.buttons;
        (self.x, self.y, self.buttons) = (x, y, buttons);
        pressed
    }

    /// The messages that release everything, last pressed first, so that a modifier is released
    /// after the key it modifies.
    pub fn release(&mut self) -> Vec<u8> {
        let mut messages = Vec::new();
        while let Some((key, symbol)) = self.keys.pop() {
            match key {
                Key::Symbol(_) => {
                    messages.extend_from_slice(&[4, 0, 0, 0]);
                    messages.extend_from_slice(&symbol.to_be_bytes());
                }
                Key::Place(place) => {
                    messages.extend_from_slice(&[255, 0, 0, 0]);
                    messages.extend_from_slice(&symbol.to_be_bytes());
                    messages.extend_from_slice(&place.to_be_bytes());
                }
            }
        }
        if self.buttons != 0 {
            self.buttons = 0;
            messages.extend_from_slice(&[5, 0]);
            messages.extend_from_slice(&self.x.to_be_bytes());
            messages.extend_from_slice(&self.y.to_be_bytes());
        }
        messages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presses_over_the_limit_do_not_pass() {
        let mut held = Held::default();
        for symbol in 0..MAX_HELD_KEYS as u32 {
            assert!(held.key(Key::Symbol(symbol), symbol, true));
        }

        assert!(!held.key(Key::Symbol(1000), 1000, true));
        assert!(held.key(Key::Symbol(3), 3, true), "a key that repeats takes no second place");
        assert!(held.key(Key::Symbol(3), 3, false));
        assert!(held.key(Key::Symbol(1000), 1000, true));
        assert_eq!(held.release().len(), MAX_HELD_KEYS * 8);
        assert!(held.release().is_empty());
    }

    #[test]
    fn a_key_is_released_with_the_symbol_of_its_press() {
        let mut held = Held::default();
        assert!(held.key(Key::Place(30), 0x41, true));
        assert!(held.key(Key::Place(30), 0x61, true));

        assert_eq!(held.release(), [255, 0, 0, 0, 0, 0, 0, 0x41, 0, 0, 0, 30]);
    }

    #[test]
    fn a_drag_ends_at_the_last_pointer_position() {
        let mut held = Held::default();
        assert_eq!(held.pointer(1, 2, 0b1), 0b1);
        assert_eq!(held.pointer(300, 5, 0b101), 0b100);

        assert_eq!(held.release(), [5, 0, 1, 44, 0, 5]);
        assert_eq!(held.pointer(300, 5, 0b1), 0b1);
    }
}
