//! Creating, seeing and ending sessions.

use axum::{Extension, Json, extract::State, response::IntoResponse};
use helmdeck_sessions::Caller;
use helmdeck_wire::session::{Session, SessionList, SessionSpec};
use http::{StatusCode, header};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::json;
use time::OffsetDateTime;

use super::ended;
use crate::{
    App,
    attach::SECRET_LIFE,
    body::Spec,
    error::ApiResult,
    operation::{add_property, define},
    query::{Named, Params},
};

/// How a session is created.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateQuery {
    /// Answer when the session is ready; with `false`, at once.
    #[serde(default = "yes")]
    wait: bool,
}

fn yes() -> bool {
    true
}

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
pub async fn create_session(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Params(query): Params<CreateQuery>,
    Spec(mut spec): Spec,
) -> ApiResult<impl IntoResponse> {
    spec.browser_passthrough.get_or_insert_with(|| app.settings.browser_passthrough());
    let session = app.sessions.create(&caller, spec, query.wait).await?;
    let session = app.sessions.describe_one(&caller, &session).await?;
    let location = format!("/api/v1/sessions/{}", session.id);
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], Json(session)))
}

/// The sessions the caller may see.
pub async fn list_sessions(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Params(query): Params<ListQuery>,
) -> ApiResult<Json<SessionList>> {
    let sessions = match query.state {
        Some(ListState::Ended) => {
            let limit = query.limit.unwrap_or(50).min(MOST_ENDED);
            ended::list(&app, &caller, limit).await?
        }
        None => app.sessions.describe_all(&caller).await,
    };
    Ok(Json(SessionList { sessions }))
}

/// One of the caller's sessions.
pub async fn show_session(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Named(id): Named,
) -> ApiResult<Json<Session>> {
    let session = app.sessions.get(&caller, &id)?;
    Ok(Json(app.sessions.describe_one(&caller, &session).await?))
}

/// The end of one of the caller's sessions.
pub async fn end_session(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Named(id): Named,
) -> ApiResult<StatusCode> {
    // Whoever brought it may be away just now, and shall not bring it back.
    let brought = app.sessions.get(&caller, &id).is_ok_and(|it| it.attachment().is_some());
    if brought {
        app.revoked.add(id.as_str(), OffsetDateTime::now_utc() + SECRET_LIFE).await?;
    }
    app.sessions.end(&caller, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The log of one of the caller's sessions.
pub async fn session_logs(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Named(id): Named,
    Params(query): Params<LogsQuery>,
) -> ApiResult<String> {
    Ok(app.sessions.get(&caller, &id)?.logs(query.tail).await?)
}

/// The create body as clients may write it: flat, or under `spec`, with both names of the limit.
pub fn create_schema(generator: &mut SchemaGenerator) -> Schema {
    let nested = generator.subschema_for::<SessionSpec>();
    let mut schema = SessionSpec::json_schema(generator);
    add_property(&mut schema, "spec", nested.to_value());
    let alias = json!({
        "type": ["integer", "null"],
        "minimum": 1,
        "description": "Another name of `timeout_seconds`.",
    });
    add_property(&mut schema, "wallclock_timeout_s", alias);
    define(generator, "CreateSession", schema)
}
