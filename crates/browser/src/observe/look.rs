//! What `watch.js` tells of a page, and where that is on the screen. Pure.

use std::time::Duration;

use serde::Deserialize;

use crate::{hit_test::Spot, view::View};

/// Transitions that end sooner are not awaited.
const SOON: Duration = Duration::from_millis(20);

/// A rectangle: on the screen, or in the viewport if the page is on none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    /// Left edge.
    pub x: i32,
    /// Top edge.
    pub y: i32,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

/// A part of a page that moves on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PagePeriodic {
    /// Where it is.
    pub area: Area,
    /// What it is.
    pub kind: PeriodicKind,
    /// How long one turn takes; zero if unknown.
    pub period: Duration,
}

/// What moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PeriodicKind {
    /// A small animation without an end.
    Spinner,
    /// A large one.
    Animation,
    /// A video that plays.
    Video,
    /// A text that shows the time.
    Clock,
}

/// The hash of a text, as `watch.js` makes it.
pub fn hashed(text: &str) -> u32 {
    let unit = |hash: u32, unit: u16| (hash ^ u32::from(unit)).wrapping_mul(0x0100_0193);
    text.encode_utf16().fold(0x811c_9dc5, unit)
}

/// A page at one moment.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Look {
    pub visible: bool,
    /// Whether the keyboard is in it.
    pub active: bool,
    view: View,
    size: Size,
    pub focus: Option<Focus>,
    periodic: Vec<Moving>,
    /// Milliseconds until the last transition ends.
    moving: f64,
    /// Milliseconds since the document last changed.
    ago: Option<f64>,
    /// Where elements are that had the focus meanwhile.
    focused: Vec<Part>,
    pub scrolls: u32,
    pub inputs: u32,
    /// Where the document changed in view.
    mutated: Vec<Part>,
    /// How many changes of the document are out of view.
    pub hidden: u32,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Size {
    width: f64,
    height: f64,
}

/// The focused element.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Focus {
    /// The same for the same element.
    pub number: u64,
    /// A hash of its value.
    pub value: u32,
    /// A hash of its selection.
    pub caret: u32,
    /// A hash of the text that was inserted into it.
    pub inserted: Option<u32>,
    /// Where it is; `None` if something inside has the focus.
    rect: Option<Part>,
    /// Where the viewport of the frame is that has the focus.
    frame: Option<Part>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Part {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

impl Part {
    /// A part of a frame, as a part of the page.
    fn inside(&self, frame: &Self) -> Self {
        Self { x: self.x + frame.x, y: self.y + frame.y, ..*self }
    }
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Moving {
    #[serde(flatten)]
    part: Part,
    kind: PeriodicKind,
    ms: f64,
}

impl Look {
    /// How long the last transition still takes.
    pub fn moving(&self) -> Option<Duration> {
        let left = Duration::from_secs_f64(self.moving.clamp(0.0, 60_000.0) / 1000.0);
        (left >= SOON).then_some(left)
    }

    /// How long ago the document last changed, other than on its own.
    pub fn ago(&self) -> Option<Duration> {
        self.ago.map(|ms| Duration::from_secs_f64(ms.clamp(0.0, 3_600_000.0) / 1000.0))
    }
}

/// A look with its place.
pub(super) struct Placed<'a> {
    pub look: &'a Look,
    /// Those of its frames.
    pub frames: &'a [Look],
    pub on_screen: bool,
}

impl Placed<'_> {
    pub fn periodic(&self) -> Vec<PagePeriodic> {
        let moving = self.look.periodic.iter().filter_map(|moving| {
            let period = Duration::from_secs_f64(moving.ms.clamp(0.0, 3_600_000.0) / 1000.0);
            Some(PagePeriodic { area: self.area(&moving.part)?, kind: moving.kind, period })
        });
        moving.collect()
    }

    pub fn mutated(&self) -> Vec<Area> {
        self.look.mutated.iter().filter_map(|part| self.area(part)).collect()
    }

    pub fn focus(&self) -> Option<Area> {
        let focus = self.look.focus?;
        match (focus.rect, self.frame()) {
            (Some(own), _) => self.area(&own),
            (None, Some((at, frame))) => self.area(&frame.focus?.rect?.inside(&at)),
            (None, None) => None,
        }
    }

    /// The elements that had the focus meanwhile.
    pub fn focused(&self) -> Vec<Area> {
        let inside = self.frame().into_iter().flat_map(|(at, frame)| {
            frame.focused.iter().map(move |part| part.inside(&at)).collect::<Vec<_>>()
        });
        let all = self.look.focused.iter().copied().chain(inside);
        all.filter_map(|part| self.area(&part)).collect()
    }

    /// The frame with the keyboard, and where it is.
    pub fn frame(&self) -> Option<(Part, &Look)> {
        let at = self.look.focus?.frame?;
        Some((at, self.frames.iter().find(|frame| frame.active)?))
    }

    /// The whole viewport.
    pub fn viewport(&self) -> Option<Area> {
        let Size { width, height } = self.look.size;
        self.area(&Part { x: 0.0, y: 0.0, width, height })
    }

    /// The part that is in view.
    fn area(&self, part: &Part) -> Option<Area> {
        let Size { width, height } = self.look.size;
        let (left, top) = (part.x.max(0.0), part.y.max(0.0));
        let (right, bottom) =
            ((part.x + part.width).min(width), (part.y + part.height).min(height));
        if left >= right || top >= bottom {
            return None;
        }
        let corner = |x: f64, y: f64| {
            let at = Spot { x, y };
            if self.on_screen {
                self.look.view.on_screen(at)
            } else {
                Some(self.look.view.scaled(at))
            }
        };
        let (from, to) = (corner(left, top)?, corner(right, bottom)?);
        // Places in a viewport are small numbers.
        let (x, y) = (from.x.floor() as i32, from.y.floor() as i32);
        let side = |from: i32, to: f64| (to.ceil() as i32 - from).max(0).unsigned_abs();
        Some(Area { x, y, width: side(x, to.x), height: side(y, to.y) })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn look() -> Look {
        serde_json::from_value(json!({
            "visible": true, "active": true,
            "view": { "scrolled": { "x": 0, "y": 0 }, "corner": { "x": 10, "y": 90 }, "scale": 2 },
            "size": { "width": 400, "height": 300 },
            "focus": { "number": 1, "value": 2, "caret": 3, "inserted": null,
                "rect": { "x": 20, "y": 30, "width": 100, "height": 20.5 }, "frame": null },
            "periodic": [
                { "x": 390, "y": -10, "width": 40, "height": 40, "kind": "spinner", "ms": 1000 },
                { "x": 500, "y": 0, "width": 40, "height": 40, "kind": "video", "ms": 0 },
            ],
            "moving": 300, "ago": null, "focused": [], "scrolls": 0, "inputs": 0, "mutated": [], "hidden": 0,
        }))
        .unwrap()
    }

    #[test]
    fn parts_of_a_page_are_clipped_to_the_viewport_and_placed_on_the_screen() {
        let look = look();
        let placed = Placed { look: &look, frames: &[], on_screen: true };
        assert_eq!(placed.focus(), Some(Area { x: 50, y: 150, width: 200, height: 41 }));
        let [spinner] = placed.periodic()[..] else { panic!("{:?}", placed.periodic()) };
        assert_eq!(spinner.area, Area { x: 790, y: 90, width: 20, height: 60 });
        assert_eq!(spinner.period, Duration::from_secs(1));
        let headless = Placed { look: &look, frames: &[], on_screen: false };
        assert_eq!(headless.viewport(), Some(Area { x: 0, y: 0, width: 800, height: 600 }));
    }

    #[test]
    fn the_focus_inside_a_frame_of_another_origin_has_its_place_on_the_screen() {
        let (mut page, frame) = (look(), look());
        let at = Part { x: 50.0, y: 60.0, width: 300.0, height: 200.0 };
        page.focus = page.focus.map(|focus| Focus { rect: None, frame: Some(at), ..focus });
        let placed = |frames| Placed { look: &page, frames, on_screen: true };
        assert_eq!(placed(&[]).focus(), None);
        let field = Area { x: 150, y: 270, width: 200, height: 41 };
        assert_eq!(placed(&[frame]).focus(), Some(field));
    }

    #[test]
    fn a_transition_that_is_nearly_over_is_not_awaited() {
        let mut look = look();
        assert_eq!(look.moving(), Some(Duration::from_millis(300)));
        look.moving = 10.0;
        assert_eq!(look.moving(), None);
    }
}
