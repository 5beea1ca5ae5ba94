//! Where runs of packs are registered, so that people can watch, pause, stop and answer them.

use std::time::Duration;

use futures_util::future::BoxFuture;
use helmdeck_sessions::{Caller, Session};
use helmdeck_vision::{
    Outcome, Run, Step,
    eyes::{Eyes, Spent},
};
use helmdeck_wire::{job::JobId, nature::Style, point::Pixel};
use tokio::sync::watch;

use crate::PackResult;

/// A run that begins.
pub struct NewRun {
    /// Where it acts.
    pub session: Session,
    /// Who began it.
    pub caller: Caller,
    /// Its job, if a pack runs it.
    pub job: Option<JobId>,
    /// How it works.
    pub mode: Style,
    /// What to reach.
    pub instruction: String,
    /// The model; absent if none is asked.
    pub model: Option<String>,
    /// Most replies of the model.
    pub max_steps: u32,
    /// How long a question waits for a person.
    pub patience: Duration,
}

/// How a run ended.
#[derive(Debug, Clone)]
pub struct RunEnd {
    /// The outcome.
    pub outcome: Outcome,
    /// Why.
    pub reason: String,
    /// What shows that the goal is reached.
    pub evidence: Vec<String>,
    /// What the model said at its end.
    pub answer: String,
    /// Its steps.
    pub steps: Vec<Step>,
    /// What all calls of the model used.
    pub spent: Spent,
}

/// The registry of the server: one run at a time in a session.
pub trait RunRegistry: Send + Sync {
    /// Registers a run, unless one is under way in its session.
    fn begin(&self, run: NewRun) -> PackResult<Box<dyn RegisteredRun>>;
}

/// A registered run. It ends at the latest when it is dropped.
pub trait RegisteredRun: Send + Sync {
    /// The screen. It shows people where the run acts, waits while the run is paused, and asks them.
    fn eyes(&self) -> &dyn Eyes;
    /// Becomes true when a person stops the run.
    fn stopped(&self) -> watch::Receiver<bool>;
    /// Shows people where it acts next, for a moment before it does.
    fn aim(&self, at: Pixel) -> BoxFuture<'_, ()>;
    /// Records a step.
    fn note(&self, step: &Step);
    /// Registers the result, and returns the reason with what is known of people's answers.
    fn finish(&self, end: RunEnd) -> String;
}

impl From<&Run> for RunEnd {
    fn from(run: &Run) -> Self {
        Self {
            outcome: run.outcome,
            reason: run.reason.clone(),
            evidence: run.evidence.clone(),
            answer: run.answer.clone(),
            steps: run.steps.clone(),
            spent: run.spent,
        }
    }
}
