//! Ports outside that a session opens as its own.

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

use super::live::{must_end, upgrade};
use crate::{
    App,
    auth::require_bearer,
    error::{ApiError, ApiResult},
    forward,
    query::{NamedForward, Params},
    token::Claims,
    tool::{Call, NoInput, Outcome},
};

/// The largest message of either side.
const MAX_MESSAGE: usize = 1 << 20;

/// Which port of the client's machine is meant.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClientQuery {
    /// The port on the client's machine; the same as inside if not given.
    to: Option<u16>,
}

/// Which forwarded port.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnePort {
    /// Its number inside the session.
    port: u16,
}

/// The forwarded ports of one of the caller's sessions.
pub async fn list_forwards(call: Call, _: NoInput) -> ApiResult<ForwardList> {
    Ok(ForwardList { forwards: call.session()?.forwards() })
}

/// A port of this machine.
pub async fn add_forward(call: Call, wanted: NewForward) -> ApiResult<Forward> {
    Ok(call.session()?.add_forward(&call.caller, wanted.forward).await?)
}

/// The end of a forwarded port.
pub async fn remove_forward(call: Call, one: OnePort) -> ApiResult<Outcome> {
    call.session()?.remove_forward(&call.caller, one.port).await?;
    Ok(Outcome::done())
}

/// A port of the client's machine, for as long as the WebSocket is open.
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
    let rule = rule.parse::<ForwardRule>();
    let rule = rule.map_err(|reason| ApiError::new(ErrorCode::InvalidInput, reason))?;
    let upgrade = upgrade(&mut parts, &app).await?;
    let opened = session.forward_from_client(&caller, rule).await?;
    Ok(upgrade.max_message_size(MAX_MESSAGE).on_upgrade(async move |socket| {
        let (credentials, expires) = ([caller.token], Some(token.info().expires_at));
        let ended = must_end(&app, session.ending(), &credentials, expires);
        app.live.track_future(forward::announce(socket, opened, ended)).await;
    }))
}

/// One connection that the client was asked for.
pub async fn bring(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(token): Extension<Claims>,
    mut parts: Parts,
) -> ApiResult<Response> {
    require_bearer(&parts, "forward")?;
    let gone = || {
        let message = "this connection is no longer wanted";
        ApiError::new(ErrorCode::NotFound, message)
    };
    let named = Path::<(SessionId, u16, String)>::from_request_parts(&mut parts, &app).await;
    let Ok(Path((id, _, connection))) = named else { return Err(gone()) };
    let session = app.sessions.get(&caller, &id)?;
    let upgrade = upgrade(&mut parts, &app).await?;
    let stream = session.bring_forwarded(&connection).ok_or_else(gone)?;
    Ok(upgrade.max_message_size(MAX_MESSAGE).on_upgrade(async move |socket| {
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
