//! Logs of a session's programs, kept after its end.

use crate::{
    Session, SessionError,
    session::{ACTION_DEADLINE, HELLO_DEADLINE},
};

/// Number of lines kept after the end.
const KEPT_LINES: usize = 500;

impl Session {
    /// The last `tail` lines of the session's log, or everything that is kept.
    pub async fn logs(&self, tail: Option<usize>) -> Result<String, SessionError> {
        let kept = self.inner.failure.lock().clone().map(|failure| failure.log_tail);
        let kept = kept.or_else(|| self.inner.kept_log.lock().clone());
        let text = match kept {
            Some(text) => text,
            None => {
                self.adoption().await;
                self.ensure_alive()?;
                self.inner.link.log(ACTION_DEADLINE).await.map_err(SessionError::GuestLost)?
            }
        };
        let skip = tail.map_or(0, |tail| text.lines().count().saturating_sub(tail));
        Ok(text.lines().skip(skip).flat_map(|line| [line, "\n"]).collect())
    }

    /// Keeps the end of the log for when the guest is gone.
    pub(crate) async fn keep_log(&self) {
        if let Ok(text) = self.inner.link.log(HELLO_DEADLINE).await {
            let skip = text.lines().count().saturating_sub(KEPT_LINES);
            let kept = text.lines().skip(skip).flat_map(|line| [line, "\n"]).collect();
            *self.inner.kept_log.lock() = Some(kept);
        }
    }
}
