//! Actions that a guest performs, each tied to the type of its reply.

use std::time::Duration;

use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{aim::Aim, observe::ActionOptions, parse::Invalid};

/// One action that a guest performs.
///
/// The same value is the JSON body of `POST /api/v1/desktop/<NAME>` or `/api/v1/browser/…` (next to
/// `session_id`) and the body that travels over the link.
pub trait Action: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// Name on the link and in histories. It is also the last segment of the API route, without the
    /// `browser_` prefix of browser actions.
    const NAME: &'static str;
    /// Whether the action needs a desktop. Otherwise it works in any session.
    const ON_DESKTOP: bool;
    /// Which of its fields say where it acts.
    const AIM: Aim = Aim::Nowhere;
    /// What the caller gets back.
    type Reply;

    /// Whether the action changes the session and so needs control. Otherwise it only reads.
    fn drives(&self) -> bool {
        true
    }

    /// Time that the action takes by request, in addition to the work itself.
    fn asked_duration(&self) -> Duration {
        Duration::ZERO
    }

    /// What histories may keep and show of the action: where it acted, never what was typed.
    fn detail(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Parses an action. The macro implements it for each type, so that it is compiled here and not
    /// in every crate that calls it.
    fn read(value: Value) -> Result<Self, Invalid>;

    /// Parses an action with its options, and erases its type.
    fn call(value: Value) -> Result<ActionCall, Invalid>;
}

/// An action with its type erased, as it travels to a guest.
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
            // Maps in this crate have string keys only, so this cannot fail. A guest refuses an
            // empty body.
            body: serde_json::to_vec(action).unwrap_or_default().into(),
        }
    }

    /// Parses an action with options: `read` parses the action's own fields.
    pub fn with_options(
        mut value: Value,
        aim: Aim,
        read: impl FnOnce(Value) -> Result<Self, Invalid>,
    ) -> Result<Self, Invalid> {
        let Value::Object(fields) = &mut value else { return read(value) };
        let options = ActionOptions::split(fields)?;
        if options.is_empty() {
            return read(value).map_err(|invalid| aim.explain(invalid));
        }
        aim.prepare(&options, fields)?;
        let mut call = read(value).map_err(|invalid| aim.explain(invalid))?;
        let targeted = aim.replaced(&options);
        call.asked_duration += options.asked_duration();
        if let Value::Object(detail) = &mut call.detail {
            detail.retain(|name, _| !targeted.contains(&name.as_str()));
            for (name, target) in options.targets() {
                let target = serde_json::to_value(target).unwrap_or_default();
                detail.insert(name.to_owned(), target);
            }
        }
        // The guest splits them again.
        if let (Ok(Value::Object(mut body)), Ok(Value::Object(options))) =
            (serde_json::from_slice(&call.body), serde_json::to_value(&options))
        {
            body.retain(|name, _| !targeted.contains(&name.as_str()));
            body.extend(options);
            call.body = serde_json::to_vec(&body).unwrap_or_default().into();
        }
        Ok(call)
    }
}

/// Declares an action: its name and its reply. Optional: what it `aims` at, when it `drives` if not
/// always, how long it `lasts`, and what is `kept` of it if not everything.
macro_rules! action {
    (browser $action:ty, $($rest:tt)*) => {
        $crate::action::action!(@ false, $action, $($rest)*);
    };
    ($action:ty, $($rest:tt)*) => {
        $crate::action::action!(@ true, $action, $($rest)*);
    };
    (@ $on_desktop:literal, $action:ty, $name:literal, $reply:ty $(, aims $aim:ident)?
        $(, drives $drives:expr)? $(, lasts $duration:expr)? $(, kept $kept:expr)?) => {
        impl $crate::action::Action for $action {
            const NAME: &'static str = $name;
            const ON_DESKTOP: bool = $on_desktop;
            $(const AIM: $crate::aim::Aim = $crate::aim::Aim::$aim;)?
            type Reply = $reply;
            fn read(value: serde_json::Value) -> Result<Self, $crate::parse::Invalid> {
                $crate::parse::parse(value)
            }
            fn call(
                value: serde_json::Value,
            ) -> Result<$crate::action::ActionCall, $crate::parse::Invalid> {
                $crate::action::ActionCall::with_options(value, Self::AIM, |value| {
                    Self::read(value).map(|action| $crate::action::ActionCall::new(&action))
                })
            }
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

/// Reply of an action that returns no data.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct Done {
    /// Always true; failures are error bodies.
    pub ok: bool,
}

impl Done {
    /// The only value of this type.
    pub const OK: Self = Self { ok: true };
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::pointer::Click;

    fn body(call: &ActionCall) -> Value {
        serde_json::from_slice(&call.body).unwrap()
    }

    #[test]
    fn options_travel_beside_the_fields_and_lengthen_the_deadline() {
        let plain = Click::call(json!({"x": 1, "y": 2})).unwrap();
        assert_eq!(body(&plain), json!({"x": 1, "y": 2, "button": "left"}));
        assert_eq!(plain.asked_duration, Duration::ZERO);

        let settle = json!({"quiet_ms": 100, "timeout_ms": 3000});
        let call = Click::call(json!({"x": 1, "y": 2, "settle": settle})).unwrap();
        let sent = json!({"x": 1, "y": 2, "button": "left", "settle": settle});
        assert_eq!(body(&call), sent);
        assert_eq!(call.asked_duration, Duration::from_secs(3));
    }

    #[test]
    fn a_target_replaces_the_position() {
        let target = json!({"text": "Save", "exact": false});
        let call = Click::call(json!({"target": {"text": "Save"}})).unwrap();
        assert_eq!(body(&call), json!({"button": "left", "target": target}));
        assert_eq!(call.detail, json!({"button": "left", "target": target}));
        assert!(Click::call(json!({"x": 1, "target": {"text": "Save"}})).is_err());
        assert!(Click::call(json!({"x": 1})).is_err());
    }
}
