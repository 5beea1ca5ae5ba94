//! Viewers of a session's browser without a screen.

use std::ops::{Deref, DerefMut};

use helmdeck_link::ByteStream;
use helmdeck_wire::{
    ErrorBody, ErrorCode,
    cast::{BrowserView, CastView, Pictures, ViewStatus},
    guest::OneClient,
};

use crate::{
    Session, SessionError,
    events::EventKind,
    lifecycle::{Ending, Phase},
    view::{View, Viewer},
};

/// State of a browser that can be watched.
#[derive(Default)]
pub(crate) struct Watched {
    viewers: usize,
    /// How the browser ended, while there is none.
    ended: Option<String>,
}

/// An open view of a browser. Dropping it closes the view.
pub struct CastViewer {
    view: View,
    _watching: Watching,
}

/// Counts one viewer.
struct Watching(Session);

impl Session {
    /// Opens a view of the browser, for [`helmdeck_link::cast`].
    pub async fn cast(
        &self,
        viewer: Viewer,
        wanted: &CastView,
    ) -> Result<(CastViewer, Box<dyn ByteStream>), SessionError> {
        self.adoption().await;
        match self.inner.life.lock().phase() {
            Phase::Running => {}
            Phase::Starting => {
                let message = format!(
                    "session {} is still starting and has no browser yet: try again in \
                     a second",
                    self.id().as_str()
                );
                let body = ErrorBody::new(ErrorCode::CdpUnavailable, message);
                return Err(SessionError::Refused(body));
            }
            Phase::Outdated => return Err(SessionError::Outdated(self.id().clone())),
            Phase::Over(ending) => {
                return Err(SessionError::Ended { id: self.id().clone(), ending: *ending });
            }
        }
        let key = viewer.holder.key.clone();
        let view = self.admit_viewer(viewer)?;
        let client = OneClient { key };
        let stream = self.inner.link.cast(wanted, &client).await;
        let stream = stream.map_err(|error| self.link_failed(error))?;
        self.inner.cast.lock().viewers += 1;
        let watching = Watching(self.clone());
        self.tell(EventKind::Changed);
        Ok((CastViewer { view, _watching: watching }, stream))
    }

    /// Default pictures for viewers that do not choose.
    pub fn pictures(&self) -> Pictures {
        self.inner.record.spec.cdp_stream.clone().unwrap_or_default()
    }

    /// Whether the browser can be watched.
    pub(crate) fn browser_view(&self) -> BrowserView {
        if let Some(away) = self.away() {
            return ViewStatus::Unavailable.because(away);
        }
        let phase = self.inner.life.lock().phase().clone();
        match phase {
            Phase::Starting => ViewStatus::Starting.plainly(),
            Phase::Outdated => ViewStatus::Unavailable
                .because("the session was created by another version of helmdeck"),
            Phase::Over(Ending { reason, .. }) => {
                ViewStatus::Unavailable.because(format!("session ended: {}", reason.as_str()))
            }
            Phase::Running if self.shows_no_browser() => ViewStatus::Unavailable
                .because("no browser was attached: `helmdeck attach --cdp` attaches one"),
            Phase::Running => {
                let watched = self.inner.cast.lock();
                match (&watched.ended, watched.viewers) {
                    (Some(how), _) => {
                        let next = match &self.inner.record.attached {
                            Some(_) => "it is looked for until it is back",
                            None => "it is being restarted",
                        };
                        ViewStatus::NoBrowser.because(format!("the browser ended ({how}): {next}"))
                    }
                    (None, 0) if self.inner.record.attached.is_some() => {
                        ViewStatus::Passthrough.plainly()
                    }
                    (None, 0) => ViewStatus::Ready.plainly(),
                    (None, _) => ViewStatus::Streaming.plainly(),
                }
            }
        }
    }

    /// Whether this is an attached display without a browser.
    fn shows_no_browser(&self) -> bool {
        self.inner.record.attached.as_ref().is_some_and(|attached| attached.cdp.is_none())
    }

    /// Records that the browser ended, or is running again.
    pub(crate) fn browser_ended(&self, how: Option<String>) {
        self.inner.cast.lock().ended = how;
        self.tell(EventKind::Changed);
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let mut watched = self.0.inner.cast.lock();
        watched.viewers -= 1;
        let last = watched.viewers == 0;
        drop(watched);
        if last {
            self.0.tell(EventKind::Changed);
        }
    }
}

impl Deref for CastViewer {
    type Target = View;

    fn deref(&self) -> &View {
        &self.view
    }
}

impl DerefMut for CastViewer {
    fn deref_mut(&mut self) -> &mut View {
        &mut self.view
    }
}
