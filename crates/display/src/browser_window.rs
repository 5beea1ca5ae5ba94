//! The browser's window, followed by what the X server tells of windows.

use std::{sync::Arc, time::Duration};

use helmdeck_wire::window::BrowserWindow;
use tokio::{
    task::block_in_place,
    time::{Instant, sleep},
};
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

/// What browsers of the Chromium family show as their windows' class, in small letters.
const CLASSES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
/// A window that is dragged makes many events; they are looked at together.
const TOGETHER: Duration = Duration::from_millis(100);
/// Without any event, windows are looked at this often.
const QUIET: Duration = Duration::from_secs(3600);

/// Where the browser's window is, whenever that changes.
pub struct BrowserWindows {
    x: Arc<Connection>,
    events: Events,
    /// Whose window it is, if it is one of several browsers.
    owner: Option<Owner>,
    owners: Option<Owners>,
    /// The browser's window that had the keyboard last.
    recent: Option<Window>,
    /// What was told; nothing before the first time.
    told: Option<Option<BrowserWindow>>,
}

impl Display {
    /// Follows the browser's window from now on, on a connection of its own.
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
    /// From now on only this owner's windows count; without one, those of every browser.
    pub fn of(&mut self, owner: Option<Owner>) {
        self.owner = owner;
    }

    /// What was told is told again.
    pub fn forget(&mut self) {
        self.told = None;
    }

    /// The window of the browser that was used last, else the largest one; nothing if none is to be
    /// seen. Returns at first, and then when it is another or elsewhere. Cancel-safe.
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

    /// Whether an event may have moved the browser's window, or made another one that.
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
            // Of all there are, no other was asked for.
            _ => false,
        }
    }

    fn look(&mut self) -> Result<Option<BrowserWindow>, DisplayError> {
        let active = active_window(&self.x)?;
        let mut seen = Vec::new();
        for window in client_list(&self.x)? {
            // Windows may go away at any moment.
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
    // A window that is gone by now makes an error that tells us nothing.
    x.change_window_attributes(window, &aux)?.ignore_error();
    Ok(())
}

/// Where a window is, if it is a browser's, of that owner, and to be seen. One of a browser's is
/// listened to from now on, seen or not; a dialog is not a window of its own.
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
