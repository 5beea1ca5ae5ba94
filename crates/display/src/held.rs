//! Keys and buttons held by an action. They are always released.

use std::sync::Arc;

use x11rb::{
    connection::Connection as _,
    protocol::{
        xproto::{
            BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, KEY_PRESS_EVENT, KEY_RELEASE_EVENT, Keycode,
            MOTION_NOTIFY_EVENT,
        },
        xtest::ConnectionExt as _,
    },
};

use crate::{connection::Connection, error::DisplayError};

/// Presses keys and buttons, and releases them when dropped.
pub(crate) struct Held {
    connection: Arc<Connection>,
    /// Newest last; released in reverse order.
    down: Vec<Pressed>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Pressed {
    Key(Keycode),
    Button(u8),
}

impl Held {
    pub(crate) fn on(connection: &Arc<Connection>) -> Self {
        Self { connection: connection.clone(), down: Vec::new() }
    }

    pub(crate) fn press_key(&mut self, code: Keycode) -> Result<(), DisplayError> {
        self.down.push(Pressed::Key(code));
        self.send(KEY_PRESS_EVENT, code)
    }

    pub(crate) fn release_key(&mut self, code: Keycode) -> Result<(), DisplayError> {
        self.down.retain(|pressed| *pressed != Pressed::Key(code));
        self.send(KEY_RELEASE_EVENT, code)
    }

    /// Presses and releases a key.
    pub(crate) fn tap_key(&mut self, code: Keycode) -> Result<(), DisplayError> {
        self.press_key(code)?;
        self.release_key(code)
    }

    pub(crate) fn press_button(&mut self, button: u8) -> Result<(), DisplayError> {
        self.down.push(Pressed::Button(button));
        self.send(BUTTON_PRESS_EVENT, button)
    }

    pub(crate) fn release_button(&mut self, button: u8) -> Result<(), DisplayError> {
        self.down.retain(|pressed| *pressed != Pressed::Button(button));
        self.send(BUTTON_RELEASE_EVENT, button)
    }

    /// Presses and releases a button.
    pub(crate) fn tap_button(&mut self, button: u8) -> Result<(), DisplayError> {
        self.press_button(button)?;
        self.release_button(button)
    }

    /// Moves the pointer.
    pub(crate) fn move_to(&self, x: i16, y: i16) -> Result<(), DisplayError> {
        let root = self.connection.root;
        self.connection.xtest_fake_input(MOTION_NOTIFY_EVENT, 0, 0, root, x, y, 0)?;
        Ok(())
    }

    /// Releases everything and waits until the server has processed it.
    pub(crate) fn finish(mut self) -> Result<(), DisplayError> {
        self.release_all()?;
        self.connection.round_trip()
    }

    /// Leaves everything pressed; a later action releases it.
    pub(crate) fn keep(mut self) -> Result<(), DisplayError> {
        self.connection.round_trip()?;
        self.down.clear();
        Ok(())
    }

    fn release_all(&mut self) -> Result<(), DisplayError> {
        while let Some(pressed) = self.down.pop() {
            match pressed {
                Pressed::Key(code) => self.send(KEY_RELEASE_EVENT, code)?,
                Pressed::Button(button) => self.send(BUTTON_RELEASE_EVENT, button)?,
            }
        }
        Ok(())
    }

    fn send(&self, kind: u8, detail: u8) -> Result<(), DisplayError> {
        self.connection.xtest_fake_input(kind, detail, 0, self.connection.root, 0, 0, 0)?;
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if !self.down.is_empty() {
            // If the connection is gone, the server has released everything or is gone, too.
            let _ = self.release_all().and_then(|()| Ok(self.connection.flush()?));
        }
    }
}
