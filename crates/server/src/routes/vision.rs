//! Reaching a goal on the desktop of a session with a model.

use std::{convert::Infallible, pin::Pin, time::Duration};

use axum::response::{
    IntoResponse,
    sse::{Event, KeepAlive, Sse},
};
use futures_util::stream;
use helmdeck_gateway::{ModelId, Run as Share, nanos};
use helmdeck_vision::{GatewayModel, Goal, Limits, Run, SessionEyes, Step, eyes::Success, run};
use helmdeck_wire::{ErrorCode, Scope};
use http::HeaderValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use crate::{
    error::{ApiError, ApiResult},
    password::random_hex,
    tool::{Call, Outcome, Payload},
};

/// Keeps connections alive through proxies.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Steps that wait for a slow client. Later ones are only in the result.
const WAITING_STEPS: usize = 256;

/// Reach a goal on the desktop with a model: look, act and observe, until the goal is verified.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VisionAct {
    /// What to reach, in words. `goal` is accepted too.
    #[schemars(length(min = 1, max = 10_000))]
    instruction: String,
    /// The model, `provider/model`; defaults to that of the server.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200))]
    model: Option<String>,
    /// Most replies of the model; defaults to 20.
    #[serde(default = "steps")]
    #[schemars(range(min = 1, max = 200))]
    max_steps: u32,
    /// Most tokens of one reply of the model; defaults to 4096.
    #[serde(default = "tokens")]
    #[schemars(range(min = 64, max = 32_000))]
    max_tokens: u32,
    /// Most seconds; defaults to 900.
    #[serde(default = "seconds")]
    #[schemars(range(min = 1, max = 3600))]
    timeout_s: u32,
    /// What the model may use.
    #[serde(default)]
    budget: VisionBudget,
    /// When the goal is reached, by conditions as in `verify`.
    #[serde(default)]
    success: Success,
    /// Sites and programs that may be used besides those where it starts and that the instruction
    /// names.
    #[serde(default)]
    #[schemars(length(max = 50), inner(length(min = 1, max = 300)))]
    allow: Vec<String>,
}

/// What a run may use of models.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VisionBudget {
    /// Tokens.
    #[serde(default)]
    tokens: Option<u64>,
    /// Dollars.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 100_000.0))]
    usd: Option<f64>,
}

fn steps() -> u32 {
    20
}

fn tokens() -> u32 {
    4096
}

fn seconds() -> u32 {
    900
}

/// Accepts `goal` for `instruction`.
pub fn renamed(mut fields: Map<String, Value>) -> ApiResult<Map<String, Value>> {
    if !fields.contains_key("instruction")
        && let Some(goal) = fields.remove("goal")
    {
        fields.insert("instruction".to_owned(), goal);
    }
    Ok(fields)
}

/// A run that is ready to begin.
struct Prepared {
    goal: Goal,
    limits: Limits,
    eyes: SessionEyes,
    model: GatewayModel,
}

/// Reaches a goal.
pub async fn act(call: Call, input: VisionAct) -> ApiResult<Outcome> {
    let prepared = prepare(&call, input)?;
    if call.flag("stream") {
        return Ok(events(prepared));
    }
    let Prepared { goal, limits, eyes, model } = prepared;
    let run = run(&goal, &eyes, &model, &limits, &|_| {}).await;
    Outcome::json(&run)
}

fn prepare(call: &Call, input: VisionAct) -> ApiResult<Prepared> {
    let session = call.session()?;
    session.ensure_desktop()?;
    if !call.caller.may(Scope::MODELS_USE) {
        let message = format!("the token lacks the scope {}", Scope::MODELS_USE.as_str());
        return Err(ApiError::new(ErrorCode::Forbidden, message));
    }
    let settings = call.app.models.settings();
    let id = match &input.model {
        None => settings.default_model.clone(),
        Some(id) => ModelId::parse(id).map_err(|invalid| {
            ApiError::new(ErrorCode::InvalidInput, invalid.to_string())
                .of_field("model", Vec::new())
        })?,
    };
    if settings.provider(&id.provider).is_none() {
        let message = format!("{id}: no provider is called {}", id.provider);
        return Err(ApiError::new(ErrorCode::ModelNotFound, message).of_field("model", Vec::new()));
    }
    let mut share = Share {
        id: format!("vision-{}", random_hex().map_err(ApiError::internal)?),
        ..Share::default()
    };
    share.budget.tokens = input.budget.tokens;
    share.budget.cost_nanos = input.budget.usd.map(nanos);
    let caller = call.caller.clone();
    Ok(Prepared {
        goal: Goal { instruction: input.instruction, success: input.success, allowed: input.allow },
        limits: Limits {
            max_steps: input.max_steps,
            max_tokens: input.max_tokens,
            time: Duration::from_secs(input.timeout_s.into()),
            stop: None,
        },
        eyes: SessionEyes::new(session, caller.clone()),
        model: GatewayModel::new(call.app.models.clone(), caller, id, true, share),
    })
}

/// A run whose steps are sent as they happen. A client that disconnects ends it.
struct Feed {
    work: Option<Pin<Box<dyn Future<Output = Run> + Send>>>,
    steps: mpsc::Receiver<Step>,
    run: Option<Run>,
}

fn events(prepared: Prepared) -> Outcome {
    let (sender, steps) = mpsc::channel(WAITING_STEPS);
    let work = async move {
        let Prepared { goal, limits, eyes, model } = prepared;
        run(&goal, &eyes, &model, &limits, &move |step: &Step| {
            let _ = sender.try_send(step.clone());
        })
        .await
    };
    let feed = Feed { work: Some(Box::pin(work)), steps, run: None };
    let events = stream::unfold(feed, async |mut feed| {
        let event = feed.next().await?;
        Some((Ok::<_, Infallible>(event), feed))
    });
    let events = Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE));
    let media_type = HeaderValue::from_static("text/event-stream");
    let body = events.into_response().into_body();
    Outcome::new(Payload::Stream { media_type, size: None, body })
}

impl Feed {
    async fn next(&mut self) -> Option<Event> {
        if let Some(work) = &mut self.work {
            tokio::select! {
                biased;
                Some(step) = self.steps.recv() => return Some(event("step", &step)),
                run = work => {
                    self.run = Some(run);
                    self.work = None;
                }
            }
        }
        if let Ok(step) = self.steps.try_recv() {
            return Some(event("step", &step));
        }
        self.run.take().map(|run| event("result", &run))
    }
}

fn event(name: &str, data: &impl Serialize) -> Event {
    Event::default().event(name).data(serde_json::to_string(data).unwrap_or_default())
}
