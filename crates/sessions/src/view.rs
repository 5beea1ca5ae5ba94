//! People who watch a session: the bytes of its picture, and whether their input may pass.

use std::time::Duration;

use helmdeck_link::{ByteStream, FrameStream, LinkError};
use helmdeck_wire::{guest::Frames, session::EndReason, ticket::Role};
use serde_json::Value;
use time::OffsetDateTime;
use tokio::sync::watch;

use crate::{
    Session, SessionError,
    control::{Holder, Lease},
    lifecycle::Phase,
    session::Driven,
};

/// More viewers than this of one session are refused: each costs the X server its own encoding.
const MAX_VIEWERS: usize = 32;

/// Somebody who wants to watch.
#[derive(Debug, Clone)]
pub struct Viewer {
    /// What they may.
    pub role: Role,
    /// Who they are.
    pub holder: Holder,
}

/// An open view. Dropping it ends it.
pub struct View {
    session: Session,
    viewer: Viewer,
    lease: watch::Receiver<Lease>,
}

impl Session {
    /// Opens a view of the desktop: RFB as it is after the handshake of security, and the view
    /// that it belongs to.
    pub async fn view(&self, viewer: Viewer) -> Result<(View, Box<dyn ByteStream>), SessionError> {
        self.adoption().await;
        self.ensure_desktop()?;
        self.ensure_alive()?;
        if !self.is_running() {
            return Err(SessionError::Starting(self.id().clone()));
        }
        let view = self.admit_viewer(viewer)?;
        let stream = self.inner.link.rfb(view.viewer.role).await.map_err(|error| match error {
            LinkError::Refused(body) => SessionError::Refused(body),
            lost => self.ensure_alive().err().unwrap_or(SessionError::GuestLost(lost)),
        })?;
        Ok((view, stream))
    }

    /// Its screen, or without one its browser's page, as small pictures whenever it changes. Nobody
    /// counts as watching because of them.
    pub async fn frames(&self, wanted: Frames) -> Result<FrameStream, SessionError> {
        self.adoption().await;
        self.ensure_alive()?;
        self.inner.link.frames(wanted).await.map_err(|error| match error {
            LinkError::Refused(body) => SessionError::Refused(body),
            lost => SessionError::GuestLost(lost),
        })
    }

    /// Waits until it is over, and tells why.
    pub fn ending(&self) -> impl Future<Output = EndReason> + Send + use<> {
        let session = self.clone();
        async move {
            session.driven_to(Driven::Stopped).await;
            // What has stopped is over.
            session.ended().map_or(EndReason::Requested, |ending| ending.reason)
        }
    }

    /// Somebody uses it, in a way that is no task.
    pub fn touch(&self) {
        self.inner.life.lock().touch(self.inner.clock.now());
        self.inner.changed.notify_one();
    }

    /// Whether it is ready and not over.
    pub(crate) fn is_running(&self) -> bool {
        matches!(self.inner.life.lock().phase(), Phase::Running | Phase::Outdated)
    }

    pub(crate) fn admit_viewer(&self, viewer: Viewer) -> Result<View, SessionError> {
        let mut viewers = self.inner.viewers.lock();
        if viewers.values().sum::<usize>() >= MAX_VIEWERS {
            let id = self.id().clone();
            return Err(SessionError::TooManyViewers { id, limit: MAX_VIEWERS });
        }
        *viewers.entry(viewer.holder.key.clone()).or_default() += 1;
        drop(viewers);
        let lease = self.inner.lease.subscribe();
        let view = View { session: self.clone(), viewer, lease };
        self.count_viewers(&view.viewer.holder.key);
        Ok(view)
    }

    /// Tells the lease how many viewers its holder has.
    pub(crate) fn count_viewers(&self, key: &str) {
        // Held throughout, so that counts reach the lease in their order.
        let viewers = self.inner.viewers.lock();
        let count = viewers.get(key).copied().unwrap_or_default();
        self.inner.lease.send_if_modified(|lease| {
            lease.watched_by(key, count, self.inner.clock.now());
            false
        });
        drop(viewers);
        self.inner.changed.notify_one();
    }
}

impl View {
    /// Whose session it shows.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// What this viewer may.
    pub fn role(&self) -> Role {
        self.viewer.role
    }

    /// Whether this viewer's input may pass now.
    pub fn drives(&self) -> bool {
        self.viewer.role == Role::Control && self.lease.borrow().drives(&self.viewer.holder.key)
    }

    /// Waits until control changes hands. Cancel-safe.
    pub async fn changed_hands(&mut self) {
        if self.lease.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Takes control for as long as the view is open, if this viewer may and nobody else has it.
    pub async fn take_control(&self) -> Result<(), SessionError> {
        if self.viewer.role != Role::Control {
            return Err(SessionError::ViewOnly);
        }
        self.session.take_control(self.viewer.holder.clone(), false).await
    }

    /// Hands control back, if this viewer has it.
    pub async fn release_control(&self) {
        self.session.release_control(&self.viewer.holder, None).await;
    }

    /// Notes what the viewer did by hand.
    pub fn acted(&self, action: &str, detail: Value) {
        let by = self.viewer.holder.by.clone();
        let at = OffsetDateTime::now_utc();
        self.session.record(by, action, detail, "ok", at, Duration::ZERO);
    }
}

impl Drop for View {
    fn drop(&mut self) {
        let key = &self.viewer.holder.key;
        let mut viewers = self.session.inner.viewers.lock();
        if let Some(count) = viewers.get_mut(key) {
            *count -= 1;
            if *count == 0 {
                viewers.remove(key);
            }
        }
        drop(viewers);
        self.session.count_viewers(key);
    }
}
