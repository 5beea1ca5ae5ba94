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
    },
};

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
    segment: Option<Segment>,
}

impl Source {
    /// Starts watching the screen, which counts as changed at first.
    pub(super) fn open(line: Line) -> Result<Self, DisplayError> {
        let (x, _) = line.ready()?;
        let damage = watch(&x)?;
        Ok(Self { line, events: Events::of(&x)?, x, damage, segment: None })
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
        } else {
            self.events = Events::of(&x)?;
            self.x = x;
        }
        self.damage = watch(&self.x)?;
        Ok(())
    }

    /// Stops watching; the connection then gets no more events.
    pub(super) fn close(mut self) -> Line {
        // Must happen before the last requests are sent, or the server would keep its half.
        self.segment = None;
        // If this fails, the connection is gone together with its resources.
        let _ = unwatch(&self.x, self.damage);
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
    pub(super) fn changed_by_now(&self) -> Result<bool, DisplayError> {
        // The server sends events before the replies to later requests. This request changes
        // nothing unless there was an event, and fails if another program destroyed the damage
        // object.
        self.x.damage_subtract(self.damage, x11rb::NONE, x11rb::NONE)?.check()?;
        let mut changed = false;
        while let Some(event) = self.x.poll_for_event()? {
            changed |= is_change(&event);
        }
        Ok(changed)
    }

    /// Captures the whole screen, and the pointer if there is one. Later changes cause an event.
    pub(super) fn capture(&mut self) -> Result<(Pixels, Option<Cursor>), DisplayError> {
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

    fn capture_once(&mut self) -> Result<(Pixels, Option<Cursor>), DisplayError> {
        // Emptied before the pixels are read: what is drawn in between is captured twice, not
        // missed.
        let emptied = self.x.damage_subtract(self.damage, x11rb::NONE, x11rb::NONE)?;
        let (width, height) = self.x.size()?;
        emptied.check()?;
        let region = Region { x: 0, y: 0, width, height };
        let pixels = Segment::capture(&mut self.segment, &self.x, region, |bgrx| {
            Pixels::from_bgrx(region.width, region.height, bgrx)
        })?;
        Ok((pixels, pointer(&self.x)?))
    }
}

/// Requests change events. The damage starts full, so the first event comes after a capture.
fn watch(x: &Connection) -> Result<Damage, DisplayError> {
    let version = x.damage_query_version(1, 1)?;
    let damage = x.generate_id()?;
    x.damage_create(damage, x.root, ReportLevel::NON_EMPTY)?;
    // Shrinking the screen causes no damage.
    x.randr_select_input(x.root, NotifyMask::SCREEN_CHANGE)?;
    version.reply()?;
    x.round_trip()?;
    // The initial damage event would only announce what the first capture shows.
    x.drop_events()?;
    Ok(damage)
}

fn unwatch(x: &Connection, damage: Damage) -> Result<(), DisplayError> {
    x.damage_destroy(damage)?.ignore_error();
    x.randr_select_input(x.root, NotifyMask::default())?;
    x.round_trip()?;
    x.drop_events()
}

fn is_change(event: &Event) -> bool {
    matches!(event, Event::DamageNotify(_) | Event::RandrScreenChangeNotify(_))
}
