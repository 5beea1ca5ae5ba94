//! What packs share that reach a goal on a desktop.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use futures_util::{FutureExt, future::BoxFuture};
use helmdeck_vision::{
    Dialect, Goal, Limits, Outcome, Run, SessionEyes, Step,
    eyes::{Model, ModelFailure, Reply, Spent},
    report::FinalShot,
    run,
};
use helmdeck_wire::{browser::Until, nature::Style};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::{
    Context, ModelBudget, PackResult,
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

/// Reaches a goal, and stores the last picture.
pub async fn reach(context: &Context, wanted: &Wanted<'_>) -> PackResult<Reached> {
    let limits = Limits { max_steps: wanted.max_steps, ..Limits::default() };
    let done = follow(context, wanted, &limits, &|_| {}).await?;
    reached(context, done).await
}

/// Runs the loop. Progress tells people what happens.
pub async fn follow(
    context: &Context,
    wanted: &Wanted<'_>,
    limits: &Limits,
    watcher: &(dyn Fn(&Step) + Send + Sync),
) -> PackResult<Run> {
    let eyes = SessionEyes::new(context.session()?.clone(), context.caller.clone());
    let told = |step: &Step| {
        let part = f64::from(step.step) / f64::from(limits.max_steps.max(1));
        context.progress(0.1 + 0.8 * part, step.line());
        watcher(step);
    };
    context.progress(0.1, "looking");
    if context.mode == Style::Structured {
        let mut done = run(&wanted.goal, &eyes, &NoModel, limits, &told).await;
        if done.outcome == Outcome::Denied && done.reason == NO_ELEMENT {
            done.outcome = Outcome::Stuck;
        }
        (done.model, done.dialect, done.model_calls) = (None, None, 0);
        return Ok(done);
    }
    let id = context.models.choose_vision(wanted.model)?;
    let model = context.models.on_desktop(id, wanted.budget);
    Ok(run(&wanted.goal, &eyes, &model, limits, &told).await)
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
