//! `browser.interact`: a few steps on a page.

use std::collections::BTreeMap;

use helmdeck_wire::{
    ErrorCode,
    browser::{
        ClickElement, Execute, Extract, ExtractFormat, HoverElement, Interact, Interaction,
        PageScreenshot, Patience, PressKeys, SelectOptions, Selector, TypeInto, Until, WaitFor,
    },
    nature::Nature,
    pointer::Button,
    session::Mode,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Context, Pack, PackError, PackResult, Routing, SessionNeed,
    page::{PageUrl, explain, open, pause, picture, png},
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

/// A step.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "BrowserStep")]
struct Step {
    /// What to do.
    action: Kind,
    /// The element: for `click`, `focus`, `type`, `select` and `extract`, and optionally for `key`,
    /// `scroll` and `wait`.
    #[serde(default)]
    selector: Option<Selector>,
    /// The text to type, the key to press, the option to select, the address to load, or the
    /// script to run.
    #[serde(default)]
    #[schemars(length(max = 1_000_000))]
    value: Option<String>,
    /// The text that `assert_text` looks for.
    #[serde(default)]
    #[schemars(length(min = 1, max = 10_000))]
    text: Option<String>,
    /// Whether `type` presses Enter afterwards.
    #[serde(default)]
    submit: bool,
    /// What `extract` returns: text or HTML.
    #[serde(default)]
    format: ExtractFormat,
    /// Name of an extraction; the selector by default.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200))]
    name: Option<String>,
    /// Milliseconds that `wait` waits, if it has no selector.
    #[serde(default = "second")]
    #[schemars(range(max = 30_000))]
    ms: u32,
    /// Pixels that `scroll` scrolls, if it has no selector; negative ones scroll up.
    #[serde(default = "scroll_by")]
    #[schemars(range(min = -100_000, max = 100_000))]
    by: i32,
    /// Whether `screenshot` pictures the whole page.
    #[serde(default = "yes", rename = "fullPage")]
    full_page: bool,
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "BrowserStepAction")]
enum Kind {
    /// Click an element.
    Click,
    /// Focus an element.
    Focus,
    /// Replace the content of a field.
    Type,
    /// Press a key or chord, such as `Enter` or `Control+a`.
    Key,
    /// Select an option of a `<select>`, by value or label.
    Select,
    /// Load another page.
    Navigate,
    /// Scroll to an element, or by some pixels.
    Scroll,
    /// Take a picture of the page, as an artifact.
    Screenshot,
    /// Read an element.
    Extract,
    /// Fail unless the page shows a text.
    AssertText,
    /// Wait for a time, or until an element is visible.
    Wait,
    /// Run JavaScript: an expression, or statements with `return`.
    Execute,
}

impl Step {
    /// The element, which this step needs.
    fn element(&self) -> PackResult<Selector> {
        self.selector.clone().ok_or_else(|| self.lacks("selector"))
    }

    /// The value, which this step needs.
    fn value(&self) -> PackResult<String> {
        self.value.clone().ok_or_else(|| self.lacks("value"))
    }

    fn lacks(&self, field: &str) -> PackError {
        PackError::invalid(field, format!("{:?} needs `{field}`", self.action))
    }

    /// Whether it has what it needs.
    fn check(&self) -> PackResult<()> {
        use Kind::{AssertText, Click, Execute, Extract, Focus, Key, Navigate, Select, Type};
        if matches!(self.action, Click | Focus | Type | Select | Extract) {
            self.element()?;
        }
        if matches!(self.action, Type | Key | Select | Navigate | Execute) {
            self.value()?;
        }
        if self.action == AssertText && self.text.is_none() {
            return Err(self.lacks("text"));
        }
        Ok(())
    }
}

fn yes() -> bool {
    true
}

fn second() -> u32 {
    1000
}

fn scroll_by() -> i32 {
    600
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
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("browser.interact", run)
        .doc(
            "Load a page and perform steps on it: click, type, key, select, navigate, scroll, extract, \
             assert_text, screenshot, wait, execute. Every step waits for its element. Pictures are \
             artifacts. With the same `workspace` or `_session_id`, the next call continues there.",
        )
        .nature(Nature { open_world: true, ..Nature::in_browser() })
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
            output.url = context.act(&click).await?.acted.url;
        }
        Kind::Focus => {
            let (action, selector) = (Interaction::Focus, step.element()?);
            let focus = Interact { action, selector, value: None, timeout_s };
            output.url = context.act(&focus).await?.url;
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
            output.url = context.act(&typing).await?.acted.url;
        }
        Kind::Key => {
            let (keys, selector) = (step.value()?, step.selector.clone());
            let press = PressKeys { keys, selector, tab: None, timeout_s };
            output.url = context.act(&press).await?.url;
        }
        Kind::Select => {
            let (selector, values) = (step.element()?, vec![step.value()?]);
            let select = SelectOptions { selector, values, tab: None, timeout_s };
            output.url = context.act(&select).await?.acted.url;
        }
        Kind::Navigate => {
            let url = PageUrl::parse("value", &step.value()?)?;
            output.url = open(context, &url, Until::Load).await?.acted.url;
        }
        _ => return look(context, step, timeout_s, at, output).await,
    }
    Ok(())
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
            output.url = context.act(&hover).await?.acted.url;
        }
        (Kind::Scroll, None) => {
            execute(context, format!("window.scrollBy(0, {})", step.by), timeout_s).await?;
        }
        (Kind::Screenshot, _) => {
            let (name, full_page) = (format!("step-{}", at + 1), step.full_page);
            let wanted = PageScreenshot { full_page, format: png(), ..PageScreenshot::default() };
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
            let result = execute(context, step.value()?, timeout_s).await?;
            output.extractions.insert(format!("execute[{at}]"), result);
        }
        _ => {
            let (selector, format) = (step.element()?, step.format);
            let name = step.name.clone().unwrap_or_else(|| selector.to_string());
            let extract = Extract { selector: Some(selector), format, tab: None, timeout_s };
            let text = context.act(&extract).await?.content;
            let text: String = text.chars().take(MAX_TEXT).collect();
            output.extractions.insert(free_name(&output.extractions, name), text.into());
        }
    }
    Ok(())
}

async fn execute(context: &Context, script: String, timeout_s: Patience) -> PackResult<Value> {
    Ok(context.act(&Execute { script, tab: None, timeout_s }).await?.result)
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
