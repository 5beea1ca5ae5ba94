//! Private sign-in: a person with control has a browser to themselves.

use helmdeck_wire::{
    ActionCall, ErrorBody, ErrorCode,
    guest::{EndPrivate, StartPrivate},
    private::{PrivateEnded, PrivateSignIn},
};
use serde_json::json;
use time::OffsetDateTime;
use tracing::info;

use crate::{
    Caller, Session, SessionError, events::EventKind, history::Attempt, lifecycle::Lifecycle,
};

/// A private sign-in in progress.
pub(crate) struct SignIn {
    /// The person who signs in.
    by: String,
    /// The person's token: control may change before the sign-in has ended.
    key: String,
    since: OffsetDateTime,
}

impl SignIn {
    pub fn describe(&self) -> PrivateSignIn {
        PrivateSignIn { by: self.by.clone(), since: self.since }
    }
}

impl Session {
    /// Starts a private sign-in for the caller, a person with control.
    pub async fn start_private(&self, caller: &Caller) -> Result<PrivateSignIn, SessionError> {
        let mut attempt = Attempt::named(self, caller.actor(), "start_private_sign_in", json!({}));
        let started = self.try_start_private(caller).await;
        attempt.outcome = started.as_ref().map_or_else(SessionError::code, |_| "ok");
        started
    }

    async fn try_start_private(&self, caller: &Caller) -> Result<PrivateSignIn, SessionError> {
        self.adoption().await;
        let id = || self.id().clone();
        if !caller.actor().is_person() {
            return Err(SessionError::PersonRequired);
        }
        let epoch = self.may_drive(caller)?;
        if !self.inner.lease.borrow().drives(&caller.token) {
            return Err(SessionError::NotDriving(id()));
        }
        let _task = self.begin(Lifecycle::begin_use)?;
        let wanted = StartPrivate { key: caller.token.clone(), by: caller.subject.clone() };
        let started = self.inner.link.start_private(&wanted).await;
        started.map_err(|error| self.link_failed(error))?;
        let (by, key) = (caller.subject.clone(), caller.token.clone());
        let since = OffsetDateTime::now_utc();
        let sign_in = {
            let mut private = self.inner.private.lock();
            private.take_if(|other| other.key != key);
            private.get_or_insert(SignIn { by, key, since }).describe()
        };
        if self.inner.lease.borrow().epoch() != epoch {
            // Control changed meanwhile.
            self.drop_private(false).await;
            return Err(SessionError::NotDriving(id()));
        }
        info!(session.id = self.id().as_str(), by = sign_in.by, "Private sign-in began");
        self.tell(EventKind::Changed);
        Ok(sign_in)
    }

    /// Ends the private sign-in. With `discard`, the agent does not get the page.
    pub async fn end_private(
        &self,
        caller: &Caller,
        discard: bool,
    ) -> Result<PrivateEnded, SessionError> {
        self.adoption().await;
        self.ensure_alive()?;
        if !self.inner.lease.borrow().drives(&caller.token) {
            if self.inner.private.lock().is_none() {
                return Ok(PrivateEnded::default());
            }
            self.may_drive(caller)?;
            return Err(SessionError::NotDriving(self.id().clone()));
        }
        let detail = json!({ "discard": discard });
        let mut attempt = Attempt::named(self, caller.actor(), "end_private_sign_in", detail);
        let ended = self.finish_private(!discard).await;
        attempt.outcome = ended.as_ref().map_or_else(SessionError::code, |_| "ok");
        ended
    }

    /// Refuses a browser action of others during a private sign-in. It lasts until the private
    /// browser has ended, which is later than the person's control.
    pub(crate) fn ensure_not_private(
        &self,
        caller: &Caller,
        action: &ActionCall,
    ) -> Result<(), SessionError> {
        let private = self.inner.private.lock();
        let others = private.as_ref().filter(|private| private.key != caller.token);
        let Some(SignIn { by, .. }) = others.filter(|_| !action.on_desktop) else { return Ok(()) };
        let message = format!(
            "{by} signs in privately and has the browser until that ends; wait and try again"
        );
        Err(SessionError::Refused(ErrorBody::new(ErrorCode::Private, message)))
    }

    /// Ends the private sign-in because control changes.
    pub(crate) async fn drop_private(&self, keep: bool) {
        if self.inner.private.lock().is_some()
            && let Err(error) = self.finish_private(keep).await
        {
            info!(session.id = self.id().as_str(), %error, "Failed to end a private sign-in");
        }
    }

    async fn finish_private(&self, keep: bool) -> Result<PrivateEnded, SessionError> {
        let session = self.clone();
        // Continues if the requester disconnects.
        let ending = helmdeck_task::spawn(async move {
            let ended = session.inner.link.end_private(&EndPrivate { keep }).await;
            session.private_ended();
            ended
        });
        match ending.await {
            Ok(ended) => ended.map_err(|error| self.link_failed(error)),
            Err(_) => Ok(PrivateEnded::default()),
        }
    }

    /// Clears the state after the private sign-in.
    pub(crate) fn private_ended(&self) {
        if self.inner.private.lock().take().is_some() {
            info!(session.id = self.id().as_str(), "Private sign-in ended");
            self.tell(EventKind::Changed);
        }
    }
}
