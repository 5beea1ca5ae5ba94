//! The start of a desktop: background, window manager, first window.

use std::sync::{Arc, atomic::Ordering};

use helmdeck_task::block_in_place;
use tokio::time::Instant;
use x11rb::{
    connection::Connection as _,
    protocol::{
        Event,
        damage::{ConnectionExt as _, ReportLevel},
        xproto::{
            AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask, ImageFormat,
            MapState, Window,
        },
    },
};

use crate::{
    connection::Connection,
    display::Display,
    error::DisplayError,
    events::Events,
    window::{class_of, client_list},
};

/// The arrow and its mask in X's cursor font.
const LEFT_PTR: u16 = 68;
/// The distance from the top of a window to its tab or menu bar.
const NEAR_TOP: u16 = 12;

impl Display {
    /// Fills the root window with one colour and sets an arrow as its pointer.
    pub async fn paint_root(&self, [red, green, blue]: [u8; 3]) -> Result<(), DisplayError> {
        let colour = u32::from_be_bytes([0, red, green, blue]);
        self.shared.background.store(colour, Ordering::Relaxed);
        block_in_place(|| {
            // The server returns no image for a cursor whose creator has disconnected.
            let (x, _) = self.query()?;
            let (font, cursor) = (x.generate_id()?, x.generate_id()?);
            x.open_font(font, b"cursor")?.ignore_error();
            let (black, white) = (0, u16::MAX);
            x.create_glyph_cursor(
                cursor,
                font,
                font,
                LEFT_PTR,
                LEFT_PTR + 1,
                black,
                black,
                black,
                white,
                white,
                white,
            )?
            .ignore_error();
            let aux = ChangeWindowAttributesAux::new().background_pixel(colour);
            x.change_window_attributes(x.root, &aux)?.check()?;
            x.clear_area(false, x.root, 0, 0, 0, 0)?;
            // A server without fonts keeps its current pointer.
            let aux = ChangeWindowAttributesAux::new().cursor(cursor);
            x.change_window_attributes(x.root, &aux)?.ignore_error();
            x.close_font(font)?.ignore_error();
            x.round_trip()
        })
    }

    /// Waits until a window manager runs.
    pub async fn wait_for_window_manager(&self, deadline: Instant) -> Result<(), DisplayError> {
        let mut wait = Wait::begin(&self.shared.name)?;
        wait.until("the start of a window manager", deadline, |wait| has_window_manager(&wait.x))
            .await
    }

    /// Waits until a window of this class (the second part of its WM_CLASS, ignoring case) is
    /// managed, mapped and painted: it differs from the background set by [`Display::paint_root`],
    /// both near its top and in its middle.
    pub async fn wait_until_painted(
        &self,
        class: &str,
        deadline: Instant,
    ) -> Result<(), DisplayError> {
        let background = self.shared.background.load(Ordering::Relaxed).to_be_bytes();
        let other =
            |pixels: &[[u8; 4]]| pixels.iter().any(|[b, g, r, _]| [0, *r, *g, *b] != background);
        self.wait_until_lines(class, deadline, &other).await
    }

    /// Waits until a window of this class shows more than one colour, both near its top and in its
    /// middle. A window that was only filled does not.
    pub async fn wait_until_drawn(
        &self,
        class: &str,
        deadline: Instant,
    ) -> Result<(), DisplayError> {
        let varied = |pixels: &[[u8; 4]]| {
            pixels
                .iter()
                .zip(pixels.iter().skip(1))
                .any(|([b, g, r, _], [c, h, s, _])| (b, g, r) != (c, h, s))
        };
        self.wait_until_lines(class, deadline, &varied).await
    }

    /// Waits until two lines of a window of this class satisfy `enough`.
    async fn wait_until_lines(
        &self,
        class: &str,
        deadline: Instant,
        enough: &Enough<'_>,
    ) -> Result<(), DisplayError> {
        let mut wait = Wait::begin(&self.shared.name)?;
        let what = format!("the first picture of a {class} window");
        wait.until(&what, deadline, |wait| wait.is_painted(class, enough)).await
    }
}

/// Whether the pixels of a line, as blue, green, red and padding, satisfy a condition.
type Enough<'a> = dyn Fn(&[[u8; 4]]) -> bool + Send + Sync + 'a;

/// A wait on a separate connection that gets events for the window list and for damage.
struct Wait {
    x: Arc<Connection>,
    events: Events,
    damage: u32,
}

impl Wait {
    fn begin(display: &str) -> Result<Self, DisplayError> {
        block_in_place(|| {
            let x = Arc::new(Connection::open(display)?);
            x.damage_query_version(1, 1)?.reply()?;
            let damage = x.generate_id()?;
            x.damage_create(damage, x.root, ReportLevel::NON_EMPTY)?;
            let aux = ChangeWindowAttributesAux::new().event_mask(EventMask::PROPERTY_CHANGE);
            x.change_window_attributes(x.root, &aux)?;
            x.round_trip()?;
            Ok(Self { events: Events::of(&x)?, x, damage })
        })
    }

    /// Waits until `happened` is true. It is checked after every event.
    async fn until(
        &mut self,
        what: &str,
        deadline: Instant,
        mut happened: impl FnMut(&mut Self) -> Result<bool, DisplayError>,
    ) -> Result<(), DisplayError> {
        let begin = Instant::now();
        loop {
            if block_in_place(|| happened(self))? {
                return Ok(());
            }
            match self.events.next(deadline).await? {
                // From here on, the next change of pixels causes an event.
                Some(Event::DamageNotify(_)) => {
                    self.x.damage_subtract(self.damage, x11rb::NONE, x11rb::NONE)?;
                }
                Some(_) => {}
                None => {
                    let waited = begin.elapsed();
                    return Err(DisplayError::Timeout { what: what.to_owned(), waited });
                }
            }
        }
    }

    /// Whether a window of this class is painted.
    fn is_painted(&mut self, class: &str, enough: &Enough<'_>) -> Result<bool, DisplayError> {
        for window in client_list(&self.x)? {
            // Windows may disappear at any moment; keep waiting.
            match window_is_painted(&self.x, window, class, enough) {
                Ok(true) => return Ok(true),
                Ok(false) | Err(DisplayError::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }
}

fn has_window_manager(x: &Connection) -> Result<bool, DisplayError> {
    let check = |window: Window| -> Result<Option<Window>, DisplayError> {
        let name = x.atoms._NET_SUPPORTING_WM_CHECK;
        let property = x.get_property(false, window, name, AtomEnum::WINDOW, 0, 1)?;
        match property.reply().map_err(DisplayError::from) {
            Ok(property) => Ok(property.value32().and_then(|mut ids| ids.next())),
            // A window manager that exited left the property behind, but not its window.
            Err(DisplayError::Refused(_)) => Ok(None),
            Err(error) => Err(error),
        }
    };
    match check(x.root)? {
        Some(window) => Ok(check(window)? == Some(window)),
        None => Ok(false),
    }
}

fn window_is_painted(
    x: &Connection,
    window: Window,
    class: &str,
    enough: &Enough<'_>,
) -> Result<bool, DisplayError> {
    let wm_class = x.get_property(false, window, AtomEnum::WM_CLASS, AtomEnum::STRING, 0, 256)?;
    let attributes = x.get_window_attributes(window)?;
    let geometry = x.get_geometry(window)?;
    let (wm_class, attributes) = (wm_class.reply(), attributes.reply());
    let geometry = geometry.reply()?;
    if !class_of(&wm_class?).1.eq_ignore_ascii_case(class)
        || attributes?.map_state != MapState::VIEWABLE
    {
        return Ok(false);
    }
    let place = x.translate_coordinates(window, x.root, 0, 0)?.reply()?;
    let (width, height) = x.size()?;
    // The columns of the window that are on the screen.
    let left = place.dst_x.max(0);
    let right = i32::from(place.dst_x) + i32::from(geometry.width);
    let columns = right.min(width.into()) - i32::from(left);
    let line_is_painted = |down: u16| -> Result<bool, DisplayError> {
        let y = i32::from(place.dst_y) + i32::from(down);
        let (Ok(columns @ 1..), Ok(y), true) =
            (u16::try_from(columns), i16::try_from(y), (0..i32::from(height)).contains(&y))
        else {
            return Ok(false);
        };
        let line = x.get_image(ImageFormat::Z_PIXMAP, x.root, left, y, columns, 1, u32::MAX)?;
        let line = line.reply()?.data;
        Ok(enough(line.as_chunks::<4>().0))
    };
    let top = NEAR_TOP.min(geometry.height.saturating_sub(1));
    Ok(line_is_painted(top)? && line_is_painted(geometry.height / 2)?)
}
