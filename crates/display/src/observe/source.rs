//! The source of changes: a connection used only by the observer.
//!
//! One event says that something was drawn; then the server lists where. Only those parts are
//! captured. Programs also draw what is there already, and join distant changes into one large
//! rectangle, so the captured pixels are compared.

use std::{io, sync::Arc, time::Duration};

use tokio::time::Instant;
use x11rb::{
    connection::Connection as _,
    protocol::{
        Event,
        damage::{ConnectionExt as _, Damage, ReportLevel},
        randr::{ConnectionExt as _, NotifyMask},
        xfixes::{ConnectionExt as _, Region as XRegion},
        xproto::Rectangle,
    },
};

use super::{canvas::Canvas, rect::Rect};
use crate::{
    connection::{Connection, Line},
    error::DisplayError,
    events::Events,
    segment::{Region, Segment},
};

/// How often to retry while the screen keeps changing its size.
const TRIES: usize = 5;
/// Waits for a change are restarted this often, which costs nothing.
const WAIT: Duration = Duration::from_secs(3600);
/// Up to this many rectangles are captured one by one.
const FEW: usize = 4;

pub(super) struct Source {
    line: Line,
    x: Arc<Connection>,
    events: Events,
    damage: Damage,
    /// Holds the rectangles of the last changes.
    parts: XRegion,
    segment: Option<Segment>,
}

/// What a look at the screen gave.
pub(super) enum Seen {
    /// Nothing was drawn.
    Nothing,
    /// These parts were drawn, with their pixels.
    Parts(Vec<(Region, Vec<u8>)>),
    /// The screen has another size or may have lost changes: everything must be captured.
    Everything,
}

impl Source {
    pub(super) fn open(line: Line) -> Result<Self, DisplayError> {
        let (x, _) = line.ready()?;
        let (damage, parts) = watch(&x)?;
        Ok(Self { line, events: Events::of(&x)?, x, damage, parts, segment: None })
    }

    /// Stops watching; the connection then gets no more events.
    pub(super) fn close(mut self) -> Line {
        // Must happen before the last requests are sent, or the server would keep its half.
        self.segment = None;
        // If this fails, the connection is gone together with its resources.
        let _ = unwatch(&self.x, self.damage, self.parts);
        self.line
    }

    /// Waits until something was drawn. Cancel-safe.
    pub(super) async fn next_change(&mut self) -> Result<(), DisplayError> {
        loop {
            let event = self.events.next(Instant::now() + WAIT).await?;
            if event.is_some_and(|event| is_change(&event)) {
                return Ok(());
            }
        }
    }

    /// What was drawn since the last look, up to this moment.
    pub(super) fn look(&mut self, (width, height): (u32, u32)) -> Result<Seen, DisplayError> {
        match self.try_look((width, height)) {
            Err(error @ (DisplayError::Lost(_) | DisplayError::Refused(_))) => {
                self.reopen(error)?;
                Ok(Seen::Everything)
            }
            seen => seen,
        }
    }

    fn try_look(&mut self, size: (u32, u32)) -> Result<Seen, DisplayError> {
        // Only events of before: one that follows announces what the next look must see, and the
        // server sends no other until then.
        self.x.drop_events()?;
        // Emptied before the pixels are read: what is drawn in between is seen twice, not missed.
        let emptied = self.x.damage_subtract(self.damage, x11rb::NONE, self.parts)?;
        let drawn = self.x.xfixes_fetch_region(self.parts)?;
        let (width, height) = self.x.size()?;
        emptied.check()?;
        let drawn = drawn.reply()?.rectangles;
        if (u32::from(width), u32::from(height)) != size {
            return Ok(Seen::Everything);
        }
        let mut parts = Vec::new();
        for region in few(&drawn).iter().filter_map(|rect| rect.on_screen(size.0, size.1)) {
            let pixels = Segment::capture(&mut self.segment, &self.x, region, <[u8]>::to_vec)?;
            parts.push((region, pixels));
        }
        Ok(if parts.is_empty() { Seen::Nothing } else { Seen::Parts(parts) })
    }

    /// Captures the whole screen. Later changes cause an event.
    pub(super) fn capture(&mut self) -> Result<Canvas, DisplayError> {
        let mut captured = self.capture_once();
        for _ in 1..TRIES {
            match captured {
                Err(error @ (DisplayError::Lost(_) | DisplayError::Refused(_))) => {
                    self.reopen(error)?;
                    captured = self.capture_once();
                }
                done => return done,
            }
        }
        captured
    }

    fn capture_once(&mut self) -> Result<Canvas, DisplayError> {
        self.x.drop_events()?;
        let emptied = self.x.damage_subtract(self.damage, x11rb::NONE, x11rb::NONE)?;
        let (width, height) = self.x.size()?;
        emptied.check()?;
        let region = Region { x: 0, y: 0, width, height };
        Segment::capture(&mut self.segment, &self.x, region, |bgrx| {
            Canvas::new(width, height, bgrx)
        })
    }

    /// Reconnects after an error, if that can help: any program on the display can make the server
    /// close our connection or destroy our resources.
    fn reopen(&mut self, error: DisplayError) -> Result<(), DisplayError> {
        match error {
            // If the server hangs, a new connection would hang as well.
            DisplayError::Lost(error) if error.kind() == io::ErrorKind::TimedOut => {
                return Err(DisplayError::Lost(error));
            }
            DisplayError::Lost(_) | DisplayError::Refused(_) => {}
            other => return Err(other),
        }
        let (x, _) = self.line.ready()?;
        if Arc::ptr_eq(&x, &self.x) {
            x.damage_destroy(self.damage)?.ignore_error();
            x.xfixes_destroy_region(self.parts)?.ignore_error();
        } else {
            self.events = Events::of(&x)?;
            self.x = x;
        }
        (self.damage, self.parts) = watch(&self.x)?;
        Ok(())
    }
}

fn watch(x: &Connection) -> Result<(Damage, XRegion), DisplayError> {
    let version = x.damage_query_version(1, 1)?;
    let (damage, parts) = (x.generate_id()?, x.generate_id()?);
    x.damage_create(damage, x.root, ReportLevel::NON_EMPTY)?;
    x.xfixes_create_region(parts, &[])?;
    // Shrinking the screen causes no damage.
    x.randr_select_input(x.root, NotifyMask::SCREEN_CHANGE)?;
    version.reply()?;
    x.round_trip()?;
    // The initial damage event would only announce what the first capture shows.
    x.drop_events()?;
    Ok((damage, parts))
}

fn unwatch(x: &Connection, damage: Damage, parts: XRegion) -> Result<(), DisplayError> {
    x.damage_destroy(damage)?.ignore_error();
    x.xfixes_destroy_region(parts)?.ignore_error();
    x.randr_select_input(x.root, NotifyMask::default())?;
    x.round_trip()?;
    x.drop_events()
}

fn is_change(event: &Event) -> bool {
    matches!(event, Event::DamageNotify(_) | Event::RandrScreenChangeNotify(_))
}

/// The rectangles as they are, if they are few; else one around all of them. Each costs a request.
fn few(drawn: &[Rectangle]) -> Vec<Rect> {
    let rects = drawn.iter().map(|drawn| Rect {
        x: drawn.x.into(),
        y: drawn.y.into(),
        width: drawn.width.into(),
        height: drawn.height.into(),
    });
    if drawn.len() <= FEW {
        return rects.collect();
    }
    rects.reduce(|one, other| one.union(&other)).into_iter().collect()
}
