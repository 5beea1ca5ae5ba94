//! An interactive terminal in a session. Its lifetime is that of the connection to it.

use std::time::Instant;

use bytes::Bytes;
use helmdeck_link::{
    ByteStream,
    exec::{Message, Receiver, send},
};
use helmdeck_wire::{
    exec::{ExecState, TerminalSize},
    guest::OpenTerminal,
};
use serde_json::json;
use time::OffsetDateTime;
use tokio::io::{ReadHalf, WriteHalf};

use crate::{Caller, Session, SessionError, history::Attempt, lifecycle::Lifecycle};

/// An open terminal. It is hung up, and everything in it killed, when its input and its output are
/// dropped.
pub struct Terminal {
    session: Session,
    caller: Caller,
    began: Instant,
}

/// What is typed into a terminal.
pub struct TerminalInput(WriteHalf<Box<dyn ByteStream>>);

/// What a terminal shows.
pub struct TerminalOutput(Receiver<ReadHalf<Box<dyn ByteStream>>>);

/// What came from a terminal.
pub enum FromTerminal {
    /// Bytes to show.
    Bytes(Bytes),
    /// How its program ended.
    Ended(ExecState),
}

impl Session {
    /// Opens a terminal for a caller who may drive, with a login shell or with a line for a shell.
    pub async fn open_terminal(
        &self,
        caller: Caller,
        size: TerminalSize,
        command: Option<String>,
    ) -> Result<(Terminal, TerminalInput, TerminalOutput), SessionError> {
        let detail = json!({ "command": "bash" });
        let mut attempt = Attempt::named(self, caller.actor(), "open_terminal", detail);
        let opened = self.try_open_terminal(&caller, size, command).await;
        attempt.outcome = opened.as_ref().map_or_else(SessionError::code, |_| "ok");
        let (output, input) = tokio::io::split(opened?);
        let terminal = Terminal { session: self.clone(), caller, began: Instant::now() };
        Ok((terminal, TerminalInput(input), TerminalOutput(Receiver::new(output))))
    }

    async fn try_open_terminal(
        &self,
        caller: &Caller,
        size: TerminalSize,
        command: Option<String>,
    ) -> Result<Box<dyn ByteStream>, SessionError> {
        self.adoption().await;
        self.may_drive(caller)?;
        let _busy = self.begin(Lifecycle::begin_task)?;
        let TerminalSize { cols, rows } = size;
        let stream = self.inner.link.terminal(&OpenTerminal { cols, rows, command }).await;
        stream.map_err(|error| self.link_failed(error))
    }
}

impl Terminal {
    /// Whose it is.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Something was typed or shown: the session is not idle.
    pub fn touch(&self) {
        self.session.touch();
    }

    /// Whether what is typed may pass now: not while a person drives, unless it is this one.
    pub fn may_drive(&self) -> Result<(), SessionError> {
        self.session.may_drive(&self.caller).map(|_| ())
    }
}

impl TerminalInput {
    /// Types bytes. Waits while programs do not read them.
    pub async fn send(&mut self, bytes: Bytes) -> std::io::Result<()> {
        send(&mut self.0, Message::Typed(bytes)).await
    }

    /// Gives the terminal another size.
    pub async fn resize(&mut self, size: TerminalSize) -> std::io::Result<()> {
        send(&mut self.0, Message::Resized(size)).await
    }
}

impl TerminalOutput {
    /// What comes next; nothing if the guest is gone. Programs wait for who does not ask. Cancel-safe.
    pub async fn next(&mut self) -> Option<FromTerminal> {
        match self.0.next().await? {
            Message::Stdout(piece) => Some(FromTerminal::Bytes(piece.bytes)),
            Message::Ended(state) => Some(FromTerminal::Ended(state)),
            Message::Stderr(_) | Message::Typed(_) | Message::Resized(_) => None,
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let (by, at) = (self.caller.actor(), OffsetDateTime::now_utc());
        let took = self.began.elapsed();
        self.session.record(by, "close_terminal", json!({}), "ok", at, took);
    }
}
