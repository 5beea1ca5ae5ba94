//! `HELMDECK_PUBLISH_VNC_PORTS`: serves each desktop session on a separate port, with the same page
//! and checks. Other sessions are not reachable there.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use axum::{
    Router,
    extract::{Request, State},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Redirect, Response},
};
use helmdeck_sessions::{Caller, EventKind};
use helmdeck_wire::{
    ErrorCode, SessionId,
    session::{Mode, Session, Status},
};
use tokio::net::TcpListener;
use tokio_util::sync::DropGuard;

use crate::{
    App,
    error::ApiError,
    serve::{Serving, serve},
};

/// First port, as with websockify.
const FIRST_PORT: u16 = 6080;
/// Number of ports to try per possible session.
const SPARE: usize = 4;
/// A session's port closes with it.
const DRAIN: Duration = Duration::from_secs(1);

/// Ports for sessions on the server's interface.
pub fn ports(ip: IpAddr, max_sessions: usize) -> impl Iterator<Item = SocketAddr> {
    let count = max_sessions.saturating_mul(SPARE).min(usize::from(u16::MAX - FIRST_PORT));
    (FIRST_PORT..).take(count).map(move |port| SocketAddr::new(ip, port))
}

/// Opens and closes ports as sessions start and end, while it is polled.
pub async fn run(app: App, router: Router, max_sessions: usize) {
    let everybody = Caller { scopes: vec!["admin".to_owned()], ..Caller::default() };
    let mut open: HashMap<SessionId, DropGuard> = HashMap::new();
    let mut events = app.sessions.events().after(0);
    loop {
        let sessions = app.sessions.describe_all(&everybody).await;
        let watchable = |s: &Session| {
            s.mode == Mode::Desktop && s.status == Status::Running && s.attached.is_none()
        };
        let wanted: Vec<_> = sessions.into_iter().filter(watchable).map(|s| s.id).collect();
        open.retain(|id, _| wanted.contains(id));
        app.published.lock().retain(|id, _| wanted.contains(id));
        for id in wanted {
            if !open.contains_key(&id)
                && let Some(listener) = bind(app.addr.ip(), max_sessions).await
            {
                open.insert(id.clone(), publish(&app, listener, router.clone(), id));
            }
        }
        // After lost events, anything may have changed.
        while let Ok(event) = events.next().await {
            if matches!(event.what, EventKind::Changed | EventKind::Gone(_)) {
                break;
            }
        }
    }
}

async fn bind(ip: IpAddr, max_sessions: usize) -> Option<TcpListener> {
    for addr in ports(ip, max_sessions) {
        if let Ok(listener) = TcpListener::bind(addr).await {
            return Some(listener);
        }
    }
    tracing::warn!(first = FIRST_PORT, "No free port to publish a session");
    None
}

/// Serves a session's port until the returned guard is dropped.
fn publish(app: &App, listener: TcpListener, router: Router, session: SessionId) -> DropGuard {
    let port = listener.local_addr().map_or(0, |addr| addr.port());
    tracing::info!(session.id = session.as_str(), port, "Session published");
    app.published.lock().insert(session.clone(), port);
    let router = router.layer(from_fn_with_state(session, only_this));
    let ended = app.closing.child_token();
    let guard = ended.clone().drop_guard();
    let serving = Serving::new(app, router);
    helmdeck_task::spawn(serve(listener, serving, DRAIN, async move { ended.cancelled().await }));
    guard
}

/// Admits only requests that this session's viewer page needs.
async fn only_this(State(session): State<SessionId>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let viewer = format!("api/v1/sessions/{session}/vnc");
    if path == "/" || (path == "/vnc.html" && request.uri().query().is_none()) {
        let page = format!("/vnc.html?autoconnect=true&resize=remote&path={viewer}");
        return Redirect::temporary(&page).into_response();
    }
    let own = [
        format!("/{viewer}"),
        format!("/api/sessions/{session}/vnc"),
        format!("/api/v1/sessions/{session}"),
    ];
    let shared = ["/vnc.html", "/login", "/api/v1/auth/cookie", "/api/v1/auth/me"];
    let query = request.uri().query().unwrap_or_default();
    let events = path == "/api/v1/events"
        && query.split('&').any(|pair| pair == format!("session_id={session}"));
    let asset = path.starts_with("/assets/");
    if asset || events || shared.contains(&path) || own.iter().any(|own| own == path) {
        return next.run(request).await;
    }
    let message =
        "this port serves the live view of one session; the API is on the server's own port";
    ApiError::new(ErrorCode::NotFound, message).into_response()
}
