//! Viewers of a session's desktop, and whether their input is accepted.

use std::time::Duration;

use helmdeck_link::{ByteStream, FrameStream, LinkError};
use helmdeck_wire::{guest::PictureRequest, session::EndReason, ticket::Role};
use serde_json::Value;
use time::OffsetDateTime;
use tokio::sync::watch;

use crate::{
    Session, SessionError,
    control_lease::{Holder, Lease},
    lifecycle::Phase,
    session::Driven,
};

/// Maximum number of viewers per session. For each, the X server encodes separately.
const MAX_VIEWERS: usize = 32;

/// A client that wants to watch.
#[derive(Debug, Clone)]
pub struct Viewer {
    /// What it may do.
    pub role: Role,
    /// Its identity.
    pub holder: Holder,
}

/// An open view. Dropping it closes the view.
pub struct View {
    session: Session,
    viewer: Viewer,
    lease: watch::Receiver<Lease>,
}

impl Session {
    /// Opens a view of the desktop. The stream is RFB after the security handshake.
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

    /// Small pictures of the screen, or of the browser's page in headless sessions, whenever they
    /// change. They do not count as a viewer.
    pub async fn frames(&self, wanted: PictureRequest) -> Result<FrameStream, SessionError> {
        self.adoption().await;
        self.ensure_alive()?;
        self.inner.link.frames(wanted).await.map_err(|error| match error {
            LinkError::Refused(body) => SessionError::Refused(body),
            lost => SessionError::GuestLost(lost),
        })
    }

    /// Waits until the session ends, and returns why.
    pub fn ending(&self) -> impl Future<Output = EndReason> + Send + use<> {
        let session = self.clone();
        async move {
            session.driven_to(Driven::Stopped).await;
            // A stopped session has ended.
            session.ended().map_or(EndReason::Requested, |ending| ending.reason)
        }
    }

    /// Records activity that is not a task.
    pub fn touch(&self) {
        self.inner.life.lock().touch(self.inner.clock.now());
        self.inner.changed.notify_one();
    }

    /// Whether it is ready and has not ended.
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

    /// Updates the number of the holder's viewers in the lease.
    pub(crate) fn count_viewers(&self, key: &str) {
        // Held throughout, so that counts reach the lease in order.
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
    /// The session of the view.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// What this viewer may do.
    pub fn role(&self) -> Role {
        self.viewer.role
    }

    /// Whether this viewer's input is accepted now.
    pub fn drives(&self) -> bool {
        self.viewer.role == Role::Control && self.lease.borrow().drives(&self.viewer.holder.key)
    }

    /// Waits until control changes. Cancel-safe.
    pub async fn changed_hands(&mut self) {
        if self.lease.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Takes control while the view is open, if this viewer may and control is free.
    pub async fn take_control(&self) -> Result<(), SessionError> {
        if self.viewer.role != Role::Control {
            return Err(SessionError::ViewOnly);
        }
        self.session.take_control(self.viewer.holder.clone(), false).await
    }

    /// Releases control, if this viewer has it.
    pub async fn release_control(&self) {
        self.session.release_control(&self.viewer.holder, None).await;
    }

    /// Records a manual action of the viewer.
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
