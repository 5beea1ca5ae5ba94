//! Interactive terminals in a session. A terminal lives as long as its connection.

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

/// An open terminal. When its input and output are dropped, it is hung up and its programs are
/// killed.
pub struct Terminal {
    session: Session,
    caller: Caller,
    began: Instant,
}

/// Input of a terminal.
pub struct TerminalInput(WriteHalf<Box<dyn ByteStream>>);

/// Output of a terminal.
pub struct TerminalOutput(Receiver<ReadHalf<Box<dyn ByteStream>>>);

/// A message from a terminal.
pub enum FromTerminal {
    /// Bytes to display.
    Bytes(Bytes),
    /// How its program ended.
    Ended(ExecState),
}

impl Session {
    /// Opens a terminal for a caller with control, with a login shell or a shell line.
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
    /// The session of the terminal.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Records activity, so that the session is not idle.
    pub fn touch(&self) {
        self.session.touch();
    }

    /// Whether input is accepted now. While a person has control, only that person's is.
    pub fn may_drive(&self) -> Result<(), SessionError> {
        self.session.may_drive(&self.caller).map(|_| ())
    }
}

impl TerminalInput {
    /// Sends input. Waits while programs do not read it.
    pub async fn send(&mut self, bytes: Bytes) -> std::io::Result<()> {
        send(&mut self.0, Message::Typed(bytes)).await
    }

    /// Resizes the terminal.
    pub async fn resize(&mut self, size: TerminalSize) -> std::io::Result<()> {
        send(&mut self.0, Message::Resized(size)).await
    }
}

impl TerminalOutput {
    /// The next output; `None` if the guest is gone. Programs block while it is not read.
    /// Cancel-safe.
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
