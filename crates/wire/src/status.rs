//! Waiting, and the status line that an agent shows to viewers.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::action::{Done, action};

/// Duration of an action in seconds: more than zero, at most thirty.
///
/// Longer values are capped; the reply contains the actual value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Seconds(#[schemars(extend("exclusiveMinimum" = 0))] pub f64);

impl Seconds {
    /// Maximum duration.
    pub const MAX: f64 = 30.0;

    /// The same as a duration.
    pub fn duration(self) -> std::time::Duration {
        std::time::Duration::from_secs_f64(self.0.clamp(0.0, Self::MAX))
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let seconds = f64::deserialize(deserializer)?;
        if seconds > 0.0 {
            Ok(Self(seconds.min(Self::MAX)))
        } else {
            Err(serde::de::Error::custom(format!("{seconds} is not a duration: expected above 0")))
        }
    }
}

/// Wait inside the session for some seconds.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wait {
    /// How long, in seconds; at most 30. Longer values are capped.
    #[schemars(extend("x-error" = "invalid_seconds"))]
    pub seconds: Seconds,
}
action!(Wait, "wait", Waited, drives |_: &Self| false, lasts |this: &Self| this.seconds.duration());

/// How long the action waited.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Waited {
    /// Always true.
    pub ok: bool,
    /// Seconds, after capping.
    pub seconds: Seconds,
}

/// Set the agent's status line, shown above the live view. An empty text clears it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentStatus {
    /// One line, for example `step 3/10 · clicking Sign In`.
    #[schemars(length(max = 500))]
    pub status: String,
}
action!(AgentStatus, "agent_status", Done, drives |_: &Self| false);
