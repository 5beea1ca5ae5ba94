//! The task that runs a session from its start or adoption to its end.

mod attached;
mod loss;
mod reports;

use std::{sync::Arc, time::Duration};

use helmdeck_egress::{Policy, Via};
use helmdeck_runtime::{Runtime, SandboxSpec, Usage};
use helmdeck_task::BoxFuture;
use helmdeck_wire::{
    error::with_causes,
    guest::{Begin, HandedOver, LINK_VERSION, Progress, Stage},
    proxy::Proxy,
    session::EndReason,
};
use time::OffsetDateTime;
use tokio::time::{sleep, timeout};
use tracing::{error, info, warn};

use crate::{
    Session, egress,
    events::EventKind,
    idle_announcement::LastAnnouncement,
    lifecycle::{Ending, Phase},
    proxy,
    session::{Driven, Failure},
    spec,
};

pub(crate) use attached::drive_attached;
use loss::{gone, heard, last_words, lost, moved, name};
use reports::Reports;

/// Deadline for all stages together, on a busy machine.
const START_DEADLINE: Duration = Duration::from_secs(120);
/// How often to try to stop a sandbox: some failures are temporary.
const STOP_TRIES: usize = 3;
/// A guest usually answers milliseconds after its sandbox starts.
const HELLO_DEADLINE: Duration = Duration::from_secs(20);
/// When to save a profile for the first time: early, in case of a quick login.
const PROFILE_FIRST: Duration = Duration::from_secs(10);
/// How often to save a profile while its session runs.
const PROFILE_EVERY: Duration = Duration::from_secs(30);

/// Runs a new session until it is completely removed. `workspace_bytes` is the limit on disk;
/// without it the workspace is in memory.
pub(crate) fn drive(
    session: Session,
    runtime: Arc<dyn Runtime>,
    policy: Policy,
    workspace_bytes: Option<u64>,
) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let inner = &session.inner;
        let spec = SandboxSpec {
            workspace: workspace_bytes.is_some(),
            ..spec::for_runtime(&inner.record.spec, inner.record.to_labels())
        };
        // Not cancellable: a half-started sandbox could not be stopped.
        let started = match runtime.start(&inner.sandbox, &spec).await {
            Ok(()) => tokio::select! {
                started = start(&session, &*runtime, &spec, workspace_bytes) => Some(started),
                () = over(&session) => None,
            },
            Err(error) => Some(Err(failure(Stage::Sandbox, with_causes(&error)))),
        };
        match started {
            Some(Ok(started)) => live(&session, &*runtime, policy, started).await,
            Some(Err(failure)) => fail(&session, EndReason::StartFailed, failure),
            None => {}
        }
        stop(&session, &*runtime).await;
    })
}

/// Runs a session that an earlier server started.
pub(crate) fn drive_adopted(
    session: Session,
    runtime: Arc<dyn Runtime>,
    policy: Policy,
) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let adopted = tokio::select! {
            adopted = adopt(&session, &*runtime) => Some(adopted),
            () = over(&session) => None,
        };
        match adopted {
            Some(Ok(Adopted::Current(started))) => live(&session, &*runtime, policy, started).await,
            Some(Ok(Adopted::Outdated)) => {
                warn!(session.id = session.id().as_str(), "Session runs another version");
                session.inner.life.lock().outdated();
                session.inner.progress.send_replace(Driven::Running);
                session.tell(EventKind::Changed);
                tokio::select! {
                    () = over(&session) => {}
                    () = gone(&session, &*runtime) => {
                        let log_tail = last_words(&session, &*runtime).await;
                        let reason = "the guest is gone".to_owned();
                        let failure = Failure { stage: None, reason, log_tail };
                        fail(&session, EndReason::GuestLost, failure);
                    }
                }
            }
            Some(Err(failure)) => fail(&session, EndReason::GuestLost, failure),
            None => {}
        }
        stop(&session, &*runtime).await;
    })
}

/// Stops the sandbox and removes everything of the session.
async fn stop(session: &Session, runtime: &dyn Runtime) {
    let inner = &session.inner;
    let ready = *inner.progress.borrow() == Driven::Running && inner.life.lock().has_guest();
    let picture = if ready { session.take_last_picture().await } else { None };
    let id = inner.id.as_str();
    let reached_limit = |ending: Ending| {
        matches!(ending.reason, EndReason::Idle | EndReason::WallClock | EndReason::MaxTasks)
    };
    if session.ended().is_some_and(reached_limit) {
        // Keep the log: after this, the guest cannot be asked for it.
        session.keep_log().await;
    }
    if ready {
        session.save_profile(&inner.profiles, true).await;
    }
    for _ in 0..STOP_TRIES {
        match runtime.stop(&inner.sandbox).await {
            Ok(()) => break,
            Err(problem) => {
                let error = with_causes(&problem);
                error!(session.id = id, error, "Failed to stop sandbox");
            }
        }
    }
    session.end_forwards().await;
    let reason = inner.life.lock().ending().map(|ending| ending.reason.as_str());
    info!(session.id = id, reason, "Session has ended");
    session.audit_ended();
    session.remember_end(picture).await;
    inner.progress.send_replace(Driven::Stopped);
    session.tell(EventKind::Changed);
}

fn fail(session: &Session, reason: EndReason, failure: Failure) {
    let stage = failure.stage.map_or("running", Stage::as_str);
    warn!(session.id = session.id().as_str(), stage, reason = failure.reason, "Session failed");
    *session.inner.failure.lock() = Some(failure);
    session.inner.life.lock().end(reason, OffsetDateTime::now_utc());
}

/// A session that is ready.
struct Started {
    reports: Reports,
    /// The session's proxy, including credentials.
    via: Option<Via>,
}

/// Runs all stages after the sandbox has started. Records the time of each.
async fn start(
    session: &Session,
    runtime: &dyn Runtime,
    spec: &SandboxSpec,
    workspace_bytes: Option<u64>,
) -> Result<Started, Failure> {
    let inner = &session.inner;
    let work = async {
        let failed = |e: &dyn std::error::Error| failure(Stage::Sandbox, with_causes(e));
        let hello = inner.link.hello(HELLO_DEADLINE).await.map_err(|e| failed(&e))?;
        if hello.link_version != LINK_VERSION {
            let reason = format!("its guest uses link version {}", hello.link_version);
            return Err(failure(Stage::Sandbox, reason));
        }
        let mut begin = Begin { workspace_bytes, ..spec::for_guest(&inner.record.spec) };
        if usage(session, runtime).await.is_none() {
            begin.watch_memory_bytes = Some(spec.limits.memory_bytes);
        }
        session
            .load_profile(&inner.profiles)
            .await
            .map_err(|reason| failure(Stage::Sandbox, reason))?;
        session
            .load_extensions(&inner.extensions)
            .await
            .map_err(|reason| failure(Stage::Sandbox, reason))?;
        session.begin_forwards().await.map_err(|e| failed(&e))?;
        inner.link.begin(&begin, HELLO_DEADLINE).await.map_err(|e| failed(&e))?;
        let stream = inner.link.watch().await.map_err(|e| failed(&e))?;
        let mut reports = Reports::new(stream, None);
        ready(session, runtime, &mut reports, |stage| {
            inner.timings.lock().push((stage, elapsed(session)));
        })
        .await?;
        info!(
            session.id = inner.id.as_str(),
            duration_ms = elapsed_ms(session),
            "Session is ready"
        );
        Ok(Started { reports, via: leaving(inner.record.spec.proxy.as_ref())? })
    };
    let late =
        || failure(Stage::Browser, format!("not ready after {} s", START_DEADLINE.as_secs()));
    timeout(START_DEADLINE, work).await.unwrap_or_else(|_| Err(late()))
}

/// Result of adopting a session.
enum Adopted {
    Current(Started),
    Outdated,
}

async fn adopt(session: &Session, runtime: &dyn Runtime) -> Result<Adopted, Failure> {
    let inner = &session.inner;
    let failed = |e: &dyn std::error::Error| failure(Stage::Sandbox, with_causes(e));
    let hello = inner.link.hello(HELLO_DEADLINE).await.map_err(|e| failed(&e))?;
    if hello.link_version != LINK_VERSION {
        return Ok(Adopted::Outdated);
    }
    inner.life.lock().set_tasks(hello.actions);
    *inner.agent_acted.lock() = inner.journal.last_agent_action(&inner.id).await;
    let stream = inner.link.watch().await.map_err(|e| failed(&e))?;
    let mut reports = Reports::new(stream, inner.attachment.clone());
    let begun = timeout(START_DEADLINE, ready(session, runtime, &mut reports, |_| {})).await;
    begun.unwrap_or_else(|_| Err(failure(Stage::Browser, "not ready in time".into())))?;
    // The lease did not survive the restart.
    let to_agents = HandedOver { to_person: false, key: None };
    inner.link.release_all(to_agents).await.map_err(|e| failed(&e))?;
    if inner.attachment.is_none() {
        session.adopt_forwards().await;
    }
    info!(session.id = inner.id.as_str(), owner = inner.record.owner, "Session is adopted");
    // The record has no credentials. The guest got them at its start.
    Ok(Adopted::Current(Started { reports, via: leaving(hello.proxy.as_ref())? }))
}

/// An unusable proxy fails the session, because its traffic must not bypass the proxy.
fn leaving(proxy: Option<&Proxy>) -> Result<Option<Via>, Failure> {
    let via = proxy.map(proxy::via).transpose();
    via.map_err(|error| failure(Stage::Sandbox, with_causes(&error)))
}

/// Reads reports until the guest is ready.
async fn ready(
    session: &Session,
    runtime: &dyn Runtime,
    reports: &mut Reports,
    on_stage: impl Fn(Stage),
) -> Result<(), Failure> {
    let mut last = Stage::Sandbox;
    loop {
        match reports.next().await {
            Ok(Some(Progress::Done(stage))) => {
                last = stage;
                on_stage(stage);
            }
            Ok(Some(Progress::Ready)) => return Ok(()),
            Ok(Some(
                Progress::Event(_)
                | Progress::BrowserEnded(_)
                | Progress::BrowserBack
                | Progress::PrivateEnded,
            )) => {}
            Ok(Some(Progress::BrowserWindow(window))) => moved(session, window),
            Ok(Some(Progress::Executing(executing))) => session.executing(executing),
            Ok(Some(Progress::Failed { stage, reason, log_tail })) => {
                return Err(Failure { stage: Some(stage), reason, log_tail });
            }
            Ok(Some(Progress::Lost { part, log_tail })) => {
                let reason = format!("the {} is gone", name(part));
                return Err(Failure { stage: Some(last), reason, log_tail });
            }
            Ok(None) => return Err(failure(last, last_words(session, runtime).await)),
            Err(error) => return Err(failure(last, with_causes(&error))),
        }
    }
}

/// Waits until a running session ends: on request, at a limit, or because a part is lost.
async fn live(
    session: &Session,
    runtime: &dyn Runtime,
    policy: Policy,
    Started { mut reports, via }: Started,
) {
    // Dropped with this function, together with all outgoing connections.
    let _proxy = egress::serve(session, policy, via);
    tokio::select! {
        () = session.open_start_url() => {}
        () = over(session) => {}
    }
    begin_life(session);
    tokio::select! {
        () = over(session) => {}
        (reason, failure) = lost(session, runtime, &mut reports) => fail(session, reason, failure),
        () = keep_profile(session) => {}
    }
}

/// Makes the session ready for calls.
fn begin_life(session: &Session) {
    session.inner.life.lock().ready(session.inner.clock.now());
    session.inner.progress.send_replace(Driven::Running);
    session.tell(EventKind::Changed);
}

/// Saves the profile periodically, in case the session crashes.
async fn keep_profile(session: &Session) {
    if session.inner.record.spec.profile.is_none() {
        std::future::pending::<()>().await;
    }
    sleep(PROFILE_FIRST).await;
    loop {
        session.save_profile(&session.inner.profiles, false).await;
        sleep(PROFILE_EVERY).await;
    }
}

/// Waits until the session is ended or reaches a limit.
async fn over(session: &Session) {
    let inner = &session.inner;
    let mut told = LastAnnouncement::default();
    loop {
        let control_ends = session.expire_control().await;
        let idle_told = session.tell_idle_end(&mut told);
        let next_check = {
            let mut life = inner.life.lock();
            if let Some(reason) = life.due(inner.clock.now()) {
                life.end(reason, OffsetDateTime::now_utc());
            }
            if matches!(life.phase(), Phase::Over(_)) {
                return;
            }
            [life.next_check(), control_ends, idle_told].into_iter().flatten().min()
        };
        let check = async {
            match next_check {
                Some(at) => inner.clock.sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = inner.changed.notified() => {}
            () = check => {}
        }
    }
}

/// Resource usage of the sandbox, if the runtime knows it.
async fn usage(session: &Session, runtime: &dyn Runtime) -> Option<Usage> {
    let sandboxes = runtime.list().await.unwrap_or_default();
    sandboxes.into_iter().find(|sandbox| sandbox.id == session.inner.sandbox)?.usage
}

fn failure(stage: Stage, reason: String) -> Failure {
    Failure { stage: Some(stage), reason, log_tail: String::new() }
}

/// Age of the session.
fn elapsed_ms(session: &Session) -> u64 {
    u64::try_from(elapsed(session).as_millis()).unwrap_or(u64::MAX)
}

fn elapsed(session: &Session) -> Duration {
    session.inner.clock.now().saturating_duration_since(session.inner.began)
}
