//! One session, as a cheap handle.

use helmdeck_link::Reply;
use helmdeck_wire::{Action, session};

use crate::SessionError;

/// A handle to one session; obtained from [`crate::Sessions::get`] only.
#[derive(Clone)]
pub struct Session {}

impl Session {
    /// What its owner may know about it.
    pub fn describe(&self) -> session::Session {
        unimplemented!()
    }

    /// Asks the guest to do something on the desktop; fails if the session has none.
    pub async fn act<A: Action>(&self, _action: &A) -> Result<Reply, SessionError> {
        unimplemented!()
    }

    /// Sets the line that tells watchers what the agent is doing.
    pub fn set_agent_status(&self, _status: String) -> Result<(), SessionError> {
        Ok(())
    }

    /// The last `tail` lines of the session's log, or all that is kept.
    pub async fn logs(&self, _tail: Option<usize>) -> Result<String, SessionError> {
        Ok(String::new())
    }
}
