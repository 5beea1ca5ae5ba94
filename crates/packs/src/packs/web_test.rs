//! `web.test`: a model tests a page, and assertions decide.

use helmdeck_vision::{
    Action, Fence, Goal, Outcome, Place, Step,
    eyes::{Failure, Spent, Success},
    keys,
};
use helmdeck_wire::{
    ErrorCode,
    browser::{Snapshot, Until},
    nature::{Nature, Style},
    pointer::Button,
    session::Mode,
    site::Site,
    verify::{Check, Condition, Verified, VerifyPage},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    Context, ModelBudget, ModelNeed, Pack, PackError, PackResult, Routing, RunEnd, SessionNeed,
    page::{PageUrl, open},
    page_tools::{self, Ask, ModelStep},
    vision_run::{Wanted, Watched, reach},
};

/// How long conditions may take to hold after a step.
const PATIENCE_MS: u32 = 2000;
/// How often a model may say that it is done while an assertion does not hold.
const MOST_CLAIMS: u32 = 3;
/// Tokens of one reply.
const REPLY_TOKENS: u32 = 1024;
/// Stands for what was typed.
const HIDDEN: &str = "•••";
/// Bytes of a snapshot that a model gets.
const SNAPSHOT_BYTES: u32 = 24_000;

/// Test a page with a model.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WebTest")]
struct Input {
    /// The address of the page.
    url: PageUrl,
    /// What to do on it, in words.
    #[schemars(length(min = 1, max = 10_000))]
    instruction: String,
    /// The model, `provider/model`; defaults to that of the server.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200), regex(pattern = helmdeck_gateway::MODEL_ID_PATTERN))]
    #[schemars(extend("x-expected" = helmdeck_gateway::MODEL_ID_EXPECTED))]
    model: Option<String>,
    /// Most replies of the model; defaults to 8.
    #[serde(default = "steps")]
    #[schemars(range(min = 1, max = 100))]
    max_steps: u32,
    /// Texts that the page must show at the end.
    #[serde(default)]
    #[schemars(length(max = 20), inner(length(min = 1, max = 10_000)))]
    assertions: Vec<String>,
    /// Conditions that must hold at the end, as in `verify`.
    #[serde(default)]
    success: Success,
    /// What the model may use.
    #[serde(default)]
    budget: ModelBudget,
    /// Sites that may be opened besides that of `url`.
    #[serde(default)]
    #[schemars(length(max = 50), inner(length(min = 1, max = 300)))]
    allow: Vec<String>,
}

fn steps() -> u32 {
    8
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WebTestOutput")]
struct Output {
    /// The address of the page at the end.
    url: String,
    /// Whether the test passed: the steps were done, and every assertion and condition held.
    completed: bool,
    /// `pass` or `fail`.
    result: &'static str,
    /// How it ended.
    outcome: Outcome,
    /// Why it ended like this.
    reason: String,
    /// Every step.
    steps: Vec<TestStep>,
    /// Number of steps.
    steps_used: usize,
    /// The page at the end, as an accessibility tree.
    final_snapshot: String,
    /// Whether every assertion and condition held at the end. False if there were none.
    assertions_passed: bool,
    /// What was found for each of them.
    evidence: Vec<String>,
    /// What a person has to agree to.
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<String>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// What all calls of the model used.
    spent: Spent,
}

/// A step of a test.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "WebTestStep")]
struct TestStep {
    /// What was done.
    tool: String,
    /// With what.
    #[serde(skip_serializing_if = "Value::is_null")]
    arguments: Value,
    /// What came of it.
    #[serde(skip_serializing_if = "String::is_empty")]
    result: String,
    /// Whether it failed.
    is_error: bool,
    /// Why the model did it.
    #[serde(skip_serializing_if = "String::is_empty")]
    reasoning: String,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("web.test", run)
        .doc(
            "Test a page: a model follows an instruction step by step, on snapshots of the page. The test passes \
             only if `assertions` (texts) and `success` (conditions as in verify) hold at the end, never because \
             the model says so. `_mode: vision` tests on a VISIBLE desktop, by pictures.",
        )
        .nature(Nature { open_world: true, ..Nature::in_browser() })
        .mode(Style::Structured)
        .model(ModelNeed::Always)
        .session(SessionNeed::OneShot(Mode::Headless))
        .timeout_s(1200)
        .example(
            "Sign in",
            json!({
                "url": "https://example.com/login",
                "instruction": "Sign in as ann with the password from the page",
                "assertions": ["Welcome, ann"],
            }),
        )
        .routing(Routing {
            accepts: &["url", "instruction", "assertions"],
            produces: &["outcome", "steps"],
            intent_keywords: &["test", "web", "page", "assert", "check", "verify", "flow", "qa"],
            typical_use: "Check that a flow of a site works, when its selectors are not known.",
            limitations: &["Without assertions or conditions a test never passes."],
        })
}

/// A test under way.
struct Test<'a> {
    context: &'a Context,
    input: &'a Input,
    sites: Vec<Site>,
    watched: &'a Watched<'a>,
    fence: &'a Fence<'a>,
    number: u32,
    steps: Vec<TestStep>,
    claims: u32,
    spent: Spent,
    url: String,
}

/// How a test ended.
struct End {
    outcome: Outcome,
    reason: String,
    question: Option<String>,
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    if context.mode == Style::Vision {
        return by_pictures(&context, &input).await;
    }
    let model = context.models.choose(input.model.as_deref())?;
    let named = Some(model.to_string());
    let watched = Watched::begin(&context, &input.instruction, named, input.max_steps)?;
    context.progress(0.05, "loading the page");
    let url = open(&context, &input.url, Until::Load).await?.acted.url;
    let allowed = input.allow.iter().map(String::as_str).chain([input.url.as_str()]);
    let fence = Fence::new(watched.eyes());
    let mut test = Test {
        context: &context,
        sites: allowed.filter_map(Site::of).collect(),
        input: &input,
        watched: &watched,
        fence: &fence,
        number: 0,
        steps: Vec::new(),
        claims: 0,
        spent: Spent::default(),
        url,
    };
    let mut ask = Ask::new(&input.instruction);
    // If it fails or is cancelled, the limit of sites ends with the run.
    let end = tokio::select! {
        end = test.all_steps(&model, &mut ask) => end?,
        failure = fence.keep() => End::from(failure),
    };
    let verified = verify(&context, &input, PATIENCE_MS).await?;
    let final_snapshot = snapshot(&context).await?.1;
    fence.end().await;
    watched.eyes().tell("").await;
    let Test { steps, spent, url, .. } = test;
    let mut output =
        output(end, verified, steps, (url, final_snapshot), Some(model.to_string()), spent);
    let steps = output.steps.iter().zip(1..).map(|(step, number)| step.shown(number)).collect();
    output.reason = watched.finish(RunEnd {
        outcome: output.outcome,
        reason: output.reason,
        evidence: output.evidence.clone(),
        answer: String::new(),
        steps,
        spent,
    });
    Ok(output)
}

fn output(
    end: End,
    verified: Option<Verified>,
    steps: Vec<TestStep>,
    (url, final_snapshot): (String, String),
    model: Option<String>,
    spent: Spent,
) -> Output {
    let assertions_passed = verified.as_ref().is_some_and(|verified| verified.holds);
    // A page may have changed since the model said that it is done.
    let completed = end.outcome == Outcome::Completed && assertions_passed;
    let outcome = match end.outcome {
        Outcome::Completed if !completed => Outcome::Unverified,
        outcome => outcome,
    };
    let evidence = verified.map_or(Vec::new(), |verified| {
        let line = |it: &helmdeck_wire::verify::Evidence| {
            let holds = if it.holds { "holds" } else { "does not hold" };
            format!("{} {holds}: {}", it.condition, it.found)
        };
        verified.evidence.iter().map(line).collect()
    });
    Output {
        url,
        completed,
        result: if completed { "pass" } else { "fail" },
        outcome,
        reason: end.reason,
        steps_used: steps.len(),
        steps,
        final_snapshot,
        assertions_passed,
        evidence,
        question: end.question,
        model,
        spent,
    }
}

/// The conditions of a test. Nothing if it has none.
fn conditions(input: &Input) -> Option<Success> {
    let text = |text: &String| Condition {
        text: Some(text.clone()),
        ..Condition::new(Check::TextVisible)
    };
    let all = input.assertions.iter().map(text).chain(input.success.all.iter().cloned()).collect();
    let success = Success { all, any: input.success.any.clone() };
    (!success.is_empty()).then_some(success)
}

async fn verify(context: &Context, input: &Input, within_ms: u32) -> PackResult<Option<Verified>> {
    let Some(Success { all, any }) = conditions(input) else { return Ok(None) };
    Ok(Some(context.act(&VerifyPage { all, any, within_ms }).await?))
}

/// The address and the accessibility tree of the page.
async fn snapshot(context: &Context) -> PackResult<(String, String)> {
    let wanted = Snapshot { max_bytes: Some(SNAPSHOT_BYTES), ..Snapshot::default() };
    let taken = context.act(&wanted).await?;
    Ok((taken.acted.url, taken.snapshot))
}

impl Test<'_> {
    async fn all_steps(
        &mut self,
        model: &helmdeck_gateway::ModelId,
        ask: &mut Ask,
    ) -> PackResult<End> {
        let max = self.input.max_steps;
        if let Err(failure) = self.fence.limit(self.sites.clone()).await {
            return Ok(failure.into());
        }
        for number in 1..=max {
            self.number = number;
            self.watched.eyes().tell(&format!("{model} · step {number}/{max}")).await;
            if let Err(stopped) = self.watched.ready().await {
                let reason = stopped.to_string();
                return Ok(End { outcome: Outcome::Cancelled, reason, question: None });
            }
            let (url, page) = snapshot(self.context).await?;
            self.url = url;
            if let Err(end) = self.inside().await {
                return Ok(end);
            }
            ask.shows(&self.url, &page);
            let part = f64::from(number) / f64::from(max + 1);
            self.context.progress(0.1 + 0.85 * part, format!("step {number} of {max}"));
            let budget = self.input.budget;
            let messages = ask.messages();
            let asked = self.context.models.write(model, &messages, REPLY_TOKENS, budget);
            let written = match asked.await {
                Ok(written) => written,
                Err(error) => match self.unanswered(ask, &error) {
                    Some(end) => return Ok(end),
                    None => continue,
                },
            };
            self.spent.add(written.spent);
            if let Some(end) = self.follow(ask, &written.text).await? {
                return Ok(end);
            }
        }
        let reason = format!("the model did not finish in {max} steps");
        Ok(End { outcome: Outcome::MaxSteps, reason, question: None })
    }

    /// A call of the model that failed: the end, or one bad step.
    fn unanswered(&mut self, ask: &mut Ask, error: &PackError) -> Option<End> {
        let reason = error.to_string();
        let outcome = match error.code() {
            ErrorCode::InvalidOutput => {
                ask.says("", "Your reply was empty. Answer with one JSON object.");
                self.note(TestStep { tool: "none".to_owned(), ..TestStep::failed(reason) });
                return None;
            }
            ErrorCode::BudgetExceeded => Outcome::Budget,
            ErrorCode::Forbidden => Outcome::Denied,
            _ => Outcome::ProviderError,
        };
        Some(End { outcome, reason, question: None })
    }

    fn note(&mut self, step: TestStep) {
        self.watched.note(&step.shown(self.number));
        self.steps.push(step);
    }

    /// Does what a reply says.
    async fn follow(&mut self, ask: &mut Ask, reply: &str) -> PackResult<Option<End>> {
        let told = match page_tools::read(reply) {
            Ok(told) => told,
            Err(hint) => {
                ask.says(reply, &hint);
                self.note(TestStep { tool: "none".to_owned(), ..TestStep::failed(hint) });
                return Ok(None);
            }
        };
        let step = TestStep {
            tool: told.tool.clone(),
            arguments: told.arguments.clone(),
            reasoning: told.reasoning.clone(),
            ..TestStep::default()
        };
        match told.tool.as_str() {
            "done" => return self.judge(ask, reply, step).await,
            "fail" => {
                let reason = told.text("reason").unwrap_or_else(|| told.reasoning.clone());
                self.note(step);
                let reason = format!("the model gave up: {reason}");
                return Ok(Some(End { outcome: Outcome::Stuck, reason, question: None }));
            }
            _ => {}
        }
        if let Err(end) = self.stays(&told).await {
            self.note(TestStep { result: end.reason.clone(), is_error: true, ..step });
            return Ok(Some(end));
        }
        let (mut words, is_error) = match page_tools::perform(self.context, &told).await {
            Ok(done) => {
                self.url = done.url.unwrap_or_else(|| self.url.clone());
                (done.words, false)
            }
            Err(error) if page_tools::is_fatal(error.code()) => return Err(error),
            Err(error) => (format!("failed: {error}"), true),
        };
        let inside = self.inside().await;
        if let Ok(Some(allowed)) = &inside {
            words = format!("{words} {allowed}");
        }
        ask.says(reply, &words);
        self.note(TestStep { result: words, is_error, ..step });
        Ok(inside.err())
    }

    /// What to make of a model that says that it is done.
    async fn judge(
        &mut self,
        ask: &mut Ask,
        reply: &str,
        step: TestStep,
    ) -> PackResult<Option<End>> {
        self.claims += 1;
        let Some(verified) = verify(self.context, self.input, PATIENCE_MS).await? else {
            self.note(step);
            let reason =
                "the model says that it is done, but the test has no assertions or conditions";
            let reason = reason.to_owned();
            return Ok(Some(End { outcome: Outcome::Unverified, reason, question: None }));
        };
        if verified.holds {
            self.note(step);
            let reason = "the steps are done, and everything holds".to_owned();
            return Ok(Some(End { outcome: Outcome::Completed, reason, question: None }));
        }
        let missing: Vec<_> =
            verified.evidence.iter().filter(|it| !it.holds).map(|it| it.found.clone()).collect();
        let missing = missing.join("; ");
        self.note(TestStep { result: missing.clone(), is_error: true, ..step });
        if self.claims >= MOST_CLAIMS {
            let reason = format!("the model says that it is done, but: {missing}");
            return Ok(Some(End { outcome: Outcome::Unverified, reason, question: None }));
        }
        let words = format!("Not done yet: {}. Continue.", page_tools::data(&missing));
        ask.says(reply, &words);
        Ok(None)
    }

    /// Renews the limit of sites before a step, which opens no other site unless a person allows it.
    async fn stays(&mut self, told: &ModelStep) -> Result<(), End> {
        self.fence.renew().await?;
        let wanted = (told.tool == "browser_navigate").then(|| told.text("url")).flatten();
        match wanted {
            Some(url) => self.permitted(&url).await,
            None => Ok(()),
        }
    }

    /// Ends the test if the page is on another site, or the browser was kept from opening one, and no person allows it.
    /// Says what a person allowed to open.
    async fn inside(&mut self) -> Result<Option<String>, End> {
        let (refused, shown) = (self.fence.refused().await?, self.url.clone());
        for url in refused.iter().chain([&shown]) {
            self.permitted(url).await?;
        }
        Ok(refused.last().map(|last| {
            let last = page_tools::data(last);
            format!("The browser did not open {last}. A person has allowed it now: try again.")
        }))
    }

    /// Asks the person who watches whether the test may use the site of an address, unless it may already.
    async fn permitted(&mut self, url: &str) -> Result<(), End> {
        let page = url.starts_with("http://") || url.starts_with("https://");
        let Some(site) = Site::of(url).filter(|_| page) else { return Ok(()) };
        if self.sites.iter().any(|own| own.covers(&site)) {
            return Ok(());
        }
        let question = format!("open {url}, which is on another site");
        match self.watched.eyes().confirm(&question).await {
            Some(true) => {
                self.sites.push(site);
                self.fence.limit(self.sites.clone()).await.map_err(End::from)
            }
            Some(false) => {
                let reason = format!("a person refused: {question}");
                Err(End { outcome: Outcome::Denied, reason, question: None })
            }
            None => {
                let reason =
                    format!("a person has to decide: {question}; `allow` names more sites");
                let question = Some(question);
                Err(End { outcome: Outcome::NeedsConfirmation, reason, question })
            }
        }
    }
}

impl From<Failure> for End {
    fn from(failure: Failure) -> Self {
        let (outcome, reason) = match failure {
            Failure::Bad(reason) => (Outcome::Stuck, reason),
            Failure::ControlTaken(reason) => (Outcome::ControlTaken, reason),
            Failure::Denied(reason) => (Outcome::Denied, reason),
            Failure::Gone(reason) => (Outcome::Cancelled, reason),
        };
        Self { outcome, reason, question: None }
    }
}

impl TestStep {
    fn failed(result: String) -> Self {
        Self { result, is_error: true, ..Self::default() }
    }

    /// The step as people see it. What was typed is left out.
    fn shown(&self, number: u32) -> Step {
        let text = |name: &str| {
            let value = self.arguments.get(name).and_then(Value::as_str).map(str::to_owned);
            value.unwrap_or_default()
        };
        let element = || Place::Element { reference: text("ref") };
        let action = match self.tool.as_str() {
            "browser_click" => Some(Action::clicks(Some(element()), Button::Left, 1)),
            "browser_type" => Some(Action::Fill { at: element(), text: HIDDEN.to_owned() }),
            "browser_press" => Some(Action::key(&keys::shown(&text("key")))),
            "browser_navigate" => Some(Action::Navigate { url: text("url") }),
            _ => None,
        };
        Step {
            step: number,
            said: self.reasoning.clone(),
            action,
            problem: self.is_error.then(|| self.result.clone()),
            ..Step::default()
        }
    }
}

/// The same on a desktop.
async fn by_pictures(context: &Context, input: &Input) -> PackResult<Output> {
    let goal = Goal {
        instruction: input.instruction.clone(),
        success: conditions(input).unwrap_or_default(),
        allowed: input.allow.clone(),
    };
    let wanted = Wanted {
        goal,
        model: input.model.as_deref(),
        max_steps: input.max_steps,
        budget: input.budget,
    };
    let watched = Watched::toward(context, &wanted)?;
    context.progress(0.05, "loading the page");
    open(context, &input.url, Until::Load).await?;
    let done = reach(watched, &wanted).await?;
    let step = |step: helmdeck_vision::Step| TestStep {
        tool: step.action.as_ref().map_or("none".to_owned(), helmdeck_vision::Action::label),
        arguments: step.action.and_then(|it| serde_json::to_value(it).ok()).unwrap_or_default(),
        is_error: step.problem.is_some(),
        result: step.problem.unwrap_or_default(),
        reasoning: step.said,
    };
    let steps = done.steps.into_iter().map(step).collect();
    let verified = verify(context, input, PATIENCE_MS).await?;
    let page = snapshot(context).await?;
    let end = End { outcome: done.outcome, reason: done.reason, question: done.question };
    Ok(output(end, verified, steps, page, done.model, done.spent))
}
