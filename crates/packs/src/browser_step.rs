//! A step of `browser.interact`: what a caller writes, and which fields it needs.

use helmdeck_wire::{
    aim::{Expect, Target},
    browser::{ExtractFormat, Selector},
    observe::{ActionOptions, Observe, Settle},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::{PackError, PackResult};

/// A step.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "BrowserStep")]
pub struct Step {
    /// What to do.
    pub action: Kind,
    /// The element: for `click`, `focus`, `type`, `select` and `extract`, unless they have a `target`,
    /// and optionally for `key`, `scroll`, `wait` and `screenshot`.
    #[serde(default)]
    pub selector: Option<Selector>,
    /// The text to type, the key to press, the option to select, the address to load, or the
    /// script to run.
    #[serde(default)]
    #[schemars(length(max = 1_000_000))]
    pub value: Option<String>,
    /// The text that `assert_text` looks for.
    #[serde(default)]
    #[schemars(length(min = 1, max = 10_000))]
    pub text: Option<String>,
    /// Whether `type` presses Enter afterwards.
    #[serde(default)]
    pub submit: bool,
    /// What `extract` returns: text or HTML.
    #[serde(default)]
    pub format: ExtractFormat,
    /// Name of an extraction; the selector by default.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200))]
    pub name: Option<String>,
    /// Milliseconds that `wait` waits, if it has no selector.
    #[serde(default = "second")]
    #[schemars(range(max = 30_000))]
    pub ms: u32,
    /// Pixels that `scroll` scrolls, if it has no selector; negative ones scroll up.
    #[serde(default = "scroll_by")]
    #[schemars(range(min = -100_000, max = 100_000))]
    pub by: i32,
    /// Whether `screenshot` pictures the whole page.
    #[serde(default = "yes", rename = "fullPage")]
    pub full_page: bool,
    /// The element by what a person sees of it, instead of `selector`.
    #[serde(default)]
    pub target: Option<Target>,
    /// Act only if the element is like this.
    #[serde(default)]
    pub expect: Option<Expect>,
    /// Continue when the page is quiet.
    #[serde(default)]
    pub settle: Option<Settle>,
    /// What `effects` say about the step. Pictures are artifacts.
    #[serde(default)]
    pub observe: Option<Observe>,
    /// Whether `effects` say which element the step hit.
    #[serde(default)]
    pub hit: bool,
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "BrowserStepAction")]
pub enum Kind {
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
    /// The element, which this step needs. With a target, any: it is not sent.
    pub fn element(&self) -> PackResult<Selector> {
        match &self.target {
            Some(_) => Selector::parse("css=*").map_err(|_| self.lacks("selector")),
            None => self.selector.clone().ok_or_else(|| self.lacks("selector")),
        }
    }

    /// The value, which this step needs.
    pub fn value(&self) -> PackResult<String> {
        self.value.clone().ok_or_else(|| self.lacks("value"))
    }

    pub fn lacks(&self, field: &str) -> PackError {
        PackError::invalid(field, format!("{:?} needs `{field}`", self.action))
    }

    /// Whether it has what it needs.
    pub fn check(&self) -> PackResult<()> {
        use Kind::{
            AssertText, Click, Execute, Extract, Focus, Key, Navigate, Scroll, Select, Type,
        };
        if matches!(self.action, Click | Focus | Type | Select | Extract) {
            self.element()?;
        }
        if matches!(self.action, Type | Key | Select | Navigate | Execute) {
            self.value()?;
        }
        if self.action == AssertText && self.text.is_none() {
            return Err(self.lacks("text"));
        }
        if self.target.is_some() && self.selector.is_some() {
            let message = "`target` and `selector` are both given: choose one";
            return Err(PackError::invalid("target", message));
        }
        let on_element = matches!(self.action, Click | Focus | Type | Key | Select);
        let acts = on_element || matches!(self.action, Navigate | Scroll | Execute);
        for (field, given, usable) in [
            ("target", self.target.is_some(), on_element || self.action == Extract),
            ("expect", self.expect.is_some(), on_element),
            ("settle", self.settle.is_some(), acts),
            ("observe", self.observe.is_some(), acts),
            ("hit", self.hit, on_element),
        ] {
            if given && !usable {
                let message = format!("{:?} has no `{field}`", self.action);
                return Err(PackError::invalid(field, message));
            }
        }
        Ok(())
    }

    /// Whether `effects` have an entry for it.
    pub fn is_observed(&self) -> bool {
        self.settle.is_some() || self.observe.is_some() || self.hit
    }

    pub fn options(&self) -> ActionOptions {
        ActionOptions {
            target: self.target.clone(),
            expect: self.expect.clone(),
            settle: self.settle,
            observe: self.observe,
            hit: self.hit.then_some(true),
            ..ActionOptions::default()
        }
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

/// The fields of an action with options; `None` if there are none.
pub fn with_options(mut fields: Value, options: &ActionOptions) -> Option<Value> {
    if options.is_empty() {
        return None;
    }
    let (Value::Object(all), Ok(Value::Object(options))) =
        (&mut fields, serde_json::to_value(options))
    else {
        return None;
    };
    if options.contains_key("target") {
        all.remove("selector");
    }
    all.extend(options);
    Some(fields)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_target_replaces_the_selector_and_options_are_added() {
        let step: Step = serde_json::from_value(json!({
            "action": "click", "target": { "name": "Save" }, "observe": "diff",
        }))
        .unwrap();
        step.check().unwrap();
        let fields = with_options(json!({ "selector": "css=*", "count": 1 }), &step.options());
        let fields = fields.unwrap();
        assert_eq!(fields["target"]["name"], "Save");
        assert_eq!((&fields["observe"], fields.get("selector")), (&json!("diff"), None));
        assert_eq!(with_options(json!({}), &ActionOptions::default()), None);
        for usable in [
            json!({ "action": "click", "selector": "a", "hit": true }),
            json!({ "action": "scroll", "settle": {} }),
            json!({ "action": "execute", "value": "go()", "settle": {}, "observe": "diff" }),
        ] {
            let step: Step = serde_json::from_value(usable).unwrap();
            step.check().unwrap();
            assert!(step.is_observed() && !step.options().is_empty());
        }
        for refused in [
            json!({ "action": "wait", "observe": "diff" }),
            json!({ "action": "execute", "value": "go()", "hit": true }),
            json!({ "action": "navigate", "value": "https://a.b", "expect": { "role": "link" } }),
            json!({ "action": "click", "selector": "a", "target": { "name": "Save" } }),
        ] {
            let step: Step = serde_json::from_value(refused).unwrap();
            assert!(step.check().is_err());
        }
    }
}
