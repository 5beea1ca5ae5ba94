//! What a run reports.

use helmdeck_wire::{
    aim::Hit,
    observe::{Effect, TracePictures},
    point::{Pixel, Rect},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    action::Action,
    eyes::{Shot, Spent},
};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The goal is reached; `evidence` says how that was seen.
    Completed,
    /// The model says that the goal is reached, but nothing shows it.
    Unverified,
    /// The model repeated itself without effect.
    Stuck,
    /// A person has to agree first: `question` says to what.
    NeedsConfirmation,
    /// A budget is used up.
    Budget,
    /// The steps are used up.
    MaxSteps,
    /// The model could not be asked.
    ProviderError,
    /// The run was stopped, its session ended, or its screen could not be read.
    Cancelled,
    /// A person took control.
    ControlTaken,
    /// A person refused, or the caller may not do this.
    Denied,
}

/// A run, from its beginning to its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "VisionRun")]
pub struct Run {
    /// How it ended.
    pub outcome: Outcome,
    /// Whether the goal is reached, as far as it is known.
    pub completed: bool,
    /// Why it ended like this.
    pub reason: String,
    /// What shows that the goal is reached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// What the model said at its end.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub answer: String,
    /// What a person has to agree to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The steps, one for each action.
    pub steps: Vec<Step>,
    /// The model; absent if none was needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How the model was spoken to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// How often the model was asked.
    pub model_calls: u32,
    /// What all calls used.
    pub spent: Spent,
    /// Milliseconds.
    pub duration_ms: u64,
    /// The screen at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_shot: Option<FinalShot>,
}

/// The screen at the end of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "VisionFinalShot")]
pub struct FinalShot {
    /// Id of the picture.
    pub id: String,
    /// Its media type.
    pub media_type: String,
    /// The picture in base64.
    pub data: String,
}

impl From<Shot> for FinalShot {
    fn from(shot: Shot) -> Self {
        Self { id: shot.id, media_type: shot.media_type, data: shot.data.to_string() }
    }
}

/// One action of a run, or one reply without any.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "VisionStep")]
pub struct Step {
    /// Number of the turn, from 1. Actions of one reply have the same.
    pub step: u32,
    /// Id of the picture that the model saw. The picture itself is not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shot: Option<String>,
    /// What the model said, shortened.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub said: String,
    /// Whether the step needed no model.
    #[serde(default)]
    pub without_model: bool,
    /// What was done. Text is left out unless the instruction has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    /// Where the pointer was moved to, if the position was next to the element that is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<Pixel>,
    /// What it hit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit: Option<Hit>,
    /// Its main effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// All effects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
    /// Where the screen changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<Rect>,
    /// Small pictures of the place before and after the action, which `trace/{picture}` of the session shows as long as
    /// the session keeps them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pictures: Option<TracePictures>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// What the call of the model used; only in the first step of a reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spent>,
    /// Milliseconds, with the call of the model in the first step of a reply.
    pub duration_ms: u64,
}

impl Step {
    /// One line for people.
    pub fn line(&self) -> String {
        let action = self.action.as_ref().map_or("no action".to_owned(), Action::label);
        format!("step {}: {action}", self.step)
    }
}

/// An action for reports: without text that the caller did not write.
pub fn shown(action: &Action, instruction: &str) -> Action {
    let hide = |text: &str| match instruction.contains(text.trim()) {
        true => text.to_owned(),
        false => "•".repeat(text.chars().count().min(20)),
    };
    match action {
        Action::Type { text } => Action::Type { text: hide(text) },
        Action::Fill { at, text } => Action::Fill { at: at.clone(), text: hide(text) },
        Action::Key { keys } => Action::Key { keys: crate::keys::shown(keys) },
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_shown_only_if_the_caller_wrote_it() {
        let typed =
            |text: &str| shown(&Action::Type { text: text.to_owned() }, "Type Ann into Name");
        assert_eq!(typed("Ann"), Action::Type { text: "Ann".to_owned() });
        assert_eq!(typed("s3cret"), Action::Type { text: "••••••".to_owned() });
    }
}
