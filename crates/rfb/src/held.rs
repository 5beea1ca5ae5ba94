//! What the driver holds down: keys, and the pointer's buttons.

/// The most keys one driver can hold down at a time; a press of another does nothing.
pub const MAX_HELD_KEYS: usize = 64;

/// A key as the X server tells it from others.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Symbol(u32),
    Place(u32),
}

/// INVARIANT: whatever the X server believes this viewer to hold down is in here.
#[derive(Clone, Default)]
pub(crate) struct Held {
    /// Each key with the symbol its first press had, which the X server keeps to until the release.
    keys: Vec<(Key, u32)>,
    buttons: u8,
    x: u16,
    y: u16,
}

impl Held {
    /// Notes a press or a release, and says whether it may pass.
    ///
    /// A press that could not be noted must not pass, because nobody would ever undo it. A release
    /// of what this driver does not hold says nothing, and would be someone else's key.
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

    /// Notes where the pointer is and which buttons are down; returns the ones that just went down.
    pub fn pointer(&mut self, x: u16, y: u16, buttons: u8) -> u8 {
        let pressed = buttons & !self.buttons;
        (self.x, self.y, self.buttons) = (x, y, buttons);
        pressed
    }

    /// The messages that let go of everything, after which nothing is held. The key pressed last
    /// goes first, so that a modifier is still down when what it modified comes up.
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
    fn the_press_after_the_last_that_can_be_undone_does_not_pass() {
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
    fn a_key_is_let_go_with_the_symbol_it_went_down_with() {
        let mut held = Held::default();
        assert!(held.key(Key::Place(30), 0x41, true));
        assert!(held.key(Key::Place(30), 0x61, true));

        assert_eq!(held.release(), [255, 0, 0, 0, 0, 0, 0, 0x41, 0, 0, 0, 30]);
    }

    #[test]
    fn a_drag_ends_where_the_pointer_was_last() {
        let mut held = Held::default();
        assert_eq!(held.pointer(1, 2, 0b1), 0b1);
        assert_eq!(held.pointer(300, 5, 0b101), 0b100);

        assert_eq!(held.release(), [5, 0, 1, 44, 0, 5]);
        assert_eq!(held.pointer(300, 5, 0b1), 0b1);
    }
}
