//! A connection to the X server: immune to grabs, reconnected when it breaks.

use std::{
    io,
    ops::Deref,
    os::fd::{AsFd, BorrowedFd},
    sync::Arc,
};

use parking_lot::Mutex;
use x11rb::{
    connection::Connection as _,
    protocol::{
        xfixes::ConnectionExt as _,
        xkb::ConnectionExt as _,
        xproto::{ConnectionExt as _, Window},
        xtest::ConnectionExt as _,
    },
    rust_connection::RustConnection,
};

use crate::{atoms::Atoms, error::DisplayError, stream::DeadlineStream};

/// A connection that server grabs do not block. Dereferences to x11rb's connection.
#[derive(Debug)]
pub(crate) struct Connection {
    x: RustConnection<DeadlineStream>,
    /// The root window of the screen.
    pub(crate) root: Window,
    pub(crate) atoms: Atoms,
}

impl Connection {
    pub(crate) fn open(display: &str) -> Result<Self, DisplayError> {
        let (x, screen) = DeadlineStream::connect(display)?;
        // Must be first: a grab that comes before this would block us.
        x.xtest_grab_control(true)?.check()?;
        // These extensions require the client to announce its version first.
        let xfixes = x.xfixes_query_version(6, 0)?;
        let xkb = x.xkb_use_extension(1, 0)?;
        let atoms = Atoms::new(&x)?;
        xfixes.reply()?;
        xkb.reply()?;
        let atoms = atoms.reply()?;
        let root = x.setup().roots.get(screen).ok_or(DisplayError::Unsupported("the screen"))?.root;
        Ok(Self { x, root, atoms })
    }

    /// The current screen size.
    pub(crate) fn size(&self) -> Result<(u16, u16), DisplayError> {
        let root = self.get_geometry(self.root)?.reply()?;
        Ok((root.width, root.height))
    }

    /// Waits until the server has processed all requests.
    pub(crate) fn round_trip(&self) -> Result<(), DisplayError> {
        self.get_input_focus()?.reply()?;
        Ok(())
    }

    /// Drops pending events, so that they do not accumulate.
    pub(crate) fn drop_events(&self) -> Result<(), DisplayError> {
        while self.poll_for_event()?.is_some() {}
        Ok(())
    }
}

impl Deref for Connection {
    type Target = RustConnection<DeadlineStream>;

    fn deref(&self) -> &Self::Target {
        &self.x
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.x.stream().as_fd()
    }
}

/// Keeps a connection and reconnects after it broke: any program on the display can make the server
/// close another's connection.
#[derive(Debug)]
pub(crate) struct Line {
    display: String,
    /// `None` after it broke.
    current: Mutex<Option<Arc<Connection>>>,
}

impl Line {
    pub(crate) fn open(display: &str) -> Result<Self, DisplayError> {
        let current = Mutex::new(Some(Arc::new(Connection::open(display)?)));
        Ok(Self { display: display.to_owned(), current })
    }

    /// A connection that was just tested, and the screen size.
    pub(crate) fn ready(&self) -> Result<(Arc<Connection>, (u16, u16)), DisplayError> {
        let mut current = self.current.lock();
        if let Some(connection) = current.take() {
            match connection.drop_events().and_then(|()| connection.size()) {
                Ok(size) => return Ok((current.insert(connection).clone(), size)),
                // If the server hangs, a new connection would hang as well.
                Err(DisplayError::Lost(error)) if error.kind() != io::ErrorKind::TimedOut => {}
                Err(error) => return Err(error),
            }
        }
        let connection = Arc::new(Connection::open(&self.display)?);
        let size = connection.size()?;
        Ok((current.insert(connection).clone(), size))
    }
}
