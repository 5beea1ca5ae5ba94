//! Reports that windows opened or closed, or have another title or focus.

use std::{sync::Arc, time::Duration};

use helmdeck_task::block_in_place;
use tokio::time::Instant;
use x11rb::protocol::{
    Event,
    xproto::{AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask, Window},
};

use crate::{
    connection::Connection, display::Display, error::DisplayError, events::Events,
    window::client_list,
};

/// Waits for an event are restarted this often, which costs nothing.
const WAIT: Duration = Duration::from_secs(3600);

/// Listens on a separate connection while it exists.
pub struct WindowEvents {
    x: Arc<Connection>,
    events: Events,
}

impl Display {
    /// Begins to listen to changes of windows.
    pub fn window_events(&self) -> Result<WindowEvents, DisplayError> {
        block_in_place(|| {
            let x = Arc::new(Connection::open(&self.shared.name)?);
            listen(&x, x.root)?;
            let events = WindowEvents { events: Events::of(&x)?, x };
            events.listen_to_clients()?;
            Ok(events)
        })
    }
}

impl WindowEvents {
    /// Waits until a window opened, closed, or got another title or the focus. Cancel-safe.
    pub async fn next(&mut self) -> Result<(), DisplayError> {
        let atoms = self.x.atoms;
        let titles = [atoms._NET_WM_NAME, AtomEnum::WM_NAME.into()];
        loop {
            let event = self.events.next(Instant::now() + WAIT).await?;
            let Some(Event::PropertyNotify(event)) = event else { continue };
            if event.atom == atoms._NET_CLIENT_LIST {
                block_in_place(|| self.listen_to_clients())?;
                return Ok(());
            }
            if event.atom == atoms._NET_ACTIVE_WINDOW || titles.contains(&event.atom) {
                return Ok(());
            }
        }
    }

    fn listen_to_clients(&self) -> Result<(), DisplayError> {
        for window in client_list(&self.x)? {
            listen(&self.x, window)?;
        }
        self.x.round_trip()
    }
}

fn listen(x: &Connection, window: Window) -> Result<(), DisplayError> {
    let aux = ChangeWindowAttributesAux::new().event_mask(EventMask::PROPERTY_CHANGE);
    // The error for a window that is gone by now can be ignored.
    x.change_window_attributes(window, &aux)?.ignore_error();
    Ok(())
}
