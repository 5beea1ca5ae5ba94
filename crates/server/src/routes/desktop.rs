//! Actions on a session's desktop. The guest's answer is passed through as it came.

use axum::{
    Extension, Json,
    extract::State,
    response::{IntoResponse, Response},
};
use helmdeck_sessions::{Caller, Reply, Scope};
use helmdeck_wire::{
    Action, Done,
    browser::PageScreenshot,
    screen::{Format, Screenshot, Zoom},
    status::AgentStatus,
    window::ListWindows,
};
use http::{HeaderMap, header};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Access, App, accept,
    body::{Targeted, session_id},
    error::ApiResult,
    query::Params,
};

/// Who may act.
pub const ACT: Access = Access::Needs(Scope::SessionsAct);

/// An action whose answer is a picture in one of several formats.
pub trait Pictured: Action {
    /// The format that was asked for in the body.
    fn format(&mut self) -> &mut Option<Format>;
}

impl Pictured for Screenshot {
    fn format(&mut self) -> &mut Option<Format> {
        &mut self.format
    }
}

impl Pictured for PageScreenshot {
    fn format(&mut self) -> &mut Option<Format> {
        &mut self.format
    }
}

impl Pictured for Zoom {
    fn format(&mut self) -> &mut Option<Format> {
        &mut self.format
    }
}

/// Which session's windows are listed.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WindowsQuery {
    /// Which session.
    #[schemars(with = "String")]
    session_id: Option<String>,
}

/// A guest's answer on its way to the client.
pub struct Passed(Reply);

impl IntoResponse for Passed {
    fn into_response(self) -> Response {
        (self.0.headers, self.0.body).into_response()
    }
}

/// Any action.
pub async fn act<A: Action>(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Targeted { session, action }: Targeted<A>,
) -> ApiResult<Passed> {
    let session = app.sessions.get(&caller, &session)?;
    Ok(Passed(session.act(&caller, &action).await?))
}

/// Any action that is answered by a picture; `Accept` chooses the format if the body does not.
pub async fn look<A: Pictured>(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    Targeted { session, mut action }: Targeted<A>,
) -> ApiResult<Passed> {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    action.format().get_or_insert_with(|| accept::preferred(accept.unwrap_or_default()));
    let session = app.sessions.get(&caller, &session)?;
    Ok(Passed(session.act(&caller, &action).await?))
}

/// The windows on the screen.
pub async fn list_windows(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Params(query): Params<WindowsQuery>,
) -> ApiResult<Passed> {
    let session = app.sessions.get(&caller, &session_id(query.session_id.map(Into::into))?)?;
    Ok(Passed(session.act(&caller, &ListWindows {}).await?))
}

/// What the agent says it is doing; the server keeps it, the guest never hears of it.
pub async fn set_agent_status(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Targeted { session, action }: Targeted<AgentStatus>,
) -> ApiResult<Json<Done>> {
    app.sessions.get(&caller, &session)?.set_agent_status(action.status).await?;
    Ok(Json(Done::OK))
}
