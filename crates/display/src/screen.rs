//! Screenshots: the frame bus captures them; they are cropped and encoded here.

use std::{borrow::Cow, ops::Range, sync::Arc};

use bytes::Bytes;
use helmdeck_task::block_in_place;
use helmdeck_wire::{
    point::Rect,
    screen::{Format, Picture, Screenshot, Zoom},
};
use x11rb::protocol::xfixes::ConnectionExt as _;

use crate::{
    bus::shot::{Look, Shot},
    connection::Connection,
    display::Display,
    error::DisplayError,
    marks::{Mark, draw_marks},
    observe::ShotFacts,
    picture::{Cursor, Pixels, fit, narrow, stripes::Stripes},
    segment::Region,
};

impl Display {
    /// A picture of the whole screen; `format` is the default if the action names none.
    pub async fn screenshot(
        &self,
        action: &Screenshot,
        format: Format,
    ) -> Result<Picture, DisplayError> {
        self.marked_screenshot(action, format, &[]).await
    }

    /// A picture of the whole screen with a numbered mark on each of these parts of the screen, the
    /// first being number 1. Numbers have the same size whatever the size of the picture.
    pub async fn marked_screenshot(
        &self,
        action: &Screenshot,
        format: Format,
        marks: &[Mark],
    ) -> Result<Picture, DisplayError> {
        let format = action.format.unwrap_or(format);
        let shot = self.still().await?;
        let region = shot.whole();
        let size = size(action, region.width.into(), region.height.into());
        let bytes = block_in_place(|| {
            if !action.cursor && marks.is_empty() && action.hide.is_empty() {
                return shot.encoded(look(region, size, format));
            }
            let mut pixels = shot.pixels().clone();
            action.hide.iter().for_each(|rect| paint_over(&mut pixels, *rect));
            // The current position: pointer moves do not count as changes of the screen.
            let pointer = if action.cursor { pointer(&self.query()?.0)? } else { None };
            if let Some(pointer) = &pointer {
                pixels.draw(pointer);
            }
            let (width, height, scale) = size;
            let scaled = match pixels.scaled(region, width, height)? {
                Cow::Owned(scaled) => Some(scaled),
                Cow::Borrowed(_) => None,
            };
            let mut pixels = scaled.unwrap_or(pixels);
            let marks: Vec<Mark> = marks.iter().map(|mark| mark.scaled(scale)).collect();
            draw_marks(&mut pixels, &marks);
            Ok(pixels.encoded(format.into(), &Stripes::new(height))?.into())
        })?;
        Ok(self.picture(&shot, region, size, format, bytes))
    }

    /// A picture of a region, as large as fits into the square that is wanted.
    pub async fn zoom(&self, action: &Zoom, format: Format) -> Result<Picture, DisplayError> {
        let format = action.format.unwrap_or(format);
        let shot = self.still().await?;
        let Region { width, height, .. } = shot.whole();
        let region = region(action, width, height).ok_or(DisplayError::Region { width, height })?;
        let side = action.fit.unwrap_or(Zoom::FIT).clamp(1, Zoom::FIT);
        let size = fit(region.width.into(), region.height.into(), side);
        let bytes = block_in_place(|| shot.encoded(look(region, size, format)))?;
        Ok(self.picture(&shot, region, size, format, bytes))
    }

    /// The number of different colours in these lines of the screen, counted up to `enough`. A
    /// window that is mapped but not drawn has one or two.
    pub async fn colours(&self, lines: Range<u32>, enough: usize) -> Result<usize, DisplayError> {
        let shot = self.still().await?;
        let pixels = shot.pixels();
        let width = pixels.width as usize;
        let colours = pixels.rgb.chunks_exact(3);
        let mut seen = Vec::with_capacity(enough);
        for colour in colours.skip(lines.start as usize * width).take(lines.len() * width) {
            if !seen.contains(&colour) {
                seen.push(colour);
            }
            if seen.len() == enough {
                break;
            }
        }
        Ok(seen.len())
    }

    /// A picture with a new id, which is remembered.
    fn picture(
        &self,
        shot: &Arc<Shot>,
        region: Region,
        (width, height, scale): (u32, u32, f64),
        format: Format,
        bytes: Bytes,
    ) -> Picture {
        let (id, origin) = (self.picture_id(), (region.x.into(), region.y.into()));
        let prints = (region == shot.whole()).then(|| Shot::prints(shot));
        self.shots().add(ShotFacts { id: id.clone(), width, height, origin, scale }, prints, true);
        Picture { format, id, width, height, origin, scale, bytes }
    }
}

/// Makes a region of a picture grey.
fn paint_over(pixels: &mut Pixels, rect: Rect) {
    let side = |start: i32, side: u32, limit: u32| {
        let (start, limit) = (i64::from(start), i64::from(limit));
        let end = (start + i64::from(side)).clamp(0, limit);
        let start = start.clamp(0, limit);
        (usize::try_from(start).unwrap_or(0), usize::try_from(end).unwrap_or(0))
    };
    let (left, right) = side(rect.x, rect.width, pixels.width);
    let (top, bottom) = side(rect.y, rect.height, pixels.height);
    let row = pixels.width as usize * 3;
    for line in top..bottom {
        let (from, to) = (line * row + left * 3, line * row + right * 3);
        if let Some(part) = pixels.rgb.get_mut(from..to) {
            part.fill(0x80);
        }
    }
}

/// The size of a screenshot, and picture pixels per screen pixel.
fn size(action: &Screenshot, full_width: u32, full_height: u32) -> (u32, u32, f64) {
    let max_width = action.max_width.unwrap_or(full_width);
    let (width, height, _) = narrow(full_width, full_height, max_width);
    let (width, height) = action.size_rule.map_or((width, height), |rule| rule.size(width, height));
    (width, height, f64::from(width) / f64::from(full_width.max(1)))
}

fn look(region: Region, (width, height, _): (u32, u32, f64), format: Format) -> Look {
    Look { region, width, height, coding: format.into(), pointer: false }
}

/// The region between two opposite corners, if it is on the screen.
fn region(zoom: &Zoom, width: u16, height: u16) -> Option<Region> {
    let span = |one: i32, other: i32, limit: u16| {
        let (from, to) = (u16::try_from(one.min(other)).ok()?, u16::try_from(one.max(other)).ok()?);
        (from < to && to <= limit).then_some((from, to - from))
    };
    let (x, width) = span(zoom.x1.0, zoom.x2.0, width)?;
    let (y, height) = span(zoom.y1.0, zoom.y2.0, height)?;
    Some(Region { x, y, width, height })
}

/// The current pointer; `None` if the server shows none.
pub(crate) fn pointer(connection: &Connection) -> Result<Option<Cursor>, DisplayError> {
    let image = match connection.xfixes_get_cursor_image()?.reply().map_err(DisplayError::from) {
        Ok(image) => image,
        // The creator of this cursor is gone, and the server no longer returns its image.
        Err(DisplayError::Refused(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(Some(Cursor {
        x: i32::from(image.x) - i32::from(image.xhot),
        y: i32::from(image.y) - i32::from(image.yhot),
        width: image.width,
        argb: image.cursor_image,
    }))
}

#[cfg(test)]
mod tests {
    use helmdeck_wire::pointer::Px;

    use super::*;

    #[test]
    fn corners_may_come_in_any_order_but_not_off_the_screen() {
        let zoom = |x1, y1, x2, y2| Zoom {
            x1: Px(x1),
            y1: Px(y1),
            x2: Px(x2),
            y2: Px(y2),
            format: None,
            fit: None,
        };
        let expected = Some(Region { x: 10, y: 20, width: 90, height: 30 });
        assert_eq!(region(&zoom(10, 20, 100, 50), 100, 50), expected);
        assert_eq!(region(&zoom(100, 50, 10, 20), 100, 50), expected);
        assert_eq!(region(&zoom(10, 20, 101, 50), 100, 50), None);
        assert_eq!(region(&zoom(-1, 0, 10, 10), 100, 50), None);
        assert_eq!(region(&zoom(10, 20, 10, 50), 100, 50), None);
    }
}
