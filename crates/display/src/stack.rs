//! The windows as they lie on the screen: what covers what, including menus and the panel.

use std::collections::HashMap;

use helmdeck_task::block_in_place;
use helmdeck_wire::{point::Rect, window::Window as WindowFacts};
use x11rb::protocol::xproto::{ConnectionExt as _, MapState, Window, WindowClass};

use crate::{
    connection::Connection,
    display::Display,
    error::DisplayError,
    window::{Described, Question, active_window, client_list},
};

/// Limit on windows.
const MAX_WINDOWS: usize = 256;
/// Window managers put a window into at most this many others.
const MAX_FRAMES: usize = 4;
/// Smaller windows without a frame are helpers of their programs, not menus. So are those beside the
/// screen.
const LEAST: u32 = 4;

/// What lies on the screen.
#[derive(Debug, Clone)]
pub struct Stack {
    /// The size of the screen.
    pub screen: (u16, u16),
    /// Windows, topmost first.
    pub windows: Vec<StackedWindow>,
}

/// A visible window.
#[derive(Debug, Clone)]
pub struct StackedWindow {
    /// Its description.
    pub facts: WindowFacts,
    /// What it covers, including its frame.
    pub frame: Rect,
    /// Whether the window manager does not manage it: a menu or tooltip.
    pub popup: bool,
    /// Whether it is a panel or the desktop itself.
    pub furniture: bool,
    /// Whether it is a panel.
    pub panel: bool,
}

impl Display {
    /// The visible windows by their stacking.
    pub async fn stack(&self) -> Result<Stack, DisplayError> {
        block_in_place(|| {
            let (x, screen) = self.query()?;
            let owners = self.owners();
            let active = active_window(&x)?;
            let clients = outermost(&x, client_list(&x)?)?;
            let mut windows = Vec::new();
            for Place { window, frame, popup } in places(&x, &clients, screen)? {
                let described = Question::ask(&x, window)?.answer(&x, active, owners.as_ref());
                match described {
                    Ok(Described { facts, furniture, panel }) => {
                        windows.push(StackedWindow { facts, frame, popup, furniture, panel });
                    }
                    Err(DisplayError::Lost(error)) => return Err(DisplayError::Lost(error)),
                    // The window was closed meanwhile.
                    Err(_) => {}
                }
            }
            Ok(Stack { screen, windows })
        })
    }
}

/// A visible child of the root window.
struct Place {
    /// The program's own window.
    window: Window,
    frame: Rect,
    popup: bool,
}

/// The visible children of the root window, topmost first.
fn places(
    x: &Connection,
    clients: &HashMap<Window, Window>,
    (width, height): (u16, u16),
) -> Result<Vec<Place>, DisplayError> {
    let children = x.query_tree(x.root)?.reply()?.children;
    // All requests are sent before the first reply is awaited.
    let asked = children
        .into_iter()
        .rev()
        .map(|id| Ok((id, x.get_window_attributes(id)?, x.get_geometry(id)?)))
        .collect::<Result<Vec<_>, DisplayError>>()?;
    let mut places = Vec::new();
    for (id, attributes, geometry) in asked {
        let (attributes, geometry) = (attributes.reply(), geometry.reply());
        let (Ok(attributes), Ok(geometry)) = (attributes, geometry) else { continue };
        let drawn = attributes.map_state == MapState::VIEWABLE
            && attributes.class == WindowClass::INPUT_OUTPUT;
        let border = 2 * u32::from(geometry.border_width);
        let frame = Rect {
            x: geometry.x.into(),
            y: geometry.y.into(),
            width: u32::from(geometry.width) + border,
            height: u32::from(geometry.height) + border,
        };
        let client = clients.get(&id).copied();
        let small = frame.width < LEAST || frame.height < LEAST;
        let outside = frame.x >= i32::from(width)
            || frame.y >= i32::from(height)
            || i64::from(frame.x) + i64::from(frame.width) <= 0
            || i64::from(frame.y) + i64::from(frame.height) <= 0;
        if !drawn || client.is_none() && (small || outside) || places.len() >= MAX_WINDOWS {
            continue;
        }
        let popup = client.is_none() && attributes.override_redirect;
        places.push(Place { window: client.unwrap_or(id), frame, popup });
    }
    Ok(places)
}

/// The programs' windows by the child of the root window that contains each.
fn outermost(
    x: &Connection,
    clients: Vec<Window>,
) -> Result<HashMap<Window, Window>, DisplayError> {
    let mut found = HashMap::new();
    let mut left: Vec<(Window, Window)> = clients.into_iter().map(|id| (id, id)).collect();
    for _ in 0..MAX_FRAMES {
        let asked = left
            .into_iter()
            .map(|(client, at)| Ok((client, at, x.query_tree(at)?)))
            .collect::<Result<Vec<_>, DisplayError>>()?;
        left = Vec::new();
        for (client, at, reply) in asked {
            // A window that was closed has no parent.
            let Ok(reply) = reply.reply() else { continue };
            if reply.parent == x.root {
                found.insert(at, client);
            } else if reply.parent != 0 {
                left.push((client, reply.parent));
            }
        }
        if left.is_empty() {
            break;
        }
    }
    Ok(found)
}
