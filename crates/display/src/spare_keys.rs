//! Spare keys that carry other symbols for a while.

use std::sync::Arc;

use tokio::task::block_in_place;
use x11rb::{
    connection::Connection as _,
    protocol::xproto::{ConnectionExt as _, Keycode},
};

use crate::{connection::Connection, error::DisplayError, input_sync::InputSync, keymap::Keymap};

/// Spare keys; dropped, they carry their own symbols again.
///
/// A program looks a key up when it reads it, not when it was pressed. So keys change only when
/// the program with the focus has read all that came before, and are pressed only when it knows
/// of the change.
pub(crate) struct SpareKeys {
    connection: Arc<Connection>,
    /// The keys that are borrowed, with their own symbols.
    own: Vec<(Keycode, Vec<u32>)>,
    /// Made when first needed: text that the layout has does not need it.
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
                // Twice, because a lone capital letter would be read as its small one with Shift.
                self.connection.change_keyboard_mapping(1, code, 2, &[symbol, symbol])?;
            }
            self.connection.round_trip()
        })?;
        self.settle().await
    }

    /// Returns when the program with the focus has read everything sent so far.
    pub(crate) async fn settle(&mut self) -> Result<(), DisplayError> {
        let settle = match self.settle.take() {
            Some(settle) => settle,
            None => InputSync::on(&self.connection)?,
        };
        self.settle.insert(settle).wait().await
    }

    /// Gives the keys their own symbols again.
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
