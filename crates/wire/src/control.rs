//! Control of a session: who may send input.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::history::Actor;

/// Who may send input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Driver {
    /// Agents. If `holder` is set, only that agent.
    Agent,
    /// The person in `holder`, who took control.
    Human,
    /// The session is not running.
    Nobody,
}

/// Control of a session, as a caller sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Control {
    /// Who may send input.
    pub driver: Driver,
    /// The token subject that took control.
    pub holder: Option<String>,
    /// Who took control: an agent, a person, or the holder of a link.
    #[serde(default)]
    pub by: Option<Actor>,
    /// Increases whenever control changes.
    pub epoch: u64,
    /// When control last changed; null if it never did.
    #[serde(default, with = "time::serde::rfc3339::option")]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub since: Option<OffsetDateTime>,
    /// Message that the last person left for the agent.
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
    /// Take control even from another person. Only a person may do this: the token must come from a
    /// login or from `helmdeck token --human`.
    pub force: bool,
}

/// Release control to the agent.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReleaseControl {
    /// Message for the agent. It is kept until control changes again.
    #[schemars(length(max = 2000))]
    pub message: Option<String>,
}

/// Who performs an action in a guest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Hands {
    /// An agent with control.
    #[default]
    Agent,
    /// A person with control.
    Person,
    /// A caller without control, who may only look.
    Off,
}

impl Hands {
    /// Name on the link between server and guest.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Person => "person",
            Self::Off => "off",
        }
    }

    /// Parses a name. An unknown name may only look.
    pub fn named(name: &str) -> Self {
        [Self::Agent, Self::Person]
            .into_iter()
            .find(|one| one.as_str() == name)
            .unwrap_or(Self::Off)
    }
}
