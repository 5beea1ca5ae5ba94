//! What a command writes, on its way to a server.

use std::{sync::Arc, time::Duration};

use helmdeck_link::exec::{Message, Piece, send};
use helmdeck_wire::guest::ExecOutput;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite},
    select,
    time::timeout,
};

use super::command::{Command, Stream};

/// What is sent at once.
const CHUNK: usize = 32 << 10;
/// A server that takes nothing for this long is gone, or its client is.
const SEND_DEADLINE: Duration = Duration::from_secs(60);

/// Sends what is kept of the output from there on, then what comes, then how it ended. A server that is
/// slow misses what is not kept any more: the command does not wait for it.
pub async fn send_output(
    command: Arc<Command>,
    from: ExecOutput,
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
) {
    let mut changes = command.changes();
    let mut places = [(Stream::Stdout, from.stdout), (Stream::Stderr, from.stderr)];
    loop {
        changes.borrow_and_update();
        // Asked before the output is read, so that all of it comes before the end.
        let over = !command.is_running();
        let mut more = true;
        while more {
            more = false;
            for (which, at) in &mut places {
                let Some(message) = next(&command, *which, at) else { continue };
                more = true;
                if !matches!(timeout(SEND_DEADLINE, send(&mut stream, message)).await, Ok(Ok(()))) {
                    return;
                }
            }
        }
        if over {
            let ended = Message::Ended(command.state(false));
            let _ = timeout(SEND_DEADLINE, send(&mut stream, ended)).await;
            return;
        }
        select! {
            changed = changes.changed() => if changed.is_err() { return },
            // The server says nothing: it is gone.
            _ = stream.read_u8() => return,
        }
    }
}

fn next(command: &Command, stream: Stream, at: &mut u64) -> Option<Message> {
    let (first, bytes) = command.output(stream, *at, CHUNK)?;
    let piece = Piece { left_out: first - *at, bytes };
    *at = first + piece.bytes.len() as u64;
    Some(match stream {
        Stream::Stdout => Message::Stdout(piece),
        Stream::Stderr => Message::Stderr(piece),
    })
}
