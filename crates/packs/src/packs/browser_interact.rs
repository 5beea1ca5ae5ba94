//! `browser.interact`: a few steps on a page.

use std::collections::BTreeMap;

use helmdeck_wire::{
    ErrorCode,
    browser::{
        ClickElement, Execute, Extract, ExtractFormat, HoverElement, Interact, Interaction,
        PageScreenshot, Patience, PressKeys, Selector, SelectOptions, TypeInto, Until, WaitFor,
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
#[serde(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(rename = "BrowserStep")]
enum Step {
    /// Click an element.
    Click {
        /// The element.
        selector: Selector,
    },
    /// Focus an element.
    Focus {
        /// The element.
        selector: Selector,
    },
    /// Replace the content of a field.
    Type {
        /// The field.
        selector: Selector,
        /// The text.
        #[schemars(length(max = 1_000_000))]
        value: String,
        /// Whether to press Enter afterwards.
        #[serde(default)]
        submit: bool,
    },
    /// Press a key or chord, such as `Enter` or `Control+a`.
    Key {
        /// The key.
        #[schemars(length(min = 1, max = 1000))]
        value: String,
        /// An element to focus first.
        #[serde(default)]
        selector: Option<Selector>,
    },
    /// Select an option of a `<select>`, by value or label.
    Select {
        /// The `<select>`.
        selector: Selector,
        /// The option.
        #[schemars(length(max = 10_000))]
        value: String,
    },
    /// Load another page.
    Navigate {
        /// Its address.
        value: PageUrl,
    },
    /// Scroll an element into view, or by a number of pixels.
    Scroll {
        /// The element.
        #[serde(default)]
        selector: Option<Selector>,
        /// Pixels; negative ones scroll up.
        #[serde(default = "scroll_by")]
        #[schemars(range(min = -100_000, max = 100_000))]
        by: i32,
    },
    /// Take a picture of the page, as an artifact.
    Screenshot {
        /// The whole page.
        #[serde(default = "yes", rename = "fullPage")]
        full_page: bool,
    },
    /// Read an element.
    Extract {
        /// The element.
        selector: Selector,
        /// Text or HTML.
        #[serde(default)]
        format: ExtractFormat,
        /// Name in `extractions`; the selector by default.
        #[serde(default)]
        #[schemars(length(min = 1, max = 200))]
        name: Option<String>,
    },
    /// Fail unless the page shows this text.
    AssertText {
        /// The text.
        #[schemars(length(min = 1, max = 10_000))]
        text: String,
    },
    /// Wait for a time, or for an element.
    Wait {
        /// Milliseconds.
        #[serde(default = "second")]
        #[schemars(range(max = 30_000))]
        ms: u32,
        /// An element that becomes visible; `ms` does not count then.
        #[serde(default)]
        selector: Option<Selector>,
    },
    /// Run JavaScript.
    Execute {
        /// An expression, or statements with `return`.
        #[schemars(length(min = 1, max = 1_000_000))]
        value: String,
    },
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
        .routing(Routing {
            accepts: &["url", "steps"],
            produces: &["text", "image"],
            intent_keywords: &["click", "form", "fill", "login", "browser", "automate", "test"],
            typical_use: "Fill a form, or test a page, when the selectors are known.",
            limitations: &["Headless: for work that a person watches, use the desktop tools."],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    let mut output = Output::default();
    context.progress(0.05, "loading the page");
    output.url = open(&context, &input.url, Until::Load).await?.acted.url;
    let total = input.actions.len();
    for (at, step) in input.actions.into_iter().enumerate() {
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
    step: Step,
    timeout_s: Patience,
    at: usize,
    output: &mut Output,
) -> PackResult<()> {
    match step {
        Step::Click { selector } => {
            let click = ClickElement {
                selector,
                button: Button::default(),
                count: 1,
                modifiers: Vec::new(),
                accept_dialogs: false,
                tab: None,
                timeout_s,
            };
            output.url = context.act(&click).await?.acted.url;
        }
        Step::Focus { selector } => {
            let action = Interaction::Focus;
            let focus = Interact { action, selector, value: None, timeout_s };
            output.url = context.act(&focus).await?.url;
        }
        Step::Type { selector, value, submit } => {
            let typing = TypeInto {
                selector,
                text: value,
                append: false,
                slowly: false,
                submit,
                tab: None,
                timeout_s,
            };
            output.url = context.act(&typing).await?.acted.url;
        }
        Step::Key { value, selector } => {
            let press = PressKeys { keys: value, selector, tab: None, timeout_s };
            output.url = context.act(&press).await?.url;
        }
        Step::Select { selector, value } => {
            let select = SelectOptions { selector, values: vec![value], tab: None, timeout_s };
            output.url = context.act(&select).await?.acted.url;
        }
        Step::Navigate { value } => {
            output.url = open(context, &value, Until::Load).await?.acted.url;
        }
        Step::Scroll { selector: Some(selector), .. } => {
            // Moving the pointer over an element scrolls to it.
            let hover = HoverElement { selector, tab: None, timeout_s };
            output.url = context.act(&hover).await?.acted.url;
        }
        Step::Scroll { selector: None, by } => {
            execute(context, format!("window.scrollBy(0, {by})"), timeout_s).await?;
        }
        Step::Screenshot { full_page } => {
            let name = format!("step-{}", at + 1);
            let wanted = PageScreenshot { full_page, format: png(), ..PageScreenshot::default() };
            output.screenshots.push(picture(context, &name, &wanted).await?.key);
        }
        Step::Extract { selector, format, name } => {
            let name = name.unwrap_or_else(|| selector.to_string());
            let extract = Extract { selector: Some(selector), format, tab: None, timeout_s };
            let text = context.act(&extract).await?.content;
            let text: String = text.chars().take(MAX_TEXT).collect();
            output.extractions.insert(free_name(&output.extractions, name), text.into());
        }
        Step::AssertText { text } => {
            assert_text(context, text, timeout_s).await?;
            output.assertions_passed += 1;
        }
        Step::Wait { selector: Some(selector), .. } => {
            let wait = WaitFor { selector: Some(selector), timeout_s, ..WaitFor::default() };
            context.act(&wait).await?;
        }
        Step::Wait { selector: None, ms } => pause(ms).await,
        Step::Execute { value } => {
            let result = execute(context, value, timeout_s).await?;
            output.extractions.insert(format!("execute[{at}]"), result);
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
