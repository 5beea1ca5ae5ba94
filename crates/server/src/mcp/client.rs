//! Who calls through the MCP door, and how.

use std::time::Duration;

use ::http::request::Parts;
use helmdeck_sessions::Caller;
use rmcp::{ErrorData, RoleServer, model::Implementation, service::RequestContext};

use super::{legacy_tasks::EXTENSION_SINCE, profile::Profile};
use crate::{
    App,
    public::Address,
    query,
    token::Claims,
    tool::{Call, pack::WAIT_S},
};

/// The header with the MCP session of protocol versions before 2026-07-28.
pub const SESSION_HEADER: &str = "mcp-session-id";

/// The header that `helmdeck mcp` adds to what it passes on.
pub const TRANSPORT_HEADER: &str = "x-helmdeck-transport";

/// Clients without progress give up after a minute. Packs return a handle after the same time.
const PATIENCE: Duration = Duration::from_secs(WAIT_S);

/// The transport of 2024-11-05.
const SSE: &str = "sse";

/// A caller and the connection it uses.
#[derive(Clone)]
pub struct Client {
    pub app: App,
    pub caller: Caller,
    pub claims: Claims,
    pub profile: Profile,
    /// Under which name its current session is stored.
    pub key: String,
    /// How it connects: `http`, `sse` or `stdio`.
    pub transport: &'static str,
    /// What the client calls itself.
    pub info: Option<Implementation>,
    /// Whether it declares the tasks extension, so that a reply may be a task.
    pub takes_tasks: bool,
    pub headers: ::http::HeaderMap,
    /// How long it waits for a reply, unless it hears of progress.
    pub patience: Option<Duration>,
    /// Why it has no model, if that is known.
    pub no_models: Option<String>,
}

impl Client {
    /// The client behind a request that the HTTP gate has admitted.
    pub fn of(app: &App, context: &RequestContext<RoleServer>) -> Result<Self, ErrorData> {
        let parts = context.extensions.get::<Parts>();
        let client = parts.and_then(|parts| Self::of_parts(app, parts));
        let mut client =
            client.ok_or_else(|| ErrorData::internal_error("the request has no caller", None))?;
        client.info = context.client_info();
        let newest = context.protocol_version().is_some_and(|it| it.as_str() >= EXTENSION_SINCE);
        let declared = context.client_capabilities().is_some_and(|it| it.supports_tasks());
        client.takes_tasks = newest && declared;
        let hears_progress = context.meta.get_progress_token().is_some();
        client.patience = (!hears_progress).then_some(PATIENCE);
        Ok(client)
    }

    /// The client of an HTTP request.
    pub fn of_parts(app: &App, parts: &Parts) -> Option<Self> {
        let caller = parts.extensions.get::<Caller>()?.clone();
        let claims = parts.extensions.get::<Claims>()?.clone();
        let pairs = query::pairs(parts.uri.query().unwrap_or_default());
        let value = |name: &str| {
            pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.to_string())
        };
        let profile = value("profile").and_then(|name| Profile::parse(&name).ok());
        let transport = transport(parts);
        let key = key(parts, value("session"), value("sessionId").filter(|_| transport == SSE));
        let key = key.unwrap_or_else(|| format!("token {}", caller.token));
        Some(Self {
            app: app.clone(),
            caller,
            claims,
            profile: profile.unwrap_or_default(),
            key,
            transport,
            info: None,
            takes_tasks: false,
            headers: parts.headers.clone(),
            patience: None,
            no_models: None,
        })
    }

    /// Finds out whether there is a model, which some packs need.
    pub async fn with_models(mut self) -> Self {
        // Without an answer, packs are listed, and a call says what is missing.
        self.no_models = self.app.packs.missing_model(&self.caller).await.ok().flatten();
        self
    }

    /// The address under which the client knows this server.
    pub fn address(&self) -> Address {
        Address::of(&self.app, &self.headers)
    }

    /// A call of a tool in the client's name.
    pub fn call(&self) -> Call {
        let (app, caller, claims) = (self.app.clone(), self.caller.clone(), self.claims.clone());
        Call::new(app, caller, claims, self.address()).within(self.patience)
    }

    /// What the client calls itself, for people.
    pub fn name(&self) -> String {
        let info = self.info.as_ref();
        let name = info.map(|info| info.title.clone().unwrap_or_else(|| info.name.clone()));
        name.or_else(|| self.caller.label.clone()).unwrap_or_else(|| "MCP client".to_owned())
    }
}

/// The name that a client has besides its token: its own, its stream's or its MCP session's.
fn key(parts: &Parts, name: Option<String>, stream: Option<String>) -> Option<String> {
    let session = parts.headers.get(SESSION_HEADER).and_then(|id| id.to_str().ok());
    let named = name.map(|name| format!("name {name}"));
    let streaming = stream.map(|id| format!("stream {id}"));
    named.or(streaming).or_else(|| session.map(str::to_owned))
}

fn transport(parts: &Parts) -> &'static str {
    let said = parts.headers.get(TRANSPORT_HEADER).and_then(|said| said.to_str().ok());
    match said {
        Some("stdio") => "stdio",
        _ if parts.uri.path().ends_with("/sse") => SSE,
        _ => "http",
    }
}
