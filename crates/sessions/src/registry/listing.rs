//! Descriptions of sessions for their callers.

use helmdeck_wire::session;
use tokio::time::timeout;

use super::Sessions;
use crate::{Caller, Session, SessionError, session::ADOPTION_DEADLINE};

impl Sessions {
    /// Describes all sessions that the caller may see, oldest first.
    pub async fn describe_all(&self, caller: &Caller) -> Vec<session::Session> {
        let visible: Vec<Session> = {
            let sessions = self.shared.sessions.lock();
            sessions.iter().filter(|session| session.belongs_to(caller)).cloned().collect()
        };
        self.describe(caller, &visible).await
    }

    /// Describes one session.
    pub async fn describe_one(
        &self,
        caller: &Caller,
        session: &Session,
    ) -> Result<session::Session, SessionError> {
        let described = self.describe(caller, std::slice::from_ref(session)).await.pop();
        described.ok_or_else(|| SessionError::NotFound(session.id().clone()))
    }

    async fn describe(&self, caller: &Caller, sessions: &[Session]) -> Vec<session::Session> {
        let known = async {
            // Attached sessions are not adopted.
            for session in sessions.iter().filter(|session| session.attachment().is_none()) {
                session.adoption().await;
            }
        };
        let _ = timeout(ADOPTION_DEADLINE, known).await;
        // Sessions are listed even if the runtime does not answer.
        let sandboxes = self.runtime().list().await.unwrap_or_default();
        let mut described = Vec::with_capacity(sessions.len());
        for session in sessions {
            let own = session.attachment().map(|attachment| attachment.sandbox());
            let mut known = sandboxes.iter().chain(&own);
            let found = known.find(|s| s.running && s.id == session.inner.sandbox);
            described.push(session.describe(caller, found).await);
        }
        described
    }
}
