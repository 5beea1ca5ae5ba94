//! Creating, listing and ending sessions.

use helmdeck_wire::{
    ErrorCode,
    session::{A_YEAR_S, Session, SessionList, SessionSpec},
};
use http::{HeaderValue, header};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use time::OffsetDateTime;

use super::ended;
use crate::{
    attach::SECRET_LIFE,
    error::{ApiError, ApiResult},
    operation::{add_property, define},
    tool::{Call, NoInput, Outcome},
};

/// Which sessions to list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListQuery {
    /// `ended` lists ended sessions, newest first, also after they are gone. By default, current
    /// sessions are listed.
    state: Option<ListState>,
    /// Number of sessions with `state=ended`; defaults to 50, at most 200.
    limit: Option<u32>,
}

/// State of listed sessions.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ListState {
    /// Ended.
    Ended,
}

const MOST_ENDED: u32 = 200;

/// How much of the log to return.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogsQuery {
    /// Only the last lines.
    tail: Option<usize>,
}

/// Creates a session for the caller.
pub async fn create_session(call: Call, mut spec: SessionSpec) -> ApiResult<Outcome> {
    let Call { app, caller, .. } = &call;
    spec.browser_passthrough.get_or_insert_with(|| app.settings.browser_passthrough());
    let session = app.sessions.create(caller, spec, call.flag("wait")).await?;
    let session = app.sessions.describe_one(caller, &session).await?;
    let location = HeaderValue::try_from(format!("/api/v1/sessions/{}", session.id));
    let location = location.map_err(ApiError::internal)?;
    Ok(Outcome::json(&session)?.with(header::LOCATION, location))
}

/// Lists the sessions that the caller may see.
pub async fn list_sessions(call: Call, query: ListQuery) -> ApiResult<SessionList> {
    let sessions = match query.state {
        Some(ListState::Ended) => {
            let limit = query.limit.unwrap_or(50).min(MOST_ENDED);
            ended::list(&call, limit).await?
        }
        None => call.app.sessions.describe_all(&call.caller).await,
    };
    Ok(SessionList { sessions })
}

/// Shows one of the caller's sessions.
pub async fn show_session(call: Call, _: NoInput) -> ApiResult<Session> {
    Ok(call.app.sessions.describe_one(&call.caller, &call.session()?).await?)
}

/// Ends one of the caller's sessions.
pub async fn end_session(call: Call, _: NoInput) -> ApiResult<Outcome> {
    let (app, id) = (&call.app, call.session_id()?);
    // An attached session must not be resumed, even if its program is disconnected now.
    let brought = call.session().is_ok_and(|session| session.attachment().is_some());
    if brought {
        app.revoked.add(id.as_str(), OffsetDateTime::now_utc() + SECRET_LIFE).await?;
    }
    app.sessions.end(&call.caller, id).await?;
    Ok(Outcome::done())
}

/// The log of one of the caller's sessions.
pub async fn session_logs(call: Call, query: LogsQuery) -> ApiResult<Outcome> {
    let text = call.session()?.logs(query.tail).await?;
    Ok(Outcome::bytes("text/plain; charset=utf-8", text))
}

/// The create body as clients may write it: flat or nested in `spec`, with both names of the time
/// limit.
pub fn create_schema(generator: &mut SchemaGenerator) -> Schema {
    let nested = generator.subschema_for::<SessionSpec>();
    let mut schema = SessionSpec::json_schema(generator);
    add_property(&mut schema, "spec", nested.to_value());
    let alias = json!({
        "type": ["integer", "null"],
        "minimum": 1,
        "maximum": A_YEAR_S,
        "description": "Alias of `timeout_seconds`.",
    });
    add_property(&mut schema, "wallclock_timeout_s", alias);
    define(generator, "CreateSession", schema)
}

/// Moves the fields of `spec` to the top level, and merges both names of the time limit. Duplicates
/// are refused.
pub fn flatten(mut object: Map<String, Value>) -> ApiResult<Map<String, Value>> {
    let invalid = |field: &str, message: String| {
        ApiError::new(ErrorCode::InvalidInput, message).of_field(field, Vec::new())
    };
    match object.remove("spec") {
        None | Some(Value::Null) => {}
        Some(Value::Object(nested)) => {
            for (key, value) in nested {
                if object.contains_key(&key) {
                    let message =
                        format!("{key} is given both at the top level and in spec: choose one");
                    return Err(invalid(&key, message));
                }
                object.insert(key, value);
            }
        }
        Some(other) => {
            return Err(invalid("spec", format!("spec is {}: expected an object", kind(&other))));
        }
    }
    if let Some(seconds) = object.remove("wallclock_timeout_s")
        && object.insert("timeout_seconds".to_owned(), seconds).is_some()
    {
        let message = "timeout_seconds and wallclock_timeout_s are the same limit: choose one";
        return Err(invalid("wallclock_timeout_s", message.to_owned()));
    }
    Ok(object)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn flat(value: Value) -> Result<Value, ErrorCode> {
        let Value::Object(object) = value else { panic!("not an object") };
        flatten(object).map(Value::Object).map_err(|error| error.code)
    }

    #[test]
    fn both_shapes_of_a_create_body_mean_the_same() {
        let nested = json!({"spec": {"image": "i", "wallclock_timeout_s": 600}});
        let mixed = json!({"image": "i", "spec": {"timeout_seconds": 600}});
        let expected = json!({"image": "i", "timeout_seconds": 600});
        assert_eq!(flat(nested), Ok(expected.clone()));
        assert_eq!(flat(mixed), Ok(expected));
    }

    #[test]
    fn duplicate_settings_are_refused() {
        for twice in [
            json!({"label": "a", "spec": {"label": "a"}}),
            json!({"timeout_seconds": 1, "wallclock_timeout_s": 1}),
            json!({"timeout_seconds": 1, "spec": {"wallclock_timeout_s": 1}}),
            json!({"spec": []}),
        ] {
            assert_eq!(flat(twice.clone()), Err(ErrorCode::InvalidInput), "{twice}");
        }
    }
}
