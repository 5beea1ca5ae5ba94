//! A registry whose runtime cannot start anything.

use std::sync::Arc;

use async_trait::async_trait;
use helmdeck_egress::Policy;
use helmdeck_runtime::{ByteStream, Runtime, RuntimeError, Sandbox, SandboxId, SandboxSpec};
use helmdeck_sessions::{Caller, Clock, Config, Journal, Sessions};
use helmdeck_store::{Audit, Extensions, Profiles, Store};
use tempfile::TempDir;

struct Nowhere;

#[async_trait]
impl Runtime for Nowhere {
    async fn start(&self, _: &SandboxId, _: &SandboxSpec) -> Result<(), RuntimeError> {
        Err(RuntimeError::NotStarted("there is nowhere to start it".to_owned()))
    }

    async fn connect(&self, _: &SandboxId) -> Result<Box<dyn ByteStream>, RuntimeError> {
        Err(RuntimeError::Gone("there never was one".to_owned()))
    }

    async fn stop(&self, _: &SandboxId) -> Result<(), RuntimeError> {
        Ok(())
    }

    async fn list(&self) -> Result<Vec<Sandbox>, RuntimeError> {
        Ok(Vec::new())
    }
}

/// Sessions stored in this directory.
pub async fn sessions(dir: &TempDir) -> Sessions {
    let store = Store::open(dir.path()).await.unwrap();
    let config = Config {
        max_sessions: 10,
        max_sessions_per_caller: 10,
        max_memory_per_caller: helmdeck_wire::size::Bytes(u64::MAX),
        ceilings: Default::default(),
        workspace_bytes: None,
        idle_timeout_s: 0,
        policy: Policy::new([], []),
        forward_allow: Vec::new(),
        profiles: Profiles::new(dir.path().join("profiles"), None),
        extensions: Extensions::new(dir.path().join("extensions")),
        clock: Clock::default(),
        audit: Audit::open(store.clone()).await.unwrap(),
    };
    let journal = Journal::open(store.clone()).await.unwrap();
    Sessions::new(Arc::new(Nowhere), store, journal, config)
}

pub fn caller() -> Caller {
    Caller { subject: "ann".into(), ..Caller::default() }
}
