//! The one task that leads a session from its start to its end.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use helmdeck_link::ProgressStream;
use helmdeck_runtime::{Runtime, SandboxSpec};
use helmdeck_wire::{
    error::with_causes,
    guest::{LINK_VERSION, Progress, Stage},
    session::{EndReason, StageTiming},
};
use tokio::time::{sleep_until, timeout};
use tracing::{error, info, warn};

use crate::{
    Session,
    lifecycle::Phase,
    session::{Driven, Failure},
    spec,
};

/// All stages together, on a busy machine.
const START_DEADLINE: Duration = Duration::from_secs(120);
/// A guest answers milliseconds after its sandbox runs.
const HELLO_DEADLINE: Duration = Duration::from_secs(20);

/// Leads `session` until nothing of it is left.
pub(crate) async fn drive(session: Session, runtime: Arc<dyn Runtime>) {
    let inner = &session.inner;
    let id = inner.id.as_str();
    let started = tokio::select! {
        started = start(&session, &*runtime) => Some(started),
        () = over(&session) => None,
    };
    match started {
        Some(Ok(reports)) => {
            inner.life.lock().ready(Instant::now());
            inner.progress.send_replace(Driven::Running);
            info!(session.id = id, duration_ms = elapsed_ms(inner.began), "Session is ready");
            live(&session, reports).await;
        }
        Some(Err(failure)) => {
            let Failure { stage, reason, .. } = &failure;
            warn!(session.id = id, stage, reason, "Session failed to start");
            *inner.failure.lock() = Some(failure);
            inner.life.lock().end(EndReason::StartFailed);
        }
        None => {}
    }
    if let Err(problem) = runtime.stop(&inner.sandbox).await {
        error!(session.id = id, error = with_causes(&problem), "Sandbox could not be stopped");
    }
    info!(session.id = id, phase = ?inner.life.lock().phase(), "Session is over");
    inner.progress.send_replace(Driven::Stopped);
}

/// All stages of the start. Each that is done leaves its time in the session.
async fn start(session: &Session, runtime: &dyn Runtime) -> Result<ProgressStream, Failure> {
    let inner = &session.inner;
    let sandbox = |reason: String| fail(Stage::Sandbox, reason);
    let work = async {
        let spec = SandboxSpec::default();
        runtime.start(&inner.sandbox, &spec).await.map_err(|e| sandbox(with_causes(&e)))?;
        let hello = inner.link.hello(HELLO_DEADLINE).await.map_err(|e| sandbox(with_causes(&e)))?;
        if hello.link_version != LINK_VERSION {
            return Err(sandbox(format!("its guest speaks link {}", hello.link_version)));
        }
        let begin = spec::for_guest(&inner.spec);
        let mut reports = inner.link.begin(&begin).await.map_err(|e| sandbox(with_causes(&e)))?;
        let mut last = Stage::Sandbox;
        loop {
            match reports.next().await {
                Ok(Some(Progress::Done(stage))) => {
                    last = stage;
                    let done_ms = elapsed_ms(inner.began);
                    let stage = stage.as_str().to_owned();
                    inner.timings.lock().push(StageTiming { stage, done_ms });
                }
                Ok(Some(Progress::Ready)) => return Ok(reports),
                Ok(Some(Progress::Failed { stage, reason, log_tail })) => {
                    return Err(Failure { stage: stage.as_str(), reason, log_tail });
                }
                Ok(None) => return Err(fail(last, gone(runtime, session).await)),
                Err(error) => return Err(fail(last, with_causes(&error))),
            }
        }
    };
    let late = || fail(Stage::Browser, format!("not ready after {} s", START_DEADLINE.as_secs()));
    timeout(START_DEADLINE, work).await.unwrap_or_else(|_| Err(late()))
}

/// Waits for the end of a running session: asked for, due, or because its guest is lost.
async fn live(session: &Session, mut reports: ProgressStream) {
    let lost = async { while let Ok(Some(_)) = reports.next().await {} };
    tokio::select! {
        () = over(session) => {}
        () = lost => {
            session.inner.life.lock().end(EndReason::GuestLost);
            let reason = "the guest is gone".to_owned();
            let failure = Failure { stage: "running", reason, log_tail: String::new() };
            *session.inner.failure.lock() = Some(failure);
        }
    }
}

/// Waits until the session is ended or must end.
async fn over(session: &Session) {
    let inner = &session.inner;
    loop {
        let next_check = {
            let mut life = inner.life.lock();
            if let Some(reason) = life.due(Instant::now()) {
                life.end(reason);
            }
            if matches!(life.phase(), Phase::Over(_)) {
                return;
            }
            life.next_check()
        };
        let check = async {
            match next_check {
                Some(at) => sleep_until(at.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = inner.changed.notified() => {}
            () = check => {}
        }
    }
}

/// What a sandbox that is gone said last.
async fn gone(runtime: &dyn Runtime, session: &Session) -> String {
    match runtime.connect(&session.inner.sandbox).await {
        Err(error) => with_causes(&error),
        Ok(_) => "the guest hung up".to_owned(),
    }
}

fn fail(stage: Stage, reason: String) -> Failure {
    Failure { stage: stage.as_str(), reason, log_tail: String::new() }
}

fn elapsed_ms(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}
