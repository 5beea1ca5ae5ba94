//! Waiting, and the sentence an agent shows to its viewers.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::action::{Done, action};

/// A duration an action may take: more than zero, and at most thirty seconds.
///
/// A longer one is cut to thirty, and the reply says so.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Seconds(#[schemars(extend("exclusiveMinimum" = 0))] pub f64);

impl Seconds {
    /// The longest an action may wait.
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

/// Do nothing for some seconds, inside the session.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wait {
    /// How long; more than 30 counts as 30.
    #[schemars(extend("x-error" = "invalid_seconds"))]
    pub seconds: Seconds,
}
action!(Wait, "wait", Waited, drives |_: &Self| false, lasts |this: &Self| this.seconds.duration());

/// How long was waited.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Waited {
    /// Always true.
    pub ok: bool,
    /// Seconds, after the cap.
    pub seconds: Seconds,
}

/// Say what the agent is doing, for the banner over the live view. An empty text clears it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentStatus {
    /// One line, for example `step 3/10 · clicking Sign In`.
    #[schemars(length(max = 500))]
    pub status: String,
}
action!(AgentStatus, "agent_status", Done, drives |_: &Self| false);
