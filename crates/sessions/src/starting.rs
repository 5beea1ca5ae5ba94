//! A session that is starting.

use helmdeck_wire::{SessionId, session::EndReason};

use crate::{Session, SessionError, Sessions, session::Driven};

/// A session that is starting. Dropping it ends the session.
pub struct Starting {
    sessions: Sessions,
    session: Option<Session>,
    id: SessionId,
}

impl Starting {
    pub(crate) fn new(sessions: Sessions, session: Session) -> Self {
        let id = session.id().clone();
        Self { sessions, session: Some(session), id }
    }

    /// Its id.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Waits until it is ready.
    pub async fn ready(mut self) -> Result<Session, SessionError> {
        let missing = || SessionError::NotFound(self.id.clone());
        let session = self.session.clone().ok_or_else(missing)?;
        session.driven_to(Driven::Running).await;
        // From now on it stays.
        self.session = None;
        let failure = session.inner.failure.lock().clone();
        match failure {
            Some(failure) => {
                session.driven_to(Driven::Stopped).await;
                self.sessions.forget(session.id());
                Err(failure.into())
            }
            None => session.ensure_alive().map(|()| session),
        }
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            session.request_end(EndReason::Requested);
        }
    }
}
