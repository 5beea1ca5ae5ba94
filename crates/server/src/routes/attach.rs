//! Attached displays and browsers.

use std::{pin::pin, time::Duration};

use axum::{
    Extension,
    extract::{
        State,
        ws::{Message, WebSocket},
    },
    response::Response,
};
use bytes::Bytes;
use futures_util::StreamExt;
use helmdeck_sessions::{AttachClaim, Caller, Session, ToAttach};
use helmdeck_wire::{
    ErrorCode,
    attach::{Attach, AttachReply, GOODBYE, SECRET},
};
use http::request::Parts;
use time::OffsetDateTime;
use tokio::time::{Instant, interval, sleep_until, timeout};

use super::live::{accept, must_end, upgrade};
use crate::{
    App,
    attach::{PING_EVERY, SEND_DEADLINE, SILENCE, Secret, serve},
    auth::require_bearer,
    closing::{Closing, close},
    error::{ApiError, ApiResult},
    input,
    public::Address,
    query::Named,
    token::Claims,
};

/// A program sends its message at once.
const HELLO_DEADLINE: Duration = Duration::from_secs(10);
const MAX_HELLO: usize = 16 << 10;
/// Maximum size of a stream's message.
const MAX_MESSAGE: usize = 1 << 20;
/// Close code of WebSockets that are done.
const NORMAL: u16 = 1000;

/// Attaches a session for as long as the program is connected.
pub async fn attach(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(token): Extension<Claims>,
    mut parts: Parts,
) -> ApiResult<Response> {
    require_bearer(&parts, "attach")?;
    let upgrade = upgrade(&mut parts, &app).await?;
    let address = Address::of(&app, &parts.headers);
    Ok(accept(upgrade.max_message_size(MAX_HELLO), async move |mut socket| {
        let live = app.live.clone();
        let expires = token.info().expires_at;
        let work = async {
            let begun = begin(&app, &caller, &address, &mut socket).await;
            let reason = match begun {
                Ok((session, brought)) => {
                    let reason = attend(&app, &caller, expires, &session, &mut socket).await;
                    // It may be resumed while this connection is being closed.
                    drop(brought);
                    reason
                }
                Err(error) => {
                    let _ = say(&mut socket, &AttachReply::Refused(error.body())).await;
                    Closing::Nonsense("refused".to_owned())
                }
            };
            let (to, from) = socket.split();
            close(to, from, &reason).await;
        };
        live.track_future(work).await;
    }))
}

/// A connection that the server may use.
pub async fn stream(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(token): Extension<Claims>,
    Named(id): Named,
    mut parts: Parts,
) -> ApiResult<Response> {
    require_bearer(&parts, "attach")?;
    let shown = parts.headers.get(SECRET).and_then(|value| value.to_str().ok());
    let secret = shown.and_then(|text| Secret::read(&app.signer, text, &caller.subject));
    let known = secret.filter(|secret| secret.session == id);
    let unknown = || ApiError::new(ErrorCode::NotFound, "no such session is attached");
    known.ok_or_else(unknown)?;
    let session = app.sessions.get(&caller, &id)?;
    let attachment = session.attachment().ok_or_else(unknown)?.clone();
    let upgrade = upgrade(&mut parts, &app).await?;
    Ok(accept(upgrade.max_message_size(MAX_MESSAGE), async move |socket| {
        let credentials = [caller.token.clone()];
        let expires = Some(token.info().expires_at);
        let ended = must_end(&app, session.ending(), &credentials, expires);
        let live = app.live.clone();
        let work = async {
            tokio::select! {
                () = serve(socket, &attachment) => {}
                _ = ended => {}
            }
        };
        live.track_future(work).await;
    }))
}

/// Reads the program's message and answers with the session.
async fn begin(
    app: &App,
    caller: &Caller,
    address: &Address,
    socket: &mut WebSocket,
) -> ApiResult<(Session, AttachClaim)> {
    let invalid = |message: &str| ApiError::new(ErrorCode::InvalidInput, message);
    let said = timeout(HELLO_DEADLINE, socket.recv()).await;
    let Ok(Some(Ok(Message::Text(text)))) = said else {
        return Err(invalid("expected an attach message"));
    };
    let wanted: Attach = input::read_text(&text)?;
    let back = match wanted.secret {
        Some(text) => {
            let secret = Secret::read(&app.signer, &text, &caller.subject);
            let foreign = || {
                ApiError::new(
                    ErrorCode::NotFound,
                    "secret: it is invalid or belongs to another owner",
                )
            };
            let secret = secret.ok_or_else(foreign)?;
            if app.revoked.contains(secret.session.as_str()) {
                let message = "the session has ended: attach again to create a new one";
                return Err(ApiError::new(ErrorCode::NotFound, message));
            }
            Some((secret.session, secret.created_at))
        }
        None => None,
    };
    let (label, attached) = (wanted.label, wanted.attached);
    let (session, brought) = app.sessions.attach(caller, ToAttach { label, attached, back })?;
    let secret = Secret::new(&caller.subject, &session).sign(&app.signer)?;
    let (session_id, url) = (session.id().clone(), address.session(session.id()));
    // If the program is already gone, the session waits for it as usual.
    let _ = say(socket, &AttachReply::Attached { session_id, secret, url }).await;
    Ok((session, brought))
}

/// Keeps the connection until either side ends it. The program's goodbye ends the session.
async fn attend(
    app: &App,
    caller: &Caller,
    expires: OffsetDateTime,
    session: &Session,
    socket: &mut WebSocket,
) -> Closing {
    let credentials = [caller.token.clone()];
    let mut ended = pin!(must_end(app, session.ending(), &credentials, Some(expires)));
    let mut ready = pin!(session.ready());
    let (mut told, mut heard, mut pings) = (false, Instant::now(), interval(PING_EVERY));
    loop {
        let sent = tokio::select! {
            reason = &mut ended => {
                // A revoked token ends the session at once. A new token does not resume it.
                if app.revoked.contains(&caller.token) {
                    session.detach();
                }
                return reason;
            }
            answers = &mut ready, if !told => {
                told = true;
                match answers {
                    Ok(()) => say(socket, &AttachReply::Ready).await,
                    // The reason is reported with the session's end.
                    Err(_) => true,
                }
            }
            message = socket.recv() => match message {
                Some(Ok(Message::Close(Some(frame))))
                    if frame.code == NORMAL && frame.reason.as_str() == GOODBYE =>
                {
                    session.detach();
                    return Closing::ViewerLeft;
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => return Closing::ViewerLeft,
                Some(Ok(
                    Message::Text(_) | Message::Binary(_) | Message::Ping(_) | Message::Pong(_),
                )) => {
                    heard = Instant::now();
                    true
                }
            },
            () = sleep_until(heard + SILENCE) => return Closing::ViewerLeft,
            _ = pings.tick() => {
                let ping = socket.send(Message::Ping(Bytes::new()));
                matches!(timeout(SEND_DEADLINE, ping).await, Ok(Ok(())))
            }
        };
        if !sent {
            return Closing::ViewerLeft;
        }
    }
}

/// Sends a reply. Returns whether it was sent.
async fn say(socket: &mut WebSocket, reply: &AttachReply) -> bool {
    let Ok(text) = serde_json::to_string(reply) else { return false };
    let sent = timeout(SEND_DEADLINE, socket.send(Message::Text(text.into()))).await;
    matches!(sent, Ok(Ok(())))
}
