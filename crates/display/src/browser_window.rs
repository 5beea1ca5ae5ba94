//! Follows the browser's window through X events.

use std::{sync::Arc, time::Duration};

use helmdeck_task::block_in_place;
use helmdeck_wire::window::BrowserWindow;
use tokio::time::{Instant, sleep};
use x11rb::protocol::{
    Event,
    xproto::{
        AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask, MapState, Window,
    },
};

use crate::{
    connection::Connection,
    display::Display,
    error::DisplayError,
    events::Events,
    owner::{self, Owner, Owners},
    window::{active_window, class_of, client_list},
};

/// The window classes of Chromium-based browsers, in lower case.
const CLASSES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
/// Dragging a window causes many events; they are handled together.
const TOGETHER: Duration = Duration::from_millis(100);
/// How often windows are checked without any event.
const QUIET: Duration = Duration::from_secs(3600);

/// Reports where the browser's window is, whenever that changes.
pub struct BrowserWindows {
    x: Arc<Connection>,
    events: Events,
    /// Only windows of this owner count, if there are several browsers.
    owner: Option<Owner>,
    owners: Option<Owners>,
    /// The browser's window that last had the focus.
    recent: Option<Window>,
    /// The last value returned; `None` before the first.
    told: Option<Option<BrowserWindow>>,
}

impl Display {
    /// Follows the browser's window on a separate connection.
    pub fn follow_browser(&self) -> Result<BrowserWindows, DisplayError> {
        block_in_place(|| {
            let x = Arc::new(Connection::open(&self.shared.name)?);
            listen(&x, x.root, EventMask::PROPERTY_CHANGE)?;
            x.round_trip()?;
            Ok(BrowserWindows {
                events: Events::of(&x)?,
                x,
                owner: None,
                owners: self.owners(),
                recent: None,
                told: None,
            })
        })
    }
}

impl BrowserWindows {
    /// Restricts the result to windows of this owner; without one, any browser's windows count.
    pub fn of(&mut self, owner: Option<Owner>) {
        self.owner = owner;
    }

    /// Makes `next` return the current state again.
    pub fn forget(&mut self) {
        self.told = None;
    }

    /// The browser window that was used last, else the largest one; `None` if none is visible. The
    /// first call returns at once, later ones when the window changes or moves. Cancel-safe.
    pub async fn next(&mut self) -> Result<Option<BrowserWindow>, DisplayError> {
        loop {
            let now = block_in_place(|| self.look())?;
            if self.told.as_ref() != Some(&now) {
                self.told = Some(now.clone());
                return Ok(now);
            }
            let until = Instant::now() + QUIET;
            while let Some(event) = self.events.next(until).await? {
                if self.matters(&event) {
                    sleep(TOGETHER).await;
                    break;
                }
            }
            block_in_place(|| self.x.drop_events())?;
        }
    }

    /// Whether an event may have changed which window is the browser's, or where it is.
    fn matters(&self, event: &Event) -> bool {
        match event {
            Event::PropertyNotify(event) => {
                let atoms = &self.x.atoms;
                [atoms._NET_CLIENT_LIST, atoms._NET_ACTIVE_WINDOW].contains(&event.atom)
            }
            Event::ConfigureNotify(_)
            | Event::MapNotify(_)
            | Event::UnmapNotify(_)
            | Event::ReparentNotify(_)
            | Event::DestroyNotify(_) => true,
            // No other events were requested.
            _ => false,
        }
    }

    fn look(&mut self) -> Result<Option<BrowserWindow>, DisplayError> {
        let active = active_window(&self.x)?;
        let mut seen = Vec::new();
        for window in client_list(&self.x)? {
            // Windows may disappear at any moment.
            match browser_window(&self.x, window, self.owner, self.owners.as_ref()) {
                Ok(Some(facts)) => {
                    if active == Some(window) {
                        self.recent = active;
                    }
                    seen.push((window, facts));
                }
                Ok(None) | Err(DisplayError::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        if let Some((_, recent)) = seen.iter().find(|(window, _)| self.recent == Some(*window)) {
            return Ok(Some(recent.clone()));
        }
        let area = |facts: &BrowserWindow| u64::from(facts.width) * u64::from(facts.height);
        Ok(seen.into_iter().map(|(_, facts)| facts).max_by_key(area))
    }
}

fn listen(x: &Connection, window: Window, mask: EventMask) -> Result<(), DisplayError> {
    let aux = ChangeWindowAttributesAux::new().event_mask(mask);
    // The error for a window that is gone by now can be ignored.
    x.change_window_attributes(window, &aux)?.ignore_error();
    Ok(())
}

/// Where a window is, if it is a visible browser window of that owner. Subscribes to the events of
/// any browser window, visible or not. Dialogs do not count.
fn browser_window(
    x: &Connection,
    window: Window,
    wanted: Option<Owner>,
    owners: Option<&Owners>,
) -> Result<Option<BrowserWindow>, DisplayError> {
    let pid = x.get_property(false, window, x.atoms._NET_WM_PID, AtomEnum::CARDINAL, 0, 1)?;
    let class = x.get_property(false, window, AtomEnum::WM_CLASS, AtomEnum::STRING, 0, 256)?;
    let owner =
        x.get_property(false, window, AtomEnum::WM_TRANSIENT_FOR, AtomEnum::WINDOW, 0, 1)?;
    let client = owner::ask(x, window)?;
    let (pid, class, owner) = (pid.reply(), class.reply(), owner.reply());
    let client = client.reply();
    let (pid, class, owner) = (pid?, class?, owner?);
    let class = class_of(&class).1.to_lowercase();
    let owned = owner.value32().and_then(|mut ids| ids.next()).is_some_and(|id| id != 0);
    if owned || !CLASSES.contains(&class.as_str()) {
        return Ok(None);
    }
    let theirs = match owners {
        Some(owners) => {
            client.ok().and_then(|ids| owner::process(&ids)).and_then(|pid| owners(pid))
        }
        None => pid.value32().and_then(|mut pids| pids.next()).map(Owner::Program),
    };
    if wanted.is_some() && wanted != theirs {
        return Ok(None);
    }
    listen(x, window, EventMask::STRUCTURE_NOTIFY)?;
    let attributes = x.get_window_attributes(window)?;
    let geometry = x.get_geometry(window)?;
    let place = x.translate_coordinates(window, x.root, 0, 0)?;
    let (attributes, geometry, place) = (attributes.reply(), geometry.reply(), place.reply()?);
    let geometry = geometry?;
    if attributes?.map_state != MapState::VIEWABLE {
        return Ok(None);
    }
    Ok(Some(BrowserWindow {
        id: window.to_string(),
        x: place.dst_x.into(),
        y: place.dst_y.into(),
        width: geometry.width.into(),
        height: geometry.height.into(),
    }))
}
