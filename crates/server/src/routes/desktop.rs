//! Actions on a session's desktop. The body of the guest's answer is passed through as it came.

use axum::{
    Extension, Json,
    extract::State,
    response::{IntoResponse, Response},
};
use helmdeck_sessions::{Caller, Reply, Scope};
use helmdeck_wire::{
    Action, Done, ErrorCode,
    body::BytesReply as _,
    browser::{PageScreenshot, PdfDocument},
    screen::{Format, Picture, Screenshot, Zoom},
    status::AgentStatus,
    window::ListWindows,
};
use http::{HeaderMap, HeaderValue, header};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Access, App, accept,
    body::{Targeted, session_id},
    error::{ApiError, ApiResult},
    query::Params,
};

/// Who may act.
pub const ACT: Access = Access::Needs(Scope::SessionsAct);
/// The largest picture that is sent.
const MAX_PICTURE: usize = 32 << 20;

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
    /// A guest is believed what its answer is, not what browsers shall do with it: whatever it is,
    /// nothing in it is a page of ours.
    fn into_response(self) -> Response {
        let kinds = [Picture::MEDIA_TYPES, PdfDocument::MEDIA_TYPES].concat();
        let said = self.0.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = said.and_then(|said| kinds.iter().copied().find(|kind| *kind == said));
        let mut headers = HeaderMap::new();
        let kind = HeaderValue::from_static(kind.unwrap_or("application/json"));
        headers.insert(header::CONTENT_TYPE, kind);
        let sandbox = HeaderValue::from_static("sandbox; default-src 'none'");
        headers.insert(header::CONTENT_SECURITY_POLICY, sandbox);
        for fact in [Picture::HEADERS, PdfDocument::HEADERS].concat() {
            if let Some(value) = self.0.headers.get(fact) {
                headers.insert(fact, value.clone());
            }
        }
        (headers, self.0.body).into_response()
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
    picture(session.act(&caller, &action).await?)
}

/// A picture that is not too large to pass on.
fn picture(reply: Reply) -> ApiResult<Passed> {
    let size = reply.body.len();
    if size > MAX_PICTURE {
        let message = format!(
            "the picture has {size} bytes, and at most {MAX_PICTURE} are sent: ask for a smaller \
             one with max_width, or for \"format\": \"jpeg\""
        );
        return Err(ApiError::new(ErrorCode::PictureTooLarge, message));
    }
    Ok(Passed(reply))
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
    app.sessions.get(&caller, &session)?.set_agent_status(&caller, action.status).await?;
    Ok(Json(Done::OK))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_cannot_make_its_answer_a_page_or_set_cookies() {
        let headers = [
            ("content-type", "text/html"),
            ("set-cookie", "helmdeck-3000=theirs"),
            ("access-control-allow-origin", "*"),
        ];
        let headers = headers.map(|(name, value)| {
            (name.parse().unwrap_or(header::AGE), HeaderValue::from_static(value))
        });
        let reply = Reply { headers: headers.into_iter().collect(), body: "<script>".into() };
        let passed = Passed(reply).into_response();
        let header = |name: &str| passed.headers().get(name).and_then(|value| value.to_str().ok());
        assert_eq!(header("content-type"), Some("application/json"));
        assert_eq!((header("set-cookie"), header("access-control-allow-origin")), (None, None));
        assert!(header("content-security-policy").is_some_and(|it| it.starts_with("sandbox")));
    }
}
