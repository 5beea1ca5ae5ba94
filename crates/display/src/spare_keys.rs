//! Binds spare keys to other symbols for a while.

use std::sync::Arc;

use helmdeck_task::block_in_place;
use x11rb::{
    connection::Connection as _,
    protocol::xproto::{ConnectionExt as _, Keycode},
};

use crate::{connection::Connection, error::DisplayError, input_sync::InputSync, keymap::Keymap};

/// Spare keys. Dropping this restores their symbols.
///
/// A program looks a key up when it reads the event, not when the key was pressed. So keys are
/// changed only after the focused program has read all earlier events, and pressed only after it
/// knows the change.
pub(crate) struct SpareKeys {
    connection: Arc<Connection>,
    /// The changed keys, with their original symbols.
    own: Vec<(Keycode, Vec<u32>)>,
    /// Created when first needed: text that the layout covers does not need it.
    settle: Option<InputSync>,
}

impl SpareKeys {
    pub(crate) fn none(connection: &Arc<Connection>) -> Self {
        Self { connection: connection.clone(), own: Vec::new(), settle: None }
    }

    /// Binds each symbol to its key.
    pub(crate) async fn bind(
        &mut self,
        keymap: &Keymap,
        pairs: &[(Keycode, u32)],
    ) -> Result<(), DisplayError> {
        if pairs.is_empty() {
            return Ok(());
        }
        if !self.own.is_empty() {
            self.settle().await?;
        }
        block_in_place(|| {
            for &(code, symbol) in pairs {
                if !self.own.iter().any(|(own, _)| *own == code) {
                    self.own.push((code, keymap.symbols(code)));
                }
                // Set twice, because a lone capital letter would be read as lower case with Shift.
                self.connection.change_keyboard_mapping(1, code, 2, &[symbol, symbol])?;
            }
            self.connection.round_trip()
        })?;
        self.settle().await
    }

    /// Waits until the focused program has read everything sent so far.
    pub(crate) async fn settle(&mut self) -> Result<(), DisplayError> {
        let settle = match self.settle.take() {
            Some(settle) => settle,
            None => InputSync::on(&self.connection)?,
        };
        self.settle.insert(settle).wait().await
    }

    /// Restores the symbols of the keys.
    pub(crate) async fn finish(mut self) -> Result<(), DisplayError> {
        if self.own.is_empty() {
            return Ok(());
        }
        self.settle().await?;
        block_in_place(|| {
            self.restore()?;
            self.connection.round_trip()
        })
    }

    fn restore(&mut self) -> Result<(), DisplayError> {
        while let Some((code, symbols)) = self.own.pop() {
            let width = u8::try_from(symbols.len()).unwrap_or(u8::MAX);
            self.connection.change_keyboard_mapping(1, code, width, &symbols)?;
        }
        Ok(())
    }
}

impl Drop for SpareKeys {
    fn drop(&mut self) {
        if !self.own.is_empty() {
            // Without a connection there is no keyboard to restore.
            let _ = self.restore().and_then(|()| Ok(self.connection.flush()?));
        }
    }
}
