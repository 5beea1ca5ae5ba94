//! All sessions of this server, and the only way to one of them.

use std::sync::Arc;

use helmdeck_runtime::Runtime;
use helmdeck_wire::{
    SessionId,
    session::{EndReason, SessionSpec},
};

use crate::{Caller, Session, SessionError};

/// Limits of the registry.
#[derive(Debug, Clone)]
pub struct Config {
    /// The most sessions at once.
    pub max_sessions: usize,
    /// The idle limit of sessions that do not choose one; 0 for never.
    pub idle_timeout_s: u64,
}

/// A cheap handle to all sessions.
#[derive(Clone)]
pub struct Sessions {}

impl Sessions {
    /// An empty registry on a runtime.
    pub fn new(_runtime: Arc<dyn Runtime>, _config: Config) -> Self {
        Self {}
    }

    /// Creates a session for `caller`. With `wait`, returns once it is ready.
    pub async fn create(
        &self,
        _caller: &Caller,
        _spec: SessionSpec,
        _wait: bool,
    ) -> Result<Session, SessionError> {
        Err(SessionError::NotFound(SessionId::new("")))
    }

    /// The caller's session; an admin may have anyone's. Others do not exist.
    pub fn get(&self, _caller: &Caller, id: &SessionId) -> Result<Session, SessionError> {
        Err(SessionError::NotFound(id.clone()))
    }

    /// The sessions the caller may see, oldest first.
    pub fn list(&self, _caller: &Caller) -> Vec<Session> {
        Vec::new()
    }

    /// Ends the caller's session and forgets it. One that does not exist is ended already.
    pub async fn end(&self, _caller: &Caller, _id: &SessionId) -> Result<(), SessionError> {
        Ok(())
    }

    /// How many sessions are alive.
    pub fn count(&self) -> usize {
        0
    }

    /// Ends every session; nothing is left when it returns.
    pub async fn end_all(&self, _reason: EndReason) {}
}
