//! Actions on a session's desktop. The guest's reply is passed through unchanged.

use helmdeck_sessions::{Reply, Scope};
use helmdeck_wire::{
    ActionCall, Done, ErrorCode, body::BytesReply as _, browser::PdfDocument, screen::Picture,
    status::AgentStatus,
};
use http::{HeaderMap, HeaderValue, header};

use crate::{
    Access,
    error::{ApiError, ApiResult},
    tool::{Call, Outcome, Payload},
};

/// Access rule for actions.
pub const ACT: Access = Access::Needs(Scope::SESSIONS_ACT);
/// Maximum size of a picture.
const MAX_PICTURE: usize = 32 << 20;

/// Performs any action.
pub async fn act(call: Call, action: ActionCall) -> ApiResult<Outcome> {
    let session = call.session()?;
    passed(session.act(&call.caller, &action).await?)
}

/// A guest's reply for the client. Media types other than pictures and documents are sent as JSON,
/// so that no reply can become a page of this server.
fn passed(reply: Reply) -> ApiResult<Outcome> {
    let kinds = [Picture::MEDIA_TYPES, PdfDocument::MEDIA_TYPES].concat();
    let said = reply.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = said.and_then(|said| kinds.iter().copied().find(|kind| *kind == said));
    let size = reply.body.len();
    if size > MAX_PICTURE && kind.is_some_and(|kind| Picture::MEDIA_TYPES.contains(&kind)) {
        let message = format!(
            "the picture has {size} bytes, more than the limit of {MAX_PICTURE}: ask for a smaller \
             one with max_width, or for \"format\": \"jpeg\""
        );
        return Err(ApiError::new(ErrorCode::PictureTooLarge, message));
    }
    let mut headers = HeaderMap::new();
    let sandbox = HeaderValue::from_static("sandbox; default-src 'none'");
    headers.insert(header::CONTENT_SECURITY_POLICY, sandbox);
    for fact in [Picture::HEADERS, PdfDocument::HEADERS].concat() {
        if let Some(value) = reply.headers.get(fact) {
            headers.insert(fact, value.clone());
        }
    }
    let payload = match kind {
        Some(kind) => {
            Payload::Bytes { media_type: HeaderValue::from_static(kind), bytes: reply.body }
        }
        None => Payload::Json(reply.body),
    };
    Ok(Outcome { headers, ..Outcome::new(payload) })
}

/// Sets the agent's status line. The server keeps it; the guest never sees it.
pub async fn set_agent_status(call: Call, input: AgentStatus) -> ApiResult<Done> {
    call.session()?.set_agent_status(&call.caller, input.status).await?;
    Ok(Done::OK)
}

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use super::*;
    use crate::{error::status, tool};

    #[test]
    fn a_picture_larger_than_32_mib_is_refused_with_advice() {
        let reply = |size: usize| {
            let kind = (header::CONTENT_TYPE, HeaderValue::from_static("image/png"));
            Reply { headers: [kind].into_iter().collect(), body: vec![0; size].into() }
        };
        assert!(passed(reply(32 << 20)).is_ok());
        let Err(refused) = passed(reply((32 << 20) + 1)) else { panic!("it passed") };
        assert_eq!(refused.body().error, ErrorCode::PictureTooLarge);
        assert_eq!(status(refused.body().error), StatusCode::PAYLOAD_TOO_LARGE);
        assert!(refused.body().message.contains("max_width"), "{refused:?}");
    }

    #[test]
    fn a_guest_cannot_send_pages_or_set_cookies() {
        let headers = [
            ("content-type", "text/html"),
            ("set-cookie", "helmdeck-3000=theirs"),
            ("access-control-allow-origin", "*"),
        ];
        let headers = headers.map(|(name, value)| {
            (name.parse().unwrap_or(header::AGE), HeaderValue::from_static(value))
        });
        let reply = Reply { headers: headers.into_iter().collect(), body: "<script>".into() };
        let outcome = passed(reply).unwrap();
        let passed = tool::http::response(outcome, http::StatusCode::OK);
        let header = |name: &str| passed.headers().get(name).and_then(|value| value.to_str().ok());
        assert_eq!(header("content-type"), Some("application/json"));
        assert_eq!((header("set-cookie"), header("access-control-allow-origin")), (None, None));
        assert!(header("content-security-policy").is_some_and(|it| it.starts_with("sandbox")));
    }
}
