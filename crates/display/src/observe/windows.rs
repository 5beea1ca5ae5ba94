//! The windows before and after an action, with what matters for its effect.

use helmdeck_task::block_in_place;
use helmdeck_wire::window::Window as WindowFacts;
use x11rb::{
    cookie::Cookie,
    protocol::{
        res::ConnectionExt as _,
        xproto::{
            AtomEnum, ConnectionExt as _, GetGeometryReply, GetInputFocusReply, GetPropertyReply,
            TranslateCoordinatesReply, Window,
        },
    },
    rust_connection::RustConnection,
};

use super::rect::Rect;
use crate::{
    connection::Connection,
    display::Display,
    error::DisplayError,
    stream::DeadlineStream,
    window::{self, active_window, class_of, client_list, text},
};

/// Limit on compared windows.
const MAX_WINDOWS: usize = 64;
/// Limit on the length of a title, in words of the protocol.
const MAX_TITLE: u32 = 256;

type Answer<'a, R> = Cookie<'a, RustConnection<DeadlineStream>, R>;

/// The windows at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeenWindows {
    /// The managed windows, oldest first, with panels.
    pub windows: Vec<SeenWindow>,
    /// The active one.
    pub active: Option<u32>,
    /// The window with the keyboard focus, which may be a part of another.
    pub keyboard: u32,
    /// Where the pointer is.
    pub pointer: (i32, i32),
    /// The programs that are connected to the X server.
    pub programs: Vec<ConnectedProgram>,
}

/// A connection of a program to the X server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectedProgram {
    /// The ids of its windows begin with it.
    pub base: u32,
    /// The other bits of these ids.
    pub mask: u32,
}

impl SeenWindows {
    /// Whether a program connected since an earlier moment and has not opened a window yet.
    pub fn program_is_starting(&self, before: &Self) -> bool {
        let is_new = |program: &&ConnectedProgram| !before.programs.contains(program);
        let has_window = |program: &ConnectedProgram| {
            self.windows.iter().any(|window| window.id & !program.mask == program.base)
        };
        self.programs.iter().filter(is_new).any(|program| !has_window(program))
    }

    /// Whether a window is open that was not at an earlier moment.
    pub fn window_opened(&self, before: &Self) -> bool {
        let known = |id: u32| before.windows.iter().any(|window| window.id == id);
        self.windows.iter().any(|window| !window.panel && !known(window.id))
    }
}

/// One window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenWindow {
    /// X11 id.
    pub id: u32,
    /// The title.
    pub title: String,
    /// The program's class.
    pub class: String,
    /// Whether it asks or tells something for another window.
    pub dialog: bool,
    /// Whether it is a panel or the desktop itself.
    pub panel: bool,
    /// Where it is, without its frame.
    pub rect: Rect,
}

impl Display {
    /// The windows, the focus and the pointer, in two round trips.
    pub async fn seen_windows(&self) -> Result<SeenWindows, DisplayError> {
        block_in_place(|| {
            let (x, _) = self.query()?;
            let focus: Answer<'_, GetInputFocusReply> = x.get_input_focus()?;
            let pointer = x.query_pointer(x.root)?;
            let programs = x.res_query_clients()?;
            let active = active_window(&x)?;
            let asked = client_list(&x)?
                .into_iter()
                .take(MAX_WINDOWS)
                .map(|id| Question::ask(&x, id))
                .collect::<Result<Vec<_>, _>>()?;
            let mut windows = Vec::with_capacity(asked.len());
            for question in asked {
                match question.answer(&x) {
                    Ok(window) => windows.push(window),
                    Err(DisplayError::Lost(error)) => return Err(DisplayError::Lost(error)),
                    // The window was closed meanwhile.
                    Err(_) => {}
                }
            }
            let (keyboard, pointer) = (focus.reply()?.focus, pointer.reply()?);
            let pointer = (pointer.root_x.into(), pointer.root_y.into());
            // A server without the extension does not tell.
            let programs = programs.reply().map(|reply| reply.clients).unwrap_or_default();
            let programs = programs
                .into_iter()
                .map(|client| ConnectedProgram {
                    base: client.resource_base,
                    mask: client.resource_mask,
                })
                .collect();
            Ok(SeenWindows { windows, active, keyboard, pointer, programs })
        })
    }

    /// The description of the active window.
    pub async fn active_facts(&self) -> Result<Option<WindowFacts>, DisplayError> {
        block_in_place(|| {
            let (x, _) = self.query()?;
            let Some(active) = active_window(&x)? else { return Ok(None) };
            let owners = self.owners();
            match window::Question::ask(&x, active)?.answer(&x, Some(active), owners.as_ref()) {
                Ok(described) => Ok(Some(described.facts).filter(|_| !described.furniture)),
                Err(DisplayError::Lost(error)) => Err(DisplayError::Lost(error)),
                // The window was closed meanwhile.
                Err(_) => Ok(None),
            }
        })
    }
}

/// The pending requests about one window.
struct Question<'a> {
    id: Window,
    title: Answer<'a, GetPropertyReply>,
    old_title: Answer<'a, GetPropertyReply>,
    class: Answer<'a, GetPropertyReply>,
    kind: Answer<'a, GetPropertyReply>,
    owner: Answer<'a, GetPropertyReply>,
    geometry: Answer<'a, GetGeometryReply>,
    place: Answer<'a, TranslateCoordinatesReply>,
}

impl<'a> Question<'a> {
    fn ask(x: &'a Connection, id: Window) -> Result<Self, DisplayError> {
        let property =
            |name: u32, kind: u32, length: u32| x.get_property(false, id, name, kind, 0, length);
        Ok(Self {
            id,
            title: property(x.atoms._NET_WM_NAME, x.atoms.UTF8_STRING, MAX_TITLE)?,
            old_title: property(AtomEnum::WM_NAME.into(), AtomEnum::ANY.into(), MAX_TITLE)?,
            class: property(AtomEnum::WM_CLASS.into(), AtomEnum::STRING.into(), MAX_TITLE)?,
            kind: property(x.atoms._NET_WM_WINDOW_TYPE, AtomEnum::ATOM.into(), 16)?,
            owner: property(AtomEnum::WM_TRANSIENT_FOR.into(), AtomEnum::WINDOW.into(), 1)?,
            geometry: x.get_geometry(id)?,
            place: x.translate_coordinates(id, x.root, 0, 0)?,
        })
    }

    fn answer(self, x: &Connection) -> Result<SeenWindow, DisplayError> {
        // Every reply is taken before the first error is handled.
        let (title, old_title) = (self.title.reply(), self.old_title.reply());
        let (class, kind, owner) = (self.class.reply(), self.kind.reply(), self.owner.reply());
        let (geometry, place) = (self.geometry.reply(), self.place.reply());
        let (title, old_title, geometry, place) = (title?, old_title?, geometry?, place?);
        let kinds: Vec<u32> = kind?.value32().map(Iterator::collect).unwrap_or_default();
        let panels = [x.atoms._NET_WM_WINDOW_TYPE_DOCK, x.atoms._NET_WM_WINDOW_TYPE_DESKTOP];
        let title = if title.value.is_empty() { old_title.value } else { title.value };
        let owned = owner?.value32().and_then(|mut ids| ids.next()).is_some_and(|id| id != 0);
        Ok(SeenWindow {
            id: self.id,
            title: text(&title),
            class: class_of(&class?).1,
            dialog: owned || kinds.contains(&x.atoms._NET_WM_WINDOW_TYPE_DIALOG),
            panel: kinds.iter().any(|kind| panels.contains(kind)),
            rect: Rect {
                x: place.dst_x.into(),
                y: place.dst_y.into(),
                width: geometry.width.into(),
                height: geometry.height.into(),
            },
        })
    }
}
