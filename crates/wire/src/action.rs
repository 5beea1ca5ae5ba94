//! What a guest can be asked, tied to what it answers.

use std::time::Duration;

use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

/// One thing a guest can be asked to do.
///
/// The same value is the JSON body of `POST /api/v1/desktop/<NAME>` or `/api/v1/browser/…` (next to
/// `session_id`) and the body that travels over the link.
pub trait Action: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// Its name on the link and in histories. The last segment of its route on the API, less the
    /// `browser_` of what the structured browser does.
    const NAME: &'static str;
    /// Whether it needs a desktop; else any session will do.
    const ON_DESKTOP: bool;
    /// What a caller gets back.
    type Reply;

    /// Whether it changes something in the session, and so needs the right to drive; else it only
    /// looks.
    fn drives(&self) -> bool {
        true
    }

    /// How long it takes by its own wish, besides the time the work itself needs.
    fn asked_duration(&self) -> Duration {
        Duration::ZERO
    }

    /// What may be kept and shown of it: where, never what was typed.
    fn detail(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// An action with its type erased: all that is known of it on its way to a guest.
#[derive(Debug, Clone)]
pub struct ActionCall {
    /// [`Action::NAME`].
    pub name: &'static str,
    /// [`Action::ON_DESKTOP`].
    pub on_desktop: bool,
    /// [`Action::drives`].
    pub drives: bool,
    /// [`Action::asked_duration`].
    pub asked_duration: Duration,
    /// [`Action::detail`].
    pub detail: Value,
    /// The action as JSON.
    pub body: Bytes,
}

impl ActionCall {
    /// Erases the type of an action.
    pub fn new<A: Action>(action: &A) -> Self {
        Self {
            name: A::NAME,
            on_desktop: A::ON_DESKTOP,
            drives: action.drives(),
            asked_duration: action.asked_duration(),
            detail: action.detail(),
            // Types of this crate have no maps with other keys than strings, so this cannot fail; a
            // guest refuses an empty body.
            body: serde_json::to_vec(action).unwrap_or_default().into(),
        }
    }
}

/// Declares the name and the reply of an action; if it does not always drive, when it `drives`; how
/// long it `lasts`; and what is `kept` of it if that is not all of it.
macro_rules! action {
    (browser $action:ty, $($rest:tt)*) => {
        $crate::action::action!(@ false, $action, $($rest)*);
    };
    ($action:ty, $($rest:tt)*) => {
        $crate::action::action!(@ true, $action, $($rest)*);
    };
    (@ $on_desktop:literal, $action:ty, $name:literal, $reply:ty
        $(, drives $drives:expr)? $(, lasts $duration:expr)? $(, kept $kept:expr)?) => {
        impl $crate::action::Action for $action {
            const NAME: &'static str = $name;
            const ON_DESKTOP: bool = $on_desktop;
            type Reply = $reply;
            $(fn drives(&self) -> bool {
                $drives(self)
            })?
            $(fn asked_duration(&self) -> std::time::Duration {
                $duration(self)
            })?
            $(fn detail(&self) -> serde_json::Value {
                $kept(self)
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
