//! One tab: its session, its frames and its current state.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use helmdeck_cdp::{Cdp, EventStream, SessionId};
use helmdeck_wire::{
    browser::{Dialog, DialogKind, TabId},
    cast::OpenDialog,
};
use parking_lot::Mutex;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;
use tokio::{
    sync::{Notify, futures::Notified, watch},
    time::timeout_at,
};

pub(crate) use crate::frames::Frame;
use crate::{
    BrowserError, context::Context, frames::FrameTree, loading::Loading, network::Network,
    page_requests::PageRequests, refs::Refs, tabs::Target,
};

/// Limit on dialogs reported for one call.
const MAX_DIALOGS: usize = 100;
/// Dialogs are answered by the browser itself, at once.
const ANSWER: Duration = Duration::from_secs(5);

/// A tab that we are attached to. A cheap handle.
#[derive(Clone)]
pub(crate) struct Page {
    shared: Arc<Shared>,
}

struct Shared {
    cdp: Cdp,
    tab: TabId,
    session: SessionId,
    context: Context,
    refs: Refs,
    state: Mutex<State>,
    /// Whether the tab's events are enabled.
    ready: watch::Sender<bool>,
    /// Notified when the state changes.
    news: Notify,
}

pub(crate) struct State {
    pub frames: FrameTree,
    pub network: Network,
    /// Whether the tab goes to another document.
    pub loading: Loading,
    /// The requests that actions cause.
    pub asked: PageRequests,
    /// The dialog that waits for an answer.
    pub dialog: Option<Opening>,
    /// The renderer process died; a navigation starts another.
    pub crashed: bool,
    visits: Vec<Arc<ActiveCall>>,
}

/// A dialog that opened.
#[derive(Debug, Clone)]
pub(crate) struct Opening {
    /// The session that shows the dialog and takes the answer.
    pub session: SessionId,
    pub kind: DialogKind,
    pub message: String,
    /// The default text of a prompt.
    pub proposal: String,
}

/// A call in progress in a tab: it answers the dialogs that open.
pub(crate) struct ActiveCall {
    accept: bool,
    dialogs: Mutex<Vec<Dialog>>,
}

/// Ends the visit when dropped.
pub(crate) struct ActiveCallGuard {
    page: Page,
    visit: Arc<ActiveCall>,
}

impl Page {
    pub fn new(cdp: Cdp, session: SessionId, target: &Target, now: Instant) -> Self {
        let tab = TabId(target.target_id.clone());
        let state = State {
            frames: FrameTree::of(&session, &tab.0, &target.url),
            network: Network::new(now),
            loading: Loading::new(),
            asked: PageRequests::default(),
            dialog: None,
            crashed: false,
            visits: Vec::new(),
        };
        let shared = Shared {
            cdp,
            tab,
            session,
            context: target.context.clone(),
            refs: Refs::default(),
            state: Mutex::new(state),
            ready: watch::Sender::new(false),
            news: Notify::new(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Calls a method in one of the tab's sessions. Errors are mapped to their public meaning.
    pub async fn call<T: DeserializeOwned>(
        &self,
        session: &SessionId,
        method: &str,
        params: impl Serialize,
        deadline: Instant,
    ) -> Result<T, BrowserError> {
        let left = deadline.saturating_duration_since(Instant::now());
        Ok(self.shared.cdp.call(Some(session), method, params, left).await?)
    }

    /// The frames of the tab: the page itself first, then in document order, including
    /// out-of-process iframes.
    pub fn frames(&self) -> Vec<Frame> {
        self.shared.state.lock().frames.list()
    }

    /// The sessions of the tab: the page itself first, then its frames in other processes.
    pub fn sessions(&self) -> Vec<SessionId> {
        let mut sessions = vec![self.shared.session.clone()];
        for frame in self.frames() {
            if !sessions.contains(&frame.session) {
                sessions.push(frame.session);
            }
        }
        sessions
    }

    /// The page itself.
    pub fn main(&self) -> Result<Frame, BrowserError> {
        self.shared.state.lock().frames.main().cloned().ok_or(BrowserError::PageGone)
    }

    /// The refs of this tab.
    pub fn refs(&self) -> &Refs {
        &self.shared.refs
    }

    pub fn tab(&self) -> &TabId {
        &self.shared.tab
    }

    /// The session of the page itself.
    pub fn session(&self) -> &SessionId {
        &self.shared.session
    }

    /// The context that holds the page's cookies and permissions.
    pub fn context(&self) -> &Context {
        &self.shared.context
    }

    pub fn cdp(&self) -> &Cdp {
        &self.shared.cdp
    }

    /// Subscribes to the events of the page itself.
    pub fn events(&self) -> EventStream {
        self.shared.cdp.events(Some(&self.shared.session))
    }

    /// Reads or changes the tab's state.
    pub fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.shared.state.lock())
    }

    /// Wakes everything that waits for a change.
    pub fn tell(&self) {
        self.shared.news.notify_waiters();
    }

    /// Waits for a change, or until the deadline.
    pub async fn news(&self, until: Instant) {
        let _ = timeout_at(until.into(), self.next_news()).await;
    }

    /// A future for the next change after this call.
    pub fn next_news(&self) -> Notified<'_> {
        self.shared.news.notified()
    }

    pub fn set_ready(&self) {
        self.shared.ready.send_replace(true);
    }

    /// Waits until the tab's events are enabled.
    pub async fn ready(&self, deadline: Instant) -> Result<(), BrowserError> {
        let mut ready = self.shared.ready.subscribe();
        let ready = timeout_at(deadline.into(), ready.wait_for(|ready| *ready)).await;
        match ready {
            Ok(_) => Ok(()),
            Err(_) => Err(BrowserError::Timeout(
                "the page did not answer in time: it is busy, or a dialog is open".to_owned(),
            )),
        }
    }

    /// Begins a call in this tab. Until it ends, dialogs are answered: alerts and `beforeunload`
    /// with OK, others with `accept`. An open dialog is answered now.
    pub async fn visit(&self, accept: bool) -> ActiveCallGuard {
        let visit = Arc::new(ActiveCall { accept, dialogs: Mutex::default() });
        self.with(|state| state.visits.push(Arc::clone(&visit)));
        let visiting = ActiveCallGuard { page: self.clone(), visit };
        self.answer_dialog().await;
        visiting
    }

    /// Answers an open dialog if a call is in progress.
    pub async fn answer_dialog(&self) {
        let answer = self.with(|state| {
            let accept = state.visits.last()?.accept;
            let opening = state.dialog.take()?;
            let accepted = match opening.kind {
                DialogKind::Alert | DialogKind::Beforeunload => true,
                DialogKind::Confirm | DialogKind::Prompt => accept,
            };
            let Opening { kind, message, .. } = opening.clone();
            for visit in &state.visits {
                let mut dialogs = visit.dialogs.lock();
                if dialogs.len() < MAX_DIALOGS {
                    dialogs.push(Dialog { kind, message: message.clone(), accepted });
                }
            }
            Some((opening, accepted))
        });
        let Some((opening, accepted)) = answer else { return };
        let params = json!({ "accept": accepted, "promptText": opening.proposal });
        let deadline = Instant::now() + ANSWER;
        // A person or another client may have been quicker.
        let _ = self
            .call::<serde::de::IgnoredAny>(
                &opening.session,
                "Page.handleJavaScriptDialog",
                params,
                deadline,
            )
            .await;
    }
}

impl State {
    /// An open dialog that waits for a person, because no call in progress answers it.
    pub fn waiting_dialog(&self) -> Option<OpenDialog> {
        let Opening { kind, message, proposal, .. } = self.dialog.clone()?;
        self.visits.is_empty().then_some(OpenDialog { kind, message, proposal })
    }
}

impl ActiveCallGuard {
    /// The dialogs that opened so far.
    pub fn dialogs(&self) -> Vec<Dialog> {
        self.visit.dialogs.lock().clone()
    }
}

impl Drop for ActiveCallGuard {
    fn drop(&mut self) {
        self.page.with(|state| state.visits.retain(|visit| !Arc::ptr_eq(visit, &self.visit)));
        // A dialog that opened at the last moment is left to another call or person.
        self.page.tell();
    }
}
