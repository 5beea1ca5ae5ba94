//! What packs share that reach a goal on a desktop.

use std::{
    convert::Infallible,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use futures_util::{
    FutureExt,
    future::{BoxFuture, pending},
};
use helmdeck_vision::{
    Dialect, Goal, Outcome, Run, RunLimits, Step,
    eyes::{Eyes, Model, ModelFailure, Reply, Spent},
    report::FinalShot,
    run,
};
use helmdeck_wire::{ErrorCode, browser::Until, nature::Style, point::Pixel};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;

use crate::{
    Context, ModelBudget, NewRun, PackError, PackResult, RegisteredRun, RunEnd,
    page::{PageUrl, open},
};

/// How a goal is reached.
pub struct Wanted<'a> {
    /// The goal.
    pub goal: Goal,
    /// The model, or the server's default.
    pub model: Option<&'a str>,
    /// Most replies of the model.
    pub max_steps: u32,
    /// What the model may use.
    pub budget: ModelBudget,
}

/// How a goal was reached, or why it was not.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "VisionPackOutput")]
pub struct Reached {
    /// Whether the goal is reached, as observation shows.
    pub completed: bool,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it ended like this.
    pub reason: String,
    /// What shows that the goal is reached.
    pub evidence: Vec<String>,
    /// What a person has to agree to. Call again with `allow` if it is right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// What the model said at its end.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub answer: String,
    /// Every step.
    pub steps: Vec<Step>,
    /// Number of steps.
    pub steps_used: usize,
    /// The last action, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_action: Option<String>,
    /// The model; absent if none was needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How often the model was asked.
    pub model_calls: u32,
    /// What all calls used.
    pub spent: Spent,
    /// The screen at the end, as an artifact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact_key: Option<String>,
}

/// How long a question of a run waits for a person who watches.
const PATIENCE: Duration = Duration::from_secs(60);
/// Why a run ends that a person stopped.
const STOPPED: &str = "the run was stopped";

/// Stands for the model in structured mode: pictures are for models, and none is asked.
struct NoModel;

impl Model for NoModel {
    fn id(&self) -> &'static str {
        "none"
    }

    fn dialect(&self) -> Dialect {
        Dialect::JsonText
    }

    fn ask(&self, _: Value) -> BoxFuture<'_, Result<Reply, ModelFailure>> {
        async { Err(ModelFailure::Denied(NO_ELEMENT.to_owned())) }.boxed()
    }
}

/// Why structured mode ends without a result.
const NO_ELEMENT: &str = "not exactly one element has the name that the instruction gives, or using it did not reach \
                          the goal; `_mode: vision` shows the screen to a model";

/// Opens a page in the session's browser, if the call names one.
pub async fn open_first(context: &Context, url: Option<&PageUrl>) -> PackResult<()> {
    if let Some(url) = url {
        context.progress(0.05, "loading the page");
        open(context, url, Until::Load).await?;
    }
    Ok(())
}

/// A run that people can watch, pause, stop and answer.
pub struct Watched<'a> {
    context: &'a Context,
    registered: Box<dyn RegisteredRun>,
    /// The number of the last step.
    last: AtomicU32,
}

impl<'a> Watched<'a> {
    /// Registers a run in the job's session: one at a time.
    pub fn begin(
        context: &'a Context,
        instruction: &str,
        model: Option<String>,
        max_steps: u32,
    ) -> PackResult<Self> {
        let run = NewRun {
            session: context.session()?.clone(),
            caller: context.caller.clone(),
            job: Some(context.job.clone()),
            mode: context.mode,
            instruction: instruction.to_owned(),
            model,
            max_steps,
            patience: PATIENCE,
        };
        Ok(Self { context, registered: context.runs.begin(run)?, last: AtomicU32::new(0) })
    }

    /// Registers a run that reaches a goal.
    pub fn toward(context: &'a Context, wanted: &Wanted<'_>) -> PackResult<Self> {
        let model = asked_model(context, wanted.model)?;
        Self::begin(context, &wanted.goal.instruction, model, wanted.max_steps)
    }

    /// The screen.
    pub fn eyes(&self) -> &dyn Eyes {
        self.registered.eyes()
    }

    /// Waits while it is paused. Fails if a person stopped it.
    pub async fn ready(&self) -> PackResult<()> {
        self.unless_stopped(async {
            self.eyes().ready().await;
            Ok(())
        })
        .await
    }

    /// Waits for `work`. Fails if a person stops the run meanwhile.
    pub async fn unless_stopped<T>(
        &self,
        work: impl Future<Output = PackResult<T>>,
    ) -> PackResult<T> {
        let mut stopped = self.registered.stopped();
        tokio::select! {
            biased;
            // It never ends if nobody can stop it any more.
            true = async { stopped.wait_for(|stop| *stop).await.is_ok() } => {
                Err(PackError::new(ErrorCode::Cancelled, STOPPED))
            }
            done = work => done,
        }
    }

    /// Shows people where it acts next.
    pub async fn aim(&self, at: Pixel) {
        self.registered.aim(at).await;
    }

    /// The number of the next step.
    pub fn next_step(&self) -> u32 {
        self.last.load(Ordering::Relaxed).saturating_add(1)
    }

    /// Records a step.
    pub fn note(&self, step: &Step) {
        self.last.fetch_max(step.step, Ordering::Relaxed);
        self.registered.note(step);
    }

    /// Runs the loop. Progress tells people what happens. It ends early if `enough` says so of a step.
    pub async fn follow(
        &self,
        wanted: &Wanted<'_>,
        enough: &(dyn Fn(&Step) -> bool + Send + Sync),
    ) -> PackResult<Run> {
        let (halt, halted) = watch::channel(false);
        let limits =
            RunLimits { max_steps: wanted.max_steps, stop: Some(halted), ..RunLimits::default() };
        let watcher = |step: &Step| {
            if enough(step) {
                halt.send_replace(true);
            }
        };
        tokio::select! {
            done = self.run(wanted, &limits, &watcher) => done,
            never = self.forward_stop(&halt) => match never {},
        }
    }

    /// Ends the loop when a person stops the run.
    async fn forward_stop(&self, halt: &watch::Sender<bool>) -> Infallible {
        let mut stopped = self.registered.stopped();
        if stopped.wait_for(|stop| *stop).await.is_ok() {
            halt.send_replace(true);
        }
        pending().await
    }

    async fn run(
        &self,
        wanted: &Wanted<'_>,
        limits: &RunLimits,
        watcher: &(dyn Fn(&Step) + Send + Sync),
    ) -> PackResult<Run> {
        let context = self.context;
        let eyes = self.eyes();
        // Steps before these have their own numbers.
        let before = self.last.load(Ordering::Relaxed);
        let told = |step: &Step| {
            let part = f64::from(step.step) / f64::from(limits.max_steps.max(1));
            context.progress(0.1 + 0.8 * part, step.line());
            self.note(&Step { step: before.saturating_add(step.step), ..step.clone() });
            watcher(step);
        };
        let numbered = |mut done: Run| {
            let steps = done.steps.iter_mut();
            steps.for_each(|step| step.step = before.saturating_add(step.step));
            done
        };
        context.progress(0.1, "looking");
        if context.mode == Style::Structured {
            let mut done = run(&wanted.goal, eyes, &NoModel, limits, &told).await;
            if done.outcome == Outcome::Denied && done.reason == NO_ELEMENT {
                done.outcome = Outcome::Stuck;
            }
            (done.model, done.dialect, done.model_calls) = (None, None, 0);
            return Ok(numbered(done));
        }
        let id = context.models.choose_vision(wanted.model)?;
        let model = context.models.on_desktop(id, wanted.budget);
        Ok(numbered(run(&wanted.goal, eyes, &model, limits, &told).await))
    }

    /// Registers how it ended, and returns why.
    pub fn finish(&self, end: RunEnd) -> String {
        self.registered.finish(end)
    }

    /// Registers why it ended, if it failed before its first step.
    pub fn registering<T>(&self, done: PackResult<T>) -> PackResult<T> {
        if let Err(error) = &done
            && let Some(outcome) = outcome_of(error)
        {
            self.finish(RunEnd {
                outcome,
                reason: error.to_string(),
                evidence: Vec::new(),
                answer: String::new(),
                steps: Vec::new(),
                spent: Spent::default(),
            });
        }
        done
    }
}

/// How a run ends with an error after which nothing that it does can help. Nothing for other errors: those of one
/// step, and those of the job.
pub fn outcome_of(error: &PackError) -> Option<Outcome> {
    match error.code() {
        ErrorCode::ControlTaken | ErrorCode::ControlHeld | ErrorCode::Private => {
            Some(Outcome::ControlTaken)
        }
        ErrorCode::SessionUnavailable
        | ErrorCode::DisplayLost
        | ErrorCode::ResourceExhausted
        | ErrorCode::Cancelled => Some(Outcome::Cancelled),
        ErrorCode::Forbidden => Some(Outcome::Denied),
        _ => None,
    }
}

/// The id of the model that a pack would ask.
pub fn asked_model(context: &Context, wanted: Option<&str>) -> PackResult<Option<String>> {
    if context.mode == Style::Structured {
        return Ok(None);
    }
    Ok(Some(context.models.choose_vision(wanted)?.to_string()))
}

/// Reaches a goal, and stores the last picture.
pub async fn reach(watched: Watched<'_>, wanted: &Wanted<'_>) -> PackResult<Reached> {
    let context = watched.context;
    let mut done = watched.follow(wanted, &|_| false).await?;
    done.reason = watched.finish(RunEnd::from(&done));
    drop(watched);
    reached(context, done).await
}

async fn reached(context: &Context, done: Run) -> PackResult<Reached> {
    let artifact_key = match &done.final_shot {
        Some(shot) => Some(keep(context, shot).await?),
        None => None,
    };
    let last = done.steps.iter().rev().find_map(|step| step.action.as_ref());
    Ok(Reached {
        completed: done.completed,
        outcome: done.outcome,
        reason: done.reason,
        evidence: done.evidence,
        question: done.question,
        answer: done.answer,
        final_action: last.map(helmdeck_vision::Action::label),
        steps_used: done.steps.len(),
        steps: done.steps,
        model: done.model,
        model_calls: done.model_calls,
        spent: done.spent,
        artifact_key,
    })
}

async fn keep(context: &Context, shot: &FinalShot) -> PackResult<String> {
    let bytes = BASE64_STANDARD.decode(&shot.data).unwrap_or_default();
    let ending = shot.media_type.rsplit('/').next().unwrap_or("png");
    let name = format!("screen.{ending}");
    Ok(context.artifacts.put(&name, &shot.media_type, Bytes::from(bytes)).await?.key)
}
