//! Forwarded ports of sessions.

use axum::{
    Extension,
    extract::{FromRequestParts, Path, State},
    response::Response,
};
use helmdeck_sessions::Caller;
use helmdeck_wire::{
    ErrorCode, SessionId,
    forward::{Forward, ForwardList, ForwardRule, NewForward},
};
use http::request::Parts;
use schemars::JsonSchema;
use serde::Deserialize;

use super::live::{accept, must_end, upgrade};
use crate::{
    App,
    auth::require_bearer,
    error::{ApiError, ApiResult},
    forward,
    query::{NamedForward, Params},
    token::Claims,
    tool::{Call, NoInput, Outcome},
};

/// Maximum size of a message.
const MAX_MESSAGE: usize = 1 << 20;

/// The port of the client's machine.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClientQuery {
    /// Port on the client's machine; defaults to the port inside.
    to: Option<u16>,
}

/// A forwarded port.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnePort {
    /// Port inside the session.
    port: u16,
}

/// Lists the forwarded ports of a session.
pub async fn list_forwards(call: Call, _: NoInput) -> ApiResult<ForwardList> {
    Ok(ForwardList { forwards: call.session()?.forwards() })
}

/// Forwards a port of the server's machine.
pub async fn add_forward(call: Call, wanted: NewForward) -> ApiResult<Forward> {
    Ok(call.session()?.add_forward(&call.caller, wanted.forward).await?)
}

/// Closes a forwarded port.
pub async fn remove_forward(call: Call, one: OnePort) -> ApiResult<Outcome> {
    call.session()?.remove_forward(&call.caller, one.port).await?;
    Ok(Outcome::done())
}

/// Forwards a port of the client's machine while the WebSocket is open.
pub async fn from_client(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(token): Extension<Claims>,
    NamedForward(id, port): NamedForward,
    Params(query): Params<ClientQuery>,
    mut parts: Parts,
) -> ApiResult<Response> {
    require_bearer(&parts, "forward")?;
    let session = app.sessions.get(&caller, &id)?;
    let rule = format!("{port}:localhost:{}", query.to.unwrap_or(port));
    let rule = rule.parse::<ForwardRule>().map_err(|reason| {
        let field = if query.to == Some(0) { "to" } else { "port" };
        ApiError::new(ErrorCode::InvalidInput, reason).of_field(field, Vec::new())
    })?;
    let upgrade = upgrade(&mut parts, &app).await?;
    let opened = session.forward_from_client(&caller, rule).await?;
    Ok(accept(upgrade.max_message_size(MAX_MESSAGE), async move |socket| {
        let (credentials, expires) = ([caller.token], Some(token.info().expires_at));
        let ended = must_end(&app, session.ending(), &credentials, expires);
        app.live.track_future(forward::announce(socket, opened, ended)).await;
    }))
}

/// One connection that the client opens on request.
pub async fn bring(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(token): Extension<Claims>,
    mut parts: Parts,
) -> ApiResult<Response> {
    require_bearer(&parts, "forward")?;
    let gone = || {
        let message = "this connection is no longer needed";
        ApiError::new(ErrorCode::NotFound, message)
    };
    let named = Path::<(SessionId, u16, String)>::from_request_parts(&mut parts, &app).await;
    let Ok(Path((id, _, connection))) = named else { return Err(gone()) };
    let session = app.sessions.get(&caller, &id)?;
    let upgrade = upgrade(&mut parts, &app).await?;
    let stream = session.bring_forwarded(&connection).ok_or_else(gone)?;
    Ok(accept(upgrade.max_message_size(MAX_MESSAGE), async move |socket| {
        let (credentials, expires) = ([caller.token], Some(token.info().expires_at));
        let ended = must_end(&app, session.ending(), &credentials, expires);
        let work = async {
            tokio::select! {
                () = forward::carry(socket, stream) => {}
                _ = ended => {}
            }
        };
        app.live.track_future(work).await;
    }))
}
