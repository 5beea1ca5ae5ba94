//! Records actions asynchronously and in batches. Actions never wait for the disk.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use helmdeck_store::{Store, StoreError};
use helmdeck_wire::{SessionId, error::with_causes, history::ActionRecord};
use time::OffsetDateTime;
use tokio::{
    sync::{mpsc, watch},
    time::{sleep, timeout},
};
use tracing::{error, warn};

use crate::ends::Ends;

/// Maximum number of records in memory while the disk does not respond.
const WAITING: usize = 20_000;
/// Maximum number of records per write.
const BATCH: usize = 500;
/// Pause between two attempts to write.
const PAUSE: Duration = Duration::from_secs(1);
/// How long the adoption of a session waits for the store.
const READ_DEADLINE: Duration = Duration::from_secs(2);
/// How long shutdown waits for pending records.
const FLUSH_DEADLINE: Duration = Duration::from_secs(5);

/// A record with the owner of its session.
type Entry = (String, ActionRecord);

/// A cheap handle to the journal.
#[derive(Clone)]
pub struct Journal {
    shared: Arc<Shared>,
}

struct Shared {
    next: AtomicU64,
    entries: mpsc::Sender<Entry>,
    /// Number of the last record written.
    written: watch::Receiver<u64>,
    ends: Ends,
    store: Store,
}

impl Journal {
    /// Opens the journal, continuing the numbers in the store.
    pub async fn open(store: Store) -> Result<Self, StoreError> {
        let last = store.last_action().await?;
        let ends = Ends::load(store.clone()).await?;
        let (entries, waiting) = mpsc::channel(WAITING);
        let (done, written) = watch::channel(last);
        helmdeck_task::spawn(write(store.clone(), waiting, done));
        let shared = Shared { next: AtomicU64::new(last + 1), entries, written, ends, store };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// How sessions ended.
    pub(crate) fn ends(&self) -> &Ends {
        &self.shared.ends
    }

    /// When an agent last acted in a session. `None` also if the store does not answer.
    pub(crate) async fn last_agent_action(&self, session: &SessionId) -> Option<OffsetDateTime> {
        timeout(READ_DEADLINE, self.shared.store.last_agent_action(session)).await.ok()?.ok()?
    }

    /// The number for the next record.
    pub(crate) fn number(&self) -> u64 {
        self.shared.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Queues a record.
    pub(crate) fn add(&self, owner: String, record: ActionRecord) {
        if let Err(mpsc::error::TrySendError::Full(_)) =
            self.shared.entries.try_send((owner, record))
        {
            warn!(
                "The journal is full because the disk does not respond: actions are not recorded"
            );
        }
    }

    /// Waits until all records so far are written, with a deadline.
    pub async fn flush(&self) {
        let last = self.shared.next.load(Ordering::Relaxed) - 1;
        let mut written = self.shared.written.clone();
        if timeout(FLUSH_DEADLINE, written.wait_for(|at| *at >= last)).await.is_err() {
            warn!("Some actions were not recorded");
        }
    }
}

async fn write(store: Store, mut waiting: mpsc::Receiver<Entry>, done: watch::Sender<u64>) {
    let mut batch = Vec::with_capacity(BATCH);
    while waiting.recv_many(&mut batch, BATCH).await > 0 {
        let last = batch.iter().map(|(_, record)| record.seq).max().unwrap_or_default();
        let mut said = false;
        while let Err(problem) = store.add_actions(&batch).await {
            if !said {
                error!(error = with_causes(&problem), "Failed to record actions; retrying");
                said = true;
            }
            sleep(PAUSE).await;
        }
        batch.clear();
        done.send_if_modified(|at| {
            let later = last > *at;
            *at = last.max(*at);
            later
        });
    }
}
