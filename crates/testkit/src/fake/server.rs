//! The real server in this process, on a fake runtime.

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use helmdeck_runtime::Runtime;
use helmdeck_server::{
    Clock, ClockControl, Config, InProcess, Instance, McpFixtures, Shutdown, Started,
    admin::NewAdmin,
    token::{Claims, Grant, Signer},
};
use helmdeck_store::Store;
use tempfile::TempDir;
use tokio::{
    sync::oneshot,
    task::{JoinHandle, spawn_blocking},
};

use super::{mcp::ConformanceFixtures, runtime::FakeRuntime};
use crate::{Client, Trusted, connected::Listens};

/// Signs the tokens of these servers.
pub const SECRET: &str = "a secret of tests, long enough for HS256";
/// Tokens outlive any test.
const TOKEN_LIFE: Duration = Duration::from_secs(3600);
/// How long to wait for the store of a killed server.
const KILL_DEADLINE: Duration = Duration::from_secs(10);

/// A running server with a real store, on a port of the loopback. Dropping it kills it.
pub struct FakeServer {
    /// Where it listens.
    pub address: SocketAddr,
    /// Its sandboxes. They outlive the server.
    pub runtime: FakeRuntime,
    /// Advances the clock of limits and leases.
    pub clock: ClockControl,
    /// Its settings.
    pub config: Config,
    /// The admin account, if the server created it.
    pub new_admin: Option<NewAdmin>,
    signer: Signer,
    running: Option<Running>,
    dir: TempDir,
    env: Vec<(String, String)>,
    backend: Arc<dyn Runtime>,
    mcp_fixtures: Option<Arc<dyn McpFixtures>>,
}

/// The tasks of a server. They have their own tokio runtime, so that they can be killed together.
struct Running {
    tasks: tokio::runtime::Runtime,
    stop: oneshot::Sender<Shutdown>,
    stopped: JoinHandle<()>,
    in_process: InProcess,
}

impl FakeServer {
    /// Starts a server.
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// Starts a server with these settings.
    pub async fn start_with(env: &[(&str, &str)]) -> Self {
        let runtime = FakeRuntime::new();
        Self::start_on(env, runtime.clone(), Arc::new(runtime), None).await
    }

    /// Starts a server with the tools that the MCP conformance suite calls.
    pub async fn start_for_conformance() -> Self {
        let runtime = FakeRuntime::new();
        let fixtures = Arc::new(ConformanceFixtures);
        Self::start_on(&[], runtime.clone(), Arc::new(runtime), Some(fixtures)).await
    }

    /// Starts a server on a given runtime.
    pub async fn start_with_runtime(env: &[(&str, &str)], runtime: Arc<dyn Runtime>) -> Self {
        Self::start_on(env, FakeRuntime::new(), runtime, None).await
    }

    async fn start_on(
        env: &[(&str, &str)],
        runtime: FakeRuntime,
        backend: Arc<dyn Runtime>,
        mcp_fixtures: Option<Arc<dyn McpFixtures>>,
    ) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let ours = [
            ("HELMDECK_DATA_DIR", dir.path().to_str().unwrap()),
            ("HELMDECK_ADDR", "127.0.0.1:0"),
            ("HELMDECK_JWT_SECRET", SECRET),
        ];
        let env = ours.iter().chain(env).map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
        let env: Vec<_> = env.collect();
        let config = Config::load(None, env.iter().cloned()).unwrap();
        let (clock, control) = Clock::controlled();
        let (running, started) =
            run(config.clone(), backend.clone(), clock, mcp_fixtures.clone()).await;
        Self {
            address: started.addr,
            new_admin: started.new_admin,
            clock: control,
            signer: Signer::load(&config).unwrap(),
            running: Some(running),
            runtime,
            config,
            dir,
            env,
            backend,
            mcp_fixtures,
        }
    }

    /// Restarts the server on the same directory after it ended. Its clock is the machine's again.
    pub async fn restart(&mut self) {
        assert!(self.running.is_none(), "it was ended before");
        let config = Config::load(None, self.env.iter().cloned()).unwrap();
        let (clock, control) = Clock::controlled();
        let fixtures = self.mcp_fixtures.clone();
        let (running, started) = run(config, self.backend.clone(), clock, fixtures).await;
        (self.address, self.clock, self.running) = (started.addr, control, Some(running));
    }

    /// Stops the server and its sessions, like Ctrl-C.
    pub async fn stop(&mut self) {
        self.end(Shutdown::EndSessions).await;
    }

    /// Stops the server but not its sessions, like a service manager.
    pub async fn leave(&mut self) {
        self.end(Shutdown::KeepSessions).await;
    }

    async fn end(&mut self, how: Shutdown) {
        let Some(Running { tasks, stop, stopped, .. }) = self.running.take() else { return };
        let _ = stop.send(how);
        stopped.await.expect("the server ends in peace");
        end_tasks(tasks).await;
    }

    /// Kills the server, like a crash: it cannot clean up.
    pub async fn kill(&mut self) {
        if let Some(Running { tasks, .. }) = self.running.take() {
            end_tasks(tasks).await;
        }
    }

    /// Calls its tools without HTTP.
    pub fn in_process(&self) -> &InProcess {
        &self.running.as_ref().expect("it runs").in_process
    }

    /// The data directory.
    pub fn data_dir(&self) -> PathBuf {
        self.dir.path().to_owned()
    }

    /// A caller with these scopes, separated by commas.
    pub fn client(&self, subject: &str, scopes: &str) -> Client {
        self.bearer(self.token(subject, scopes))
    }

    /// An agent's token with these scopes, separated by commas.
    pub fn token(&self, subject: &str, scopes: &str) -> String {
        self.mint(subject, false, scopes, TOKEN_LIFE).0
    }

    /// A person's token with these scopes, separated by commas.
    pub fn person_token(&self, subject: &str, scopes: &str) -> String {
        self.mint(subject, true, scopes, TOKEN_LIFE).0
    }

    /// A caller with all scopes.
    pub fn admin(&self) -> Client {
        self.client("admin", "admin")
    }

    /// A person with all scopes.
    pub fn person(&self) -> Client {
        self.bearer(self.person_token("admin", "admin"))
    }

    /// A caller with this token.
    pub fn bearer(&self, token: String) -> Client {
        Client::new(self.address, Some(token)).trusting(self.trusted())
    }

    /// A caller without a token.
    pub fn stranger(&self) -> Client {
        Client::new(self.address, None).trusting(self.trusted())
    }

    /// A listed token, and its id.
    pub async fn listed_token(
        &self,
        subject: &str,
        human: bool,
        scopes: &str,
        life: Duration,
    ) -> (String, String) {
        let (token, claims) = self.mint(subject, human, scopes, life);
        let info = claims.info();
        let store = Store::open(&self.config.data_dir).await.unwrap();
        store.add_token(&info, info.created_at).await.unwrap();
        store.close().await;
        (token, info.id)
    }

    fn mint(&self, subject: &str, human: bool, scopes: &str, ttl: Duration) -> (String, Claims) {
        let scopes = scopes.split(',').filter(|scope| !scope.is_empty());
        let scopes: Vec<_> = scopes.map(str::to_owned).collect();
        let grant = Grant { subject, label: None, human, scopes: &scopes, ttl };
        self.signer.mint(&grant).unwrap()
    }
}

impl Listens for FakeServer {
    fn address(&self) -> SocketAddr {
        self.address
    }

    fn trusted(&self) -> Option<Trusted> {
        self.config.certificate_in_use().map(|file| Trusted::file(&file))
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        if let Some(Running { tasks, .. }) = self.running.take() {
            tasks.shutdown_background();
        }
    }
}

async fn run(
    config: Config,
    runtime: Arc<dyn Runtime>,
    clock: Clock,
    mcp_fixtures: Option<Arc<dyn McpFixtures>>,
) -> (Running, Started) {
    let tasks =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (stop, asked) = oneshot::channel();
    let (started, starting) = oneshot::channel();
    let stopped = tasks.spawn(async move {
        let mut instance = Instance::open(config).await.unwrap().with_clock(clock);
        if let Some(fixtures) = mcp_fixtures {
            instance = instance.with_mcp_fixtures(fixtures);
        }
        let shutdown = async { asked.await.unwrap_or(Shutdown::EndSessions) };
        let announce = |it| drop(started.send(it));
        helmdeck_server::run(instance, runtime, Box::new(announce), Box::pin(shutdown))
            .await
            .unwrap();
    });
    let started = starting.await.expect("the server starts");
    let in_process = started.in_process.clone();
    (Running { tasks, stop, stopped, in_process }, started)
}

/// Ends all tasks of a server and releases its locks.
async fn end_tasks(tasks: tokio::runtime::Runtime) {
    spawn_blocking(move || tasks.shutdown_timeout(KILL_DEADLINE)).await.unwrap();
}
