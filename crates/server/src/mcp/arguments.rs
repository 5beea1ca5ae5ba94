//! From the arguments of an MCP call to those of a tool.

use helmdeck_wire::SessionId;
use serde_json::{Map, Value};

use super::catalogue::SESSION_ARGUMENT;

/// The arguments without the session, and the session if they name one.
pub fn split(mut args: Map<String, Value>) -> (Map<String, Value>, Option<SessionId>) {
    let own = args.remove(SESSION_ARGUMENT);
    // The name of the HTTP API works as well.
    let named = own.filter(is_given).or_else(|| args.remove("session_id").filter(is_given));
    let session = named.map(|id| match id {
        Value::String(id) => SessionId::new(id),
        other => SessionId::new(other.to_string()),
    });
    (args, session)
}

/// Models send `null` or an empty text for what they leave out.
fn is_given(value: &Value) -> bool {
    !value.is_null() && value != ""
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_session_is_named_by_either_argument_or_not_at_all() {
        let split = |value: Value| split(value.as_object().unwrap().clone());
        let (rest, session) = split(json!({ "_session_id": "s1", "x": 1 }));
        assert_eq!((Value::Object(rest), session), (json!({ "x": 1 }), Some(SessionId::new("s1"))));
        assert_eq!(split(json!({ "session_id": "s2" })).1, Some(SessionId::new("s2")));
        for absent in [json!({}), json!({ "_session_id": null }), json!({ "_session_id": "" })] {
            assert_eq!(split(absent).1, None);
        }
    }
}
