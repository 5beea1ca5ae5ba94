//! The loop: look, ask, act, observe, until the goal is verified.

mod aim;
mod boxes;
mod clock;
mod perform;
mod stuck;
mod targets;
mod turn;
mod unaided;
mod verdict;

use std::time::{Duration, Instant};

use futures_util::future::pending;
use serde_json::Value;
use tokio::{sync::watch, time::sleep};

use crate::{
    action::Action,
    clause::{Clause, clauses},
    conversation::{Conversation, Picture},
    dialect::Dialect,
    evidence::{PerformedAction, Seen},
    eyes::{self, Eyes, Failure, Model, Scene, Shot, Spent, Success},
    fence::Fence,
    prompt,
    report::{FinalShot, Outcome, Run, Step},
    scope::Scope,
    view::View,
};
use clock::Clock;
use stuck::Repetition;
use verdict::{PATIENCE_MS, found};

/// How often a screen that cannot be read is read, and the time between.
const READS: u32 = 3;
const BETWEEN_READS: Duration = Duration::from_millis(300);
/// Turns in a row that a run survives although the screen could not be read.
const MOST_UNREAD: u32 = 2;

/// What to reach.
#[derive(Debug, Clone, Default)]
pub struct Goal {
    /// In words.
    pub instruction: String,
    /// As conditions; may be empty.
    pub success: Success,
    /// Sites and programs that the run may use besides those where it starts.
    pub allowed: Vec<String>,
}

/// How far a run may go.
#[derive(Debug, Clone)]
pub struct RunLimits {
    /// Most replies of the model.
    pub max_steps: u32,
    /// Most tokens of one reply.
    pub max_tokens: u32,
    /// Longest time, without pauses and the time that people take to decide.
    pub time: Duration,
    /// Whether the model decides every action, also where an element's name is enough.
    pub model_only: bool,
    /// Becomes true when the run shall stop.
    pub stop: Option<watch::Receiver<bool>>,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            max_steps: 20,
            max_tokens: 4096,
            time: Duration::from_secs(900),
            model_only: false,
            stop: None,
        }
    }
}

/// The end of a run.
#[derive(Debug)]
struct End {
    outcome: Outcome,
    reason: String,
    evidence: Vec<String>,
    question: Option<String>,
    /// Whether it ends only because the screen could not be read.
    unread: bool,
}

/// What a run knows.
struct Runner<'a> {
    goal: &'a Goal,
    eyes: &'a dyn Eyes,
    model: &'a dyn Model,
    limits: &'a RunLimits,
    watcher: &'a (dyn Fn(&Step) + Send + Sync),
    clauses: Vec<Clause>,
    scope: Scope,
    fence: &'a Fence<'a>,
    clock: &'a Clock,
    scene: Scene,
    performed: Vec<PerformedAction>,
    boxes: Vec<(Clause, bool)>,
    steps: Vec<Step>,
    number: u32,
    calls: u32,
    claims: u32,
    answer: String,
    spent: Spent,
    repetition: Repetition,
}

/// Reaches a goal, and calls `watcher` after each step.
pub async fn run(
    goal: &Goal,
    eyes: &dyn Eyes,
    model: &dyn Model,
    limits: &RunLimits,
    watcher: &(dyn Fn(&Step) + Send + Sync),
) -> Run {
    let began = Instant::now();
    let (fence, clock) = (Fence::new(eyes), Clock::new());
    let mut runner = Runner {
        goal,
        eyes,
        model,
        limits,
        watcher,
        clauses: clauses(&goal.instruction),
        scope: Scope::default(),
        fence: &fence,
        clock: &clock,
        scene: Scene::default(),
        performed: Vec::new(),
        boxes: Vec::new(),
        steps: Vec::new(),
        number: 0,
        calls: 0,
        claims: 0,
        answer: String::new(),
        spent: Spent::default(),
        repetition: Repetition::default(),
    };
    let end = tokio::select! {
        end = runner.work() => end,
        failure = fence.keep() => End::from(failure),
        () = stopped(limits.stop.clone()) => End::new(Outcome::Cancelled, "the run was stopped"),
        () = clock.passes(limits.time) => {
            let reason = format!("the run took longer than {} s", limits.time.as_secs());
            End::new(Outcome::Budget, reason)
        }
    };
    fence.end().await;
    eyes.tell("").await;
    // A session that is over has no screen.
    let shot = eyes.look(model.dialect().size_rule()).await.ok();
    let asked = runner.calls > 0;
    Run {
        outcome: end.outcome,
        completed: end.outcome == Outcome::Completed,
        reason: end.reason,
        evidence: end.evidence,
        answer: runner.answer,
        question: end.question,
        steps: runner.steps,
        model: asked.then(|| model.id().to_owned()),
        dialect: asked.then(|| model.dialect().name().to_owned()),
        model_calls: runner.calls,
        spent: runner.spent,
        duration_ms: millis(began),
        final_shot: shot.map(FinalShot::from),
    }
}

async fn stopped(stop: Option<watch::Receiver<bool>>) {
    if let Some(mut stop) = stop
        && stop.wait_for(|stop| *stop).await.is_ok()
    {
        return;
    }
    // Nobody can stop it any more.
    pending().await
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

impl End {
    fn new(outcome: Outcome, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self { outcome, reason, evidence: Vec::new(), question: None, unread: false }
    }

    fn completed(reason: &str, evidence: Vec<String>) -> Self {
        Self { evidence, ..Self::new(Outcome::Completed, reason) }
    }

    fn question(question: &str) -> Self {
        let question = question.to_owned();
        let reason = format!("a person has to decide: {question}");
        Self { question: Some(question), ..Self::new(Outcome::NeedsConfirmation, reason) }
    }
}

impl From<Failure> for End {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Bad(reason) => {
                let reason = format!("the screen could not be read: {reason}");
                Self { unread: true, ..Self::new(Outcome::Cancelled, reason) }
            }
            Failure::ControlTaken(reason) => Self::new(Outcome::ControlTaken, reason),
            Failure::Denied(reason) => Self::new(Outcome::Denied, reason),
            Failure::Gone(reason) => Self::new(Outcome::Cancelled, reason),
        }
    }
}

impl Runner<'_> {
    async fn work(&mut self) -> End {
        match self.all_steps().await {
            Ok(end) | Err(end) => end,
        }
    }

    async fn all_steps(&mut self) -> Result<End, End> {
        self.scene = self.read(|eyes| eyes.scene()).await?;
        self.scope = Scope::new(&self.scene, &self.goal.instruction, &self.goal.allowed);
        self.fence.limit(self.scope.sites()).await?;
        if let Some(verified) = self.holds(0).await? {
            return Ok(End::completed("the conditions held from the beginning", found(&verified)));
        }
        if !self.limits.model_only {
            match self.unaided().await {
                Ok(None) => {}
                // The model may find a way.
                Err(end) if end.unread => self.record(Step {
                    problem: Some(end.reason),
                    without_model: true,
                    ..Step::default()
                }),
                Ok(Some(end)) | Err(end) => return Ok(end),
            }
        }
        let dialect = self.model.dialect();
        let shot = self.read(|eyes| eyes.look(dialect.size_rule())).await?;
        let mut conversation = Conversation {
            dialect,
            view: view_of(dialect, &shot),
            system: prompt::system(dialect),
            goal: String::new(),
            first: picture_of(&shot, false),
            exchanges: Vec::new(),
        };
        let targets = self.targets().await;
        let mut shown = prompt::WHOLE.to_owned();
        if let Some((part, words)) = self.part_with(&conversation, &targets, None).await? {
            (conversation.first, shown) = (part, words);
        }
        shown.push_str(&prompt::candidates(dialect, &conversation.view, &targets.found));
        conversation.goal = prompt::goal(&self.goal.instruction, &self.done(), &shown);
        let mut unread = 0;
        for number in 1..=self.limits.max_steps {
            self.number = number;
            if self.limits.stop.as_ref().is_some_and(|stop| *stop.borrow()) {
                return Ok(End::new(Outcome::Cancelled, "the run was stopped"));
            }
            match self.turn(&mut conversation).await {
                Ok(None) => unread = 0,
                Ok(Some(end)) => return Ok(end),
                Err(end) if end.unread && unread < MOST_UNREAD => {
                    unread += 1;
                    let step = Step { problem: Some(end.reason), ..Step::default() };
                    let hint = "The screen could not be read after your last step, which may have had an effect: \
                                take a screenshot.";
                    self.bad(&mut conversation, Value::Null, step, hint);
                }
                Err(end) => return Err(end),
            }
        }
        // What the last step began may have become true only now.
        if let Some(verified) = self.holds(PATIENCE_MS).await? {
            return Ok(End::completed("the conditions hold", found(&verified)));
        }
        let reason = format!("the goal was not reached in {} steps", self.limits.max_steps);
        Ok(End::new(Outcome::MaxSteps, reason))
    }

    /// Reads the screen, and tries again if that fails.
    async fn read<T>(&self, read: impl Fn(&dyn Eyes) -> eyes::Seen<'_, T>) -> Result<T, Failure> {
        for _ in 1..READS {
            match read(self.eyes).await {
                Err(Failure::Bad(_)) => sleep(BETWEEN_READS).await,
                done => return done,
            }
        }
        read(self.eyes).await
    }

    /// What was seen so far.
    fn seen(&self) -> Seen<'_> {
        Seen { performed: &self.performed, scene: &self.scene, boxes: &self.boxes }
    }

    /// What was done without a model, in words.
    fn done(&self) -> String {
        let done = self.steps.iter().filter(|step| step.problem.is_none());
        let done = done.filter_map(|step| step.action.as_ref().map(Action::label));
        done.collect::<Vec<_>>().join(", ")
    }

    /// Asks the person who watches.
    async fn permitted(&self, question: &str) -> Result<(), End> {
        match self.clock.without(self.eyes.confirm(question)).await {
            Some(true) => Ok(()),
            Some(false) => Err(End::new(Outcome::Denied, format!("a person refused: {question}"))),
            None => Err(End::question(question)),
        }
    }

    /// Waits while the run is paused.
    async fn ready(&self) {
        self.clock.without(self.eyes.ready()).await;
    }

    async fn tell(&self, what: &str) {
        let model = self.model.id();
        let status = match self.number {
            0 => format!("without a model · {what}"),
            number => format!("{model} · step {number}/{} · {what}", self.limits.max_steps),
        };
        self.eyes.tell(&status).await;
    }

    fn record(&mut self, step: Step) {
        (self.watcher)(&step);
        self.steps.push(step);
    }
}

fn view_of(dialect: Dialect, shot: &Shot) -> View {
    dialect.view((shot.rect.width, shot.rect.height), shot.size)
}

fn picture_of(shot: &Shot, part: bool) -> Picture {
    Picture {
        shot: shot.id.clone(),
        media_type: shot.media_type.clone(),
        data: Some(shot.data.clone()),
        size: shot.size,
        part: part.then_some(shot.rect),
        suffices: !part,
    }
}

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default().trim_end()),
        None => text.to_owned(),
    }
}
