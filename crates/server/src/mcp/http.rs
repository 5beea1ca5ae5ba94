//! MCP over streamable HTTP.

use std::{collections::HashMap, io, sync::Arc, time::Duration};

use ::http::{HeaderMap, Method, StatusCode, header, request::Parts};
use axum::{
    Json,
    body::Body,
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use futures_util::StreamExt;
use helmdeck_wire::ErrorCode;
use parking_lot::Mutex;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService,
    session::{SessionManager, local::LocalSessionManager},
};
use serde_json::{Value, json};

use super::{
    client::{Client, SESSION_HEADER},
    door::Door,
    keep_alive, legacy_tasks,
    live_sessions::{Busy, LiveSessions},
    own_host::is_own_host,
    profile::Profile,
    session_store::{OWNER, StoredSessions},
};
use crate::{
    App, body,
    closing::until,
    error::{ApiError, ApiResult},
    origin,
    public::Address,
    query,
};

/// The header with the protocol version.
const VERSION_HEADER: &str = "mcp-protocol-version";
/// How long an MCP session without traffic stays in memory. Calls may run for an hour without any. The
/// store restores a session that comes later.
const IDLE: Duration = Duration::from_secs(2 * 3600);
/// The most MCP sessions whose owner is remembered; the store knows the owners of all.
const MOST_OWNERS: usize = 10_000;
/// How long an MCP session that gives way may take to end.
const CLOSE_DEADLINE: Duration = Duration::from_secs(30);

/// The endpoint of all clients.
pub struct Endpoint {
    service: StreamableHttpService<Door, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    /// Sessions in memory.
    live: LiveSessions,
    /// Owners of stored sessions, so that calls do not wait for the store.
    owners: Mutex<HashMap<String, String>>,
}

impl Endpoint {
    fn of(app: &App) -> &Self {
        app.mcp.endpoint.get_or_init(|| Self::new(app))
    }

    fn new(app: &App) -> Self {
        // The server must be able to end while clients are connected.
        let weak = app.downgrade();
        let door = {
            let weak = weak.clone();
            move || {
                let app = App::upgrade(&weak);
                app.map(Door::new).ok_or_else(|| io::Error::other("the server has stopped"))
            }
        };
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(IDLE);
        let sessions = Arc::new(sessions);
        // Host and Origin are checked here, by the rules of the rest of the API.
        let mut config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(app.max_pack_body_bytes())
            // A reply without notifications before it needs no stream.
            .with_json_response(true)
            .with_cancellation_token(app.closing.child_token());
        config.session_store = Some(Arc::new(StoredSessions(weak)));
        let service = StreamableHttpService::new(door, sessions.clone(), config);
        let live = LiveSessions::default();
        Self { service, sessions, live, owners: Mutex::default() }
    }

    /// Whether a session exists and belongs to `owner`.
    async fn has(&self, app: &App, id: &str, owner: &str) -> ApiResult<bool> {
        if let Some(known) = self.owners.lock().get(id) {
            return Ok(known == owner);
        }
        let stored = app.store.mcp_session(id, owner).await?.is_some();
        if stored {
            let mut owners = self.owners.lock();
            if owners.len() >= MOST_OWNERS {
                owners.clear();
            }
            owners.insert(id.to_owned(), owner.to_owned());
        }
        Ok(stored)
    }

    /// Records a request in a session. Another gives way if the owner has too many in memory.
    fn begin(&self, id: &str, owner: &str) -> Busy {
        let (busy, given_up) = self.live.begin(id, owner);
        if let Some(id) = given_up {
            let sessions = self.sessions.clone();
            helmdeck_task::spawn(async move {
                let id = id.into();
                let _ = tokio::time::timeout(CLOSE_DEADLINE, sessions.close_session(&id)).await;
            });
        }
        busy
    }
}

/// Answers a request to `/mcp`, whatever its method and protocol version.
pub async fn serve(State(app): State<App>, request: Request) -> ApiResult<Response> {
    let (mut parts, body) = request.into_parts();
    admit(&app, &parts)?;
    let client = Client::of_parts(&app, &parts)
        .ok_or_else(|| ApiError::internal("the gate let an unknown caller through"))?;
    let owner = client.caller.subject.clone();
    let session = parts.headers.get(SESSION_HEADER).and_then(|id| id.to_str().ok());
    let named = session.map(str::to_owned);
    let endpoint = Endpoint::of(&app);
    if let Some(id) = &named
        && !endpoint.has(&app, id, &owner).await?
    {
        return Ok((StatusCode::NOT_FOUND, "Not Found: Session not found").into_response());
    }
    accept_both(&mut parts.headers);
    let ends = parts.method == Method::DELETE;
    if let Some(id) = named.as_ref().filter(|_| ends) {
        endpoint.owners.lock().remove(id);
        endpoint.live.remove(id);
    }
    let posts = parts.method == Method::POST;
    let body = match posts {
        true => message(&app, &parts, body).await?,
        false => body,
    };
    let busy = named.as_ref().filter(|_| !ends).map(|id| endpoint.begin(id, &owner));
    let request = Request::from_parts(parts, body);
    let (service, whose) = (endpoint.service.clone(), owner.clone());
    let handling = OWNER.scope(whose, async move { service.handle(request).await.map(Body::new) });
    let mut response = match posts {
        true => keep_alive::answered(app.clock.clone(), Box::pin(handling)).await,
        false => handling.await,
    };
    let began = response.headers().get(SESSION_HEADER).and_then(|id| id.to_str().ok());
    if let Some(id) = began.filter(|_| named.is_none() && posts) {
        drop(endpoint.begin(id, &owner));
    }
    if let Some(busy) = busy.filter(|_| posts) {
        response = held(response, busy);
    }
    let mut response = bounded(&client, response);
    if ends && response.status() == StatusCode::ACCEPTED {
        // Clients take anything but 200 and 204 for a failure.
        *response.status_mut() = StatusCode::NO_CONTENT;
        *response.body_mut() = Body::empty();
    }
    Ok(response)
}

/// The body of a request, with methods renamed if the client is older than the tasks extension.
async fn message(app: &App, parts: &Parts, body: Body) -> ApiResult<Body> {
    let bytes = body::read(body, app.max_pack_body_bytes()).await?;
    let version = parts.headers.get(VERSION_HEADER).and_then(|version| version.to_str().ok());
    if version.is_some_and(|version| version >= legacy_tasks::EXTENSION_SINCE) {
        return Ok(Body::from(bytes));
    }
    Ok(Body::from(legacy_tasks::rename(version, bytes)))
}

/// A response whose session is in use until the last event of it.
fn held(response: Response, busy: Busy) -> Response {
    if !keep_alive::is_stream(&response) {
        return response;
    }
    response.map(|body| {
        let events = body.into_data_stream();
        Body::from_stream(events.map(move |event| {
            let _ = &busy;
            event
        }))
    })
}

/// Host, origin and query of a request.
pub fn admit(app: &App, parts: &Parts) -> ApiResult<()> {
    origin::check(&app.origins, &parts.headers)?;
    let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    if !host.is_some_and(|host| is_own_host(app, host)) {
        let message = "this server does not know itself by the name in the Host header: use its \
                       address, or set HELMDECK_VNC_PUBLIC_BASE to the address that you use";
        return Err(ApiError::new(ErrorCode::ForeignOrigin, message));
    }
    for (name, value) in query::pairs(parts.uri.query().unwrap_or_default()) {
        match name.as_str() {
            "profile" => drop(Profile::parse(&value)?),
            "session" if !value.is_empty() && value.len() <= 64 => {}
            "session" => {
                let message = "session: expected a name of 1 to 64 characters";
                let error = ApiError::new(ErrorCode::InvalidInput, message);
                return Err(error.of_field("session", Vec::new()));
            }
            "sessionId" => {}
            other => {
                let message = format!("unknown parameter {other:?}: use profile and session");
                let error = ApiError::new(ErrorCode::InvalidInput, message);
                return Err(error.of_field(other, Vec::new()));
            }
        }
    }
    Ok(())
}

/// Clients that accept only one of the two media types get what they can read.
fn accept_both(headers: &mut HeaderMap) {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    if accept.is_none_or(|accept| accept.trim().is_empty() || accept.contains("*/*")) {
        let both = "application/json, text/event-stream";
        headers.insert(header::ACCEPT, ::http::HeaderValue::from_static(both));
    }
}

/// A stream ends with the token that opened it.
fn bounded(client: &Client, response: Response) -> Response {
    if !keep_alive::is_stream(&response) {
        return response;
    }
    let (app, token) = (client.app.clone(), client.caller.token.clone());
    let expires = Some(client.claims.info().expires_at);
    response.map(|body| {
        let over = async move {
            let credentials = [token];
            tokio::select! {
                () = app.revoked.any_of(&credentials) => {}
                () = until(expires) => {}
            }
        };
        Body::from_stream(body.into_data_stream().take_until(Box::pin(over)))
    })
}

/// The protected-resource metadata (RFC 9728): clients that probe for OAuth learn that a bearer token is
/// all they need.
pub async fn metadata(State(app): State<App>, headers: HeaderMap) -> Json<Value> {
    let address = Address::of(&app, &headers);
    Json(json!({
        "resource": address.url("/mcp"),
        "resource_name": "helmdeck",
        "bearer_methods_supported": ["header"],
        "resource_documentation": address.url("/docs"),
    }))
}

/// The challenge of a refused request, which says where the metadata is.
pub fn challenge(app: &App, headers: &HeaderMap) -> Option<::http::HeaderValue> {
    let metadata = Address::of(app, headers).url("/.well-known/oauth-protected-resource/mcp");
    let challenge = format!("Bearer realm=\"helmdeck\", resource_metadata=\"{metadata}\"");
    ::http::HeaderValue::try_from(challenge).ok()
}
