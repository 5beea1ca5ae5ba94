//! Creating, seeing and ending sessions.

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

/// Which sessions are wanted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListQuery {
    /// `ended` for those that have ended, the last first, also after they are gone. If not given:
    /// those that are there.
    state: Option<ListState>,
    /// With `state=ended`: how many; 50 if not given, 200 at most.
    limit: Option<u32>,
}

/// What became of a session.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ListState {
    /// It is over.
    Ended,
}

const MOST_ENDED: u32 = 200;

/// How much of a log is wanted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogsQuery {
    /// Only this many of the last lines.
    tail: Option<usize>,
}

/// A new session of the caller's.
pub async fn create_session(call: Call, mut spec: SessionSpec) -> ApiResult<Outcome> {
    let Call { app, caller, .. } = &call;
    spec.browser_passthrough.get_or_insert_with(|| app.settings.browser_passthrough());
    let session = app.sessions.create(caller, spec, call.flag("wait")).await?;
    let session = app.sessions.describe_one(caller, &session).await?;
    let location = HeaderValue::try_from(format!("/api/v1/sessions/{}", session.id));
    let location = location.map_err(ApiError::internal)?;
    Ok(Outcome::json(&session)?.with(header::LOCATION, location))
}

/// The sessions the caller may see.
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

/// One of the caller's sessions.
pub async fn show_session(call: Call, _: NoInput) -> ApiResult<Session> {
    Ok(call.app.sessions.describe_one(&call.caller, &call.session()?).await?)
}

/// The end of one of the caller's sessions.
pub async fn end_session(call: Call, _: NoInput) -> ApiResult<Outcome> {
    let (app, id) = (&call.app, call.session_id()?);
    // Whoever brought it may be away just now, and shall not bring it back.
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

/// The create body as clients may write it: flat, or under `spec`, with both names of the limit.
pub fn create_schema(generator: &mut SchemaGenerator) -> Schema {
    let nested = generator.subschema_for::<SessionSpec>();
    let mut schema = SessionSpec::json_schema(generator);
    add_property(&mut schema, "spec", nested.to_value());
    let alias = json!({
        "type": ["integer", "null"],
        "minimum": 1,
        "maximum": A_YEAR_S,
        "description": "Another name of `timeout_seconds`.",
    });
    add_property(&mut schema, "wallclock_timeout_s", alias);
    define(generator, "CreateSession", schema)
}

/// Brings the fields under `spec` up to the top, and the two names of the wall clock limit
/// together. What is said twice is refused.
pub fn flatten(mut object: Map<String, Value>) -> ApiResult<Map<String, Value>> {
    let invalid = |message| ApiError::new(ErrorCode::InvalidInput, message);
    match object.remove("spec") {
        None | Some(Value::Null) => {}
        Some(Value::Object(nested)) => {
            for (key, value) in nested {
                if object.contains_key(&key) {
                    let message = format!("{key} stands both at the top and in spec: choose one");
                    return Err(invalid(message));
                }
                object.insert(key, value);
            }
        }
        Some(other) => {
            return Err(invalid(format!("spec is {}: expected an object", kind(&other))));
        }
    }
    if let Some(seconds) = object.remove("wallclock_timeout_s")
        && object.insert("timeout_seconds".to_owned(), seconds).is_some()
    {
        let message = "timeout_seconds and wallclock_timeout_s are the same limit: choose one";
        return Err(invalid(message.to_owned()));
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
    fn saying_a_thing_twice_is_refused() {
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
