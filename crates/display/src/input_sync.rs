//! Waits until the focused program has read our input.
//!
//! X events are ordered per program, so a program that answers a ping has read all earlier events.
//! Programs that do not support pings are watched until they are idle.

use std::{sync::Arc, time::Duration};

use helmdeck_task::block_in_place;
use tokio::time::{Instant, sleep};
use x11rb::{
    connection::Connection as _,
    protocol::{
        Event,
        xproto::{
            AtomEnum, ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt as _, EventMask,
            Window,
        },
    },
};

use crate::{
    connection::Connection, error::DisplayError, events::Events, process_idle,
    window::active_window,
};

/// A program that has never answered within this time does not support pings.
const FIRST_PING: Duration = Duration::from_secs(1);
/// A program that answered before and is this late hangs.
const NEXT_PING: Duration = Duration::from_secs(10);
/// Extra time after an answer, for programs that read the keyboard on another connection.
const AFTER_PING: Duration = Duration::from_millis(2);

/// Listens for answers to pings while it exists.
pub(crate) struct InputSync {
    connection: Arc<Connection>,
    events: Events,
    /// Distinguishes the answer to this ping from earlier ones.
    token: u32,
    /// The window that answered last, and the one that did not.
    answered: Option<Window>,
    deaf: Option<Window>,
}

impl InputSync {
    pub(crate) fn on(connection: &Arc<Connection>) -> Result<Self, DisplayError> {
        listen(connection, EventMask::SUBSTRUCTURE_NOTIFY)?;
        let events = Events::of(connection)?;
        Ok(Self { connection: connection.clone(), events, token: 0, answered: None, deaf: None })
    }

    /// Waits until the active program has read everything sent so far.
    pub(crate) async fn wait(&mut self) -> Result<(), DisplayError> {
        let Some(window) = block_in_place(|| active_window(&self.connection))? else {
            return process_idle::wait(&self.connection, None).await;
        };
        if self.deaf == Some(window) || !block_in_place(|| self.knows_pings(window))? {
            return process_idle::wait(&self.connection, Some(window)).await;
        }
        let known = self.answered == Some(window);
        let patience = if known { NEXT_PING } else { FIRST_PING };
        if self.ping(window, patience).await? {
            self.answered = Some(window);
            sleep(AFTER_PING).await;
            return Ok(());
        }
        if known {
            let what = "an answer of the focused program".to_owned();
            return Err(DisplayError::Timeout { what, waited: patience });
        }
        self.deaf = Some(window);
        process_idle::wait(&self.connection, Some(window)).await
    }

    /// Waits until the active program has read everything sent so far, within a limit. A program
    /// that does not support pings is watched until it is idle.
    pub(crate) async fn read_by_active(&mut self, patience: Duration) -> Result<(), DisplayError> {
        let Some(window) = block_in_place(|| active_window(&self.connection))? else {
            return Ok(());
        };
        if block_in_place(|| self.knows_pings(window))? {
            self.ping(window, patience).await?;
            return Ok(());
        }
        let idle = process_idle::wait(&self.connection, Some(window));
        tokio::time::timeout(patience, idle).await.unwrap_or(Ok(()))
    }

    fn knows_pings(&self, window: Window) -> Result<bool, DisplayError> {
        let x = &self.connection;
        let protocols =
            x.get_property(false, window, x.atoms.WM_PROTOCOLS, AtomEnum::ATOM, 0, 64)?;
        // The window may be gone by now and cannot answer.
        let Ok(protocols) = protocols.reply() else { return Ok(false) };
        Ok(protocols.value32().is_some_and(|mut all| all.any(|p| p == x.atoms._NET_WM_PING)))
    }

    /// Whether the window answered in time.
    async fn ping(&mut self, window: Window, patience: Duration) -> Result<bool, DisplayError> {
        self.token = self.token.wrapping_add(1);
        let x = &self.connection;
        let ping = [x.atoms._NET_WM_PING, self.token, window, 0, 0];
        let message = ClientMessageEvent::new(32, window, x.atoms.WM_PROTOCOLS, ping);
        x.send_event(false, window, EventMask::NO_EVENT, message)?;
        let deadline = Instant::now() + patience;
        while let Some(event) = self.events.next(deadline).await? {
            if let Event::ClientMessage(answer) = event
                && answer.window == x.root
                && answer.type_ == x.atoms.WM_PROTOCOLS
                && answer.data.as_data32().starts_with(&[x.atoms._NET_WM_PING, self.token, window])
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Drop for InputSync {
    fn drop(&mut self) {
        // If this fails, the connection is gone together with its subscriptions.
        let _ = listen(&self.connection, EventMask::NO_EVENT)
            .and_then(|()| Ok(self.connection.flush()?));
    }
}

/// Selects events of the root window; only while they are read, else they would accumulate.
fn listen(connection: &Connection, mask: EventMask) -> Result<(), DisplayError> {
    let aux = ChangeWindowAttributesAux::new().event_mask(mask);
    connection.change_window_attributes(connection.root, &aux)?;
    Ok(())
}
