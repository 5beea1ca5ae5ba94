//! Pictures of the screen.

use std::sync::Arc;

use helmdeck_wire::screen::{Format, Picture, Screenshot, Zoom};
use tokio::task::block_in_place;
use x11rb::protocol::xfixes::ConnectionExt as _;

use crate::{
    connection::Connection,
    display::Display,
    error::DisplayError,
    picture::{Cursor, Pixels, fit, narrow},
    segment::{Region, Segment},
};

impl Display {
    /// A picture of the whole screen; `format` is used where the action does not name one.
    pub async fn screenshot(
        &self,
        action: &Screenshot,
        format: Format,
    ) -> Result<Picture, DisplayError> {
        let format = action.format.unwrap_or(format);
        block_in_place(|| {
            let pixels = self
                .capture(action.cursor, |width, height| Ok(Region { x: 0, y: 0, width, height }))?;
            let Pixels { width, height, .. } = pixels.1;
            let size = narrow(width, height, action.max_width.unwrap_or(width));
            self.picture(pixels, size, format)
        })
    }

    /// A picture of a region, as large as fits inside 1024x1024.
    pub async fn zoom(&self, action: &Zoom, format: Format) -> Result<Picture, DisplayError> {
        let format = action.format.unwrap_or(format);
        block_in_place(|| {
            let pixels = self.capture(false, |width, height| {
                region(action, width, height).ok_or(DisplayError::Region { width, height })
            })?;
            let size = fit(pixels.1.width, pixels.1.height, Zoom::FIT);
            self.picture(pixels, size, format)
        })
    }

    /// How many different colours the screen shows, counted as far as `enough`. A window that is
    /// mapped and not yet drawn has one or two.
    pub async fn colours(&self, enough: usize) -> Result<usize, DisplayError> {
        block_in_place(|| {
            let whole = |width, height| Ok(Region { x: 0, y: 0, width, height });
            let (_, pixels) = self.capture(false, whole)?;
            let mut seen = Vec::with_capacity(enough);
            for colour in pixels.rgb.chunks_exact(3) {
                if !seen.contains(&colour) {
                    seen.push(colour);
                }
                if seen.len() == enough {
                    break;
                }
            }
            Ok(seen.len())
        })
    }

    /// The pixels of the region that `choose` takes of a screen of the given size.
    fn capture(
        &self,
        cursor: bool,
        choose: impl Fn(u16, u16) -> Result<Region, DisplayError>,
    ) -> Result<(Region, Pixels), DisplayError> {
        let once = || {
            let (connection, (width, height)) = self.query()?;
            let region = choose(width, height)?;
            let mut pixels = grab(&connection, &mut self.shared.segment.lock(), region)?;
            if cursor {
                draw_pointer(&connection, &mut pixels)?;
            }
            Ok((region, pixels))
        };
        match once() {
            // The screen was resized meanwhile, or somebody had the server cut our connection.
            Err(DisplayError::Refused(_) | DisplayError::Lost(_)) => once(),
            captured => captured,
        }
    }

    fn picture(
        &self,
        (region, pixels): (Region, Pixels),
        (width, height, scale): (u32, u32, f64),
        format: Format,
    ) -> Result<Picture, DisplayError> {
        let bytes = pixels.scaled(width, height)?.encoded(format)?;
        let origin = (region.x.into(), region.y.into());
        Ok(Picture { format, id: self.picture_id(), width, height, origin, scale, bytes })
    }
}

/// The region between two corners, whichever they are, if it lies on the screen.
fn region(zoom: &Zoom, width: u16, height: u16) -> Option<Region> {
    let span = |one: i32, other: i32, limit: u16| {
        let (from, to) = (u16::try_from(one.min(other)).ok()?, u16::try_from(one.max(other)).ok()?);
        (from < to && to <= limit).then_some((from, to - from))
    };
    let (x, width) = span(zoom.x1.0, zoom.x2.0, width)?;
    let (y, height) = span(zoom.y1.0, zoom.y2.0, height)?;
    Some(Region { x, y, width, height })
}

/// The pixels of a region, by way of a segment.
pub(crate) fn grab(
    connection: &Arc<Connection>,
    segment: &mut Option<Segment>,
    region: Region,
) -> Result<Pixels, DisplayError> {
    Segment::capture(segment, connection, region, |bgrx| {
        Pixels::from_bgrx(region.width, region.height, bgrx)
    })
}

/// Draws the pointer over pixels of the whole screen.
pub(crate) fn draw_pointer(
    connection: &Connection,
    pixels: &mut Pixels,
) -> Result<(), DisplayError> {
    let image = match connection.xfixes_get_cursor_image()?.reply().map_err(DisplayError::from) {
        Ok(image) => image,
        // Whoever made this pointer is gone, and the server shows it to nobody.
        Err(DisplayError::Refused(_)) => return Ok(()),
        Err(error) => return Err(error),
    };
    pixels.draw(&Cursor {
        x: i32::from(image.x) - i32::from(image.xhot),
        y: i32::from(image.y) - i32::from(image.yhot),
        width: image.width,
        argb: image.cursor_image,
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use helmdeck_wire::pointer::Px;

    use super::*;

    #[test]
    fn corners_may_come_in_any_order_but_not_off_the_screen() {
        let zoom =
            |x1, y1, x2, y2| Zoom { x1: Px(x1), y1: Px(y1), x2: Px(x2), y2: Px(y2), format: None };
        let expected = Some(Region { x: 10, y: 20, width: 90, height: 30 });
        assert_eq!(region(&zoom(10, 20, 100, 50), 100, 50), expected);
        assert_eq!(region(&zoom(100, 50, 10, 20), 100, 50), expected);
        assert_eq!(region(&zoom(10, 20, 101, 50), 100, 50), None);
        assert_eq!(region(&zoom(-1, 0, 10, 10), 100, 50), None);
        assert_eq!(region(&zoom(10, 20, 10, 50), 100, 50), None);
    }
}
