//! People take control of a session and hand it back.

use std::time::Instant;

use helmdeck_wire::{
    control::Control,
    guest::HandedOver,
    history::{Actor, ActorKind},
};
use serde_json::json;
use time::OffsetDateTime;
use tracing::info;

use crate::{Caller, Session, SessionError, control::Holder, events::What};

impl Session {
    /// Who drives, as the caller sees it.
    pub fn control(&self, caller: &Caller) -> Control {
        self.inner.lease.borrow().describe(self.is_running(), &caller.token)
    }

    /// Gives control to a person. Agents' actions that are under way fail, and what they held down
    /// is let go. With `force`, also from another person.
    pub async fn take_control(&self, holder: Holder, force: bool) -> Result<(), SessionError> {
        self.adoption().await;
        self.ensure_alive()?;
        let mut taken = Ok(false);
        let (subject, key) = (holder.subject.clone(), holder.key.clone());
        self.inner.lease.send_if_modified(|lease| {
            taken = lease.take(holder, force, Instant::now(), OffsetDateTime::now_utc());
            matches!(taken, Ok(true))
        });
        let changed = taken.map_err(|other| SessionError::ControlHeld {
            id: self.id().clone(),
            holder: other.subject,
        })?;
        self.count_viewers(&key);
        if changed {
            info!(session.id = self.id().as_str(), holder = subject, "A person took control");
            self.handed_over("take_control", subject, None).await;
        }
        Ok(())
    }

    /// Hands control back to the agents, if `holder` has it.
    pub async fn release_control(&self, holder: &Holder, message: Option<String>) {
        let released = self.inner.lease.send_if_modified(|lease| {
            lease.release(&holder.key, message.clone(), OffsetDateTime::now_utc())
        });
        if released {
            info!(session.id = self.id().as_str(), holder = holder.subject, "Control is back");
            self.handed_over("release_control", holder.subject.clone(), message).await;
        }
    }

    /// Ends the lease of a person who is gone; says when to look again.
    pub(crate) async fn expire_control(&self) -> Option<Instant> {
        let holder = self.inner.lease.borrow().holder().cloned();
        let expired = self
            .inner
            .lease
            .send_if_modified(|lease| lease.expire(Instant::now(), OffsetDateTime::now_utc()));
        if let Some(holder) = holder.filter(|_| expired) {
            info!(
                session.id = self.id().as_str(),
                holder = holder.subject,
                "Control is back: gone"
            );
            self.handed_over("release_control", holder.subject, None).await;
        }
        self.inner.lease.borrow().expires()
    }

    /// Whether the caller's action may begin: in which epoch.
    pub(crate) fn may_drive(&self, caller: &Caller) -> Result<u64, SessionError> {
        let mut admitted = Ok(0);
        self.inner.lease.send_if_modified(|lease| {
            lease.used_by(&caller.token, Instant::now());
            admitted = lease.admit(&caller.token);
            false
        });
        admitted.map_err(|holder| SessionError::ControlHeld {
            id: self.id().clone(),
            holder: holder.subject,
        })
    }

    /// Waits until control is not what it was in `epoch`; for ever, if the action needs none.
    pub(crate) async fn taken(&self, epoch: Option<u64>) -> SessionError {
        let Some(epoch) = epoch else { return std::future::pending().await };
        let mut lease = self.inner.lease.subscribe();
        // The sender lives in `inner`, so this cannot fail while we hold it.
        let holder = match lease.wait_for(|lease| lease.epoch() != epoch).await {
            Ok(lease) => lease.holder().map(|holder| holder.subject.clone()),
            Err(_) => None,
        };
        let holder = holder.unwrap_or_else(|| "another".to_owned());
        SessionError::ControlTaken { id: self.id().clone(), holder }
    }

    /// Who acts when this caller does: whoever has control acts by hand, too.
    pub(crate) fn actor(&self, caller: &Caller) -> Actor {
        let human = caller.by_hand || self.inner.lease.borrow().drives(&caller.token);
        let kind = if human { ActorKind::Human } else { ActorKind::Agent };
        Actor { kind, subject: caller.subject.clone() }
    }

    /// Lets go what is held down, and tells everybody, with the words that were left.
    async fn handed_over(&self, what: &str, subject: String, message: Option<String>) {
        let by = Actor { kind: ActorKind::Human, subject };
        let detail = message.map_or(json!({}), |message| json!({ "message": message }));
        self.record(by, what, detail, "ok", OffsetDateTime::now_utc(), Default::default());
        let lease = self.inner.lease.borrow().clone();
        let key = lease.holder().map(|holder| holder.key.clone()).unwrap_or_default();
        self.tell(What::Control(lease.describe(self.is_running(), ""), key));
        self.inner.changed.notify_one();
        // Goes on when whoever asked for it goes: half a change of hands would leave keys down.
        let session = self.clone();
        let handed_over = HandedOver { to_person: lease.holder().is_some() };
        let letting_go = tokio::spawn(async move {
            if let Err(error) = session.inner.link.let_go(handed_over).await {
                // Then the guest is about to be lost, which is told elsewhere.
                info!(session.id = session.id().as_str(), %error, "Keys could not be let go");
            }
        });
        let _ = letting_go.await;
    }
}
