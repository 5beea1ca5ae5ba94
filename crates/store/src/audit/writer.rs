//! The task that adds rows to the audit log, in order and in batches.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use helmdeck_wire::{audit::Severity, error::with_causes};
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::{interval, sleep, timeout},
};
use tracing::{error, info, warn};

use super::{AuditEntry, repeats::Repeats};
use crate::{Store, StoreError};

/// Maximum number of entries in memory while the disk does not accept them. Further ones are lost,
/// and their number is recorded later.
const WAITING: usize = 10_000;
/// Maximum number of rows per write.
const BATCH: usize = 500;
/// Pause between two attempts to write.
const PAUSE: Duration = Duration::from_secs(1);
/// How often to record repetitions.
const TICK: Duration = Duration::from_secs(5);
/// How long to wait for pending entries.
const FLUSH_DEADLINE: Duration = Duration::from_secs(5);

/// A cheap handle to the audit log.
#[derive(Clone)]
pub struct Audit {
    messages: mpsc::Sender<Message>,
    state: Arc<State>,
}

/// What the handles and the writer share.
struct State {
    repeats: Repeats,
    /// Entries that did not fit, and those of them that no row mentions yet.
    lost: AtomicU64,
    unreported: AtomicU64,
    failing: AtomicBool,
    /// Id of the newest row.
    newest: watch::Sender<u64>,
}

/// Whether entries can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditStatus {
    /// Number of entries that were lost since the start.
    pub lost: u64,
    /// Whether the disk refuses new rows.
    pub failing: bool,
}

enum Message {
    Entry(Box<AuditEntry>),
    /// Answered when all entries before it are written.
    Flush(oneshot::Sender<()>),
    /// The same, with the repetitions so far.
    Finish(oneshot::Sender<()>),
}

impl Audit {
    /// Starts the writer. It ends when the last handle is dropped.
    pub async fn open(store: Store) -> Result<Self, StoreError> {
        let (messages, waiting) = mpsc::channel(WAITING);
        let state = Arc::new(State {
            repeats: Repeats::default(),
            lost: AtomicU64::default(),
            unreported: AtomicU64::default(),
            failing: AtomicBool::default(),
            newest: watch::Sender::new(store.newest_audit().await?),
        });
        helmdeck_task::spawn(write(store, waiting, state.clone()));
        Ok(Self { messages, state })
    }

    /// Records an entry. Never waits; a row may appear a moment later.
    pub fn record(&self, entry: AuditEntry) {
        let Err(mpsc::error::TrySendError::Full(_)) =
            self.messages.try_send(Message::Entry(Box::new(entry)))
        else {
            return;
        };
        self.state.lost.fetch_add(1, Ordering::Relaxed);
        if self.state.unreported.fetch_add(1, Ordering::Relaxed) == 0 {
            error!("The audit log loses entries because the disk does not accept them");
        }
    }

    /// Records an entry that may repeat often. Repetitions of the same kind and group within a
    /// minute become one row with their `count`.
    pub fn record_repeated(&self, group: &str, kind: &str, entry: AuditEntry) {
        if let Some(first) = self.state.repeats.add(group, kind, entry, Instant::now()) {
            self.record(first);
        }
    }

    /// Waits until all entries so far are written, unless the disk refuses them.
    pub async fn flush(&self) {
        if !self.status().failing {
            let (done, flushed) = oneshot::channel();
            self.wait_for(Message::Flush(done), flushed).await;
        }
    }

    /// Writes all entries so far, with repetitions whose minute is not over. For the end of the
    /// server.
    pub async fn finish(&self) {
        let (done, flushed) = oneshot::channel();
        if !self.wait_for(Message::Finish(done), flushed).await {
            warn!("Some entries of the audit log were not written");
        }
    }

    async fn wait_for(&self, message: Message, flushed: oneshot::Receiver<()>) -> bool {
        let flushing = async {
            let _ = self.messages.send(message).await;
            let _ = flushed.await;
        };
        timeout(FLUSH_DEADLINE, flushing).await.is_ok()
    }

    /// The id of the newest row, which changes with every batch.
    pub fn newest(&self) -> watch::Receiver<u64> {
        self.state.newest.subscribe()
    }

    /// Whether entries can be written.
    pub fn status(&self) -> AuditStatus {
        let (lost, failing) = (&self.state.lost, &self.state.failing);
        AuditStatus { lost: lost.load(Ordering::Relaxed), failing: failing.load(Ordering::Relaxed) }
    }
}

async fn write(store: Store, mut waiting: mpsc::Receiver<Message>, state: Arc<State>) {
    let mut messages = Vec::with_capacity(BATCH);
    let mut ticks = interval(TICK);
    loop {
        let open = tokio::select! {
            received = waiting.recv_many(&mut messages, BATCH) => received > 0,
            _ = ticks.tick() => true,
        };
        let (mut entries, mut flushes, mut last) = (Vec::new(), Vec::new(), !open);
        for message in messages.drain(..) {
            match message {
                Message::Entry(entry) => entries.push(*entry),
                Message::Flush(done) => flushes.push(done),
                Message::Finish(done) => {
                    flushes.push(done);
                    last = true;
                }
            }
        }
        let repeats = &state.repeats;
        entries.extend(if last { repeats.all() } else { repeats.due(Instant::now()) });
        append(&store, entries, &state).await;
        for done in flushes {
            let _ = done.send(());
        }
        if !open {
            return;
        }
    }
}

/// Writes the entries, and retries until that succeeds.
async fn append(store: &Store, mut entries: Vec<AuditEntry>, state: &State) {
    let lost = state.unreported.swap(0, Ordering::Relaxed);
    if lost > 0 {
        let entry = AuditEntry::new("audit.entries_lost").severity(Severity::Error);
        entries.push(entry.detail("count", lost));
    }
    if entries.is_empty() {
        return;
    }
    entries.iter_mut().for_each(AuditEntry::redact);
    loop {
        match store.append_audit(&entries).await {
            Ok(newest) => {
                state.newest.send_replace(newest);
                if state.failing.swap(false, Ordering::Relaxed) {
                    info!("The audit log is written again");
                }
                return;
            }
            Err(problem) => {
                if !state.failing.swap(true, Ordering::Relaxed) {
                    let error = with_causes(&problem);
                    error!(
                        error,
                        "Failed to write the audit log; retrying until the disk accepts it"
                    );
                }
                sleep(PAUSE).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AuditFilter;

    #[tokio::test]
    async fn a_full_disk_delays_rows_and_loses_none() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let audit = Audit::open(store.clone()).await.unwrap();
        sqlx::query("PRAGMA max_page_count = 1").execute(&store.pool).await.unwrap();
        // More than the free space of the last pages.
        let names: Vec<_> = (0..200).map(|n| format!("{n} {}", "x".repeat(250))).collect();
        for name in &names {
            audit.record(AuditEntry::new("token.created").target(name));
        }
        while !audit.status().failing {
            sleep(Duration::from_millis(5)).await;
        }
        sqlx::query("PRAGMA max_page_count = 1000000").execute(&store.pool).await.unwrap();
        audit.finish().await;
        assert_eq!(audit.status(), AuditStatus { lost: 0, failing: false });
        let rows = store.audit_after(&AuditFilter::default(), 0, 1000).await.unwrap();
        let written: Vec<_> = rows.into_iter().map(|row| row.target.unwrap()).collect();
        assert_eq!(written, names);
        assert_eq!(store.verify_audit().await.unwrap().broken, None);
    }

    #[tokio::test]
    async fn entries_beyond_the_limit_are_counted_and_the_callers_never_wait() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let audit = Audit::open(store.clone()).await.unwrap();
        // On this single thread, the writer does not run before the next await.
        for _ in 0..WAITING + 7 {
            audit.record(AuditEntry::new("token.created"));
        }
        assert_eq!(audit.status().lost, 7);
        let written = WAITING as u64 + 1;
        audit.newest().wait_for(|newest| *newest >= written).await.unwrap();
        let filter = AuditFilter { event_type: Some("audit.*".into()), ..AuditFilter::default() };
        let rows = store.audit_after(&filter, 0, 10).await.unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!(
            (rows[0].event_type.as_str(), &rows[0].details["count"]),
            ("audit.entries_lost", &7.into())
        );
    }

    #[tokio::test]
    async fn repetitions_of_an_unfinished_minute_are_written_at_the_end_of_the_server() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let audit = Audit::open(store.clone()).await.unwrap();
        for _ in 0..1000 {
            let entry = AuditEntry::new("egress.denied").target("10.0.0.1:80");
            audit.record_repeated("sess", "10.0.0.1:80", entry);
        }
        audit.flush().await;
        assert_eq!(store.newest_audit().await.unwrap(), 1);
        audit.finish().await;
        let rows = store.audit_after(&AuditFilter::default(), 0, 10).await.unwrap();
        let counts: Vec<_> = rows.iter().map(|row| row.details["count"].clone()).collect();
        assert_eq!(counts, [1, 999]);
        assert_eq!(*audit.newest().borrow(), 2);
    }

    #[tokio::test]
    async fn a_secret_that_was_used_is_in_no_row() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let audit = Audit::open(store.clone()).await.unwrap();
        let value = "sk-of-the-audit-log-0123456789";
        let kind = helmdeck_wire::vault::CredentialType::ApiKey;
        crate::vault::remember(&crate::vault::Secret::new("a-key", kind, value.into()));
        let entry = AuditEntry::new("egress.denied").target(format!("{value}.example:443"));
        audit.record(entry.detail("rule", vec![format!("no {value}")]));
        audit.finish().await;
        let rows = store.audit_after(&AuditFilter::default(), 0, 10).await.unwrap();
        assert_eq!(rows[0].target.as_deref(), Some("•••.example:443"));
        assert_eq!(rows[0].details["rule"][0], "no •••");
        assert_eq!(store.verify_audit().await.unwrap().broken, None);
    }
}
