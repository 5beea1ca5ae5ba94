//! Live views of a session: connections, tickets and addresses.

use axum::{
    extract::{Request, State, WebSocketUpgrade, ws::WebSocket},
    response::Response,
};
use helmdeck_sessions::{Holder, Session, SessionError, View, Viewer};
use helmdeck_store::AuditEntry;
use helmdeck_task::BoxFuture;
use helmdeck_wire::{
    ErrorCode, SessionId,
    session::EndReason,
    ticket::{NewTicket, Role, Ticket, VncUrl},
};
use http::request::Parts;
use schemars::JsonSchema;
use serde::Deserialize;
use time::OffsetDateTime;

use crate::{
    App,
    auth::{PresentedTicket, caller},
    closing::{Closing, until},
    error::{ApiError, ApiResult},
    query::{Named, Params},
    relay::relay,
    ticket,
    token::Claims,
    tool::{Call, Outcome},
};

/// Maximum size of a viewer's message, such as a clipboard.
const MAX_MESSAGE: usize = 2 << 20;
/// Notes in the reply of `vnc_url`.
const NOTES: &str = "Open url in a browser. It holds a ticket for this session and role: \
                     its holder can connect until expires_at.";

/// How a viewer connects.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ViewQuery {
    /// Requested role. A ticket may allow less. Defaults to `control` with a token.
    role: Option<Role>,
    /// With `true`, take control on connect; with `false`, release the control that this ticket or
    /// token has.
    #[serde(default)]
    take: Option<bool>,
    /// A ticket instead of a token.
    #[serde(default)]
    #[expect(
        dead_code,
        reason = "read by `auth.rs`; declared here for validation and documentation"
    )]
    ticket: Option<String>,
}

impl ViewQuery {
    /// Checks who may watch.
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

    /// Takes or releases control, as requested.
    pub async fn settle(&self, view: &View) -> ApiResult<()> {
        match self.take {
            Some(true) => view.take_control().await?,
            Some(false) => view.release_control().await,
            None => {}
        }
        Ok(())
    }
}

/// Which address to create.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UrlQuery {
    /// What the holder of the address may do; defaults to `view`.
    #[schemars(extend("x-error" = "invalid_role"))]
    role: Option<Role>,
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
    let upgraded = accept(
        upgrade.protocols(["binary"]).max_message_size(MAX_MESSAGE),
        move |socket| async move {
            let over = view.session().ending();
            let ended = must_end(&app, over, &credentials, expires);
            live.track_future(relay(socket, view, stream, ended)).await;
            drop(ticket);
        },
    );
    Ok(upgraded)
}

/// A starting session can be watched soon: viewers should retry.
fn not_yet(error: SessionError) -> ApiError {
    match error {
        SessionError::Starting(_) => {
            ApiError::new(ErrorCode::Unavailable, error.to_string()).retry_after(1)
        }
        other => other.into(),
    }
}

/// Waits until a live connection must end, and returns why.
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

/// A viewer that is allowed to watch.
pub struct Admitted {
    pub session: Session,
    pub viewer: Viewer,
    /// Credentials whose revocation ends the connection.
    pub credentials: Vec<String>,
    /// Held while the connection is open.
    pub ticket: Option<ticket::Stream>,
    /// When the connection must end: with its token, or after the ticket's `max_connection_s`. A
    /// ticket's expiry only affects new connections.
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
            let message = "this ticket is view-only: ask for one with role control";
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
    let token =
        token.ok_or_else(|| ApiError::internal("the request has neither token nor ticket"))?;
    let caller = caller(&token);
    let expires = Some(token.info().expires_at);
    let session = app.sessions.get(&caller, id)?;
    let holder = Holder { by: caller.actor(), key: caller.token.clone() };
    let viewer = Viewer { role: wanted.unwrap_or(Role::Control), holder };
    Ok(Admitted { session, viewer, credentials: vec![caller.token], ticket: None, expires })
}

/// The WebSocket upgrade of a request.
pub async fn upgrade(parts: &mut Parts, app: &App) -> ApiResult<WebSocketUpgrade> {
    use axum::extract::FromRequestParts;
    WebSocketUpgrade::from_request_parts(parts, app).await.map_err(|rejection| {
        let message = format!("connect with a WebSocket: {}", rejection.body_text());
        ApiError::new(ErrorCode::InvalidInput, message)
    })
}

/// Accepts a WebSocket and serves it. Erases the type of `serve`, so that axum's part is compiled
/// once.
pub fn accept<F, R>(upgrade: WebSocketUpgrade, serve: F) -> Response
where
    F: FnOnce(WebSocket) -> R + Send + 'static,
    R: Future<Output = ()> + Send + 'static,
{
    let serve: Box<dyn FnOnce(WebSocket) -> BoxFuture<'static, ()> + Send> =
        Box::new(move |socket| Box::pin(serve(socket)));
    upgrade.on_upgrade(serve)
}

/// A ticket.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneTicket {
    /// Id of the ticket, as returned when it was created.
    ticket: String,
}

/// Creates a ticket for one of the caller's sessions.
pub async fn create_ticket(call: Call, wanted: NewTicket) -> ApiResult<Ticket> {
    let (id, mode) = (call.session_id()?, call.session()?.mode());
    let (ticket, claims) = ticket::issue(&call.app.signer, &call.claims, id, &wanted)?;
    let url = call.address.viewer(id, mode, &ticket, claims.role);
    let cdp_url = (claims.role == Role::Control).then(|| call.address.cdp(id, &ticket));
    let expires_at = claims.expires_at();
    record_ticket(&call, &claims);
    Ok(Ticket { id: claims.jti, ticket, role: claims.role, url, cdp_url, expires_at })
}

/// Records a new ticket, which lets its holder watch the session.
fn record_ticket(call: &Call, claims: &ticket::Claims) {
    let entry = AuditEntry::new("ticket.created").actor(&call.caller).target(&claims.jti);
    let role = serde_json::to_value(claims.role).unwrap_or_default();
    let entry = entry.session(&claims.session).detail("label", claims.label.clone());
    call.app.audit.record(entry.detail("role", role));
}

/// Revokes a ticket.
pub async fn revoke_ticket(call: Call, one: OneTicket) -> ApiResult<Outcome> {
    call.session()?;
    if !ticket::is_id_of(&call.app.signer, call.session_id()?, &one.ticket)? {
        let message =
            "this session has no such ticket: use the id that was returned when it was created";
        return Err(ApiError::new(ErrorCode::NotFound, message));
    }
    // The ticket's expiry is not in its id, so this uses the longest possible one.
    let longest = OffsetDateTime::now_utc() + time::Duration::days(7);
    call.app.revoked.add(&one.ticket, longest).await?;
    let revoked = AuditEntry::new("ticket.revoked").actor(&call.caller).target(&one.ticket);
    call.app.audit.record(revoked.session(call.session_id()?));
    Ok(Outcome::done())
}

/// The address of a desktop's live view.
pub async fn vnc_url(call: Call, query: UrlQuery) -> ApiResult<VncUrl> {
    let (session, id, role) = (call.session()?, call.session_id()?, query.role.unwrap_or_default());
    session.ensure_desktop().map_err(|error| {
        let refused = ApiError::from(error);
        let also = format!("for its browser, create a ticket: POST /api/v1/sessions/{id}/tickets");
        ApiError { message: format!("{}; {also}", refused.message), ..refused }
    })?;
    // Several people can open the address until it expires.
    let wanted = NewTicket { role, reusable: true, ..NewTicket::default() };
    let (ticket, claims) = ticket::issue(&call.app.signer, &call.claims, id, &wanted)?;
    record_ticket(&call, &claims);
    let published = call.app.published.lock().get(id).copied();
    let notes = published.map_or_else(String::new, |port| {
        format!(" The session is also published at port {port}: /vnc.html there.")
    });
    Ok(VncUrl {
        url: call.address.viewer(id, session.mode(), &ticket, role),
        host: call.address.host(),
        port: call.address.port(),
        path: call.address.path("/vnc.html"),
        session_id: id.clone(),
        role,
        expires_at: claims.expires_at(),
        agent_status: session.agent_status(),
        notes: format!("{NOTES}{notes}"),
    })
}
