//! A runtime that has no sandboxes.

use std::io;

use async_trait::async_trait;
use helmdeck_runtime::{ByteStream, Runtime, RuntimeError, SandboxId, SandboxSpec};

/// Starts nothing. `broken` makes even the question what runs fail.
pub struct Nowhere {
    pub broken: bool,
}

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

    async fn list(&self) -> Result<Vec<SandboxId>, RuntimeError> {
        if self.broken {
            return Err(RuntimeError::System("nobody is at home", io::Error::other("broken")));
        }
        Ok(Vec::new())
    }
}
