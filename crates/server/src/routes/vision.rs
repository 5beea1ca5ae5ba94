//! Reaching a goal on the desktop of a session with a model.

use std::{convert::Infallible, pin::Pin, sync::Arc, time::Duration};

use axum::response::{
    IntoResponse,
    sse::{Event, KeepAlive, Sse},
};
use futures_util::stream;
use helmdeck_gateway::{ModelId, Run as Share, nanos};
use helmdeck_packs::{NewRun, RegisteredRun as _, RunEnd};
use helmdeck_store::AuditEntry;
use helmdeck_vision::{GatewayModel, Goal, Run, RunLimits, eyes::Success, run};
use helmdeck_wire::{ErrorCode, Scope, nature::Style};
use http::HeaderValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use crate::{
    error::{ApiError, ApiResult},
    tool::{Call, NoInput, Outcome, Payload},
    vision_runs::{Answered, Decision, Guard, RunEvent, VisionRun, VisionStatus},
};

/// Keeps connections alive through proxies.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Events that wait for a slow client. Later steps are only in the result.
const WAITING_EVENTS: usize = 256;

/// Reach a goal on the desktop with a model: look, act and observe, until the goal is verified. This may
/// take many minutes: begin with `vision.start` if the client gives up earlier.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VisionAct {
    /// What to reach, in words. `goal` is accepted too.
    #[schemars(length(min = 1, max = 10_000))]
    instruction: String,
    /// The model, `provider/model`; defaults to `vision_model` of the server.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200), regex(pattern = helmdeck_gateway::MODEL_ID_PATTERN))]
    #[schemars(extend("x-expected" = helmdeck_gateway::MODEL_ID_EXPECTED))]
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
    /// Whether the model decides every action, also where exactly one element has the name that the
    /// instruction gives.
    #[serde(default)]
    model_only: bool,
    /// Sites and programs that may be used besides those where it starts and that the instruction
    /// names.
    #[serde(default)]
    #[schemars(length(max = 50), inner(length(min = 1, max = 300)))]
    allow: Vec<String>,
    /// Seconds that a question waits for a person who watches; defaults to 60. Without an answer the
    /// run ends as denied. With 0, nobody is asked and the run ends with `needs_confirmation`.
    #[serde(default = "patience")]
    #[schemars(range(min = 0, max = 3600))]
    confirm_timeout_s: u32,
}

/// The current or last run of a session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VisionShown {
    /// The run; null if there was none.
    run: Option<VisionStatus>,
}

/// Answer the question of a run. Only people may.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VisionAnswer {
    /// Id of the question.
    #[schemars(length(min = 1, max = 100))]
    question_id: String,
    /// Whether the run may do it.
    decision: Decision,
}

/// Choose how a session is used.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetActionMode {
    /// `structured`: by names of elements. `vision`: by pictures and a model, on a desktop.
    mode: Style,
}

/// How a session is used.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ActionModeSet {
    /// How.
    action_mode: Style,
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

fn patience() -> u32 {
    60
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
    limits: RunLimits,
    guard: Guard,
    model: GatewayModel,
}

impl Prepared {
    async fn work(self) -> Run {
        let Self { goal, limits, guard, model } = self;
        let mut run = run(&goal, guard.eyes(), &model, &limits, &|step| guard.note(step)).await;
        run.reason = guard.finish(RunEnd::from(&run));
        run
    }
}

/// Reaches a goal.
pub async fn act(call: Call, input: VisionAct) -> ApiResult<Outcome> {
    if call.flag("stream") {
        let (sender, told) = mpsc::channel(WAITING_EVENTS);
        return Ok(events(prepare(&call, input, Some(sender))?, told));
    }
    Outcome::json(&prepare(&call, input, None)?.work().await)
}

/// Begins a run that continues without its client.
pub async fn start(call: Call, input: VisionAct) -> ApiResult<VisionStatus> {
    let prepared = prepare(&call, input, None)?;
    let run = prepared.guard.run().clone();
    let (closing, spans) = (call.app.closing.clone(), helmdeck_telemetry::current());
    call.app.live.spawn(async move {
        // The guard says that it ended.
        let _ = closing.run_until_cancelled(spans.scope(prepared.work())).await;
    });
    Ok(run.status())
}

/// Shows the current or last run.
pub async fn show(call: Call, _: NoInput) -> ApiResult<VisionShown> {
    let session = call.session()?;
    let run = call.app.vision_runs.of(session.id());
    Ok(VisionShown { run: run.map(|run| run.status()) })
}

fn current(call: &Call) -> ApiResult<Arc<VisionRun>> {
    call.app.vision_runs.current(call.session()?.id())
}

/// Chooses how a session is used.
pub async fn set_action_mode(call: Call, input: SetActionMode) -> ApiResult<ActionModeSet> {
    let session = call.session()?;
    session.set_action_mode(&call.caller, input.mode)?;
    Ok(ActionModeSet { action_mode: session.action_mode() })
}

/// Ends the current run.
pub async fn stop(call: Call, _: NoInput) -> ApiResult<VisionStatus> {
    let run = current(&call)?;
    run.stop(&call.caller);
    Ok(run.status())
}

/// Pauses the current run.
pub async fn pause(call: Call, _: NoInput) -> ApiResult<VisionStatus> {
    let run = current(&call)?;
    run.pause(&call.caller, true);
    Ok(run.status())
}

/// Lets the current run continue.
pub async fn resume(call: Call, _: NoInput) -> ApiResult<VisionStatus> {
    let run = current(&call)?;
    run.pause(&call.caller, false);
    Ok(run.status())
}

/// Answers the question of the current run.
pub async fn answer(call: Call, input: VisionAnswer) -> ApiResult<Answered> {
    let session = call.session()?;
    let answered = current(&call)?.answer(&call.caller, &input.question_id, input.decision)?;
    let entry = AuditEntry::new("vision.answered").actor(&call.caller).session(session.id());
    let entry = entry.target(match input.decision {
        Decision::Allow => "allow",
        Decision::Deny => "deny",
    });
    call.app.audit.record(entry.detail("question", answered.question.as_str()));
    Ok(answered)
}

fn prepare(
    call: &Call,
    input: VisionAct,
    told: Option<mpsc::Sender<RunEvent>>,
) -> ApiResult<Prepared> {
    let session = call.session()?;
    session.ensure_desktop()?;
    if !call.caller.may(Scope::MODELS_USE) {
        let message = format!("the token lacks the scope {}", Scope::MODELS_USE.as_str());
        return Err(ApiError::new(ErrorCode::Forbidden, message));
    }
    let settings = call.app.models.settings();
    let id = match &input.model {
        None => settings.vision_model(),
        Some(id) => ModelId::parse(id).map_err(|invalid| {
            ApiError::new(ErrorCode::InvalidInput, invalid.to_string())
                .of_field("model", Vec::new())
        })?,
    };
    if settings.provider(&id.provider).is_none() {
        let message = format!("{id}: no provider is called {}", id.provider);
        return Err(ApiError::new(ErrorCode::ModelNotFound, message).of_field("model", Vec::new()));
    }
    let caller = call.caller.clone();
    let goal =
        Goal { instruction: input.instruction, success: input.success, allowed: input.allow };
    let new = NewRun {
        session,
        caller: caller.clone(),
        job: None,
        mode: Style::Vision,
        instruction: goal.instruction.clone(),
        model: Some(id.to_string()),
        max_steps: input.max_steps,
        patience: Duration::from_secs(input.confirm_timeout_s.into()),
    };
    let guard = call.app.vision_runs.register(new, told)?;
    let limits = RunLimits {
        max_steps: input.max_steps,
        max_tokens: input.max_tokens,
        time: Duration::from_secs(input.timeout_s.into()),
        model_only: input.model_only,
        stop: Some(guard.stopped()),
    };
    let mut share = Share { id: guard.run().status().run_id, ..Share::default() };
    share.budget.tokens = input.budget.tokens;
    share.budget.cost_nanos = input.budget.usd.map(nanos);
    let model = GatewayModel::new(call.app.models.clone(), caller, id, true, share);
    Ok(Prepared { goal, limits, guard, model })
}

/// A run whose steps and questions are sent as they happen. A client that disconnects ends it.
struct Feed {
    work: Option<Pin<Box<dyn Future<Output = Run> + Send>>>,
    told: mpsc::Receiver<RunEvent>,
    run: Option<Run>,
}

fn events(prepared: Prepared, told: mpsc::Receiver<RunEvent>) -> Outcome {
    let feed = Feed { work: Some(Box::pin(prepared.work())), told, run: None };
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
                Some(told) = self.told.recv() => return Some(told_event(&told)),
                run = work => {
                    self.run = Some(run);
                    self.work = None;
                }
            }
        }
        if let Ok(told) = self.told.try_recv() {
            return Some(told_event(&told));
        }
        self.run.take().map(|run| event("result", &run))
    }
}

fn told_event(told: &RunEvent) -> Event {
    match told {
        RunEvent::Step(step) => event("step", step),
        RunEvent::Question(question) => event("question", question),
    }
}

fn event(name: &str, data: &impl Serialize) -> Event {
    Event::default().event(name).data(serde_json::to_string(data).unwrap_or_default())
}
