//! A step of a test, as its result and as people see it.

use helmdeck_vision::{Action, Place, Step, eyes::Spent, keys};
use helmdeck_wire::pointer::Button;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::page_tools::ModelStep;

/// Stands for what was typed.
const HIDDEN: &str = "•••";

/// A step of a test.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "WebTestStep")]
pub struct TestStep {
    /// What was done.
    pub tool: String,
    /// With what.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub arguments: Value,
    /// What came of it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub result: String,
    /// Whether it failed.
    pub is_error: bool,
    /// Why the model did it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// What the reply of the model used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spent>,
    /// Number of the reply, from 1.
    #[serde(skip)]
    pub number: u32,
}

impl TestStep {
    /// A step that a model wants.
    pub fn told(told: &ModelStep) -> Self {
        Self {
            tool: told.tool.clone(),
            arguments: told.arguments.clone(),
            reasoning: told.reasoning.clone(),
            ..Self::default()
        }
    }

    /// A reply that is no step.
    pub fn none(problem: String) -> Self {
        Self { tool: "none".to_owned(), result: problem, is_error: true, ..Self::default() }
    }

    /// A step on a desktop.
    pub fn seen(step: Step) -> Self {
        Self {
            tool: step.action.as_ref().map_or("none".to_owned(), Action::label),
            arguments: step.action.and_then(|it| serde_json::to_value(it).ok()).unwrap_or_default(),
            is_error: step.problem.is_some(),
            result: step.problem.unwrap_or_default(),
            reasoning: step.said,
            spent: step.spent,
            number: step.step,
        }
    }

    /// The step as people see it. What was typed is left out.
    pub fn shown(&self) -> Step {
        let text = |name: &str| {
            let value = self.arguments.get(name).and_then(Value::as_str).map(str::to_owned);
            value.unwrap_or_default()
        };
        let element = || Place::Element { reference: text("ref") };
        let action = match self.tool.as_str() {
            "browser_click" => Some(Action::clicks(Some(element()), Button::Left, 1)),
            "browser_type" | "browser_select" => {
                Some(Action::Fill { at: element(), text: HIDDEN.to_owned() })
            }
            "browser_press" => Some(Action::key(&keys::shown(&keys::chord(&text("key"))))),
            "browser_navigate" => Some(Action::Navigate { url: text("url") }),
            "browser_wait_for" => {
                let seconds = self.arguments.get("time").and_then(Value::as_f64);
                Some(Action::Wait { seconds: seconds.unwrap_or_default() })
            }
            "browser_snapshot" => Some(Action::Read),
            "done" => Some(Action::Done { text: String::new() }),
            _ => None,
        };
        Step {
            step: self.number,
            said: self.reasoning.clone(),
            action,
            problem: self.is_error.then(|| self.result.clone()),
            spent: self.spent,
            ..Step::default()
        }
    }
}
