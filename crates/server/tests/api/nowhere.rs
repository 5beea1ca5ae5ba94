//! A runtime without sandboxes.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use async_trait::async_trait;
use helmdeck_runtime::{ByteStream, Runtime, RuntimeError, Sandbox, SandboxId, SandboxSpec};

/// Starts nothing. If `broken`, listing sandboxes fails, too. If `slow`, sessions stay starting.
#[derive(Default)]
pub struct Nowhere {
    pub broken: Arc<AtomicBool>,
    pub slow: bool,
}

#[async_trait]
impl Runtime for Nowhere {
    async fn start(&self, _: &SandboxId, _: &SandboxSpec) -> Result<(), RuntimeError> {
        if self.slow {
            std::future::pending::<()>().await;
        }
        Err(RuntimeError::NotStarted("there is nowhere to start it".to_owned()))
    }

    async fn connect(&self, _: &SandboxId) -> Result<Box<dyn ByteStream>, RuntimeError> {
        Err(RuntimeError::Gone("there never was one".to_owned()))
    }

    async fn stop(&self, _: &SandboxId) -> Result<(), RuntimeError> {
        Ok(())
    }

    async fn list(&self) -> Result<Vec<Sandbox>, RuntimeError> {
        if self.broken.load(Ordering::Relaxed) {
            return Err(RuntimeError::System("cannot list sandboxes", io::Error::other("broken")));
        }
        Ok(Vec::new())
    }
}
