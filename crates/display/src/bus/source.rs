//! The source of pictures: a connection used only by the bus, which gets change events and reads
//! pixels. Actions and screenshots never wait for it.

use std::{io, sync::Arc, time::Duration};

use tokio::time::Instant;
use x11rb::{
    connection::Connection as _,
    protocol::{
        Event,
        damage::{ConnectionExt as _, Damage, ReportLevel},
        randr::{ConnectionExt as _, NotifyMask},
        xfixes::{self, ConnectionExt as _},
        xproto::ConnectionExt as _,
    },
};

use super::drawn::Drawn;
use crate::{
    connection::{Connection, Line},
    error::DisplayError,
    events::Events,
    picture::{Cursor, Pixels},
    screen::pointer,
    segment::{Region, Segment},
};

/// How often to retry a capture while the screen keeps changing its size.
const TRIES: usize = 5;
/// Waits for a change are restarted this often, which costs nothing.
const WAIT: Duration = Duration::from_secs(3600);

pub(super) struct Source {
    line: Line,
    x: Arc<Connection>,
    events: Events,
    /// The server sends an event when this becomes non-empty, and then none until we empty it.
    damage: Damage,
    /// Where the server puts what was in the damage.
    region: xfixes::Region,
    /// What was drawn since the last capture.
    drawn: Drawn,
    segment: Option<Segment>,
}

/// What a capture found.
pub(super) struct Captured {
    pub(super) pixels: Pixels,
    /// `None` if the server shows none.
    pub(super) pointer: Option<Cursor>,
    /// What was drawn since the capture before.
    pub(super) drawn: Drawn,
}

impl Source {
    /// Starts watching the screen, which counts as changed at first.
    pub(super) fn open(line: Line) -> Result<Self, DisplayError> {
        let (x, _) = line.ready()?;
        let (damage, region) = watch(&x)?;
        let (events, drawn) = (Events::of(&x)?, Drawn::everything());
        Ok(Self { line, events, x, damage, region, drawn, segment: None })
    }

    /// Reconnects after an error, if that can help: any program on the display can make the server
    /// close our connection or destroy our resources.
    pub(super) fn reopen(&mut self, error: DisplayError) -> Result<(), DisplayError> {
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
            x.xfixes_destroy_region(self.region)?.ignore_error();
        } else {
            self.events = Events::of(&x)?;
            self.x = x;
        }
        self.drawn = Drawn::everything();
        (self.damage, self.region) = watch(&self.x)?;
        Ok(())
    }

    /// Stops watching; the connection then gets no more events.
    pub(super) fn close(mut self) -> Line {
        // Must happen before the last requests are sent, or the server would keep its half.
        self.segment = None;
        // If this fails, the connection is gone together with its resources.
        let _ = unwatch(&self.x, self.damage, self.region);
        self.line
    }

    /// Waits until something has changed since the last capture. Cancel-safe.
    pub(super) async fn next_change(&mut self) -> Result<(), DisplayError> {
        loop {
            if self.events.next(Instant::now() + WAIT).await?.is_some_and(|it| is_change(&it)) {
                return Ok(());
            }
        }
    }

    /// Whether something has changed since the last capture, up to this moment. Consumes the event.
    pub(super) fn changed_by_now(&mut self) -> Result<bool, DisplayError> {
        // The server sends events before the replies to later requests. This changes nothing unless
        // there was an event, and fails if another program destroyed the damage object.
        self.empty_damage()?;
        let mut changed = false;
        while let Some(event) = self.x.poll_for_event()? {
            changed |= is_change(&event);
        }
        Ok(changed)
    }

    /// Empties the damage and notes what was in it. Returns the size of the screen.
    fn empty_damage(&mut self) -> Result<(u16, u16), DisplayError> {
        // All are sent before the first answer is read.
        let emptied = self.x.damage_subtract(self.damage, x11rb::NONE, self.region)?;
        let drawn = self.x.xfixes_fetch_region(self.region)?;
        let root = self.x.get_geometry(self.x.root)?;
        let (root, drawn) = (root.reply()?, drawn.reply()?);
        emptied.check()?;
        for part in drawn.rectangles {
            self.drawn.add(part);
        }
        Ok((root.width, root.height))
    }

    /// Captures the screen, and the pointer if there is one. Later changes cause an event. What was
    /// not drawn since the last capture, `before`, is not read again.
    pub(super) fn capture(&mut self, before: Option<&Pixels>) -> Result<Captured, DisplayError> {
        let mut captured = self.capture_once(before);
        for _ in 1..TRIES {
            match captured {
                Err(error @ (DisplayError::Lost(_) | DisplayError::Refused(_))) => {
                    self.reopen(error)?;
                    captured = self.capture_once(before);
                }
                done => return done,
            }
        }
        captured
    }

    fn capture_once(&mut self, before: Option<&Pixels>) -> Result<Captured, DisplayError> {
        // Emptied before the pixels are read: what is drawn in between is captured twice, not
        // missed.
        let (width, height) = self.empty_damage()?;
        let size = (u32::from(width), u32::from(height));
        let before = before.filter(|before| (before.width, before.height) == size);
        let drawn = match before {
            Some(_) if !self.drawn.covers(height) => self.drawn.clone(),
            _ => Drawn::everything(),
        };
        let mut pixels = before.filter(|_| matches!(drawn, Drawn::Stripes(_))).cloned();
        for rows in drawn.bands(height) {
            let region = Region { x: 0, y: rows.start, width, height: rows.end - rows.start };
            Segment::capture(&mut self.segment, &self.x, region, |bgrx| match &mut pixels {
                Some(pixels) => pixels.replace_rows(rows.start.into(), bgrx),
                // The first band is the whole screen.
                None => pixels = Some(Pixels::from_bgrx(width, height, bgrx)),
            })?;
        }
        let pixels = pixels.ok_or(DisplayError::Unsupported("the screen's size"))?;
        let pointer = pointer(&self.x)?;
        self.drawn = Drawn::nothing();
        Ok(Captured { pixels, pointer, drawn })
    }
}

/// Requests change events. The damage starts full, so the first event comes after a capture.
fn watch(x: &Connection) -> Result<(Damage, xfixes::Region), DisplayError> {
    let version = x.damage_query_version(1, 1)?;
    let damage = x.generate_id()?;
    x.damage_create(damage, x.root, ReportLevel::NON_EMPTY)?;
    let region = x.generate_id()?;
    x.xfixes_create_region(region, &[])?;
    // Shrinking the screen causes no damage.
    x.randr_select_input(x.root, NotifyMask::SCREEN_CHANGE)?;
    version.reply()?;
    x.round_trip()?;
    // The initial damage event would only announce what the first capture shows.
    x.drop_events()?;
    Ok((damage, region))
}

fn unwatch(x: &Connection, damage: Damage, region: xfixes::Region) -> Result<(), DisplayError> {
    x.damage_destroy(damage)?.ignore_error();
    x.xfixes_destroy_region(region)?.ignore_error();
    x.randr_select_input(x.root, NotifyMask::default())?;
    x.round_trip()?;
    x.drop_events()
}

fn is_change(event: &Event) -> bool {
    matches!(event, Event::DamageNotify(_) | Event::RandrScreenChangeNotify(_))
}
