//! Watching a session: the connection of the live view, tickets for it, and its address.

use axum::{
    Extension, Json,
    extract::{Request, State, WebSocketUpgrade},
    response::{IntoResponse, Response},
};
use helmdeck_sessions::{Caller, Holder, Session, SessionError, View, Viewer};
use helmdeck_wire::{
    ErrorCode, SessionId,
    session::EndReason,
    ticket::{NewTicket, Role, Ticket, VncUrl},
};
use http::{HeaderMap, StatusCode, request::Parts};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de::Error as _};
use time::OffsetDateTime;

use crate::{
    App,
    auth::{PresentedTicket, caller},
    body::{OptionalBody, session_id},
    closing::{Closing, until},
    error::{ApiError, ApiResult},
    public::Address,
    query::{Named, NamedTicket, Params},
    relay::relay,
    ticket,
    token::Claims,
};

/// The largest message of a viewer: a clipboard.
const MAX_MESSAGE: usize = 2 << 20;
/// What the address of a live view has to say for itself.
const NOTES: &str = "Open url in a browser. It holds a ticket for this session and role: \
                     its holder can connect until expires_at.";

/// How a viewer connects.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ViewQuery {
    /// What the viewer wants to be; a ticket may allow less. With a token: `control`.
    role: Option<Role>,
    /// Take control with the connection, or, with `false`, hand back what this ticket or token has.
    #[serde(default, deserialize_with = "flag")]
    take: Option<bool>,
    /// A ticket instead of a token.
    #[serde(default)]
    #[expect(
        dead_code,
        reason = "read by the gate, named here so that it is known and documented"
    )]
    ticket: Option<String>,
}

impl ViewQuery {
    /// Who wants to watch, and may.
    pub fn admit(
        &self,
        app: &App,
        id: &SessionId,
        kind: ticket::Kind,
        parts: &mut Parts,
    ) -> ApiResult<Admitted> {
        let (token, presented) = (parts.extensions.remove::<Claims>(), parts.extensions.remove());
        admit(app, id, kind, self.role, token, presented)
    }

    /// Takes control or hands it back, as they want.
    pub async fn settle(&self, view: &View) -> ApiResult<()> {
        match self.take {
            Some(true) => view.take_control().await?,
            Some(false) => view.release_control().await,
            None => {}
        }
        Ok(())
    }
}

/// `true` or `false` in a query: as a part of a larger one, it comes as text.
fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<bool>, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map(Some).map_err(|_| D::Error::custom("take: expected true or false"))
}

/// Which desktop's address is wanted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UrlQuery {
    /// Which session.
    #[schemars(with = "String")]
    session_id: Option<String>,
    /// What the holder of the address may do; `view` if not given.
    role: Option<String>,
}

/// RFB over a WebSocket.
pub async fn vnc(
    State(app): State<App>,
    Named(id): Named,
    Params(query): Params<ViewQuery>,
    request: Request,
) -> ApiResult<Response> {
    let (mut parts, _) = request.into_parts();
    let admitted = query.admit(&app, &id, ticket::Kind::Desktop, &mut parts)?;
    let upgrade = upgrade(&mut parts, &app).await?;
    let Admitted { session, viewer, credentials, ticket, expires } = admitted;
    let (view, stream) = session.view(viewer).await.map_err(not_yet)?;
    query.settle(&view).await?;
    let live = app.live.clone();
    let upgraded = upgrade.protocols(["binary"]).max_message_size(MAX_MESSAGE).on_upgrade(
        move |socket| async move {
            let over = view.session().ending();
            let ended = must_end(&app, over, &credentials, expires);
            live.track_future(relay(socket, view, stream, ended)).await;
            drop(ticket);
        },
    );
    Ok(upgraded)
}

/// A session that is starting can be watched soon: viewers are told to come back.
fn not_yet(error: SessionError) -> ApiError {
    match error {
        SessionError::Starting(_) => {
            ApiError::new(ErrorCode::Unavailable, error.to_string()).retry_after(1)
        }
        other => other.into(),
    }
}

/// Why a live connection must end, as soon as it must.
pub async fn must_end(
    app: &App,
    over: impl Future<Output = EndReason>,
    credentials: &[String],
    expires: Option<OffsetDateTime>,
) -> Closing {
    tokio::select! {
        reason = over => Closing::SessionOver(reason),
        () = app.revoked.any_of(credentials) => Closing::Revoked,
        () = until(expires) => Closing::Revoked,
        () = app.closing.cancelled() => Closing::ServerStops,
    }
}

/// Somebody who may watch.
pub struct Admitted {
    pub session: Session,
    pub viewer: Viewer,
    /// What ends the connection when it is revoked.
    pub credentials: Vec<String>,
    /// Held while the connection is open.
    pub ticket: Option<ticket::Stream>,
    /// When the connection must end: with its token, or after the ticket's `max_connection_s`. A
    /// ticket's own time is for opening.
    pub expires: Option<OffsetDateTime>,
}

pub fn admit(
    app: &App,
    id: &SessionId,
    kind: ticket::Kind,
    wanted: Option<Role>,
    token: Option<Claims>,
    presented: Option<PresentedTicket>,
) -> ApiResult<Admitted> {
    if let Some(PresentedTicket(text)) = presented {
        let claims = ticket::check(&app.signer, &app.revoked, &text, id)?;
        if wanted.is_some_and(|wanted| wanted > claims.role) {
            let message = "this ticket is for viewing only: ask for one with role control";
            return Err(ApiError::new(ErrorCode::Forbidden, message));
        }
        let caller = claims.bearer();
        let session = app.sessions.get(&caller, id)?;
        let holder = Holder { by: caller.actor(), key: caller.token };
        let viewer = Viewer { role: wanted.unwrap_or(claims.role), holder };
        let credentials = claims.credentials();
        let ticket = Some(app.tickets.stream(&claims, kind)?);
        let expires = claims.connection_ends();
        return Ok(Admitted { session, viewer, credentials, ticket, expires });
    }
    let token = token.ok_or_else(|| ApiError::internal("the gate let nobody through"))?;
    let caller = caller(&token);
    let expires = Some(token.info().expires_at);
    let session = app.sessions.get(&caller, id)?;
    let holder = Holder { by: caller.actor(), key: caller.token.clone() };
    let viewer = Viewer { role: wanted.unwrap_or(Role::Control), holder };
    Ok(Admitted { session, viewer, credentials: vec![caller.token], ticket: None, expires })
}

/// The WebSocket that a request wants to become.
pub async fn upgrade(parts: &mut Parts, app: &App) -> ApiResult<WebSocketUpgrade> {
    use axum::extract::FromRequestParts;
    WebSocketUpgrade::from_request_parts(parts, app).await.map_err(|rejection| {
        let message = format!("connect with a WebSocket: {}", rejection.body_text());
        ApiError::new(ErrorCode::InvalidInput, message)
    })
}

/// A ticket for one of the caller's sessions.
pub async fn create_ticket(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(token): Extension<Claims>,
    Named(id): Named,
    headers: HeaderMap,
    OptionalBody(wanted): OptionalBody<NewTicket>,
) -> ApiResult<impl IntoResponse> {
    let mode = app.sessions.get(&caller, &id)?.mode();
    let (ticket, claims) = ticket::issue(&app.signer, &token, &id, &wanted)?;
    let address = Address::of(&app, &headers);
    let url = address.viewer(&id, mode, &ticket, claims.role);
    let cdp_url = (claims.role == Role::Control).then(|| address.cdp(&id, &ticket));
    let expires_at = claims.expires_at();
    let ticket = Ticket { id: claims.jti, ticket, role: claims.role, url, cdp_url, expires_at };
    Ok((StatusCode::CREATED, Json(ticket)))
}

/// The end of a ticket.
pub async fn revoke_ticket(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    NamedTicket(id, ticket): NamedTicket,
) -> ApiResult<StatusCode> {
    app.sessions.get(&caller, &id)?;
    if !ticket::is_id_of(&app.signer, &id, &ticket)? {
        let message = "this session has no such ticket: use the id that its creation answered with";
        return Err(ApiError::new(ErrorCode::NotFound, message));
    }
    // How long it would have been good is in the ticket, not in its id; this is the longest.
    let longest = OffsetDateTime::now_utc() + time::Duration::days(7);
    app.revoked.add(&ticket, longest).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Where to watch a desktop.
pub async fn vnc_url(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(token): Extension<Claims>,
    headers: HeaderMap,
    Params(query): Params<UrlQuery>,
) -> ApiResult<Json<VncUrl>> {
    let id = session_id(query.session_id.map(Into::into))?;
    let role = match query.role.as_deref() {
        None | Some("view") => Role::View,
        Some("control") => Role::Control,
        Some(other) => {
            let message = format!("{other:?} is not a role: use view or control");
            return Err(ApiError::new(ErrorCode::InvalidRole, message));
        }
    };
    let session = app.sessions.get(&caller, &id)?;
    session.ensure_desktop().map_err(|error| {
        let refused = ApiError::from(error);
        let also = format!("for its browser, make a ticket: POST /api/v1/sessions/{id}/tickets");
        ApiError { message: format!("{}; {also}", refused.message), ..refused }
    })?;
    // Several people can open the address, until it expires.
    let wanted = NewTicket { role, reusable: true, ..NewTicket::default() };
    let (ticket, claims) = ticket::issue(&app.signer, &token, &id, &wanted)?;
    let address = Address::of(&app, &headers);
    let published = app.published.lock().get(&id).copied();
    let notes = published.map_or_else(String::new, |port| {
        format!(" The session is also published at port {port}: /vnc.html there.")
    });
    Ok(Json(VncUrl {
        url: address.viewer(&id, session.mode(), &ticket, role),
        host: address.host(),
        port: address.port(),
        path: address.path("/vnc.html"),
        session_id: id,
        role,
        expires_at: claims.expires_at(),
        agent_status: session.agent_status(),
        notes: format!("{NOTES}{notes}"),
    }))
}
