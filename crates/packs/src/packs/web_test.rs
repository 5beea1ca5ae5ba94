//! `web.test`: a model tests a page, and assertions decide.

#[path = "web_test/end.rs"]
mod end;
#[path = "web_test/sites.rs"]
mod sites;
#[path = "web_test/step.rs"]
mod step;
#[path = "web_test/walk.rs"]
mod walk;

use helmdeck_vision::{
    Fence, Goal, Outcome,
    eyes::{Scene, Spent, Success},
    scope::Scope,
};
use helmdeck_wire::{
    browser::{Snapshot, Until},
    nature::{Nature, Style},
    session::Mode,
    site::Site,
    verify::{Check, Condition, Verified, VerifyPage},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    Context, ModelBudget, ModelNeed, Pack, PackResult, Routing, RunEnd, SessionNeed,
    page::{PageUrl, open},
    page_tools::Ask,
    vision_run::{Wanted, Watched, reach},
};
use end::End;
use step::TestStep;

/// How long conditions may take to hold after a step.
const PATIENCE_MS: u32 = 2000;
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

/// The pack.
pub fn pack() -> Pack {
    Pack::new("web.test", run)
        .doc(
            "Test a page: a model follows an instruction step by step, on snapshots of the page. The test passes \
             only if `assertions` (texts) and `success` (conditions as in verify) hold at the end, never because \
             the model says so. `_mode: vision` tests on a VISIBLE desktop, by pictures.",
        )
        .nature(Nature::in_new_browser())
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
    /// What the instruction asks for, besides the sites.
    scope: Scope,
    watched: &'a Watched<'a>,
    fence: &'a Fence<'a>,
    number: u32,
    steps: Vec<TestStep>,
    claims: u32,
    /// What the last reply used, until a step has it.
    paid: Option<Spent>,
    spent: Spent,
    url: String,
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    if context.mode == Style::Vision {
        return by_pictures(&context, &input).await;
    }
    let model = context.models.choose(input.model.as_deref())?;
    let named = Some(model.to_string());
    let watched = Watched::begin(&context, &input.instruction, named, input.max_steps)?;
    context.progress(0.05, "loading the page");
    let opened = watched.registering(open(&context, &input.url, Until::Load).await)?;
    let allowed = input.allow.iter().map(String::as_str).chain([input.url.as_str()]);
    let fence = Fence::new(watched.eyes());
    let mut test = Test {
        context: &context,
        sites: allowed.filter_map(Site::of).collect(),
        scope: Scope::new(&Scene::default(), &input.instruction, &input.allow),
        input: &input,
        watched: &watched,
        fence: &fence,
        number: 0,
        steps: Vec::new(),
        claims: 0,
        paid: None,
        spent: Spent::default(),
        url: opened.acted.url,
    };
    let mut ask = Ask::new(&input.instruction);
    // If it fails or is cancelled, the limit of sites ends with the run.
    let end = tokio::select! {
        end = test.all_steps(&model, &mut ask) => end.or_else(End::of)?,
        failure = fence.keep() => End::from(failure),
    };
    let (end, verified, page) = closing(&context, &input, end).await?;
    fence.end().await;
    watched.eyes().tell("").await;
    let Test { steps, spent, url, .. } = test;
    let page = page.unwrap_or((url, String::new()));
    let mut output = output(end, verified, steps, page, Some(model.to_string()), spent);
    output.reason = watched.finish(RunEnd {
        outcome: output.outcome,
        reason: output.reason,
        evidence: output.evidence.clone(),
        answer: String::new(),
        steps: output.steps.iter().map(TestStep::shown).collect(),
        spent,
    });
    Ok(output)
}

/// What the page shows at the end. A test that a person or its session ended has what it found until then.
async fn closing(
    context: &Context,
    input: &Input,
    end: End,
) -> PackResult<(End, Option<Verified>, Option<(String, String)>)> {
    let seen = async {
        let verified = verify(context, input, PATIENCE_MS).await?;
        Ok((verified, snapshot(context).await?))
    };
    match seen.await {
        Ok((verified, page)) => Ok((end, verified, Some(page))),
        Err(error) => Ok((end.despite(error)?, None, None)),
    }
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
    let opened = watched.registering(open(context, &input.url, Until::Load).await)?;
    let done = reach(watched, &wanted).await?;
    let steps = done.steps.into_iter().map(TestStep::seen).collect();
    let end = End { outcome: done.outcome, reason: done.reason, question: done.question };
    let (end, verified, page) = closing(context, input, end).await?;
    let page = page.unwrap_or((opened.acted.url, String::new()));
    Ok(output(end, verified, steps, page, done.model, done.spent))
}
