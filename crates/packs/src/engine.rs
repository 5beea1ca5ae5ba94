//! Runs packs as jobs.
//!
//! Every call is a row of the store before it begins and after it ends. Jobs of one caller begin in
//! order; callers take turns. A job whose server was killed begins again if it never began or is
//! resumable, and fails with a reason otherwise.

mod audited;
mod earlier;
mod ending;
mod progress;
mod queue;
mod recovery;
mod run;
mod webhooks;
mod workspaces;

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, OnceLock, Weak},
    time::Duration,
};

use helmdeck_gateway::Gateway;
use helmdeck_runtime::Runtime;
use helmdeck_sessions::{Caller, Clock, Sessions};
use helmdeck_store::{Artifacts, Audit, JobFilter, Store, StoredJob, Vault};
use helmdeck_wire::{
    ErrorCode, SessionId,
    job::{Job, JobId, JobList, JobState},
};
use parking_lot::{Mutex, RwLock};
use serde_json::Value;
use time::OffsetDateTime;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

use crate::{
    Endpoints, HttpClient, OwnApi, Pack, PackError, PackResult, RunRegistry, Switch, Webhook,
    command_packs::CommandPacks,
    models,
    pack::disabled,
    packs,
    session_use::{NamedSession, check_named},
    webhook::Sender,
};
pub use progress::Progress;
use queue::Queue;
use run::Origin;
use workspaces::Workspaces;

/// How long results are kept.
pub const RETENTION: Duration = Duration::from_secs(24 * 3600);
/// How long results are kept whose webhook was not delivered.
const UNDELIVERED_RETENTION: Duration = Duration::from_secs(7 * 24 * 3600);
/// How many changes a slow listener may miss before it has to list jobs again.
const EVENTS: usize = 256;

/// Limits of the engine.
#[derive(Debug, Clone, Copy)]
pub struct EngineLimits {
    /// How many jobs run at a time.
    pub running: usize,
    /// How many jobs of one caller run at a time.
    pub running_per_caller: usize,
    /// How many jobs of one caller wait for their turn.
    pub waiting_per_caller: usize,
    /// How large the inputs of these jobs are together.
    pub waiting_bytes_per_caller: usize,
}

impl Default for EngineLimits {
    fn default() -> Self {
        Self {
            running: 16,
            running_per_caller: 8,
            waiting_per_caller: 2000,
            waiting_bytes_per_caller: 64 << 20,
        }
    }
}

/// What jobs work with.
pub struct Services {
    /// The store.
    pub store: Store,
    /// The audit log.
    pub audit: Audit,
    /// All sessions.
    pub sessions: Sessions,
    /// Requests to web servers.
    pub http: HttpClient,
    /// Requests to services that the operator configured, in any network.
    pub services_http: HttpClient,
    /// Addresses of services.
    pub endpoints: Arc<Endpoints>,
    /// Files.
    pub artifacts: Artifacts,
    /// Credentials.
    pub vault: Vault,
    /// The folder of the operator's packs, if there is one.
    pub command_packs: Option<PathBuf>,
    /// Packs that the operator disabled.
    pub disabled: Vec<Switch>,
    /// How long calls wait for jobs, and when attempts to deliver webhooks are due.
    pub clock: Clock,
    /// Models.
    pub models: Gateway,
    /// What SSH clients run in.
    pub runtime: Arc<dyn Runtime>,
    /// A file of host keys that SSH clients trust, if there is one.
    pub known_hosts: Option<PathBuf>,
    /// Where runs are registered that people watch.
    pub runs: Arc<dyn RunRegistry>,
}

/// Options of a call besides the pack's input.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The session to work in.
    pub session: NamedSession,
    /// The caller's key for this call: a second call with it returns the same job.
    pub idempotency_key: Option<String>,
    /// Where the end of the job is reported. Such a job always runs.
    pub webhook: Option<Webhook>,
    /// The oldest earlier result that the caller accepts, in seconds.
    pub max_age_s: Option<u32>,
}

/// Runs packs as jobs. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    packs: RwLock<Arc<[Arc<Pack>]>>,
    command_packs: Option<CommandPacks>,
    services: Services,
    queue: Mutex<Queue>,
    starts: Mutex<run::Starts>,
    live: Mutex<HashMap<JobId, Live>>,
    events: broadcast::Sender<(String, Job)>,
    own_api: OnceLock<Weak<dyn OwnApi>>,
    webhooks: Sender,
    workspaces: Workspaces,
}

/// A job that waits or runs.
struct Live {
    owner: String,
    cancel: CancellationToken,
    /// The job as of its last change.
    latest: watch::Sender<Job>,
    progress: Arc<Mutex<Progress>>,
}

/// The key of the session options in a stored input.
const SESSION_FIELDS: [&str; 2] = ["_session_id", "workspace"];

impl Engine {
    /// An engine with all packs. [`Engine::recover`] must be called once before anything else.
    pub fn new(services: Services, limits: EngineLimits) -> Self {
        let command_packs = services.command_packs.clone().map(CommandPacks::new);
        let webhooks = Sender {
            store: services.store.clone(),
            vault: services.vault.clone(),
            http: audited::client_of_webhooks(&services.http, &services.audit),
            clock: services.clock.clone(),
            due: Arc::default(),
        };
        let shared = Shared {
            packs: RwLock::new(with_built_in(Vec::new(), &services.disabled)),
            command_packs,
            services,
            webhooks,
            workspaces: Workspaces::default(),
            queue: Mutex::new(Queue::new(limits)),
            starts: Mutex::default(),
            live: Mutex::default(),
            events: broadcast::Sender::new(EVENTS),
            own_api: OnceLock::new(),
        };
        let engine = Self { shared: Arc::new(shared) };
        engine.reload();
        engine
    }

    /// Sets the server's own API, for packs that call it.
    pub fn set_own_api(&self, api: Weak<dyn OwnApi>) {
        // The first one stays.
        let _ = self.shared.own_api.set(api);
    }

    /// Why a caller has no model, and the command that changes it.
    pub async fn missing_model(&self, caller: &Caller) -> PackResult<Option<String>> {
        models::missing(&self.shared.services.models, caller).await
    }

    /// Every pack, by name.
    pub fn packs(&self) -> Arc<[Arc<Pack>]> {
        self.shared.packs.read().clone()
    }

    /// The pack with this name.
    pub fn pack(&self, name: &str) -> Option<Arc<Pack>> {
        let packs = self.shared.packs.read();
        let named = |name: &str| packs.iter().find(|pack| pack.name == name).cloned();
        // Names of the operator's packs have hyphens where callers may expect underscores.
        named(name).or_else(|| named(&name.replace('_', "-")).filter(|_| name.starts_with("cmd.")))
    }

    /// Reads the operator's packs again, if their folder changed. Returns whether it did. Blocks on
    /// the disk.
    pub fn reload(&self) -> bool {
        let Some(folder) = &self.shared.command_packs else { return false };
        let Some(packs) = folder.changed() else { return false };
        let packs = with_built_in(packs, &self.shared.services.disabled);
        *self.shared.packs.write() = packs;
        true
    }

    /// Whether there may be packs of the operator.
    pub fn has_command_packs(&self) -> bool {
        self.shared.command_packs.is_some()
    }

    /// Changes of jobs, with their owners.
    pub fn events(&self) -> broadcast::Receiver<(String, Job)> {
        self.shared.events.subscribe()
    }

    /// Starts a job. `input` matches the pack's schema.
    pub async fn submit(
        &self,
        caller: &Caller,
        pack: &Arc<Pack>,
        mut input: Value,
        options: Options,
    ) -> PackResult<Job> {
        pack.check_on()?;
        check_named(pack, &options.session)?;
        if pack.needs_model(pack.mode_of(&input)) {
            models::check(&self.shared.services.models, caller).await?;
        }
        let now = OffsetDateTime::now_utc();
        if let Value::Object(fields) = &mut input {
            let Options { session: NamedSession { id, workspace }, .. } = &options;
            let values = [id.as_ref().map(SessionId::as_str), workspace.as_deref()];
            for (field, value) in SESSION_FIELDS.iter().zip(values) {
                if let Some(value) = value {
                    fields.insert((*field).to_owned(), value.into());
                }
            }
        }
        let job = StoredJob {
            id: new_id()?,
            owner: caller.subject.clone(),
            caller: recovery::write_caller(caller),
            pack: pack.name.clone(),
            version: pack.version,
            input,
            state: JobState::Working,
            progress: 0,
            message: Some("waiting for its turn".to_owned()),
            output: None,
            artifacts: Vec::new(),
            error: None,
            session_id: None,
            own_session_id: None,
            idempotency_key: options.idempotency_key,
            attempts: 0,
            created_at: now,
            started_at: None,
            ended_at: None,
        };
        if let Some(max_age_s) = options.max_age_s.filter(|_| options.webhook.is_none())
            && let Some(earlier) = self.earlier(caller, pack, &job, max_age_s).await?
        {
            return Ok(earlier);
        }
        self.shared.queue.lock().check(&job.owner, weight(&job.input))?;
        if let Some(earlier) = self.add(&job, options.webhook.as_ref()).await? {
            let same = earlier.pack == job.pack && earlier.input == job.input;
            if !same || !self.reports_to(&earlier.id, options.webhook.as_ref()).await? {
                let message = "idempotency_key: used before for another call; choose another";
                return Err(PackError::invalid("idempotency_key", message));
            }
            return self.job(caller, &earlier.id).await;
        }
        let view = job.view(now);
        let origin = Origin::Call { reports: options.webhook.is_some() };
        self.enqueue(job, caller.clone(), pack.clone(), origin);
        Ok(view)
    }

    /// Waits until a job has ended, or for this time, and returns it.
    pub async fn wait(&self, caller: &Caller, id: &JobId, budget: Duration) -> PackResult<Job> {
        let own = |live: &Live| caller.owns(&live.owner).then(|| live.latest.subscribe());
        let latest = self.shared.live.lock().get(id).and_then(own);
        if let Some(mut latest) = latest {
            let clock = &self.shared.services.clock;
            tokio::select! {
                ended = latest.wait_for(|job| job.state != JobState::Working) => {
                    // It is stored before it is published.
                    if let Ok(job) = ended {
                        return Ok(job.clone());
                    }
                }
                () = clock.sleep_until(clock.now() + budget) => {}
            }
        }
        self.job(caller, id).await
    }

    /// A job of the caller.
    pub async fn job(&self, caller: &Caller, id: &JobId) -> PackResult<Job> {
        let stored = self.shared.services.store.job(id).await?;
        let stored = stored.filter(|job| caller.owns(&job.owner)).ok_or_else(|| {
            let message = format!(
                "job {id} does not exist: results are kept for 24 hours; job.list shows yours"
            );
            PackError::new(ErrorCode::UnknownJob, message)
        })?;
        Ok(self.current(&stored))
    }

    /// Jobs of the caller, newest first, without outputs.
    pub async fn jobs(&self, caller: &Caller, filter: JobFilter) -> PackResult<JobList> {
        let limit = filter.limit;
        let owner = caller.limited_to().map(str::to_owned);
        let filter = JobFilter { owner, limit: limit + 1, ..filter };
        let mut stored = self.shared.services.store.jobs(&filter).await?;
        let more = stored.len() > limit as usize;
        stored.truncate(limit as usize);
        let last = stored.last().map(|job| job.id.as_str().to_owned());
        let jobs: Vec<_> = stored.iter().map(|job| self.current(job)).collect();
        Ok(JobList { count: jobs.len(), jobs, next_cursor: last.filter(|_| more) })
    }

    /// Cancels a job and waits until nothing of it runs. Has no effect on one that has ended.
    pub async fn cancel(&self, caller: &Caller, id: &JobId) -> PackResult<Job> {
        let job = self.job(caller, id).await?;
        if let Some(live) = self.shared.live.lock().get(id)
            && !live.cancel.is_cancelled()
        {
            live.cancel.cancel();
            let audit = &self.shared.services.audit;
            audited::cancelled(audit, caller, &live.owner, id, &job.pack);
        }
        self.wait(caller, id, run::CLEAN_UP).await
    }

    /// Cancels a job without waiting.
    pub fn abandon(&self, id: &JobId) {
        if let Some(live) = self.shared.live.lock().get(id) {
            live.cancel.cancel();
        }
    }

    /// The input of a job, to run it again.
    pub async fn input(&self, caller: &Caller, id: &JobId) -> PackResult<(String, Value)> {
        self.job(caller, id).await?;
        let stored = self.shared.services.store.job(id).await?;
        let gone = || PackError::new(ErrorCode::UnknownJob, format!("job {id} does not exist"));
        let stored = stored.ok_or_else(gone)?;
        Ok((stored.pack, stored.input))
    }

    /// Deletes old results, and workspaces whose session has ended.
    pub async fn forget(&self) -> PackResult<()> {
        let Services { store, sessions, .. } = &self.shared.services;
        let now = OffsetDateTime::now_utc();
        store.forget_jobs(now - RETENTION, now - UNDELIVERED_RETENTION).await?;
        for id in store.workspace_sessions().await? {
            if !sessions.is_alive(&id) {
                store.forget_workspaces(&id).await?;
            }
        }
        Ok(())
    }

    /// A job that waits or runs, as of its last change.
    pub fn follow(&self, id: &JobId) -> Option<watch::Receiver<Job>> {
        self.shared.live.lock().get(id).map(|live| live.latest.subscribe())
    }

    /// Waits for a change of a job that waits or runs. Returns at once, with `false`, for others.
    pub async fn changed(&self, id: &JobId) -> bool {
        let Some(mut latest) = self.follow(id) else { return false };
        // A dropped sender is a change: the job has ended.
        let _ = latest.changed().await;
        true
    }

    /// How many jobs wait or run.
    pub fn working(&self) -> usize {
        self.shared.live.lock().len()
    }

    /// A stored job with its latest progress.
    fn current(&self, stored: &StoredJob) -> Job {
        let mut job = stored.view(OffsetDateTime::now_utc());
        if let Some(live) = self.shared.live.lock().get(&stored.id) {
            live.progress.lock().write(&mut job);
        }
        job
    }

    fn downgrade(&self) -> Weak<Shared> {
        Arc::downgrade(&self.shared)
    }
}

/// The packs of this program, and those of the operator. The first of a name counts.
fn with_built_in(others: Vec<Pack>, off: &[Switch]) -> Arc<[Arc<Pack>]> {
    let mut all: Vec<Arc<Pack>> = Vec::new();
    for mut pack in packs::all().into_iter().chain(others) {
        if let Some(switch) = pack.switch.filter(|switch| off.contains(switch)) {
            pack.off = Some(disabled(switch.setting()));
        }
        match all.iter().any(|known| known.name == pack.name) {
            true => tracing::warn!(pack = pack.name, "A pack with this name exists already"),
            false => all.push(Arc::new(pack)),
        }
    }
    all.into()
}

/// About how much memory a value needs, in bytes.
fn weight(value: &Value) -> usize {
    let inside = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(fields) => fields.iter().map(|(name, it)| name.len() + weight(it)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    size_of::<Value>() + inside
}

fn new_id() -> PackResult<JobId> {
    let mut bytes = [0; 12];
    getrandom::fill(&mut bytes).map_err(|error| PackError::internal(&error))?;
    Ok(JobId::from_random(bytes))
}
