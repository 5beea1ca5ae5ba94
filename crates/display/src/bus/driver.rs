//! The task that captures pictures: the only user of its connection.

use std::{
    io, mem,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use helmdeck_task::block_in_place;
use tokio::{
    select,
    sync::{mpsc, oneshot},
};

use super::{Idle, shot::Shot, source::Source};
use crate::error::DisplayError;

/// A picture this recent is shared even if the screen has changed again. Otherwise subscribers that
/// ask within one refresh of the screen would cause a capture each.
const FRESH: Duration = Duration::from_millis(16);

/// A request to the driver.
#[derive(Debug)]
pub(super) enum Ask {
    /// A picture with a higher number, as soon as something changed.
    Newer { than: u64, reply: oneshot::Sender<Result<Arc<Shot>, DisplayError>> },
    /// A picture of everything that was drawn before the request.
    Now { reply: oneshot::Sender<Result<Arc<Shot>, DisplayError>> },
    /// Whether the screen has changed since the picture with this number.
    Changed { since: u64, reply: oneshot::Sender<Result<bool, DisplayError>> },
}

/// A subscriber that waits for a picture.
struct Waiting {
    than: u64,
    reply: oneshot::Sender<Result<Arc<Shot>, DisplayError>>,
}

pub(super) struct Driver {
    source: Source,
    idle: Idle,
    /// The number of the last picture of this display, across drivers.
    sequence: Arc<AtomicU64>,
    latest: Option<Arc<Shot>>,
    /// INVARIANT: false only if the screen looks like `latest`, and the next change makes an event.
    changed: bool,
    waiting: Vec<Waiting>,
}

impl Driver {
    pub(super) fn new(source: Source, idle: Idle, sequence: Arc<AtomicU64>) -> Self {
        Self { source, idle, sequence, latest: None, changed: true, waiting: Vec::new() }
    }

    /// Runs until the last subscriber or the X server is gone.
    pub(super) async fn run(mut self, mut asks: mpsc::Receiver<Ask>) {
        loop {
            let turn = select! {
                change = self.source.next_change() => self.note(change),
                ask = asks.recv() => match ask {
                    Some(ask) => self.hear(ask),
                    None => return self.rest(),
                },
            };
            if let Err(error) = turn.and_then(|()| self.serve()) {
                return self.fail(error);
            }
        }
    }

    fn note(&mut self, change: Result<(), DisplayError>) -> Result<(), DisplayError> {
        self.changed = true;
        change.or_else(|error| block_in_place(|| self.source.reopen(error)))
    }

    fn hear(&mut self, ask: Ask) -> Result<(), DisplayError> {
        match ask {
            Ask::Newer { than, reply } => self.waiting.push(Waiting { than, reply }),
            Ask::Now { reply } => {
                self.look()?;
                let latest = self.latest.as_ref().map_or(0, |latest| latest.sequence);
                let than = if self.changed { latest } else { latest.saturating_sub(1) };
                self.waiting.push(Waiting { than, reply });
            }
            Ask::Changed { since, reply } => {
                self.look()?;
                let changed = self.changed || since < self.sequence.load(Ordering::Acquire);
                // The requester may be gone.
                let _ = reply.send(Ok(changed));
            }
        }
        Ok(())
    }

    /// Checks whether the screen has changed up to this moment.
    fn look(&mut self) -> Result<(), DisplayError> {
        if !self.changed {
            match block_in_place(|| self.source.changed_by_now()) {
                Ok(changed) => self.changed = changed,
                Err(error) => self.note(Err(error))?,
            }
        }
        Ok(())
    }

    /// Answers waiting subscribers, with a new picture if one is due.
    fn serve(&mut self) -> Result<(), DisplayError> {
        self.waiting.retain(|waiting| !waiting.reply.is_closed());
        if self.changed && self.waiting.iter().any(|waiting| !self.is_fresh_for(waiting)) {
            self.changed = false;
            let before = self.latest.as_deref();
            let captured = block_in_place(|| self.source.capture(before.map(Shot::pixels)))?;
            let sequence = self.sequence.fetch_add(1, Ordering::AcqRel) + 1;
            self.latest = Some(Arc::new(Shot::new(sequence, captured, before)));
        }
        let Some(latest) = &self.latest else { return Ok(()) };
        for waiting in self.waiting.extract_if(.., |waiting| waiting.than < latest.sequence) {
            let _ = waiting.reply.send(Ok(latest.clone()));
        }
        Ok(())
    }

    fn is_fresh_for(&self, waiting: &Waiting) -> bool {
        self.latest
            .as_ref()
            .is_some_and(|latest| waiting.than < latest.sequence && latest.taken.elapsed() < FRESH)
    }

    /// Puts the connection back for the next driver.
    fn rest(self) {
        let line = block_in_place(|| self.source.close());
        *self.idle.lock() = Some(line);
    }

    /// Fails all waiting requests. Later ones find the channel closed.
    fn fail(mut self, error: DisplayError) {
        let error = Arc::new(error);
        for waiting in mem::take(&mut self.waiting) {
            let error = DisplayError::Lost(io::Error::other(error.clone()));
            let _ = waiting.reply.send(Err(error));
        }
    }
}
