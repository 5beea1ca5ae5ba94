//! Checks that every runtime must pass. The tests of each backend run all of them.
//!
//! The checks use no protocol: they only need a guest that accepts connections.

use std::sync::Arc;

use crate::{Runtime, RuntimeError, Sandbox, SandboxId, SandboxSpec};

/// Runs every check; the error names the first that fails.
pub async fn check(runtime: Arc<dyn Runtime>) -> Result<(), String> {
    a_started_sandbox_is_listed_and_can_be_reached(&*runtime).await?;
    a_stopped_sandbox_is_gone(&*runtime).await?;
    stopping_twice_is_fine(&*runtime).await?;
    a_name_is_used_once(&*runtime).await?;
    sandboxes_do_not_disturb_each_other(&*runtime).await
}

async fn a_started_sandbox_is_listed_and_can_be_reached(r: &dyn Runtime) -> Result<(), String> {
    let id = start(r, "conformance-a").await?;
    let listed = list(r).await?.into_iter().find(|sandbox| sandbox.id == id);
    let listed = listed.ok_or("a started sandbox is not listed")?;
    expect(listed.running, "a started sandbox runs")?;
    expect(listed.labels == spec().labels, "labels come back as they were given")?;
    r.connect(&id).await.map(|_| ()).map_err(|e| format!("connect: {e}"))?;
    stop(r, &id).await
}

async fn a_stopped_sandbox_is_gone(r: &dyn Runtime) -> Result<(), String> {
    let id = start(r, "conformance-b").await?;
    stop(r, &id).await?;
    let listed = list(r).await?.into_iter().any(|sandbox| sandbox.id == id);
    expect(!listed, "a stopped sandbox is not listed")?;
    let gone = matches!(r.connect(&id).await, Err(RuntimeError::Gone(_)));
    expect(gone, "connecting to a stopped sandbox answers Gone")
}

async fn stopping_twice_is_fine(r: &dyn Runtime) -> Result<(), String> {
    let id = start(r, "conformance-c").await?;
    stop(r, &id).await?;
    stop(r, &id).await
}

async fn a_name_is_used_once(r: &dyn Runtime) -> Result<(), String> {
    let id = start(r, "conformance-d").await?;
    let again = r.start(&id, &spec()).await;
    expect(matches!(again, Err(RuntimeError::Exists)), "a second start of a name is refused")?;
    r.connect(&id).await.map(|_| ()).map_err(|e| format!("the first one survives: {e}"))?;
    stop(r, &id).await
}

async fn sandboxes_do_not_disturb_each_other(r: &dyn Runtime) -> Result<(), String> {
    let (one, two) = (start(r, "conformance-e").await?, start(r, "conformance-f").await?);
    stop(r, &one).await?;
    r.connect(&two).await.map(|_| ()).map_err(|e| format!("the neighbour survives: {e}"))?;
    stop(r, &two).await
}

async fn start(runtime: &dyn Runtime, name: &str) -> Result<SandboxId, String> {
    let id = SandboxId::new(name).map_err(|e| e.to_string())?;
    runtime.start(&id, &spec()).await.map_err(|e| format!("start {name}: {e}"))?;
    Ok(id)
}

fn spec() -> SandboxSpec {
    let labels = [("test".to_owned(), "conformance \"é\"".to_owned())].into();
    SandboxSpec { labels, ..SandboxSpec::default() }
}

async fn stop(runtime: &dyn Runtime, id: &SandboxId) -> Result<(), String> {
    runtime.stop(id).await.map_err(|e| format!("stop {id}: {e}"))
}

async fn list(runtime: &dyn Runtime) -> Result<Vec<Sandbox>, String> {
    runtime.list().await.map_err(|e| format!("list: {e}"))
}

fn expect(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("expected: {what}")) }
}
