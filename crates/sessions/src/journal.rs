//! Writing down what was done. Actions never wait for the disk: they are written behind their
//! backs, many at once.

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

/// What is kept in memory while the disk does not take it.
const WAITING: usize = 20_000;
/// What is written at once.
const BATCH: usize = 500;
/// Between two tries to write.
const PAUSE: Duration = Duration::from_secs(1);
/// How long a session that is adopted waits for the store.
const READ_DEADLINE: Duration = Duration::from_secs(2);
/// How long the end waits for what is not written yet.
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
    /// The number of the last record that is written.
    written: watch::Receiver<u64>,
    ends: Ends,
    store: Store,
}

impl Journal {
    /// Goes on where the store ends.
    pub async fn open(store: Store) -> Result<Self, StoreError> {
        let last = store.last_action().await?;
        let ends = Ends::load(store.clone()).await?;
        let (entries, waiting) = mpsc::channel(WAITING);
        let (done, written) = watch::channel(last);
        tokio::spawn(write(store.clone(), waiting, done));
        let shared = Shared { next: AtomicU64::new(last + 1), entries, written, ends, store };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// How sessions ended.
    pub(crate) fn ends(&self) -> &Ends {
        &self.shared.ends
    }

    /// When an agent last did something in a session; none also if the store does not answer.
    pub(crate) async fn last_agent_action(&self, session: &SessionId) -> Option<OffsetDateTime> {
        timeout(READ_DEADLINE, self.shared.store.last_agent_action(session)).await.ok()?.ok()?
    }

    /// The number of the next record.
    pub(crate) fn number(&self) -> u64 {
        self.shared.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Writes a record down, soon.
    pub(crate) fn add(&self, owner: String, record: ActionRecord) {
        if let Err(mpsc::error::TrySendError::Full(_)) =
            self.shared.entries.try_send((owner, record))
        {
            warn!("The journal is full: the disk takes nothing, and actions go unrecorded");
        }
    }

    /// Waits until all that was done so far is written, or a moment.
    pub async fn flush(&self) {
        let last = self.shared.next.load(Ordering::Relaxed) - 1;
        let mut written = self.shared.written.clone();
        if timeout(FLUSH_DEADLINE, written.wait_for(|at| *at >= last)).await.is_err() {
            warn!("Some actions are not written down");
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
                error!(error = with_causes(&problem), "Actions cannot be written down; trying on");
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
