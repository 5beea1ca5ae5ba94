//! Actions of a session, and whatever else keeps it busy.

use std::time::{Duration, Instant};

use helmdeck_link::{LinkError, Reply};
use helmdeck_wire::{Action, ActionCall, ErrorBody, ErrorCode, control::Hands, history::ActorKind};
use serde::de::DeserializeOwned;

use super::Session;
use crate::{
    Caller, SessionError,
    history::Attempt,
    lifecycle::{Lifecycle, Refusal},
};

/// Deadline of an action, in addition to the time it asks for. A slower guest is stuck.
pub(crate) const ACTION_DEADLINE: Duration = Duration::from_secs(30);
/// Maximum time that an action may ask for.
const LONGEST_ACTION: Duration = Duration::from_secs(600);

impl Session {
    /// Performs an action in the guest. Fails if it needs a desktop and the session has none.
    ///
    /// Dropping the future cancels the action: the guest releases what it pressed.
    pub async fn act(&self, caller: &Caller, action: &ActionCall) -> Result<Reply, SessionError> {
        if action.on_desktop {
            self.ensure_desktop()?;
        }
        let mut attempt = Attempt::named(self, caller.actor(), action.name, action.detail.clone());
        let done = self.attempt(caller, action).await;
        attempt.outcome = done.as_ref().map_or_else(SessionError::code, |_| "ok");
        done
    }

    /// Performs an action in the guest and parses the reply.
    pub async fn call<A: Action>(
        &self,
        caller: &Caller,
        action: &A,
    ) -> Result<A::Reply, SessionError>
    where
        A::Reply: DeserializeOwned,
    {
        let reply = self.act(caller, &ActionCall::new(action)).await?;
        serde_json::from_slice(&reply.body)
            .map_err(|error| SessionError::GuestLost(LinkError::Nonsense(error.to_string())))
    }

    async fn attempt(&self, caller: &Caller, action: &ActionCall) -> Result<Reply, SessionError> {
        let asked = action.asked_duration;
        if asked > LONGEST_ACTION {
            let (name, seconds) = (action.name, asked.as_secs());
            let reason = format!("{name} would take {seconds} s: split it into several calls");
            return Err(SessionError::Refused(ErrorBody::new(ErrorCode::InvalidInput, reason)));
        }
        self.adoption().await;
        // Checked before it counts as a task: an agent that waits for a person must not use up its
        // tasks.
        let theirs = match caller.kind {
            ActorKind::Human | ActorKind::Link => Hands::Person,
            ActorKind::Agent => Hands::Agent,
        };
        let admitted = self.may_drive(caller);
        self.ensure_not_private(caller, action)?;
        let (epoch, hands) = match (action.drives, admitted) {
            (true, Ok(epoch)) => (Some(epoch), theirs),
            (true, Err(held)) => return Err(held),
            (false, Ok(_)) => (None, theirs),
            (false, Err(_)) => (None, Hands::Off),
        };
        let _task = self.begin(Lifecycle::begin_task)?;
        let deadline = ACTION_DEADLINE + asked;
        let mark = self.inner.egress.mark();
        let reply = tokio::select! {
            reply = self.inner.link.act(action, hands, deadline) => reply,
            taken = self.taken(epoch) => return Err(taken),
        };
        reply.map_err(|error| self.explained(mark, self.link_failed(error)))
    }

    /// Admits something that keeps the session busy.
    pub(crate) fn begin(
        &self,
        admit: impl FnOnce(&mut Lifecycle, Instant) -> Result<(), Refusal>,
    ) -> Result<Task, SessionError> {
        let id = || self.inner.id.clone();
        match admit(&mut self.inner.life.lock(), self.inner.clock.now()) {
            Ok(()) => {
                // The session is no longer idle.
                self.inner.changed.notify_one();
                Ok(Task { session: self.clone() })
            }
            Err(Refusal::Starting) => Err(SessionError::Starting(id())),
            Err(Refusal::Outdated) => Err(SessionError::Outdated(id())),
            Err(Refusal::Over(ending)) => Err(SessionError::Ended { id: id(), ending }),
            Err(Refusal::NoTasksLeft(limit)) => Err(SessionError::TaskLimit { id: id(), limit }),
        }
    }
}

/// An admitted activity. The lifecycle is updated on drop.
pub(crate) struct Task {
    session: Session,
}

impl Drop for Task {
    fn drop(&mut self) {
        self.session.inner.life.lock().finish(self.session.inner.clock.now());
        self.session.inner.changed.notify_one();
    }
}
