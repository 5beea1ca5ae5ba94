//! The trace of a session, which its guest keeps.

use bytes::Bytes;
use helmdeck_wire::trace::{ReadTrace, TraceLog, TracePicture};

use crate::{Session, SessionError, session::ACTION_DEADLINE};

impl Session {
    /// What happened in the session. Reading it does not count as use of the session.
    pub async fn trace(&self, wanted: &ReadTrace) -> Result<TraceLog, SessionError> {
        self.adoption().await;
        self.ensure_alive()?;
        let trace = self.inner.link.trace(wanted, ACTION_DEADLINE).await;
        trace.map_err(|error| self.link_failed(error))
    }

    /// A small JPEG picture of the trace.
    pub async fn trace_picture(&self, wanted: &TracePicture) -> Result<Bytes, SessionError> {
        self.adoption().await;
        self.ensure_alive()?;
        let picture = self.inner.link.trace_picture(wanted, ACTION_DEADLINE).await;
        picture.map_err(|error| self.link_failed(error))
    }
}
