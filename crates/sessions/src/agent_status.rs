//! The agent's status line, and when the agent last acted.

use helmdeck_wire::history::{ActionRecord, ActorKind};
use serde_json::json;

use crate::{
    Caller, Session, SessionError, events::EventKind, history::Attempt, lifecycle::Lifecycle,
};

/// Maximum length of a status line.
const MAX_STATUS: usize = 500;

impl Session {
    /// Sets the status line that viewers see, and records it.
    pub async fn set_agent_status(
        &self,
        caller: &Caller,
        status: String,
    ) -> Result<(), SessionError> {
        let status: String = status.chars().take(MAX_STATUS).collect();
        let detail = json!({ "status": status });
        let mut attempt = Attempt::named(self, caller.actor(), "agent_status", detail);
        let set = self.change_agent_status(status).await;
        attempt.outcome = set.as_ref().map_or_else(SessionError::code, |()| "ok");
        set
    }

    async fn change_agent_status(&self, status: String) -> Result<(), SessionError> {
        self.adoption().await;
        self.ensure_desktop()?;
        let _task = self.begin(Lifecycle::begin_task)?;
        self.inner.agent_status.lock().clone_from(&status);
        self.tell(EventKind::AgentStatus(status));
        Ok(())
    }

    /// The status line that viewers see; empty if the agent has set none.
    pub fn agent_status(&self) -> String {
        self.inner.agent_status.lock().clone()
    }

    /// Updates the time of the last action if an agent performed this one.
    pub(crate) fn note_agent(&self, record: &ActionRecord) {
        if record.by.kind == ActorKind::Agent && record.outcome == "ok" {
            *self.inner.agent_acted.lock() = Some(record.at);
        }
    }
}
