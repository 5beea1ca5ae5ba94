//! Neutralizes modifiers and locks, so that every key produces its plain symbol.

use std::sync::Arc;

use x11rb::{
    connection::Connection as _,
    protocol::{
        xkb::{ConnectionExt as _, Group, ID},
        xproto::{ConnectionExt as _, KEY_PRESS_EVENT, KEY_RELEASE_EVENT, Keycode, ModMask},
        xtest::ConnectionExt as _,
    },
};

use crate::{connection::Connection, error::DisplayError, keymap::Keymap};

/// The core keyboard.
const KEYBOARD: ID = ID::USE_CORE_KBD;
const NONE: u16 = 0;

/// Turns Caps Lock off, selects the first layout and releases modifiers. Restores all when dropped.
pub(crate) struct ModifierGuard {
    connection: Arc<Connection>,
    /// Previously locked modifiers and layout, if any.
    locked: Option<(u16, Group)>,
    /// Previously held modifier keys.
    released: Vec<Keycode>,
}

impl ModifierGuard {
    pub(crate) fn make(
        connection: &Arc<Connection>,
        keymap: &Keymap,
    ) -> Result<Self, DisplayError> {
        let state = connection.xkb_get_state(KEYBOARD.into())?;
        let down = connection.query_keymap()?;
        let state = state.reply()?;
        let down = down.reply()?.keys;
        let mut neutral =
            Self { connection: connection.clone(), locked: None, released: Vec::new() };
        // Num Lock stays on: it affects only the keypad, which typing does not use.
        let locked = u16::from(state.locked_mods) & !u16::from(ModMask::M2);
        if locked != NONE || state.locked_group != Group::M1 {
            neutral.locked = Some((locked, state.locked_group));
            neutral.lock(locked, NONE, Group::M1)?;
        }
        let held = |code: &Keycode| {
            down.get(usize::from(code / 8)).is_some_and(|bits| bits & (1 << (code % 8)) != 0)
        };
        for code in keymap.modifiers().iter().copied().filter(held) {
            neutral.released.push(code);
            neutral.send(KEY_RELEASE_EVENT, code)?;
        }
        Ok(neutral)
    }

    /// Restores everything and waits until the server has processed it.
    pub(crate) fn finish(mut self) -> Result<(), DisplayError> {
        if self.locked.is_some() || !self.released.is_empty() {
            self.restore()?;
            self.connection.round_trip()?;
        }
        Ok(())
    }

    fn restore(&mut self) -> Result<(), DisplayError> {
        for code in std::mem::take(&mut self.released) {
            self.send(KEY_PRESS_EVENT, code)?;
        }
        if let Some((locked, group)) = self.locked.take() {
            self.lock(locked, locked, group)?;
        }
        Ok(self.connection.flush()?)
    }

    /// Sets the locks of the modifiers in `affect` to those in `locks`.
    fn lock(&self, affect: u16, locks: u16, group: Group) -> Result<(), DisplayError> {
        let (affect, locks, none) = (affect.into(), locks.into(), NONE.into());
        let x = &self.connection;
        x.xkb_latch_lock_state(KEYBOARD.into(), affect, locks, true, group, none, false, 0)?;
        Ok(())
    }

    fn send(&self, kind: u8, code: Keycode) -> Result<(), DisplayError> {
        self.connection.xtest_fake_input(kind, code, 0, self.connection.root, 0, 0, 0)?;
        Ok(())
    }
}

impl Drop for ModifierGuard {
    fn drop(&mut self) {
        if self.locked.is_some() || !self.released.is_empty() {
            // Without a connection there is no keyboard to restore.
            let _ = self.restore();
        }
    }
}
