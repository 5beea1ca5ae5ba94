//! Deliveries of webhooks.

use helmdeck_store::{AuditEntry, DeliveryFilter};
use helmdeck_wire::{
    job::JobId,
    webhook::{Delivery, DeliveryId, DeliveryList, DeliveryState},
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{error::ApiResult, tool::Call};

/// How many deliveries are listed by default.
const LISTED: u32 = 50;

/// Which deliveries to list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeliveryQuery {
    /// Only deliveries in this state; `dead` lists dead letters.
    #[serde(default)]
    state: Option<DeliveryState>,
    /// Only the delivery of this job.
    #[serde(default)]
    #[schemars(with = "Option<String>", regex(pattern = JobId::PATTERN))]
    #[schemars(extend("x-expected" = JobId::EXPECTED))]
    job_id: Option<JobId>,
    /// How many; 50 by default.
    #[serde(default)]
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
    /// The `next_cursor` of the last page.
    #[serde(default)]
    #[schemars(length(max = 64))]
    cursor: Option<String>,
}

/// A delivery.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneDelivery {
    /// Id of the delivery.
    #[schemars(extend("x-error" = "not_found"))]
    id: DeliveryId,
}

/// Lists deliveries.
pub async fn list(call: Call, query: DeliveryQuery) -> ApiResult<DeliveryList> {
    let filter = DeliveryFilter {
        owner: None,
        state: query.state,
        job: query.job_id,
        before: query.cursor.map(DeliveryId::new),
        limit: query.limit.unwrap_or(LISTED),
    };
    Ok(call.app.packs.deliveries(&call.caller, filter).await?)
}

/// Sends a delivery again.
pub async fn replay(call: Call, wanted: OneDelivery) -> ApiResult<Delivery> {
    let delivery = call.app.packs.replay(&call.caller, &wanted.id).await?;
    let entry = AuditEntry::new("webhook.replayed").actor(&call.caller);
    call.app.audit.record(entry.target(wanted.id.as_str()));
    Ok(delivery)
}
