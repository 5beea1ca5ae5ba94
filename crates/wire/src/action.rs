//! What a guest can be asked, tied to what it answers.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// One thing a guest can be asked to do.
///
/// The same value is the JSON body of `POST /api/v1/desktop/<NAME>` (next to `session_id`) and the
/// body that travels over the link.
pub trait Action: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// The last segment of the route, on the API and on the link.
    const NAME: &'static str;
    /// What a caller gets back.
    type Reply;

    /// How long it takes by its own wish, besides the time the work itself needs.
    fn asked_duration(&self) -> Duration {
        Duration::ZERO
    }
}

/// Declares the name and the reply of an action.
macro_rules! action {
    ($action:ty, $name:literal, $reply:ty $(, lasts $duration:expr)?) => {
        impl $crate::action::Action for $action {
            const NAME: &'static str = $name;
            type Reply = $reply;
            $(fn asked_duration(&self) -> std::time::Duration {
                $duration(self)
            })?
        }
    };
}
pub(crate) use action;

/// The reply of an action that has nothing to tell.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct Done {
    /// Always true; failures are error bodies.
    pub ok: bool,
}

impl Done {
    /// The only value there is.
    pub const OK: Self = Self { ok: true };
}
