//! The task that follows the screen while it is observed: the only user of its connection.

use std::{io, mem, sync::Arc, time::Instant};

use helmdeck_task::block_in_place;
use parking_lot::Mutex;
use tokio::{
    select,
    sync::{Notify, mpsc, oneshot},
    time::{Duration, sleep_until},
};

use super::{
    canvas::Canvas,
    periodic::Tracker,
    rect::{MAX_REGIONS, Rect, merged},
    source::{Seen, Source},
};
use crate::{connection::Line, error::DisplayError};

/// Changes are handled at most this often: once per refresh of a screen.
const WATCHED: Duration = Duration::from_millis(12);
/// The same while no watch is under way.
const UNWATCHED: Duration = Duration::from_millis(100);

/// How soon programs show the effect of an action.
const REACTION: Duration = Duration::from_millis(300);

/// A request to bring the copy of the screen up to date.
pub(super) struct Ask {
    pub(super) reply: oneshot::Sender<Result<(), DisplayError>>,
}

/// What is known of the screen.
pub(super) struct Live {
    pub(super) state: Mutex<State>,
    /// Notified after every change of the state.
    pub(super) news: Notify,
}

pub(super) struct State {
    pub(super) canvas: Arc<Canvas>,
    pub(super) tracker: Tracker,
    /// The watches under way.
    pub(super) watches: usize,
}

pub(super) struct Driver {
    pub(super) source: Source,
    pub(super) idle: Arc<Mutex<Option<Line>>>,
    /// Where the tracker goes at the end.
    pub(super) memory: Arc<Mutex<Tracker>>,
    pub(super) live: Arc<Live>,
    pub(super) actions: Arc<Mutex<Actions>>,
}

/// The actions of the session, which cause changes.
#[derive(Default)]
pub(super) struct Actions {
    under_way: usize,
    ended: Option<Instant>,
}

/// An action under way, until it is dropped.
pub struct Acting(Arc<Mutex<Actions>>);

impl Acting {
    pub(super) fn begin(actions: Arc<Mutex<Actions>>) -> Self {
        actions.lock().under_way += 1;
        Self(actions)
    }
}

impl Drop for Acting {
    fn drop(&mut self) {
        let mut actions = self.0.lock();
        actions.under_way = actions.under_way.saturating_sub(1);
        actions.ended = Some(Instant::now());
    }
}

impl Actions {
    /// Whether an action may have caused a change at this moment.
    fn may_cause(&self, at: Instant) -> bool {
        let lately = |ended: Instant| at.saturating_duration_since(ended) <= REACTION;
        self.under_way > 0 || self.ended.is_some_and(lately)
    }
}

impl Driver {
    /// Runs until the last watch or the X server is gone.
    pub(super) async fn run(mut self, mut asks: mpsc::Receiver<Ask>) {
        // When changes may be handled again, if there are any.
        let (mut due, mut pending) = (Instant::now(), false);
        loop {
            let turn = select! {
                change = self.source.next_change(), if !pending => {
                    pending = true;
                    // An error is found again and handled by the next look.
                    let _ = change;
                    Ok(())
                }
                () = sleep_until(due.into()), if pending => {
                    pending = false;
                    let done = block_in_place(|| self.look());
                    due = Instant::now() + self.pause();
                    done
                }
                ask = asks.recv() => match ask {
                    Some(Ask { reply }) => {
                        pending = false;
                        let done = block_in_place(|| self.look());
                        due = Instant::now() + self.pause();
                        let (answer, done) = match done {
                            Ok(()) => (Ok(()), Ok(())),
                            Err(error) => {
                                let error = Arc::new(error);
                                (Err(lost(&error)), Err(lost(&error)))
                            }
                        };
                        // The requester may be gone.
                        let _ = reply.send(answer);
                        done
                    }
                    None => return self.rest(),
                },
            };
            if turn.is_err() {
                // Waiting requests find the channel closed.
                return;
            }
        }
    }

    fn pause(&self) -> Duration {
        if self.live.state.lock().watches > 0 { WATCHED } else { UNWATCHED }
    }

    /// Brings the copy of the screen up to date.
    fn look(&mut self) -> Result<(), DisplayError> {
        let size = self.live.state.lock().canvas.size();
        let seen = self.source.look(size)?;
        let at = Instant::now();
        let caused = self.actions.lock().may_cause(at);
        match seen {
            Seen::Nothing => return Ok(()),
            Seen::Parts(parts) => self.live.state.lock().draw(&parts, at, caused),
            Seen::Everything => {
                let canvas = self.source.capture()?;
                self.live.state.lock().replace(canvas, at, caused);
            }
        }
        self.live.news.notify_waiters();
        Ok(())
    }

    /// Puts the connection back for the next driver.
    fn rest(self) {
        let mut state = self.live.state.lock();
        *self.memory.lock() = mem::take(&mut state.tracker);
        // A handle to the state may stay, but not its memory.
        state.canvas = Arc::new(Canvas::new(0, 0, &[]));
        drop(state);
        let line = block_in_place(|| self.source.close());
        *self.idle.lock() = Some(line);
    }
}

impl State {
    fn draw(&mut self, parts: &[(crate::segment::Region, Vec<u8>)], at: Instant, caused: bool) {
        // Copies the canvas if a watch keeps it as the state before its action.
        let canvas = Arc::make_mut(&mut self.canvas);
        let changes = parts.iter().flat_map(|(region, pixels)| canvas.replace(*region, pixels));
        let changes: Vec<_> = changes.collect();
        self.note(changes, at, caused);
    }

    fn replace(&mut self, canvas: Canvas, at: Instant, caused: bool) {
        let changes = self.canvas.difference(&canvas, &[]);
        if canvas.size() != self.canvas.size() {
            self.tracker.clear();
        }
        self.canvas = Arc::new(canvas);
        self.note(changes, at, caused);
    }

    fn note(&mut self, changes: Vec<Rect>, at: Instant, caused: bool) {
        let changes =
            if changes.len() > MAX_REGIONS { merged(changes, MAX_REGIONS) } else { changes };
        let canvas = &self.canvas;
        self.tracker.note(at, &changes, caused, &|rect| canvas.hash(rect));
    }
}

fn lost(error: &Arc<DisplayError>) -> DisplayError {
    DisplayError::Lost(io::Error::other(error.clone()))
}
