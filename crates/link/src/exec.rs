//! Commands of a session, and the messages of [`route::EXEC_OUTPUT`] and [`route::TERMINAL`]: a
//! big-endian length of four bytes, a type byte, and the content.

use std::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use helmdeck_wire::{
    exec::{Exec, ExecId, ExecList, ExecState, TerminalSize},
    guest::{ExecOutput, ExecStarted, OneExec, OpenTerminal},
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::{
    ByteStream, Link, LinkError,
    client::{address, get, parsed, post, within},
    route,
};

/// fork and exec take milliseconds; the guest waits ten seconds for them.
const START_DEADLINE: Duration = Duration::from_secs(15);
/// The guest searches for processes to kill for at most ten seconds.
const KILL_DEADLINE: Duration = Duration::from_secs(20);
/// The guest answers these at once.
const ASK_DEADLINE: Duration = Duration::from_secs(10);
/// The largest message; single writes are smaller.
const MAX_MESSAGE: usize = 1 << 20;
const HEAD: usize = 5;
/// The size of a byte count before the bytes.
const COUNT: usize = 8;

const STDOUT: u8 = 0;
const STDERR: u8 = 1;
const ENDED: u8 = 2;
const TYPED: u8 = 3;
const RESIZED: u8 = 4;

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// From the guest: standard output of a command or terminal.
    Stdout(Piece),
    /// From the guest: standard error of a command.
    Stderr(Piece),
    /// From the guest, last: how the command ended, without its output.
    Ended(ExecState),
    /// To the guest: input typed into a terminal.
    Typed(Bytes),
    /// To the guest: the new size of a terminal.
    Resized(TerminalSize),
}

/// Output bytes, and how many before them were dropped.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Piece {
    /// The number of dropped bytes before these.
    pub left_out: u64,
    /// The bytes.
    pub bytes: Bytes,
}

/// Sends one message.
pub async fn send(to: &mut (impl AsyncWrite + Unpin), message: Message) -> std::io::Result<()> {
    let (kind, count, body) = match message {
        Message::Stdout(piece) => (STDOUT, Some(piece.left_out), piece.bytes),
        Message::Stderr(piece) => (STDERR, Some(piece.left_out), piece.bytes),
        Message::Ended(state) => (ENDED, None, serde_json::to_vec(&state)?.into()),
        Message::Typed(bytes) => (TYPED, None, bytes),
        Message::Resized(size) => (RESIZED, None, serde_json::to_vec(&size)?.into()),
    };
    let mut head = BytesMut::with_capacity(HEAD + COUNT);
    let length = body.len() + count.map_or(0, |_| COUNT);
    head.put_u32(u32::try_from(length).map_err(std::io::Error::other)?);
    head.put_u8(kind);
    if let Some(count) = count {
        head.put_u64(count);
    }
    // Both in one write where the system supports it.
    to.write_all_buf(&mut head.freeze().chain(body)).await
}

/// Reads messages in order.
pub struct Receiver<R> {
    from: R,
    received: BytesMut,
}

impl<R: AsyncRead + Unpin> Receiver<R> {
    /// Reads from this stream.
    pub fn new(from: R) -> Self {
        Self { from, received: BytesMut::new() }
    }

    /// The next message; `None` when the other side is gone or sends invalid data. Cancel-safe.
    pub async fn next(&mut self) -> Option<Message> {
        loop {
            if let Some([a, b, c, d, kind]) = self.received.first_chunk::<HEAD>().copied() {
                let length = usize::try_from(u32::from_be_bytes([a, b, c, d])).ok()?;
                if length > MAX_MESSAGE {
                    return None;
                }
                if self.received.len() >= HEAD + length {
                    let body = self.received.split_to(HEAD + length).split_off(HEAD).freeze();
                    return read(kind, body);
                }
            }
            match self.from.read_buf(&mut self.received).await {
                Ok(1..) => {}
                Ok(0) | Err(_) => return None,
            }
        }
    }
}

fn read(kind: u8, mut body: Bytes) -> Option<Message> {
    let mut piece = || {
        let left_out = body.try_get_u64().ok()?;
        Some(Piece { left_out, bytes: std::mem::take(&mut body) })
    };
    Some(match kind {
        STDOUT => Message::Stdout(piece()?),
        STDERR => Message::Stderr(piece()?),
        ENDED => Message::Ended(serde_json::from_slice(&body).ok()?),
        TYPED => Message::Typed(body),
        RESIZED => Message::Resized(serde_json::from_slice(&body).ok()?),
        _ => return None,
    })
}

impl Link {
    /// Starts a command. It continues when the link breaks.
    pub async fn start_exec(&self, exec: &Exec) -> Result<ExecId, LinkError> {
        let reply = self.call(post(route::EXECS, exec)?, START_DEADLINE).await?;
        Ok(parsed::<ExecStarted>(&reply.body)?.id)
    }

    /// The running commands, and the last ones that ended.
    pub async fn execs(&self) -> Result<ExecList, LinkError> {
        parsed(&self.call(get(route::EXECS)?, ASK_DEADLINE).await?.body)
    }

    /// The state of a command, once it has ended or after this time.
    pub async fn exec(&self, id: &ExecId, wait: Duration) -> Result<ExecState, LinkError> {
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let asked = address(route::EXEC, &OneExec { id: id.clone(), wait_ms })?;
        parsed(&self.call(get(&asked)?, ASK_DEADLINE + wait).await?.body)
    }

    /// Kills a command and all processes it started.
    pub async fn kill_exec(&self, id: &ExecId) -> Result<(), LinkError> {
        let one = OneExec { id: id.clone(), wait_ms: 0 };
        self.call(post(route::KILL_EXEC, &one)?, KILL_DEADLINE).await.map(|_| ())
    }

    /// The output of a command from its start, as far as it is kept.
    pub async fn exec_output(
        &self,
        id: &ExecId,
    ) -> Result<Receiver<Box<dyn ByteStream>>, LinkError> {
        let wanted = ExecOutput { id: id.clone(), stdout: 0, stderr: 0 };
        let path = address(route::EXEC_OUTPUT, &wanted)?;
        let stream = self.upgrade(&path, route::EXEC_PROTOCOL);
        Ok(Receiver::new(within(ASK_DEADLINE, stream).await?))
    }

    /// Opens a terminal.
    pub async fn terminal(&self, wanted: &OpenTerminal) -> Result<Box<dyn ByteStream>, LinkError> {
        let path = address(route::TERMINAL, wanted)?;
        within(START_DEADLINE, self.upgrade(&path, route::EXEC_PROTOCOL)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn messages_arrive_unchanged_and_invalid_data_ends_the_stream() {
        let (mut ours, theirs) = tokio::io::duplex(7);
        let mut receiver = Receiver::new(theirs);
        let state = serde_json::json!({
            "exec_id": "exec-1", "running": false, "exit_code": 0, "signal": null,
            "stdout_truncated": false, "stderr_truncated": true, "duration_ms": 5,
            "timed_out": false,
        });
        let messages = [
            Message::Stdout(Piece { left_out: 1 << 40, bytes: vec![7; 100].into() }),
            Message::Stderr(Piece::default()),
            Message::Typed(Bytes::from_static(b"ls")),
            Message::Resized(TerminalSize { cols: 120, rows: 40 }),
            Message::Ended(serde_json::from_value(state).unwrap()),
        ];
        let sending = async {
            for message in &messages {
                send(&mut ours, message.clone()).await.unwrap();
            }
            // Too short for a byte count.
            ours.write_all(&[0, 0, 0, 1, STDOUT, 0]).await.unwrap();
        };
        let receiving = async {
            for message in &messages {
                assert_eq!(receiver.next().await.as_ref(), Some(message));
            }
            assert_eq!(receiver.next().await, None);
        };
        tokio::join!(sending, receiving);
    }
}
