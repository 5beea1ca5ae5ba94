//! `browser.interact`: a few steps on a page.

use std::collections::BTreeMap;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use helmdeck_wire::{
    Action, ActionCall, ErrorCode,
    browser::{
        ClickElement, Execute, Extract, HoverElement, Interact, Interaction, PageScreenshot,
        Patience, PressKeys, SelectOptions, TypeInto, Until, WaitFor,
    },
    nature::Nature,
    observe::Observation,
    pointer::Button,
    session::Mode,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Context, Pack, PackError, PackResult, Routing, SessionNeed,
    browser_step::{Kind, Step, with_options},
    page::{PageUrl, explain, navigation, open, pause, picture, png},
};

/// How much of an extracted text is returned.
const MAX_TEXT: usize = 100_000;

/// Perform steps on a page.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "BrowserInteract")]
struct Input {
    /// The address of the page.
    url: PageUrl,
    /// The steps. The first one that fails ends the job.
    #[schemars(length(min = 1, max = 100))]
    actions: Vec<Step>,
    /// Seconds that each step waits for its element.
    #[serde(default)]
    timeout_s: Patience,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "BrowserInteractOutput")]
struct Output {
    /// The address of the page after the last step.
    url: String,
    /// How many steps were done.
    steps_completed: usize,
    /// Keys of the pictures, in order.
    screenshots: Vec<String>,
    /// What was read, by name; results of scripts as `execute[i]`.
    extractions: BTreeMap<String, Value>,
    /// How many assertions held.
    assertions_passed: usize,
    /// What steps with `settle` or `observe` did.
    effects: Vec<StepEffect>,
}

/// What a step did.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "BrowserStepEffect")]
struct StepEffect {
    /// The step, from 1.
    step: usize,
    /// Key of the picture, if one was asked for and something changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    screenshot: Option<String>,
    /// What was seen.
    #[serde(flatten)]
    seen: Observation,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("browser.interact", run)
        .doc(
            "Load a page and perform steps on it: click, type, key, select, navigate, scroll, extract, \
             assert_text, screenshot, wait, execute. Every step waits for its element. Pictures are \
             artifacts. With the same `workspace` or `_session_id`, the next call continues there.",
        )
        .nature(Nature::in_new_browser())
        .session(SessionNeed::OneShot(Mode::Headless))
        .timeout_s(1800)
        .example(
            "Search, and read the first result",
            serde_json::json!({ "url": "https://example.com", "actions": [
                { "action": "type", "selector": "#search", "value": "helmdeck", "submit": true },
                { "action": "extract", "selector": ".result", "name": "first" },
            ] }),
        )
        .routing(Routing {
            accepts: &["url", "steps"],
            produces: &["text", "image"],
            intent_keywords: &["click", "form", "fill", "login", "browser", "automate", "test"],
            typical_use: "Fill a form, or test a page, when the selectors are known.",
            limitations: &["Headless: for work that a person watches, use the desktop tools."],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    let total = input.actions.len();
    for (at, step) in input.actions.iter().enumerate() {
        step.check().map_err(|error| at_step(error, at, total))?;
    }
    let mut output = Output::default();
    context.progress(0.05, "loading the page");
    output.url = open(&context, &input.url, Until::Load).await?.acted.url;
    for (at, step) in input.actions.iter().enumerate() {
        context.progress(0.1 + 0.9 * at as f64 / total as f64, format!("step {}", at + 1));
        let done = perform(&context, step, input.timeout_s, at, &mut output).await;
        done.map_err(|error| at_step(error, at, total))?;
        output.steps_completed += 1;
    }
    Ok(output)
}

/// Says which step failed.
fn at_step(error: PackError, at: usize, total: usize) -> PackError {
    let prefix = format!("step {} of {total} (actions[{at}]) failed: ", at + 1);
    let error = explain(error);
    match error.code() {
        ErrorCode::EgressDenied => error,
        _ => error.map_message(|text| format!("{prefix}{text}")),
    }
}

async fn perform(
    context: &Context,
    step: &Step,
    timeout_s: Patience,
    at: usize,
    output: &mut Output,
) -> PackResult<()> {
    match step.action {
        Kind::Click => {
            let click = ClickElement {
                selector: step.element()?,
                button: Button::default(),
                count: 1,
                modifiers: Vec::new(),
                accept_dialogs: false,
                tab: None,
                timeout_s,
            };
            act(context, step, &click, at, output).await?;
        }
        Kind::Focus => {
            let (action, selector) = (Interaction::Focus, step.element()?);
            let focus = Interact { action, selector, value: None, timeout_s };
            act(context, step, &focus, at, output).await?;
        }
        Kind::Type => {
            let typing = TypeInto {
                selector: step.element()?,
                text: step.value()?,
                append: false,
                slowly: false,
                submit: step.submit,
                tab: None,
                timeout_s,
            };
            act(context, step, &typing, at, output).await?;
        }
        Kind::Key => {
            let (keys, selector) = (step.value()?, step.selector.clone());
            let press = PressKeys { keys, selector, tab: None, timeout_s };
            act(context, step, &press, at, output).await?;
        }
        Kind::Select => {
            let (selector, values) = (step.element()?, vec![step.value()?]);
            let select = SelectOptions { selector, values, tab: None, timeout_s };
            act(context, step, &select, at, output).await?;
        }
        Kind::Navigate => {
            let url = PageUrl::parse("value", &step.value()?)?;
            let navigate = navigation(&url, Until::Load);
            act(context, step, &navigate, at, output).await.map_err(explain)?;
        }
        _ => return look(context, step, timeout_s, at, output).await,
    }
    Ok(())
}

/// Performs an action with the options of its step, and notes the address and the effect.
async fn act<A: Action + Serialize>(
    context: &Context,
    step: &Step,
    action: &A,
    at: usize,
    output: &mut Output,
) -> PackResult<Value> {
    let fields = serde_json::to_value(action).unwrap_or_default();
    let call = match with_options(fields, &step.options()) {
        Some(fields) => A::call(fields)
            .map_err(|invalid| PackError::invalid(&invalid.field, invalid.reason.clone()))?,
        None => ActionCall::new(action),
    };
    let reply = context.session()?.act(&context.caller, &call).await?;
    let reply: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
    if let Some(url) = reply.get("url").and_then(Value::as_str) {
        url.clone_into(&mut output.url);
    }
    if step.is_observed() {
        let mut seen: Observation = serde_json::from_value(reply.clone()).unwrap_or_default();
        let (mut screenshot, step) = (None, at + 1);
        if let Some(picture) = seen.picture.take() {
            let bytes = BASE64_STANDARD.decode(&picture.data).unwrap_or_default();
            let (name, kind) = (format!("step-{step}-effect.png"), "image/png");
            screenshot = Some(context.artifacts.put(&name, kind, Bytes::from(bytes)).await?.key);
        }
        output.effects.push(StepEffect { step, screenshot, seen });
    }
    Ok(reply)
}

/// Steps that change nothing, and scripts.
async fn look(
    context: &Context,
    step: &Step,
    timeout_s: Patience,
    at: usize,
    output: &mut Output,
) -> PackResult<()> {
    match (step.action, &step.selector) {
        (Kind::Scroll, Some(selector)) => {
            // Moving the pointer over an element scrolls to it.
            let hover = HoverElement { selector: selector.clone(), tab: None, timeout_s };
            act(context, step, &hover, at, output).await?;
        }
        (Kind::Scroll, None) => {
            let script = format!("window.scrollBy(0, {})", step.by);
            act(context, step, &Execute { script, tab: None, timeout_s }, at, output).await?;
        }
        (Kind::Screenshot, _) => {
            let (name, selector) = (format!("step-{}", at + 1), step.selector.clone());
            // A picture of an element is not one of the page.
            let full_page = step.full_page && selector.is_none();
            let wanted = PageScreenshot {
                full_page,
                selector,
                format: png(),
                timeout_s,
                ..PageScreenshot::default()
            };
            output.screenshots.push(picture(context, &name, &wanted).await?.key);
        }
        (Kind::AssertText, _) => {
            let text = step.text.clone().ok_or_else(|| step.lacks("text"))?;
            assert_text(context, text, timeout_s).await?;
            output.assertions_passed += 1;
        }
        (Kind::Wait, Some(selector)) => {
            let selector = Some(selector.clone());
            context.act(&WaitFor { selector, timeout_s, ..WaitFor::default() }).await?;
        }
        (Kind::Wait, None) => pause(step.ms).await,
        (Kind::Execute, _) => {
            let run = Execute { script: step.value()?, tab: None, timeout_s };
            let reply = act(context, step, &run, at, output).await?;
            let result = reply.get("result").cloned().unwrap_or_default();
            output.extractions.insert(format!("execute[{at}]"), result);
        }
        _ => {
            let (selector, format) = (step.element()?, step.format);
            let named = step.target.as_ref().and_then(|it| it.name.as_ref().or(it.text.as_ref()));
            let named = named.map_or_else(|| selector.to_string(), Clone::clone);
            let name = step.name.clone().unwrap_or(named);
            let extract = Extract { selector: Some(selector), format, tab: None, timeout_s };
            let reply = act(context, step, &extract, at, output).await?;
            let text = reply.get("content").and_then(Value::as_str).unwrap_or_default();
            let text: String = text.chars().take(MAX_TEXT).collect();
            output.extractions.insert(free_name(&output.extractions, name), text.into());
        }
    }
    Ok(())
}

async fn assert_text(context: &Context, text: String, timeout_s: Patience) -> PackResult<()> {
    let wait = WaitFor { text: Some(text.clone()), timeout_s, ..WaitFor::default() };
    let shown = context.act(&wait).await;
    shown.map(|_| ()).map_err(|error| match error.code() {
        ErrorCode::Timeout | ErrorCode::ElementNotFound => {
            let message = format!("the page does not show {text:?}: {error}");
            PackError::new(ErrorCode::SchemaMismatch, message)
        }
        _ => error,
    })
}

/// A name that is not taken: the second `h1` becomes `h1 (2)`.
fn free_name(taken: &BTreeMap<String, Value>, name: String) -> String {
    let mut free = name.clone();
    let mut number = 2;
    while taken.contains_key(&free) {
        free = format!("{name} ({number})");
        number += 1;
    }
    free
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_selector_twice_has_two_extractions() {
        let mut taken = BTreeMap::new();
        for expected in ["h1", "h1 (2)", "h1 (3)"] {
            let name = free_name(&taken, "h1".to_owned());
            assert_eq!(name, expected);
            taken.insert(name, Value::Null);
        }
    }
}
