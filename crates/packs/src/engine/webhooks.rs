//! Webhooks of jobs.

use helmdeck_sessions::Caller;
use helmdeck_store::{DeliveryFilter, NewDelivery, StoredDelivery, StoredJob};
use helmdeck_wire::{
    ErrorCode,
    job::JobId,
    webhook::{Delivery, DeliveryId, DeliveryList},
};
use tokio_util::sync::CancellationToken;

use super::{Engine, Services};
use crate::{PackError, PackResult, Webhook, webhook};

impl Engine {
    /// Sends webhooks until `closing`. Must run exactly once.
    pub async fn send_webhooks(self, closing: CancellationToken) {
        self.shared.webhooks.clone().run(closing).await;
    }

    /// Deliveries of the caller, newest first.
    pub async fn deliveries(
        &self,
        caller: &Caller,
        filter: DeliveryFilter,
    ) -> PackResult<DeliveryList> {
        let limit = filter.limit;
        let owner = caller.limited_to().map(str::to_owned);
        let filter = DeliveryFilter { owner, limit: limit + 1, ..filter };
        let mut stored = self.shared.services.store.deliveries(&filter).await?;
        let more = stored.len() > limit as usize;
        stored.truncate(limit as usize);
        let deliveries: Vec<_> = stored.into_iter().map(|stored| stored.delivery).collect();
        let last = deliveries.last().map(|delivery| delivery.id.to_string());
        Ok(DeliveryList { count: deliveries.len(), deliveries, next_cursor: last.filter(|_| more) })
    }

    /// Sends a delivery again, with a new series of attempts.
    pub async fn replay(&self, caller: &Caller, id: &DeliveryId) -> PackResult<Delivery> {
        let stored = self.own_delivery(caller, id).await?;
        let Services { store, clock, .. } = &self.shared.services;
        if !store.replay_delivery(id, clock.now_utc()).await? {
            let message = format!("job {} has not ended: it is sent then", stored.delivery.job_id);
            return Err(PackError::new(ErrorCode::NotReady, message));
        }
        self.shared.webhooks.due.notify_one();
        Ok(self.own_delivery(caller, id).await?.delivery)
    }

    async fn own_delivery(&self, caller: &Caller, id: &DeliveryId) -> PackResult<StoredDelivery> {
        let stored = self.shared.services.store.delivery(id).await?;
        stored.filter(|stored| caller.owns(&stored.owner)).ok_or_else(|| {
            let message = format!(
                "delivery {id} does not exist; GET /api/v1/webhooks/deliveries lists yours"
            );
            PackError::new(ErrorCode::NotFound, message)
        })
    }

    /// Stores a job with its webhook. Returns the job that has its idempotency key already.
    pub(super) async fn add(
        &self,
        job: &StoredJob,
        webhook: Option<&Webhook>,
    ) -> PackResult<Option<StoredJob>> {
        let Services { store, vault, .. } = &self.shared.services;
        let Some(Webhook { url, secret }) = webhook else {
            return Ok(store.add_job(job, None).await?);
        };
        let id = webhook::new_id()?;
        let key = vault.hold_key().await;
        let seal = |secret: &String| key.seal_webhook(&id, &job.owner, url, secret);
        let secret = secret.as_ref().map(seal).transpose()?;
        let new = NewDelivery { id: id.clone(), url: url.clone(), secret };
        Ok(store.add_job(job, Some(&new)).await?)
    }

    /// Whether an earlier job reports to the webhook of a repeated call.
    pub(super) async fn reports_to(
        &self,
        job: &JobId,
        webhook: Option<&Webhook>,
    ) -> PackResult<bool> {
        let Some(Webhook { url, .. }) = webhook else { return Ok(true) };
        let known = self.shared.services.store.delivery_of(job).await?;
        Ok(known.is_some_and(|stored| stored.delivery.url == *url))
    }
}
