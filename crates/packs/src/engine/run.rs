//! One job, from its turn to its end.

use std::{
    convert::Infallible,
    panic::AssertUnwindSafe,
    sync::{Arc, Weak},
    time::Duration,
};

use futures_util::FutureExt;
use helmdeck_sessions::{Caller, EventKind};
use helmdeck_store::{StoredJob, vault::Redactor};
use helmdeck_telemetry::Kind;
use helmdeck_wire::{
    ErrorCode, SessionId,
    job::{Job, JobId},
    nature::Style,
};
use parking_lot::Mutex;
use serde_json::Value;
use time::OffsetDateTime;
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::{error, warn};

use super::{
    Engine, Live, Progress, SESSION_FIELDS, Shared, audited, ending::finish, recovery::end_session,
    weight,
};
use crate::{
    Context, JobArtifacts, Models, Pack, PackError, PackResult, Secrets,
    leftovers::Leftovers,
    pack::MODE_FIELD,
    session_use::{Ends, NamedSession, Obtained, SessionUse, obtain},
};

/// How long a cancelled job may take to end its programs and its session.
pub const CLEAN_UP: Duration = Duration::from_secs(30);
/// How long the programs of a job and its files may take to disappear from a session that stays.
const TIDY_UP: Duration = Duration::from_secs(20);
/// How often listeners are told of the progress of a job.
const TELL_EVERY: Duration = Duration::from_millis(500);

/// Where a job comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A call, which may report to a webhook.
    Call {
        /// Whether it does.
        reports: bool,
    },
    /// An earlier server.
    Recovered,
}

/// A job and what it needs to run.
pub struct Turn {
    pub(super) origin: Origin,
    /// Whether its caller's token may have been revoked since it was submitted.
    waited: bool,
    pub(super) job: StoredJob,
    pub(super) caller: Caller,
    pack: Arc<Pack>,
    cancel: CancellationToken,
    pub(super) progress: Arc<Mutex<Progress>>,
}

impl Engine {
    /// Lets a stored job wait for its turn.
    pub(super) fn enqueue(&self, job: StoredJob, caller: Caller, pack: Arc<Pack>, origin: Origin) {
        let latest = watch::Sender::new(job.view(OffsetDateTime::now_utc()));
        let progress = Arc::new(Mutex::new(Progress::new(latest.clone())));
        let cancel = CancellationToken::new();
        let (owner, id) = (job.owner.clone(), job.id.clone());
        let live = Live {
            owner: owner.clone(),
            cancel: cancel.clone(),
            latest,
            progress: progress.clone(),
        };
        self.shared.live.lock().insert(id.clone(), live);
        let (begin, turn) = tokio::sync::oneshot::channel();
        {
            let mut queue = self.shared.queue.lock();
            queue.add(&owner, id.clone(), weight(&job.input));
            self.shared.starts.lock().insert(id, begin);
        }
        self.shared.tell(&owner, &job.view(OffsetDateTime::now_utc()));
        self.shared.pump();
        let waited = origin == Origin::Recovered || turn.is_empty();
        let turn_of = Turn { origin, waited, job, caller, pack, cancel, progress };
        let following = follow(self.downgrade(), turn_of, turn);
        helmdeck_task::spawn(helmdeck_telemetry::current().scope(following));
    }
}

impl Shared {
    /// Begins the jobs whose turn has come.
    pub(super) fn pump(&self) {
        loop {
            let next = self.queue.lock().next();
            let Some(id) = next else { return };
            let begin = self.starts.lock().remove(&id);
            if let Some(begin) = begin {
                // The receiver is gone if the job was cancelled; it then leaves by itself.
                let _ = begin.send(());
            }
        }
    }

    pub(super) fn publish(&self, owner: &str, job: &Job) {
        if let Some(live) = self.live.lock().get(&job.job_id) {
            live.latest.send_replace(job.clone());
        }
        let _ = self.events.send((owner.to_owned(), job.clone()));
        self.tell(owner, job);
    }

    /// Tells listeners of a job. Outputs may be large: they ask for them.
    fn tell(&self, owner: &str, job: &Job) {
        let job = Job { output: None, ..job.clone() };
        self.services.sessions.events().tell_owner(owner, EventKind::Job(Arc::new(job)));
    }

    /// Tells listeners of the progress of a job, until it is dropped.
    async fn tell_progress(
        &self,
        owner: &str,
        changes: Option<watch::Receiver<Job>>,
    ) -> Infallible {
        if let Some(mut changes) = changes {
            while changes.changed().await.is_ok() {
                let job = changes.borrow_and_update().clone();
                self.tell(owner, &job);
                sleep(TELL_EVERY).await;
            }
        }
        std::future::pending().await
    }
}

/// Waits for the job's turn, runs it and records its end.
async fn follow(shared: Weak<Shared>, mut turn: Turn, begin: tokio::sync::oneshot::Receiver<()>) {
    let began = tokio::select! {
        began = begin => began.is_ok(),
        () = turn.cancel.cancelled() => false,
    };
    let Some(shared) = shared.upgrade() else { return };
    let (owner, id) = (turn.job.owner.clone(), turn.job.id.clone());
    let outcome = if began {
        let mut span =
            helmdeck_telemetry::start(|| format!("job {}", turn.pack.name), Kind::Internal);
        span.set("helmdeck.job.id", id.as_str());
        span.set("helmdeck.pack", turn.pack.name.as_str());
        let outcome = span.scope(run(&shared, &mut turn)).await;
        if let Err(error) = &outcome {
            span.fail(error.code().as_str());
        }
        drop(span);
        shared.queue.lock().ended(&owner);
        outcome
    } else {
        shared.starts.lock().remove(&id);
        // Its turn may have come at the same moment.
        let mut queue = shared.queue.lock();
        if !queue.remove(&owner, &id) {
            queue.ended(&owner);
        }
        Err(cancelled())
    };
    // Its turn is over, however long it takes to save its result.
    shared.pump();
    finish(&shared, turn, outcome).await;
}

/// Runs a job: gets its session, runs the pack, and ends a session that was only for it.
async fn run(shared: &Arc<Shared>, turn: &mut Turn) -> PackResult<Value> {
    let Turn { job, caller, pack, cancel, progress, waited, .. } = turn;
    if *waited && shared.services.store.is_revoked(&caller.token).await? {
        // While it waited for its turn, or while no server ran.
        let message = "the token that started the job was revoked before it began";
        return Err(PackError::new(ErrorCode::Forbidden, message));
    }
    // It may have been disabled while no server ran.
    pack.check_on()?;
    let mode = pack.mode_of(&job.input);
    let (input, named) = split(job.input.clone());
    let sessionless = pack.is_sessionless(&shared.services.endpoints, &input);
    job.started_at = Some(OffsetDateTime::now_utc());
    job.attempts += 1;
    job.message = None;
    shared.publish(&job.owner, &job.view(OffsetDateTime::now_utc()));
    let (owner, changes) = (job.owner.clone(), progress.lock().changes());
    let limit = Duration::from_secs(u64::from(pack.timeout_s));
    let mut used = None;
    let secrets = Secrets::new(shared.services.vault.clone(), caller.clone());
    progress.lock().redact(secrets.clone());
    let leftovers = Leftovers::default();
    let artifacts = JobArtifacts {
        artifacts: shared.services.artifacts.clone(),
        caller: caller.clone(),
        job: job.id.clone(),
        pack: pack.name.clone(),
        secrets: secrets.clone(),
        progress: progress.clone(),
    };
    let work = async {
        let services = &shared.services;
        match sessionless {
            true => services.store.save_job(job).await?,
            false => {
                progress.lock().set(0.0, "getting a session".to_owned());
                session(shared, job, caller, pack, mode, &named, &mut used).await?;
            }
        }
        if let Some(SessionUse { session, .. }) = &used {
            progress.lock().set_session(session.id());
        }
        let context = Context {
            caller: caller.clone(),
            job: job.id.clone(),
            http: audited::client(&services.http, &services.audit, caller, job),
            artifacts,
            secrets: secrets.clone(),
            models: Models::new(services.models.clone(), caller.clone(), job.id.clone()),
            mode,
            endpoints: services.endpoints.clone(),
            own_api: shared.own_api.get().and_then(Weak::upgrade),
            services_http: services.services_http.clone(),
            runtime: services.runtime.clone(),
            known_hosts: services.known_hosts.clone(),
            runs: services.runs.clone(),
            session: used.as_ref().map(|used| used.session.clone()),
            progress: progress.clone(),
            leftovers: leftovers.clone(),
        };
        let pack_run = AssertUnwindSafe(pack.run(context, input)).catch_unwind();
        pack_run.await.unwrap_or_else(|_| {
            error!(job.id = job.id.as_str(), pack = pack.name, "Pack panicked");
            Err(PackError::new(ErrorCode::Internal, "the pack failed unexpectedly"))
        })
    };
    let outcome = tokio::select! {
        done = timeout(limit, work) => done.unwrap_or_else(|_| Err(too_slow(limit))),
        // Dropping the work kills its commands in the session (`crates/sessions/src/exec.rs`).
        () = cancel.cancelled() => Err(cancelled()),
        never = shared.tell_progress(&owner, changes) => match never {},
    };
    let outcome = outcome.map_err(|error| if_again(error, &named, used.as_ref()));
    if let Some(used) = used {
        leave(shared, job, caller, used, &leftovers, &outcome).await;
    }
    job.own_session_id = None;
    without_secrets(&secrets.redactor(), outcome)
}

/// Ends the session of a job if it was only for the job. In one that stays, waits until nothing of the
/// job runs, and removes its files.
async fn leave(
    shared: &Shared,
    job: &mut StoredJob,
    caller: &Caller,
    SessionUse { session, ends }: SessionUse,
    leftovers: &Leftovers,
    outcome: &PackResult<Value>,
) {
    if ends.after(outcome) {
        end_session(&shared.services.sessions, caller, session.id()).await;
        job.session_id = None;
        return;
    }
    let tidying = async {
        if outcome.is_err() {
            session.kills_done().await;
        }
        leftovers.remove(&session, caller).await;
    };
    if timeout(TIDY_UP, tidying).await.is_err() {
        warn!(session.id = session.id().as_str(), "The programs of a job take long to end");
    }
}

/// The same call fails again if the session that it names has ended.
fn if_again(error: PackError, named: &NamedSession, used: Option<&SessionUse>) -> PackError {
    let has_ended = used.is_some_and(|used| !used.session.is_alive());
    match error.code() {
        ErrorCode::SessionUnavailable if named.id.is_some() && has_ended => error.permanent(),
        _ => error,
    }
}

/// Gets the session of a job, and saves that the job has begun before it does anything, so that it
/// never runs twice. A new session is in the job's row before it is ready, so that a server that is
/// killed meanwhile leaves none behind.
async fn session(
    shared: &Shared,
    job: &mut StoredJob,
    caller: &Caller,
    pack: &Pack,
    mode: Style,
    named: &NamedSession,
    used: &mut Option<SessionUse>,
) -> PackResult<()> {
    let store = &shared.services.store;
    // Until a new session has its name: another call with the name waits, and then finds it.
    let _held = match (&named.id, &named.workspace) {
        (None, Some(name)) => Some(shared.workspaces.hold(&caller.subject, name).await),
        _ => None,
    };
    match obtain(&shared.services.sessions, store, caller, pack, mode, named).await? {
        None => {}
        Some(Obtained::Ready(ready)) => *used = Some(ready),
        Some(Obtained::Starting { starting, ends }) => {
            job.own_session_id = (ends == Ends::Always).then(|| starting.id().clone());
            store.save_job(job).await?;
            let session = starting.ready().await?;
            let id = session.id().clone();
            // Known before the next await: a cancelled job ends it.
            *used = Some(SessionUse { session, ends });
            if let Some(name) = &named.workspace {
                store.set_workspace(&caller.subject, name, &id).await?;
            }
        }
    }
    job.session_id = used.as_ref().map(|used| used.session.id().clone());
    Ok(store.save_job(job).await?)
}

/// Replaces the secrets that a job used in its result.
fn without_secrets(redactor: &Redactor, outcome: PackResult<Value>) -> PackResult<Value> {
    if redactor.is_empty() {
        return outcome;
    }
    match outcome {
        Ok(output) => Ok(redactor.apply_json(output)),
        Err(error) => Err(error.map_text(|text| redactor.apply(text).into_owned())),
    }
}

/// Separates the session from the pack's own input.
fn split(mut input: Value) -> (Value, NamedSession) {
    let mut named = NamedSession::default();
    if let Value::Object(fields) = &mut input {
        fields.remove(MODE_FIELD);
        let [id, workspace] = SESSION_FIELDS.map(|field| match fields.remove(field) {
            Some(Value::String(text)) if !text.is_empty() => Some(text),
            _ => None,
        });
        named = NamedSession { id: id.map(SessionId::new), workspace };
    }
    (input, named)
}

fn cancelled() -> PackError {
    PackError::new(ErrorCode::Cancelled, "the job was cancelled")
}

fn too_slow(limit: Duration) -> PackError {
    let message = format!("the pack did not end within {} s", limit.as_secs());
    PackError::new(ErrorCode::Timeout, message)
}

/// Starts of waiting jobs.
pub type Starts = std::collections::HashMap<JobId, tokio::sync::oneshot::Sender<()>>;
