//! Who drives a session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::history::Actor;

/// Who may send input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Driver {
    /// Agents: the one in `holder` if it took control, else all that may act in the session.
    Agent,
    /// The person in `holder`, who took control.
    Human,
    /// The session is not running.
    Nobody,
}

/// Who drives, as a caller sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Control {
    /// Who may send input.
    pub driver: Driver,
    /// The token subject that took control.
    pub holder: Option<String>,
    /// Who took control: an agent, a person, or the holder of a link.
    #[serde(default)]
    pub by: Option<Actor>,
    /// Grows whenever control changes hands.
    pub epoch: u64,
    /// Since when it is so; none if it never changed.
    #[serde(default, with = "time::serde::rfc3339::option")]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub since: Option<OffsetDateTime>,
    /// What the last person to drive left for the agent.
    pub message: Option<String>,
    /// The person who left the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_by: Option<String>,
    /// Whether the caller is the one who took control.
    pub yours: bool,
}

/// Take control of a session.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TakeControl {
    /// Also from another person who has it. Only people may: a token of a login, or one made with
    /// `helmdeck token --human`.
    pub force: bool,
}

/// Hand control back to the agent.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReleaseControl {
    /// What the agent should know: kept until control changes hands again.
    #[schemars(length(max = 2000))]
    pub message: Option<String>,
}

/// In whose hands an action is that a guest is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Hands {
    /// An agent's, who may drive.
    #[default]
    Agent,
    /// A person's, who may drive.
    Person,
    /// Nobody's: another drives, and this one only looks.
    Off,
}

impl Hands {
    /// Its name between server and guest.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Person => "person",
            Self::Off => "off",
        }
    }

    /// The one of this name; whoever is not known only looks.
    pub fn named(name: &str) -> Self {
        [Self::Agent, Self::Person]
            .into_iter()
            .find(|one| one.as_str() == name)
            .unwrap_or(Self::Off)
    }
}
