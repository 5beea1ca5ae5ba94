//! Runs of vision: one at a time in a session, which people can watch, pause, stop and answer.

mod status;
mod watched_eyes;

use std::{collections::HashMap, sync::Arc, time::Duration};

use futures_util::{FutureExt, future::BoxFuture};
use helmdeck_packs::{NewRun, PackError, PackResult, RegisteredRun, RunEnd, RunRegistry};
use helmdeck_sessions::{Caller, Session};
use helmdeck_vision::{
    Outcome, Step,
    eyes::{Eyes, Spent},
};
use helmdeck_wire::{ErrorCode, SessionId, history::ActorKind, point::Pixel};
use parking_lot::Mutex;
use serde_json::json;
use time::OffsetDateTime;
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::{sleep, timeout},
};

use crate::{
    error::{ApiError, ApiResult},
    password::random_hex,
};

pub use status::{Answered, Decision, Question, RunState, VisionStatus};
pub use watched_eyes::WatchedEyes;

/// Sessions whose last run is kept. The runs that ended first are forgotten first.
const KEPT: usize = 200;
/// Steps of a run that are kept.
const KEPT_STEPS: usize = 1000;
/// How long people see the target before something happens there.
const AIM: Duration = Duration::from_millis(300);
/// Characters of a question.
const QUESTION: usize = 1000;

/// The current or last run of each session.
#[derive(Default)]
pub struct VisionRuns {
    runs: Mutex<HashMap<SessionId, Arc<VisionRun>>>,
}

/// What a listener of one run receives.
#[derive(Debug)]
pub enum RunEvent {
    /// A step.
    Step(Box<Step>),
    /// A question to a person.
    Question(Question),
}

/// A run.
pub struct VisionRun {
    session: Session,
    /// Who began it.
    caller: Caller,
    /// How long a question waits for a person.
    patience: Duration,
    status: Mutex<VisionStatus>,
    stop: watch::Sender<bool>,
    paused: watch::Sender<bool>,
    /// The answer to the current question.
    answer: Mutex<Option<oneshot::Sender<bool>>>,
    told: Option<mpsc::Sender<RunEvent>>,
}

/// Ends a run in the registry, also if its client disconnects or its job is cancelled.
pub struct Guard {
    run: Arc<VisionRun>,
    eyes: WatchedEyes,
}

impl VisionRuns {
    /// Registers a run, unless one is under way in the session.
    pub fn register(&self, new: NewRun, told: Option<mpsc::Sender<RunEvent>>) -> PackResult<Guard> {
        let NewRun { session, caller, patience, .. } = new;
        let id = session.id().clone();
        let status = VisionStatus {
            run_id: format!("vision-{}", run_id()?),
            session_id: id.clone(),
            job_id: new.job,
            by: caller.actor(),
            mode: new.mode,
            instruction: new.instruction,
            model: new.model,
            max_steps: new.max_steps,
            state: RunState::Running,
            began_at: OffsetDateTime::now_utc(),
            ended_at: None,
            steps: Vec::new(),
            spent: Spent::default(),
            target: None,
            question: None,
            decisions: Vec::new(),
            outcome: None,
            reason: String::new(),
            evidence: Vec::new(),
            answer: String::new(),
        };
        let run = Arc::new(VisionRun {
            session,
            caller,
            patience,
            status: Mutex::new(status),
            stop: watch::channel(false).0,
            paused: watch::channel(false).0,
            answer: Mutex::default(),
            told,
        });
        let mut runs = self.runs.lock();
        if let Some(current) = runs.get(&id).filter(|run| !run.is_over()) {
            let status = current.status.lock();
            let message = format!(
                "the run {} of {} is under way in this session: wait for its end, or stop it",
                status.run_id, status.by.subject
            );
            return Err(PackError::new(ErrorCode::VisionRunning, message));
        }
        if runs.len() >= KEPT && !runs.contains_key(&id) {
            let ended = |run: &Arc<VisionRun>| run.status.lock().ended_at;
            let over = runs.iter().filter_map(|(id, run)| Some((ended(run)?, id.clone())));
            if let Some((_, oldest)) = over.min_by_key(|(at, _)| *at) {
                runs.remove(&oldest);
            }
        }
        runs.insert(id, run.clone());
        drop(runs);
        run.session.used_by(new.mode);
        run.changed();
        Ok(Guard { eyes: WatchedEyes::new(run.clone()), run })
    }

    /// Forgets runs of sessions that are gone.
    pub fn forget(&self, is_gone: impl Fn(&SessionId) -> bool) {
        self.runs.lock().retain(|session, _| !is_gone(session));
    }

    /// Forgets the runs of a caller that have ended, and returns how many there were.
    pub fn erase(&self, subject: &str) -> u64 {
        let is_theirs = |run: &Arc<VisionRun>| run.is_over() && run.caller.subject == subject;
        let mut runs = self.runs.lock();
        let before = runs.len();
        runs.retain(|_, run| !is_theirs(run));
        u64::try_from(before.saturating_sub(runs.len())).unwrap_or(u64::MAX)
    }

    /// The current or last run of a session.
    pub fn of(&self, session: &SessionId) -> Option<Arc<VisionRun>> {
        self.runs.lock().get(session).cloned()
    }

    /// The run that is under way in a session.
    pub fn current(&self, session: &SessionId) -> ApiResult<Arc<VisionRun>> {
        self.of(session).filter(|run| !run.is_over()).ok_or_else(|| {
            ApiError::new(ErrorCode::NotFound, "no vision run is under way in this session")
        })
    }
}

fn run_id() -> PackResult<String> {
    random_hex().map_err(|error| PackError::new(ErrorCode::Internal, error.to_string()))
}

impl VisionRun {
    /// What it does.
    pub fn status(&self) -> VisionStatus {
        self.status.lock().clone()
    }

    fn is_over(&self) -> bool {
        self.status.lock().state == RunState::Ended
    }

    /// Ends it.
    pub fn stop(&self, caller: &Caller) {
        self.stop.send_replace(true);
        self.steered(caller, "vision_stop");
    }

    /// Lets it wait before its next step, or continue.
    pub fn pause(&self, caller: &Caller, pause: bool) {
        if self.paused.send_replace(pause) == pause {
            return;
        }
        let mut status = self.status.lock();
        status.state = match (status.state, pause) {
            (RunState::Running, true) => RunState::Paused,
            (RunState::Paused, false) => RunState::Running,
            (other, _) => other,
        };
        drop(status);
        self.changed();
        self.steered(caller, if pause { "vision_pause" } else { "vision_resume" });
    }

    /// Answers its question. Only people may.
    pub fn answer(&self, caller: &Caller, id: &str, decision: Decision) -> ApiResult<Answered> {
        if caller.kind != ActorKind::Human {
            let message = "only a person may answer: ask one to open the page of the session";
            return Err(ApiError::new(ErrorCode::PersonRequired, message));
        }
        let mut status = self.status.lock();
        let question = status.question.take_if(|question| question.id == id);
        let waiting = self.answer.lock().take_if(|_| question.is_some());
        let (Some(question), Some(waiting)) = (question, waiting) else {
            let message = "this question does not wait for an answer any more";
            return Err(
                ApiError::new(ErrorCode::NotFound, message).of_field("question_id", Vec::new())
            );
        };
        let answered = Answered {
            question: question.text,
            decision,
            by: Some(caller.actor()),
            at: OffsetDateTime::now_utc(),
        };
        status.decisions.push(answered.clone());
        drop(status);
        let _ = waiting.send(decision == Decision::Allow);
        let detail = json!({ "decision": decision, "question": answered.question });
        self.session.vision_steered(caller, "vision_answer", detail);
        Ok(answered)
    }

    fn steered(&self, caller: &Caller, action: &'static str) {
        let detail = json!({ "run_id": self.status.lock().run_id });
        self.session.vision_steered(caller, action, detail);
    }

    /// Whether a person could answer: the one who began the run, or one who watches.
    fn person_present(&self) -> bool {
        self.caller.kind == ActorKind::Human || self.session.is_watched()
    }

    /// Asks a person. Nothing if there is no person to ask; without an answer in time, no.
    async fn ask(&self, text: &str) -> Option<bool> {
        if self.patience.is_zero() || !self.person_present() {
            return None;
        }
        let asked_at = OffsetDateTime::now_utc();
        let question = Question {
            id: random_hex().ok()?,
            text: text.chars().take(QUESTION).collect(),
            asked_at,
            expires_at: asked_at + self.patience,
        };
        let (sender, answer) = oneshot::channel();
        self.waits(question.clone(), sender);
        let answered = timeout(self.patience, answer).await.ok().and_then(Result::ok);
        self.goes_on(question, answered);
        Some(answered.unwrap_or(false))
    }

    fn waits(&self, question: Question, sender: oneshot::Sender<bool>) {
        *self.answer.lock() = Some(sender);
        let mut status = self.status.lock();
        status.question = Some(question.clone());
        status.state = RunState::Waiting;
        drop(status);
        self.changed();
        self.tell(RunEvent::Question(question));
    }

    fn goes_on(&self, question: Question, answered: Option<bool>) {
        self.answer.lock().take();
        let mut status = self.status.lock();
        status.question = None;
        status.state = match *self.paused.borrow() {
            true => RunState::Paused,
            false => RunState::Running,
        };
        if answered.is_none() {
            let at = OffsetDateTime::now_utc();
            let decision = Decision::Deny;
            status.decisions.push(Answered { question: question.text, decision, by: None, at });
        }
        drop(status);
        self.changed();
    }

    /// Waits while it is paused.
    async fn ready(&self) {
        let _ = self.paused.subscribe().wait_for(|paused| !paused).await;
    }

    /// Shows people where it acts next.
    async fn aim(&self, target: Option<Pixel>) {
        self.status.lock().target = target;
        self.changed();
        if target.is_some() && self.session.is_watched() {
            sleep(AIM).await;
        }
    }

    /// Records a step.
    pub fn note(&self, step: &Step) {
        let mut status = self.status.lock();
        if let Some(spent) = step.spent {
            status.spent.add(spent);
        }
        if status.steps.len() < KEPT_STEPS {
            status.steps.push(step.clone());
        }
        drop(status);
        self.changed();
        self.tell(RunEvent::Step(Box::new(step.clone())));
    }

    /// Sends to the listener of the run. One that is too slow misses it; the result has the steps.
    fn tell(&self, told: RunEvent) {
        if let Some(sender) = &self.told {
            let _ = sender.try_send(told);
        }
    }

    /// Publishes what it does, without its steps.
    fn changed(&self) {
        let status = self.status.lock();
        let told = json!({
            "session_id": status.session_id,
            "run_id": status.run_id,
            "state": status.state,
            "steps": status.steps.len(),
            "target": status.target,
            "question": status.question,
            "outcome": status.outcome,
        });
        drop(status);
        self.session.vision_changed(told);
    }
}

impl Guard {
    /// The run.
    pub fn run(&self) -> &Arc<VisionRun> {
        &self.run
    }
}

impl RunRegistry for VisionRuns {
    fn begin(&self, run: NewRun) -> PackResult<Box<dyn RegisteredRun>> {
        Ok(Box::new(self.register(run, None)?))
    }
}

impl RegisteredRun for Guard {
    fn eyes(&self) -> &dyn Eyes {
        &self.eyes
    }

    fn stopped(&self) -> watch::Receiver<bool> {
        self.run.stop.subscribe()
    }

    fn aim(&self, at: Pixel) -> BoxFuture<'_, ()> {
        self.run.aim(Some(at)).boxed()
    }

    fn note(&self, step: &Step) {
        self.run.note(step);
    }

    /// Corrects the reason if a question was not answered.
    fn finish(&self, end: RunEnd) -> String {
        let mut reason = end.reason;
        let mut status = self.run.status.lock();
        let silent = status.decisions.last().filter(|last| last.by.is_none());
        if let (Outcome::Denied, Some(silent)) = (end.outcome, silent) {
            let seconds = self.run.patience.as_secs();
            reason = format!("no person answered within {seconds} s: {}", silent.question);
        }
        status.outcome = Some(end.outcome);
        status.reason.clone_from(&reason);
        status.evidence = end.evidence;
        status.answer = end.answer;
        status.steps = end.steps;
        status.steps.truncate(KEPT_STEPS);
        status.spent = end.spent;
        reason
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut status = self.run.status.lock();
        if status.outcome.is_none() {
            status.outcome = Some(Outcome::Cancelled);
            let reason = match status.job_id {
                None => "the client disconnected",
                Some(_) => "the job was cancelled, or it failed",
            };
            reason.clone_into(&mut status.reason);
        }
        status.state = RunState::Ended;
        status.ended_at = Some(OffsetDateTime::now_utc());
        status.question = None;
        status.target = None;
        drop(status);
        self.run.changed();
    }
}
