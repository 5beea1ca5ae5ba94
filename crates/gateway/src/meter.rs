//! Measures one call, and records it when it ends, however it ends.

use std::sync::Arc;

use helmdeck_store::{ModelCall, Store};
use helmdeck_telemetry::{ActiveSpan, Kind};
use helmdeck_wire::{error::with_causes, model::ModelOutcome};
use tokio::{runtime::Handle, time::Instant};
use tokio_util::task::TaskTracker;

use crate::{
    budget::Reservation,
    conversation::{Delta, Usage},
    estimate,
    models::{Facts, nanos},
};

/// Measures one call. Dropping it records the call: as cancelled, unless something else is known.
pub struct Meter {
    /// The row, as far as it is known at the start.
    row: ModelCall,
    began: Instant,
    price: Option<Facts>,
    /// Released after the row is written, so that no other call slips in between.
    reservation: Option<Reservation>,
    /// Tokens of the request, by our own estimate.
    estimated_input: u64,
    /// Bytes of the answer so far.
    seen: usize,
    usage: Option<Usage>,
    outcome: ModelOutcome,
    records: Arc<Records>,
    span: ActiveSpan,
}

/// Where calls are recorded.
pub struct Records {
    /// The store.
    pub store: Store,
    /// Rows that are being written.
    pub tasks: TaskTracker,
}

impl Meter {
    /// Begins to measure. `operation` is its name in traces, `row` says who calls what.
    pub fn new(
        operation: &'static str,
        row: ModelCall,
        price: Option<Facts>,
        reservation: Reservation,
        records: Arc<Records>,
    ) -> Self {
        let mut span =
            helmdeck_telemetry::start(|| format!("{operation} {}", row.model), Kind::Client);
        span.set("gen_ai.operation.name", operation);
        span.set("gen_ai.provider.name", row.provider.as_str());
        span.set("gen_ai.request.model", row.model.as_str());
        span.set("enduser.id", row.caller.as_str());
        Self {
            span,
            estimated_input: row.input_tokens,
            row: ModelCall { input_tokens: 0, ..row },
            began: Instant::now(),
            price,
            reservation: Some(reservation),
            seen: 0,
            usage: None,
            outcome: ModelOutcome::Cancelled,
            records,
        }
    }

    /// Notes a step of a streamed answer.
    pub fn see(&mut self, delta: &Delta) {
        match delta {
            Delta::Text(text) | Delta::Reasoning(text) | Delta::Arguments { text, .. } => {
                self.seen += text.len();
            }
            Delta::Usage(usage) => self.usage = Some(*usage),
            Delta::Failed(_) => self.outcome = ModelOutcome::Failed,
            Delta::End => self.outcome = ModelOutcome::Ok,
            Delta::Start { .. } | Delta::Call { .. } | Delta::Stop(_) => {}
        }
    }

    /// Notes the usage.
    pub fn used(&mut self, usage: Option<Usage>) {
        self.usage = usage.or(self.usage);
    }

    /// Says how the call ended.
    pub fn end(&mut self, outcome: ModelOutcome) {
        self.outcome = outcome;
    }

    /// Tokens of the whole call. Those of calls that the provider did not count are estimated.
    fn tally(&self) -> (Usage, bool) {
        let paid = match self.outcome {
            ModelOutcome::Refused
            | ModelOutcome::Key
            | ModelOutcome::RateLimited
            | ModelOutcome::Unreachable => false,
            // An error instead of an answer is free; one in the middle of it is not.
            ModelOutcome::Failed => self.seen > 0 || self.usage.is_some(),
            ModelOutcome::Ok
            | ModelOutcome::Timeout
            | ModelOutcome::Cut
            | ModelOutcome::Malformed
            | ModelOutcome::Cancelled => true,
        };
        if !paid {
            return (Usage::default(), false);
        }
        let complete = self.outcome == ModelOutcome::Ok;
        let seen = estimate::of_bytes(self.seen);
        match self.usage {
            Some(usage) if complete => (usage, false),
            // The counts of an unfinished answer may be those of its beginning.
            Some(usage) => (Usage { output: usage.output.max(seen), ..usage }, true),
            None => {
                let input = self.estimated_input;
                (Usage { input, output: seen, ..Usage::default() }, true)
            }
        }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        let (usage, estimated) = self.tally();
        let cost = usage.cost.map(nanos);
        let row = ModelCall {
            input_tokens: usage.input,
            cached_tokens: usage.cached,
            output_tokens: usage.output,
            estimated,
            cost_nanos: cost.or_else(|| self.price.as_ref().map(|price| price.cost(&usage))),
            latency_ms: u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX),
            outcome: self.outcome,
            ..self.row.clone()
        };
        self.span.set("gen_ai.usage.input_tokens", row.input_tokens);
        self.span.set("gen_ai.usage.output_tokens", row.output_tokens);
        if row.outcome != ModelOutcome::Ok {
            self.span.fail(row.outcome.as_str());
        }
        let (records, reservation) = (self.records.clone(), self.reservation.take());
        let Ok(runtime) = Handle::try_current() else { return };
        let tasks = records.tasks.clone();
        let writing = async move {
            if let Err(error) = records.store.add_model_call(&row).await {
                let error = with_causes(&error);
                tracing::warn!(error, "A call of a model cannot be recorded");
            }
            drop(reservation);
        };
        tasks.spawn_on(helmdeck_task::boxed(writing), &runtime);
    }
}
