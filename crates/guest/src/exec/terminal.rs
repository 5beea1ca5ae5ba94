//! Terminals: a command with a pty that lives as long as its connection.

use std::{io, os::fd::OwnedFd, time::Duration};

use bytes::{Buf, BytesMut};
use helmdeck_link::exec::{Message, Piece, Receiver, send};
use helmdeck_spawn::{Ending, ending};
use helmdeck_wire::{
    exec::{ExecId, ExecState, SHELL, TerminalSize, WORKSPACE},
    guest::OpenTerminal,
};
use rustix::{
    io::Errno,
    termios::{Winsize, tcsetwinsize},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, Interest, unix::AsyncFd},
    net::unix::pipe,
    select,
    sync::{OwnedSemaphorePermit, oneshot},
    time::{Instant, sleep, timeout},
};

use super::{
    MAX_TERMINALS,
    command::{exit_code, signal},
    full, new_id, spawn,
    tree::Tree,
};
use crate::{
    begin::Guest,
    error::GuestError,
    nest::{Program, SUPERVISOR},
};

/// How much is read at once.
const CHUNK: usize = 16 << 10;
/// A server that reads nothing for this long is gone, or its client is.
const SEND_DEADLINE: Duration = Duration::from_secs(60);
/// How long programs may take to end after SIGHUP.
const HANG_UP_GRACE: Duration = Duration::from_millis(500);
/// How often to check whether a program has reopened a terminal that all had closed.
const CLOSED_PAUSE: Duration = Duration::from_millis(200);
/// Typed input that is kept while programs do not read. Beyond, the server waits.
const MAX_UNREAD: usize = 1 << 20;
/// How long programs may read nothing of so much input before the terminal is closed.
const UNREAD_DEADLINE: Duration = Duration::from_secs(600);
/// Limit on output sent after the end: background programs may write forever.
const LAST_WORDS: usize = 1 << 20;

/// An open terminal.
pub struct Terminal {
    id: ExecId,
    pty: Pty,
    tree: Tree,
    /// Where its supervisor reports how it ended.
    told: pipe::Receiver,
    /// Completes when no process is left.
    over: oneshot::Receiver<String>,
    began: Instant,
    _place: OwnedSemaphorePermit,
}

impl Guest {
    /// Opens a terminal.
    pub async fn open_terminal(&self, wanted: OpenTerminal) -> Result<Terminal, GuestError> {
        let session = self.session()?;
        self.activity.count();
        let place = self.execs.terminals.clone().try_acquire_owned();
        let place = place.map_err(|_| full(&format!("{MAX_TERMINALS} terminals are open")))?;
        let id = new_id()?;
        let OpenTerminal { cols, rows, command } = wanted;
        let args = match command {
            Some(line) => vec!["-c".to_owned(), line],
            None => vec!["-l".to_owned()],
        };
        let set = [("TERM", "xterm-256color"), ("COLORTERM", "truecolor")];
        let set = set.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let program = Program {
            program: SHELL.to_owned(),
            args,
            env: spawn::environment(&session, set.into(), &id),
            cwd: Some(WORKSPACE.to_owned()),
            terminal: Some(TerminalSize { cols, rows }),
        };
        let failed = |e| GuestError::Io("pipe of a terminal", e);
        let (told, telling) = spawn::outgoing().map_err(failed)?;
        let spawned = session.nest.spawn_as(program, vec![(telling, SUPERVISOR)]).await;
        let spawned = spawned.map_err(|error| spawn::refusal(error, SHELL, WORKSPACE))?;
        let mut descriptors = spawned.descriptors.into_iter();
        let (Some(supervisor), Some(pty)) = (descriptors.next(), descriptors.next()) else {
            return Err(GuestError::NestGone);
        };
        let tree = Tree::new(supervisor, &id, session.nest.leader_pid());
        let pty = Pty::new(pty).map_err(failed)?;
        let (over, began) = (spawned.ended, Instant::now());
        Ok(Terminal { id, pty, tree, told, over, began, _place: place })
    }
}

impl Terminal {
    /// Ends it and all its programs.
    pub async fn hang_up(self) {
        // The programs of the terminal get SIGHUP.
        drop(self.pty);
        let _ = timeout(HANG_UP_GRACE, self.over).await;
        self.tree.kill().await;
    }
}

/// Copies a terminal's bytes until it ends or the server disconnects. A slow server makes the
/// programs wait.
pub async fn serve(mut terminal: Terminal, stream: impl AsyncRead + AsyncWrite + Unpin) {
    let (from, mut to) = tokio::io::split(stream);
    let Terminal { pty, told, .. } = &mut terminal;
    let told = async {
        let mut status = [0; 4];
        told.read_exact(&mut status).await?;
        ending(status)
    };
    let ended = select! {
        ended = down(pty, &mut to, told) => ended,
        () = up(pty, from) => None,
    };
    match ended {
        Some(ending) => {
            let state = state(terminal.id, ending, terminal.began.elapsed());
            let _ = timeout(SEND_DEADLINE, send(&mut to, Message::Ended(state))).await;
        }
        None => terminal.hang_up().await,
    }
}

/// Sends the programs' output. `None` if the server disconnects before the terminal ends.
async fn down(
    pty: &Pty,
    to: &mut (impl AsyncWrite + Unpin),
    told: impl Future<Output = io::Result<Ending>>,
) -> Option<Ending> {
    let mut told = std::pin::pin!(told);
    let mut chunk = vec![0; CHUNK];
    let mut rest = LAST_WORDS;
    let mut ended = None;
    loop {
        // A partly sent message must be completed before the next.
        let read = match ended {
            None => select! {
                read = pty.read(&mut chunk) => read,
                told = &mut told => {
                    // Without a report, the supervisor was killed.
                    ended = Some(told.unwrap_or(Ending::Signaled(9)));
                    continue;
                }
            },
            Some(_) if rest == 0 => return ended,
            Some(_) => match pty.try_read(&mut chunk) {
                Ok(read @ 1..) => read,
                Ok(0) | Err(_) => return ended,
            },
        };
        if ended.is_some() {
            rest = rest.saturating_sub(read);
        }
        let bytes = chunk.get(..read).unwrap_or_default().to_vec().into();
        let piece = Message::Stdout(Piece { left_out: 0, bytes });
        match timeout(SEND_DEADLINE, send(to, piece)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => return None,
        }
    }
}

/// Writes typed input as fast as programs read it. Returns when the server has disconnected, also
/// while programs read nothing.
async fn up(pty: &Pty, from: impl AsyncRead + Unpin) {
    let mut messages = Receiver::new(from);
    let mut unread = BytesMut::new();
    loop {
        let full = unread.len() >= MAX_UNREAD;
        select! {
            message = messages.next(), if !full => match message {
                Some(Message::Typed(bytes)) => unread.extend_from_slice(&bytes),
                Some(Message::Resized(size)) => pty.resize(size),
                Some(Message::Stdout(_) | Message::Stderr(_) | Message::Ended(_)) | None => return,
            },
            written = pty.write(&unread), if !unread.is_empty() => match written {
                Ok(written @ 1..) => unread.advance(written),
                // Input after the end is dropped.
                Ok(0) | Err(_) => unread.clear(),
            },
            () = sleep(UNREAD_DEADLINE), if full => return,
        }
    }
}

fn state(id: ExecId, ending: Ending, took: Duration) -> ExecState {
    ExecState {
        exec_id: id,
        running: false,
        exit_code: exit_code(Some(ending)),
        signal: signal(ending),
        stdout: None,
        stderr: None,
        stdout_truncated: false,
        stderr_truncated: false,
        duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        timed_out: false,
        error: None,
    }
}

/// Our side of a terminal.
struct Pty(AsyncFd<OwnedFd>);

impl Pty {
    fn new(fd: OwnedFd) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&fd, true)?;
        // SAFETY: an `OwnedFd` is open and the same until it is dropped, with the `AsyncFd`.
        Ok(Self(unsafe { AsyncFd::register(fd) }?))
    }

    /// Reads output; waits while no program has the terminal open.
    async fn read(&self, chunk: &mut [u8]) -> usize {
        loop {
            let read = |fd: &OwnedFd| Ok(rustix::io::read(fd, &mut *chunk)?);
            match self.0.async_io(Interest::READABLE, read).await {
                Ok(read @ 1..) => return read,
                Ok(0) | Err(_) => sleep(CLOSED_PAUSE).await,
            }
        }
    }

    fn try_read(&self, chunk: &mut [u8]) -> Result<usize, Errno> {
        rustix::io::read(self.0.get_ref(), chunk)
    }

    /// Writes the beginning of some input; waits while programs read nothing. Cancel-safe.
    async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.0.async_io(Interest::WRITABLE, |fd| Ok(rustix::io::write(fd, bytes)?)).await
    }

    fn resize(&self, size: TerminalSize) {
        let TerminalSize { cols, rows } = size;
        let size = Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 };
        // Fails when the terminal is gone.
        let _ = tcsetwinsize(self.0.get_ref(), size);
    }
}

#[cfg(test)]
mod tests {
    use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
    use tokio::io::duplex;

    use super::*;

    #[tokio::test]
    async fn a_disconnect_is_noticed_while_programs_read_nothing() {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        let ours = openpt(flags).unwrap();
        unlockpt(&ours).unwrap();
        let _theirs = ioctl_tiocgptpeer(&ours, flags).unwrap();
        let pty = Pty::new(ours).unwrap();
        let (mut server, guest) = duplex(16 << 10);
        let pasting = async {
            let lines = "a line that nothing reads\n".repeat(8_000);
            send(&mut server, Message::Typed(lines.into())).await.unwrap();
            drop(server);
        };
        let relayed = async { tokio::join!(up(&pty, guest), pasting) };
        timeout(Duration::from_secs(10), relayed).await.expect("it ends with the connection");
    }
}
