//! Reports to the server. All are kept, so that a later server gets them, too.

use std::{convert::Infallible, sync::Arc};

use bytes::Bytes;
use futures_util::{Stream, stream};
use helmdeck_wire::{guest::Progress, window::BrowserWindow};
use parking_lot::Mutex;
use tokio::{sync::watch, time::Instant};

/// Limit on kept reports; a session makes a handful.
const MAX_REPORTS: usize = 1000;

/// A cheap handle to the reports.
#[derive(Clone)]
pub struct Reports {
    shared: Arc<Shared>,
}

struct Shared {
    reports: Mutex<Vec<Progress>>,
    /// Their number; readers wait on it.
    count: watch::Sender<usize>,
    /// The latest position of the browser's window; `None` before the first.
    window: watch::Sender<Option<Progress>>,
    /// The latest state of the browser.
    browser: watch::Sender<Option<Progress>>,
    /// Whether commands are running.
    executing: watch::Sender<Option<Progress>>,
    readers: Mutex<Readers>,
}

struct Readers {
    now: usize,
    /// Since when there is no reader.
    alone_since: Instant,
}

impl Default for Reports {
    fn default() -> Self {
        let readers = Readers { now: 0, alone_since: Instant::now() };
        Self {
            shared: Arc::new(Shared {
                reports: Mutex::default(),
                count: watch::Sender::new(0),
                window: watch::Sender::new(None),
                browser: watch::Sender::new(None),
                executing: watch::Sender::new(None),
                readers: Mutex::new(readers),
            }),
        }
    }
}

impl Reports {
    /// Sends a report to all present and future readers.
    pub fn tell(&self, report: Progress) {
        if matches!(report, Progress::BrowserEnded(_) | Progress::BrowserBack) {
            self.shared.browser.send_replace(Some(report));
            return;
        }
        let mut reports = self.shared.reports.lock();
        // Events are limited in number; reports that end a session are always kept.
        let event = matches!(report, Progress::Event(_));
        if reports.len() < MAX_REPORTS || !event {
            reports.push(report);
            self.shared.count.send_replace(reports.len());
        }
    }

    /// Reports the current position of the browser's window.
    pub fn tell_window(&self, window: Option<BrowserWindow>) {
        self.shared.window.send_replace(Some(Progress::BrowserWindow(window)));
    }

    /// Reports whether commands are running.
    pub fn tell_executing(&self, executing: bool) {
        self.shared.executing.send_replace(Some(Progress::Executing(executing)));
    }

    /// Since when there is no reader; `None` if there is one.
    pub fn alone_since(&self) -> Option<Instant> {
        let readers = self.shared.readers.lock();
        (readers.now == 0).then_some(readers.alone_since)
    }

    /// All past and future reports as lines of JSON.
    pub fn lines(&self) -> impl Stream<Item = Result<Bytes, Infallible>> + Send + use<> {
        self.shared.readers.lock().now += 1;
        let (count, mut window) = (self.shared.count.subscribe(), self.shared.window.subscribe());
        let mut browser = self.shared.browser.subscribe();
        let mut executing = self.shared.executing.subscribe();
        for latest in [&mut window, &mut browser, &mut executing] {
            if latest.borrow().is_some() {
                latest.mark_changed();
            }
        }
        let reports = self.clone();
        let reader = Reader { reports, count, window, browser, executing, next: 0 };
        stream::unfold(reader, |mut reader| async {
            let line = reader.line().await?;
            Some((Ok(line), reader))
        })
    }
}

/// A reader; counted while it exists.
struct Reader {
    reports: Reports,
    count: watch::Receiver<usize>,
    window: watch::Receiver<Option<Progress>>,
    browser: watch::Receiver<Option<Progress>>,
    executing: watch::Receiver<Option<Progress>>,
    next: usize,
}

impl Reader {
    async fn line(&mut self) -> Option<Bytes> {
        let next = self.next;
        let report = tokio::select! {
            biased;
            there = async { self.count.wait_for(|count| *count > next).await.is_ok() } => {
                let report = self.reports.shared.reports.lock().get(next).cloned();
                self.next += 1;
                report.filter(|_| there)?
            }
            changed = self.browser.changed() => {
                changed.ok()?;
                self.browser.borrow_and_update().clone()?
            }
            changed = self.executing.changed() => {
                changed.ok()?;
                self.executing.borrow_and_update().clone()?
            }
            moved = self.window.changed() => {
                moved.ok()?;
                self.window.borrow_and_update().clone()?
            }
        };
        let mut line = serde_json::to_vec(&report).ok()?;
        line.push(b'\n');
        Some(line.into())
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut readers = self.reports.shared.readers.lock();
        readers.now -= 1;
        readers.alone_since = Instant::now();
    }
}
