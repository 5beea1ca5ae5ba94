//! How a session is used: by names of elements, or by pictures and a model.

use std::mem;

use helmdeck_wire::nature::Style;
use serde_json::json;

use crate::{Caller, EventKind, Session, SessionError, history::Attempt};

impl Session {
    /// How it is used.
    pub fn action_mode(&self) -> Style {
        *self.inner.action_mode.lock()
    }

    /// Notes how it is used now.
    pub fn used_by(&self, mode: Style) {
        let before = mem::replace(&mut *self.inner.action_mode.lock(), mode);
        if before != mode {
            self.tell(EventKind::Changed);
        }
    }

    /// Sets how it is used. Pictures need a desktop.
    pub fn set_action_mode(&self, caller: &Caller, mode: Style) -> Result<(), SessionError> {
        let detail = json!({ "mode": mode });
        let mut attempt = Attempt::named(self, caller.actor(), "set_action_mode", detail);
        let allowed = match mode {
            Style::Structured => Ok(()),
            Style::Vision => self.ensure_desktop(),
        };
        attempt.outcome = allowed.as_ref().map_or_else(SessionError::code, |()| "ok");
        allowed?;
        self.used_by(mode);
        Ok(())
    }
}
