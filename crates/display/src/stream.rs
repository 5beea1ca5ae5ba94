//! The socket to the X server. Waits are limited by a deadline, and so is every request.

use std::{
    io::{self, IoSlice},
    os::fd::{AsFd, BorrowedFd},
    time::{Duration, Instant},
};

use rustix::event::{PollFd, PollFlags, Timespec};
use x11rb::{
    errors::ConnectError,
    reexports::x11rb_protocol::{parse_display::parse_display, xauth::get_auth},
    rust_connection::{DefaultStream, PollMode, RustConnection, Stream},
    utils::RawFdContainer,
};

/// The X server answers within microseconds; one that is silent for this long is lost.
const SERVER_DEADLINE: Duration = Duration::from_secs(5);

/// A stream whose waits end at [`SERVER_DEADLINE`].
#[derive(Debug)]
pub(crate) struct DeadlineStream(DefaultStream);

impl DeadlineStream {
    /// Connects to `display` and completes the handshake; also returns the screen's number.
    pub(crate) fn connect(display: &str) -> Result<(RustConnection<Self>, usize), ConnectError> {
        let parsed = parse_display(Some(display))?;
        let screen = usize::from(parsed.screen);
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for address in parsed.connect_instruction() {
            match DefaultStream::connect(&address) {
                Ok((stream, (family, address))) => {
                    let (name, data) = get_auth(family, &address, parsed.display)
                        .ok()
                        .flatten()
                        .unwrap_or_default();
                    let connection = RustConnection::connect_to_stream_with_auth_info(
                        Self(stream),
                        screen,
                        name,
                        data,
                    )?;
                    return Ok((connection, screen));
                }
                Err(error) => last = error,
            }
        }
        Err(last.into())
    }
}

impl AsFd for DeadlineStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Stream for DeadlineStream {
    fn poll(&self, mode: PollMode) -> io::Result<()> {
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, mode.readable());
        flags.set(PollFlags::OUT, mode.writable());
        if wait(&mut [PollFd::new(&self.0, flags)], Instant::now() + SERVER_DEADLINE)? {
            Ok(())
        } else {
            Err(io::Error::new(io::ErrorKind::TimedOut, "the X server does not answer"))
        }
    }

    fn read(&self, buf: &mut [u8], fds: &mut Vec<RawFdContainer>) -> io::Result<usize> {
        self.0.read(buf, fds)
    }

    fn write(&self, buf: &[u8], fds: &mut Vec<RawFdContainer>) -> io::Result<usize> {
        self.0.write(buf, fds)
    }

    fn write_vectored(
        &self,
        bufs: &[IoSlice<'_>],
        fds: &mut Vec<RawFdContainer>,
    ) -> io::Result<usize> {
        self.0.write_vectored(bufs, fds)
    }
}

/// Waits until one of `fds` is ready; false if the deadline came first.
pub(crate) fn wait(fds: &mut [PollFd<'_>], deadline: Instant) -> io::Result<bool> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).map_err(io::Error::other)?;
        match rustix::event::poll(fds, Some(&timeout)) {
            Ok(ready) => return Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
