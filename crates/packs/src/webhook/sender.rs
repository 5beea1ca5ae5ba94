//! Makes the attempts that are due.

use std::{collections::HashMap, sync::Arc, time::Duration};

use helmdeck_sessions::Clock;
use helmdeck_store::{Store, StoreError, StoredDelivery, Vault};
use helmdeck_wire::{
    error::with_causes,
    webhook::{DeliveryId, DeliveryState},
};
use http::Method;
use parking_lot::Mutex;
use time::OffsetDateTime;
use tokio::{sync::Notify, task::JoinSet, time::timeout};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::{message::Message, retry::Attempt};
use crate::{HttpClient, HttpRequest, PackError, PackResult};

/// How long an attempt may take.
const ATTEMPT: Duration = Duration::from_secs(10);
/// How many attempts are made at a time.
const AT_A_TIME: usize = 16;
/// How many attempts are made at a time for one owner: receivers that hang delay nobody else.
const PER_OWNER: usize = 4;
/// How many deliveries are read at once: those under way, and as many others.
const READ: u32 = 2 * AT_A_TIME as u32;
/// How many of them are of one owner.
const READ_PER_OWNER: u32 = 2 * PER_OWNER as u32;
/// Pause after the store failed.
const STORE_PAUSE: Duration = Duration::from_secs(10);
/// How long attempts that are under way may take when the server stops.
const FINISH: Duration = Duration::from_secs(2);
/// How much of an answer is read. Only its status matters.
const MAX_ANSWER: usize = 4096;

/// Sends deliveries. Cheap to clone.
#[derive(Clone)]
pub struct Sender {
    pub store: Store,
    pub vault: Vault,
    pub http: HttpClient,
    pub clock: Clock,
    /// Signalled when a delivery becomes due.
    pub due: Arc<Notify>,
}

/// Deliveries that are being attempted, with their owners.
type UnderWay = Arc<Mutex<HashMap<DeliveryId, String>>>;

/// Removes a delivery from those under way, even if its attempt panics.
struct Entered {
    id: DeliveryId,
    under_way: UnderWay,
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.under_way.lock().remove(&self.id);
    }
}

impl Sender {
    /// Makes attempts until `closing`. An attempt that a stop interrupts is repeated by the next
    /// server.
    pub async fn run(self, closing: CancellationToken) {
        let (mut attempts, under_way) = (JoinSet::new(), UnderWay::default());
        loop {
            let wake = match self.start_due(&mut attempts, &under_way).await {
                Ok(wake) => wake,
                Err(error) => {
                    let error = with_causes(&error);
                    warn!(error, "Failed to read webhook deliveries; retrying later");
                    Some(self.clock.now_utc() + STORE_PAUSE)
                }
            };
            tokio::select! {
                () = closing.cancelled() => break,
                () = self.due.notified() => {}
                () = self.until(wake) => {}
                Some(_) = attempts.join_next() => {}
            }
        }
        let finish = async { while attempts.join_next().await.is_some() {} };
        // Those that take longer are repeated.
        let _ = timeout(FINISH, finish).await;
    }

    /// Starts the attempts that are due. Returns when the next one is, if there is room for it.
    async fn start_due(
        &self,
        attempts: &mut JoinSet<()>,
        under_way: &UnderWay,
    ) -> Result<Option<OffsetDateTime>, StoreError> {
        let pending = self.store.pending_deliveries(READ, READ_PER_OWNER).await?;
        let now = self.clock.now_utc();
        for stored in pending {
            let (id, due) = (&stored.delivery.id, stored.delivery.next_attempt_at);
            let owner = &stored.owner;
            let of_owner = {
                let under_way = under_way.lock();
                if under_way.contains_key(id) {
                    continue;
                }
                under_way.values().filter(|other| *other == owner).count()
            };
            if attempts.len() >= AT_A_TIME {
                return Ok(None);
            }
            if let Some(due) = due.filter(|due| *due > now) {
                return Ok(Some(due));
            }
            // The end of one of them starts the next one.
            if of_owner >= PER_OWNER {
                continue;
            }
            under_way.lock().insert(id.clone(), owner.clone());
            let entered = Entered { id: id.clone(), under_way: under_way.clone() };
            let sender = self.clone();
            attempts.spawn(async move {
                sender.attempt(stored).await;
                drop(entered);
            });
        }
        Ok(None)
    }

    async fn until(&self, time: Option<OffsetDateTime>) {
        let Some(time) = time else { return std::future::pending().await };
        let left = Duration::try_from(time - self.clock.now_utc()).unwrap_or_default();
        self.clock.sleep_until(self.clock.now() + left).await;
    }

    /// Makes one attempt and records it.
    async fn attempt(&self, stored: StoredDelivery) {
        let attempt = self.send(&stored).await.unwrap_or_else(|error| Attempt::failed(&error));
        let delivery = attempt.record(stored.delivery, self.clock.now_utc());
        let (id, job) = (delivery.id.as_str(), delivery.job_id.as_str());
        let (attempts, status) = (delivery.attempts, delivery.last_status);
        let error = delivery.last_error.as_deref();
        match delivery.state {
            DeliveryState::Dead => {
                warn!(
                    delivery.id = id,
                    job.id = job,
                    attempts,
                    status,
                    error,
                    "Webhook is a dead letter"
                );
            }
            _ => {
                info!(delivery.id = id, job.id = job, attempts, status, error, "Webhook attempted")
            }
        }
        if let Err(error) = self.store.save_attempt(&delivery).await {
            let error = with_causes(&error);
            warn!(
                delivery.id = id,
                error, "Failed to record a webhook attempt; it will be repeated"
            );
            // Not at once: a full disk does not recover in a moment.
            self.clock.sleep_until(self.clock.now() + STORE_PAUSE).await;
        }
    }

    async fn send(&self, stored: &StoredDelivery) -> PackResult<Attempt> {
        let delivery = &stored.delivery;
        let now = self.clock.now_utc();
        let refused = |why: &str| Ok(Attempt::Refused { status: None, why: why.to_owned() });
        let Some(job) = self.store.job(&delivery.job_id).await? else {
            return refused("the job was removed");
        };
        let Ok(secret) = self.vault.open_webhook(stored) else {
            return refused("its secret cannot be opened: the vault has another key");
        };
        let secret = secret.as_ref().map(|secret| secret.text()).transpose();
        let secret = secret.map_err(PackError::from)?;
        let Message { headers, body } =
            Message::new(delivery, &job.view(now), secret, now.unix_timestamp())?;
        let request = HttpRequest {
            method: Method::POST,
            url: delivery.url.clone(),
            headers,
            body,
            max_bytes: MAX_ANSWER,
            timeout: ATTEMPT,
        };
        Ok(Attempt::answered(&self.http.send_once(request).await?))
    }
}
