//! The windows of the desktop, as the window manager reports them.

use std::time::Duration;

use helmdeck_task::block_in_place;
use helmdeck_wire::window::{Focus, Focused, ListWindows, Window as WindowFacts, Windows};
use tokio::time::Instant;
use x11rb::{
    cookie::Cookie,
    protocol::{
        Event,
        xproto::{
            AtomEnum, ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt as _, EventMask,
            GetGeometryReply, GetPropertyReply, TranslateCoordinatesReply, Window,
        },
    },
    rust_connection::RustConnection,
};

use crate::{
    connection::Connection,
    display::{Display, Input},
    error::DisplayError,
    events::Events,
    owner::{self, ClientIds, Owner, Owners},
    stream::DeadlineStream,
};

/// Limit on listed windows.
const MAX_WINDOWS: usize = 1024;
/// The longest title and class, in characters: programs choose them freely.
const MAX_TITLE: usize = 1024;
/// Time for the window manager to focus a window.
const FOCUS_DEADLINE: Duration = Duration::from_secs(2);
/// Time for the keyboard focus to follow, after the window manager reports a window as active.
const KEYBOARD_DEADLINE: Duration = Duration::from_millis(300);
/// `_NET_WM_STATE` action: add a state.
const ADD_STATE: u32 = 1;
/// Source indication of a focus request: the user, not the program itself.
const FROM_USER: u32 = 2;

type Answer<'a, R> = Cookie<'a, RustConnection<DeadlineStream>, R>;

impl Display {
    /// The managed windows, oldest first.
    pub async fn windows(&self, _: &ListWindows) -> Result<Windows, DisplayError> {
        block_in_place(|| {
            let (connection, _) = self.query()?;
            let active = active_window(&connection)?;
            let owners = self.owners();
            // All requests are sent before the first reply is awaited.
            let asked = client_list(&connection)?
                .into_iter()
                .take(MAX_WINDOWS)
                .map(|id| Question::ask(&connection, id))
                .collect::<Result<Vec<_>, _>>()?;
            let mut windows = Vec::with_capacity(asked.len());
            for question in asked {
                match question.answer(&connection, active, owners.as_ref()) {
                    Ok(Described { furniture: true, .. }) => {}
                    Ok(Described { facts, .. }) => windows.push(facts),
                    Err(DisplayError::Lost(error)) => return Err(DisplayError::Lost(error)),
                    // The window was closed meanwhile.
                    Err(_) => {}
                }
            }
            Ok(Windows { count: windows.len(), windows })
        })
    }

    /// Asks the window manager to maximize a window. [`Display::windows`] shows whether it did.
    pub async fn maximize(&self, id: helmdeck_wire::window::WindowId) -> Result<(), DisplayError> {
        let input = self.input().await?;
        let x = &input.connection;
        let (across, down) =
            (x.atoms._NET_WM_STATE_MAXIMIZED_HORZ, x.atoms._NET_WM_STATE_MAXIMIZED_VERT);
        let data = [ADD_STATE, across, down, FROM_USER, 0];
        let message = ClientMessageEvent::new(32, id.0, x.atoms._NET_WM_STATE, data);
        let mask = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::SUBSTRUCTURE_REDIRECT;
        x.send_event(false, x.root, mask, message)?;
        block_in_place(|| x.round_trip())
    }

    /// Focuses a window, raises it, and restores it if it is minimised.
    pub async fn focus(&self, action: &Focus) -> Result<Focused, DisplayError> {
        let window = action.window_id.0;
        let input = self.input().await?;
        if !block_in_place(|| client_list(&input.connection))?.contains(&window) {
            return Err(DisplayError::WindowNotFound(window));
        }
        let watch = Watch::begin(&input, window)?;
        let x = &input.connection;
        let data = [FROM_USER, 0, 0, 0, 0];
        let message = ClientMessageEvent::new(32, window, x.atoms._NET_ACTIVE_WINDOW, data);
        let mask = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::SUBSTRUCTURE_REDIRECT;
        x.send_event(false, x.root, mask, message)?;
        let deadline = Instant::now() + FOCUS_DEADLINE;
        if !watch.until(deadline, || Ok(active_window(x)? == Some(window))).await? {
            return Err(DisplayError::FocusRefused(window));
        }
        // Some programs take the keyboard focus themselves, later or not at all.
        let deadline = Instant::now() + KEYBOARD_DEADLINE;
        watch.until(deadline, || has_keyboard(x, window)).await?;
        Ok(Focused { ok: true, window_id: action.window_id })
    }
}

/// Listens to events of a window and of the window list while it exists.
struct Watch<'a> {
    input: &'a Input<'a>,
    window: Window,
    events: Events,
}

impl<'a> Watch<'a> {
    fn begin(input: &'a Input<'a>, window: Window) -> Result<Self, DisplayError> {
        let watch = Self { input, window, events: Events::of(&input.connection)? };
        watch.listen(EventMask::PROPERTY_CHANGE, EventMask::FOCUS_CHANGE)?;
        Ok(watch)
    }

    /// Whether `happened` became true before the deadline. It is checked after every event.
    async fn until(
        &self,
        deadline: Instant,
        happened: impl Fn() -> Result<bool, DisplayError>,
    ) -> Result<bool, DisplayError> {
        loop {
            if block_in_place(&happened)? {
                return Ok(true);
            }
            loop {
                match self.events.next(deadline).await? {
                    None => return Ok(false),
                    // A flood of events costs only reading them.
                    Some(Event::PropertyNotify(event)) if event.atom != self.active() => {}
                    Some(_) => break,
                }
            }
        }
    }

    fn active(&self) -> u32 {
        self.input.connection.atoms._NET_ACTIVE_WINDOW
    }

    fn listen(&self, root: EventMask, window: EventMask) -> Result<(), DisplayError> {
        let x = &self.input.connection;
        for (id, mask) in [(x.root, root), (self.window, window)] {
            let aux = ChangeWindowAttributesAux::new().event_mask(mask);
            // The error for a window that is gone by now can be ignored.
            x.change_window_attributes(id, &aux)?.ignore_error();
        }
        Ok(())
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        // If this fails, the connection is gone together with its subscriptions.
        let _ = self.listen(EventMask::NO_EVENT, EventMask::NO_EVENT);
    }
}

/// All managed windows.
pub(crate) fn client_list(x: &Connection) -> Result<Vec<Window>, DisplayError> {
    let list = x.get_property(
        false,
        x.root,
        x.atoms._NET_CLIENT_LIST,
        AtomEnum::WINDOW,
        0,
        MAX_WINDOWS as u32,
    )?;
    Ok(list.reply()?.value32().map(Iterator::collect).unwrap_or_default())
}

/// The active window, as the window manager reports it.
pub(crate) fn active_window(x: &Connection) -> Result<Option<Window>, DisplayError> {
    let active =
        x.get_property(false, x.root, x.atoms._NET_ACTIVE_WINDOW, AtomEnum::WINDOW, 0, 1)?;
    Ok(active.reply()?.value32().and_then(|mut ids| ids.next()).filter(|id| *id != 0))
}

/// Whether the window or a child of it has the keyboard focus.
fn has_keyboard(x: &Connection, window: Window) -> Result<bool, DisplayError> {
    let mut at = x.get_input_focus()?.reply()?.focus;
    // 0 means no window, 1 the root window. The loop limits the nesting depth.
    for _ in 0..16 {
        if at == window {
            return Ok(true);
        }
        if at <= 1 || at == x.root {
            break;
        }
        match x.query_tree(at)?.reply() {
            Ok(tree) => at = tree.parent,
            Err(_) => break,
        }
    }
    Ok(false)
}

/// The instance and class of a window; empty if it has none.
pub(crate) fn class_of(reply: &GetPropertyReply) -> (String, String) {
    let mut parts = reply.value.split(|byte| *byte == 0).map(text);
    (parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
}

/// A window, and whether it is a panel or the desktop itself.
pub(crate) struct Described {
    pub(crate) facts: WindowFacts,
    pub(crate) furniture: bool,
    /// Whether it is a panel.
    pub(crate) panel: bool,
}

/// The pending requests about one window.
pub(crate) struct Question<'a> {
    id: Window,
    title: Answer<'a, GetPropertyReply>,
    old_title: Answer<'a, GetPropertyReply>,
    class: Answer<'a, GetPropertyReply>,
    pid: Answer<'a, GetPropertyReply>,
    client: ClientIds<'a>,
    state: Answer<'a, GetPropertyReply>,
    kind: Answer<'a, GetPropertyReply>,
    geometry: Answer<'a, GetGeometryReply>,
    place: Answer<'a, TranslateCoordinatesReply>,
}

impl<'a> Question<'a> {
    pub(crate) fn ask(x: &'a Connection, id: Window) -> Result<Self, DisplayError> {
        let property = |name: u32, kind: u32, length: usize| {
            // The protocol counts in words of four bytes; a character has at most four.
            x.get_property(false, id, name, kind, 0, length as u32)
        };
        Ok(Self {
            id,
            title: property(x.atoms._NET_WM_NAME, x.atoms.UTF8_STRING, MAX_TITLE)?,
            old_title: property(AtomEnum::WM_NAME.into(), AtomEnum::ANY.into(), MAX_TITLE)?,
            class: property(AtomEnum::WM_CLASS.into(), AtomEnum::STRING.into(), MAX_TITLE)?,
            pid: property(x.atoms._NET_WM_PID, AtomEnum::CARDINAL.into(), 1)?,
            client: owner::ask(x, id)?,
            state: property(x.atoms._NET_WM_STATE, AtomEnum::ATOM.into(), 64)?,
            kind: property(x.atoms._NET_WM_WINDOW_TYPE, AtomEnum::ATOM.into(), 16)?,
            geometry: x.get_geometry(id)?,
            place: x.translate_coordinates(id, x.root, 0, 0)?,
        })
    }

    /// The description of the window.
    pub(crate) fn answer(
        self,
        x: &Connection,
        active: Option<Window>,
        owners: Option<&Owners>,
    ) -> Result<Described, DisplayError> {
        // Every reply is taken before the first error is handled.
        let title = self.title.reply();
        let old_title = self.old_title.reply();
        let class = self.class.reply();
        let pid = self.pid.reply();
        let client = self.client.reply();
        let state = self.state.reply();
        let kind = self.kind.reply();
        let geometry = self.geometry.reply();
        let place = self.place.reply()?;
        let (title, old_title, geometry) = (title?, old_title?, geometry?);
        let kinds: Vec<u32> = kind?.value32().into_iter().flatten().collect();
        let panel = kinds.contains(&x.atoms._NET_WM_WINDOW_TYPE_DOCK);
        let furniture = panel || kinds.contains(&x.atoms._NET_WM_WINDOW_TYPE_DESKTOP);
        let name = if title.value.is_empty() {
            latin_or_utf8(&old_title.value)
        } else {
            text(&title.value)
        };
        let hidden = x.atoms._NET_WM_STATE_HIDDEN;
        let told = pid?.value32().and_then(|mut pids| pids.next()).filter(|pid| *pid != 0);
        let (pid, browser) = match owners {
            None => (told, false),
            Some(owners) => {
                match client.ok().and_then(|ids| owner::process(&ids)).and_then(|pid| owners(pid)) {
                    Some(Owner::Program(pid)) => (Some(pid), false),
                    Some(Owner::Browser) => (None, true),
                    None => (None, false),
                }
            }
        };
        let facts = WindowFacts {
            id: self.id.to_string(),
            pid,
            browser,
            name,
            class: class_of(&class?).1,
            x: place.dst_x.into(),
            y: place.dst_y.into(),
            width: geometry.width.into(),
            height: geometry.height.into(),
            focused: active == Some(self.id),
            minimized: state?.value32().is_some_and(|mut states| states.any(|s| s == hidden)),
        };
        Ok(Described { facts, furniture, panel })
    }
}

/// A program's text, limited in length.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches('\0').chars().take(MAX_TITLE).collect()
}

/// Old programs write titles in Latin-1.
fn latin_or_utf8(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(_) => text(bytes),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).take(MAX_TITLE).collect(),
    }
}
