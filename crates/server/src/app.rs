//! State of the whole server.

use std::{
    collections::HashMap,
    net::SocketAddr,
    ops::Deref,
    sync::{Arc, Weak},
};

use bytes::Bytes;
use helmdeck_egress::Policy;
use helmdeck_gateway::Gateway;
use helmdeck_packs::{Engine, RunRegistry};
use helmdeck_runtime::Runtime;
use helmdeck_sessions::{Clock, Journal, Sessions};
use helmdeck_store::{Artifacts, Audit, Extensions, Profiles, SealingKey, Store, Vault};
use helmdeck_telemetry::Tracer;
use helmdeck_wire::SessionId;
use http::{Method, Uri};
use parking_lot::{Mutex, RwLock};
use rustix::process::{Resource, getrlimit};
use secrecy::ExposeSecret;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    Config, Operation, ServerError, Tool, artifact_store,
    client_address::TrustedProxies,
    config::Live,
    connection_limits::ConnectionLimits,
    cookie,
    event_ids::EventIds,
    login::Login,
    mcp::Mcp,
    mcp_clients::McpClients,
    metrics::Metrics,
    openapi,
    origin::Origins,
    pack_engine,
    revocation::Revocations,
    routes,
    settings::Settings,
    skill,
    table::operations,
    ticket::InUse,
    tls::Tls,
    token::{Signer, TokenError},
    token_use::TokenUse,
    tool::pack_tool,
    vision_runs::VisionRuns,
    vnc_ports,
};

/// State of every handler. Cheap to clone.
#[derive(Clone)]
pub struct App {
    parts: Arc<Parts>,
}

/// The parts of an [`App`].
pub struct Parts {
    pub(crate) sessions: Sessions,
    pub(crate) packs: Engine,
    pub(crate) models: Gateway,
    pub(crate) store: Store,
    pub(crate) audit: Audit,
    pub(crate) settings: Settings,
    /// Credentials.
    pub(crate) vault: Vault,
    pub(crate) artifacts: Artifacts,
    pub(crate) clock: Clock,
    pub(crate) runtime: Arc<dyn Runtime>,
    pub(crate) signer: Signer,
    pub(crate) login: Login,
    /// The tools of the table, and the packs.
    tools: RwLock<Arc<[Arc<Tool>]>>,
    /// The tools of the table.
    table: Vec<Arc<Tool>>,
    pub(crate) openapi: Bytes,
    /// The SKILL.md for agents.
    skill: RwLock<Bytes>,
    pub(crate) metrics: Metrics,
    /// Records spans for OpenTelemetry.
    pub(crate) tracer: Tracer,
    /// Egress policy of sessions.
    pub(crate) egress_policy: Policy,
    pub(crate) max_body_bytes: usize,
    /// Where it listens.
    pub(crate) addr: SocketAddr,
    /// Encrypts connections, if TLS is on.
    pub(crate) tls: Option<Tls>,
    /// Public address of the server, if configured.
    pub(crate) public_base: Option<Uri>,
    /// Sites that may embed the live view.
    pub(crate) embed_ancestors: Option<String>,
    pub(crate) origins: Origins,
    pub(crate) cookie_name: String,
    pub(crate) revoked: Revocations,
    pub(crate) token_use: TokenUse,
    pub(crate) mcp_clients: McpClients,
    pub(crate) tickets: InUse,
    pub(crate) vision_runs: Arc<VisionRuns>,
    pub(crate) connections: ConnectionLimits,
    pub(crate) event_ids: EventIds,
    /// Sessions with a separate port.
    pub(crate) published: Mutex<HashMap<SessionId, u16>>,
    /// Live connections, and the signal to close them.
    pub(crate) live: TaskTracker,
    pub(crate) closing: CancellationToken,
    /// The MCP door.
    pub(crate) mcp: Mcp,
    /// Operation ids by path. A path has few methods.
    operation_ids: HashMap<String, Vec<(Method, Arc<str>)>>,
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.parts
    }
}

async fn settings(
    config: &Config,
    store: &Store,
    models: &Gateway,
) -> Result<Settings, ServerError> {
    let pinned = models.settings().pinned.clone();
    Ok(Settings::load(store.clone(), config.live.browser_passthrough, pinned).await?)
}

impl App {
    pub(crate) async fn build(
        config: &Config,
        addr: SocketAddr,
        store: Store,
        runtime: Arc<dyn Runtime>,
        (clock, tracer): (Clock, Tracer),
    ) -> Result<Self, ServerError> {
        let mut own = vec![addr];
        if config.live.publish_vnc_ports {
            own.extend(vnc_ports::ports(addr.ip(), config.max_sessions));
        }
        let policy = Policy::new(config.egress_allowlist.clone(), own);
        let operations = operations();
        let audit = Audit::open(store.clone()).await?;
        let session_limits = session_limits(config, &policy, &clock, &audit);
        let vault = Vault::open(&store, config.vault_setup()?).await?.audited(audit.clone());
        let signer = Signer::load(config)?;
        let artifacts = artifact_store::open(config, &signer, store.clone(), clock.clone()).await?;
        let tls = Tls::start(config)?;
        let Live { vnc_public_base, allowed_origins, .. } = &config.live;
        let origins =
            Origins::new(vnc_public_base.as_ref(), allowed_origins.clone(), tls.is_some());
        let journal = Journal::open(store.clone()).await?;
        let sessions = Sessions::new(runtime.clone(), store.clone(), journal, session_limits);
        let (records, stores) = ((&store, &audit), (&sessions, &artifacts, &vault));
        let models = gateway(config, &policy, &clock, &store, &vault)?;
        let vision_runs = Arc::new(VisionRuns::default());
        let models_of_packs = (&models, vision_runs.clone() as Arc<dyn RunRegistry>);
        let packs = pack_engine::start(
            config,
            &policy,
            &clock,
            &runtime,
            models_of_packs,
            records,
            stores,
        )?;
        let table: Vec<_> = operations.iter().filter_map(|it| it.tool().cloned()).collect();
        let tools = all_tools(&table, &packs);
        let settings = settings(config, &store, &models).await?;
        let parts = Parts {
            token_use: TokenUse::default(),
            mcp_clients: McpClients::load(&store, sessions.events().clone()).await?,
            sessions,
            packs,
            models,
            revoked: Revocations::load(store.clone()).await?,
            settings,
            store,
            audit,
            vault,
            artifacts,
            clock,
            runtime,
            signer,
            login: Login::new(),
            skill: RwLock::new(skill::skill(&tools).into()),
            tools: RwLock::new(tools),
            table,
            openapi: openapi::document(&operations).to_string().into(),
            metrics: Metrics::start()?,
            tracer,
            egress_policy: policy,
            max_body_bytes: config.max_body_bytes,
            addr,
            public_base: config.live.vnc_public_base.clone(),
            embed_ancestors: config.live.embed_ancestors.clone(),
            cookie_name: cookie::name(addr.port(), tls.is_some() && origins.secure),
            origins,
            tickets: InUse::default(),
            vision_runs,
            connections: ConnectionLimits::new(
                getrlimit(Resource::Nofile).current,
                TrustedProxies::new(config.trusted_proxies.clone()),
                tls.is_some(),
            ),
            tls,
            event_ids: EventIds::new().map_err(TokenError::Random)?,
            published: Mutex::default(),
            live: TaskTracker::new(),
            closing: CancellationToken::new(),
            mcp: Mcp::default(),
            operation_ids: operation_ids(operations),
        };
        Ok(Self { parts: Arc::new(parts) })
    }

    /// The tool with this name.
    pub(crate) fn tool(&self, name: &str) -> Option<Arc<Tool>> {
        self.tools.read().iter().find(|tool| tool.name == name).cloned()
    }

    /// All tools.
    pub(crate) fn tools(&self) -> Arc<[Arc<Tool>]> {
        self.tools.read().clone()
    }

    /// The SKILL.md for agents, with the tools that there are now.
    pub(crate) fn skill(&self) -> Bytes {
        self.skill.read().clone()
    }

    /// Reads the operator's packs again, and tells clients if they changed. Blocks on the disk.
    pub(crate) fn reload_packs(&self) {
        if self.packs.reload() {
            let tools = all_tools(&self.table, &self.packs);
            *self.skill.write() = skill::skill(&tools).into();
            *self.tools.write() = tools.clone();
            self.mcp.tools_changed(&tools);
        }
    }

    /// The operation at a matched path, for logs and metrics.
    pub(crate) fn operation_id(&self, method: &Method, path: &str) -> Option<Arc<str>> {
        let method = if method == Method::HEAD { &Method::GET } else { method };
        let at_path = self.operation_ids.get(path)?;
        at_path.iter().find(|(known, _)| known == method).map(|(_, id)| id.clone())
    }
}

impl App {
    /// A handle that does not keep the server alive.
    pub(crate) fn downgrade(&self) -> Weak<Parts> {
        Arc::downgrade(&self.parts)
    }

    /// The server behind a handle, if it still runs.
    pub(crate) fn upgrade(parts: &Weak<Parts>) -> Option<Self> {
        parts.upgrade().map(|parts| Self { parts })
    }

    /// The methods of a matched path.
    pub(crate) fn methods(&self, path: &str) -> Vec<&str> {
        let at_path = self.operation_ids.get(path).map(Vec::as_slice).unwrap_or_default();
        at_path.iter().map(|(method, _)| method.as_str()).collect()
    }
}

/// The tools of the table, and the packs. A pack hides a tool with its name, which keeps its route:
/// `browser.interact` is the pack, and `/api/v1/browser/interact` the older action.
fn all_tools(table: &[Arc<Tool>], packs: &Engine) -> Arc<[Arc<Tool>]> {
    let table = table.iter().filter(|tool| packs.pack(&tool.name).is_none()).cloned();
    let packs = packs.packs();
    let packs = packs.iter().filter(|pack| pack.off.is_none());
    let packs = packs.map(|pack| Arc::new(pack_tool(pack)));
    table.chain(routes::packs::tools()).chain(packs).collect()
}

fn gateway(
    config: &Config,
    policy: &Policy,
    clock: &Clock,
    store: &Store,
    vault: &Vault,
) -> Result<Gateway, ServerError> {
    let (clock, settings) = (clock.clone(), config.models.gateway());
    let now = Arc::new(move || clock.now_utc());
    let made = Gateway::new(settings, policy.clone(), store.clone(), vault.clone(), now);
    made.map_err(ServerError::HttpClient)
}

fn session_limits(
    config: &Config,
    policy: &Policy,
    clock: &Clock,
    audit: &Audit,
) -> helmdeck_sessions::Config {
    let key = config.profile_key.as_ref();
    let key = key.and_then(|key| SealingKey::parse(key.expose_secret()));
    helmdeck_sessions::Config {
        max_sessions: config.max_sessions,
        max_sessions_per_caller: config.max_sessions_per_caller,
        idle_timeout_s: config.idle_timeout_s,
        max_memory_per_caller: config.memory_per_caller(),
        ceilings: config.ceilings,
        workspace_bytes: config.workspace_limit.map(|limit| limit.0),
        policy: policy.clone(),
        forward_allow: config.forward_allow.clone(),
        profiles: Profiles::new(config.data_dir.join("profiles"), key),
        extensions: Extensions::new(config.data_dir.join("extensions")),
        clock: clock.clone(),
        audit: audit.clone(),
    }
}

fn operation_ids(operations: Vec<Operation>) -> HashMap<String, Vec<(Method, Arc<str>)>> {
    let mut ids: HashMap<_, Vec<_>> = HashMap::new();
    for Operation { path, method, id, .. } in operations {
        ids.entry(path).or_default().push((method, id.into()));
    }
    ids
}
