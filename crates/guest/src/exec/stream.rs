//! Sends a command's output to a server.

use std::{sync::Arc, time::Duration};

use helmdeck_link::exec::{Message, Piece, send};
use helmdeck_wire::guest::ExecOutput;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite},
    select,
    time::timeout,
};

use super::command::{Command, Stream};

/// How much is sent at once.
const CHUNK: usize = 32 << 10;
/// A server that reads nothing for this long is gone, or its client is.
const SEND_DEADLINE: Duration = Duration::from_secs(60);

/// Sends the kept output from a position, then new output, then how the command ended. A slow
/// server misses dropped output: the command does not wait for it.
pub async fn send_output(
    command: Arc<Command>,
    from: ExecOutput,
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
) {
    let mut changes = command.changes();
    let mut places = [(Stream::Stdout, from.stdout), (Stream::Stderr, from.stderr)];
    loop {
        changes.borrow_and_update();
        // Checked before the output is read, so that all output precedes the end.
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
            // The server sends nothing, so it is gone.
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
