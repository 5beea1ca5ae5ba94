//! Taking and releasing control of a session.

use std::time::Instant;

use helmdeck_wire::{
    control::Control,
    guest::HandedOver,
    history::{Actor, ActorKind},
};
use serde_json::json;
use time::OffsetDateTime;
use tracing::info;

use crate::{
    Caller, Session, SessionError,
    control_lease::{ControlChange, Holder},
    events::EventKind,
};

impl Session {
    /// Control as the caller sees it.
    pub fn control(&self, caller: &Caller) -> Control {
        self.inner.lease.borrow().describe(self.is_running(), &caller.token)
    }

    /// Gives control to `holder`. Actions of others in progress fail, and what they pressed is
    /// released. Only a person may take control from another person, with `force`.
    pub async fn take_control(&self, holder: Holder, force: bool) -> Result<(), SessionError> {
        if force && holder.by.kind != ActorKind::Human {
            return Err(SessionError::PersonRequired);
        }
        self.adoption().await;
        self.ensure_alive()?;
        let mut taken = Ok(false);
        let (by, key) = (holder.by.clone(), holder.key.clone());
        self.inner.lease.send_if_modified(|lease| {
            taken = lease.take(holder, force, self.inner.clock.now(), OffsetDateTime::now_utc());
            matches!(taken, Ok(true))
        });
        let changed = taken.map_err(|other| SessionError::ControlHeld {
            id: self.id().clone(),
            holder: other.by.subject,
        })?;
        self.count_viewers(&key);
        if changed {
            // A private sign-in of the previous holder ends.
            self.drop_private(false).await;
            let (kind, holder) = (by.kind.as_str(), by.subject.as_str());
            info!(session.id = self.id().as_str(), kind, holder, "Control taken");
            self.handed_over("take_control", by, None).await;
        }
        Ok(())
    }

    /// Releases control to the agents, if `holder` has it.
    pub async fn release_control(&self, holder: &Holder, message: Option<String>) {
        let released = self.inner.lease.send_if_modified(|lease| {
            lease.release(&holder.key, message.clone(), OffsetDateTime::now_utc())
        });
        if released {
            self.drop_private(true).await;
            let (kind, subject) = (holder.by.kind.as_str(), holder.by.subject.as_str());
            info!(session.id = self.id().as_str(), kind, holder = subject, "Control released");
            self.handed_over("release_control", holder.by.clone(), message).await;
        }
    }

    /// Ends the lease of a person who is gone. Returns when to check again.
    pub(crate) async fn expire_control(&self) -> Option<Instant> {
        let holder = self.inner.lease.borrow().holder().cloned();
        let now = self.inner.clock.now();
        let expired =
            self.inner.lease.send_if_modified(|lease| lease.expire(now, OffsetDateTime::now_utc()));
        if let Some(holder) = holder.filter(|_| expired) {
            self.drop_private(false).await;
            info!(
                session.id = self.id().as_str(),
                holder = holder.by.subject,
                "Control released: its holder is gone"
            );
            self.handed_over("release_control", holder.by, None).await;
        }
        self.inner.lease.borrow().expires()
    }

    /// Whether the caller's action may start, and in which epoch.
    pub(crate) fn may_drive(&self, caller: &Caller) -> Result<u64, SessionError> {
        let mut admitted = Ok(0);
        self.inner.lease.send_if_modified(|lease| {
            lease.used_by(&caller.token, self.inner.clock.now());
            admitted = lease.admit(&caller.token);
            false
        });
        admitted.map_err(|holder| SessionError::ControlHeld {
            id: self.id().clone(),
            holder: holder.by.subject,
        })
    }

    /// Waits until control changes from `epoch`; forever if the action needs no control.
    pub(crate) async fn taken(&self, epoch: Option<u64>) -> SessionError {
        let Some(epoch) = epoch else { return std::future::pending().await };
        let mut lease = self.inner.lease.subscribe();
        // The sender lives in `inner`, so this cannot fail here.
        let holder = match lease.wait_for(|lease| lease.epoch() != epoch).await {
            Ok(lease) => lease.holder().map(|holder| holder.by.subject.clone()),
            Err(_) => None,
        };
        let holder = holder.unwrap_or_else(|| "another".to_owned());
        SessionError::ControlTaken { id: self.id().clone(), holder }
    }

    /// Releases what is pressed, and announces the change with the message.
    async fn handed_over(&self, what: &str, by: Actor, message: Option<String>) {
        let detail = message.map_or(json!({}), |message| json!({ "message": message }));
        self.record(by, what, detail, "ok", OffsetDateTime::now_utc(), Default::default());
        let lease = self.inner.lease.borrow().clone();
        self.tell(EventKind::Control(ControlChange::new(lease.clone(), self.is_running())));
        self.inner.changed.notify_one();
        // Continues if the requester disconnects: a partial change would leave keys pressed.
        let session = self.clone();
        let person = lease.holder().filter(|holder| holder.by.is_person());
        let key = person.map(|holder| holder.key.clone());
        let handed_over = HandedOver { to_person: key.is_some(), key };
        let letting_go = helmdeck_task::spawn(async move {
            if let Err(error) = session.inner.link.release_all(handed_over).await {
                // The guest is about to be lost, which is reported elsewhere.
                info!(session.id = session.id().as_str(), %error, "Failed to release keys");
            }
        });
        let _ = letting_go.await;
    }
}
