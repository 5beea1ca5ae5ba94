//! One action in one tab: its deadline, what happens meanwhile, and the common part of its reply.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::{FutureExt as _, future::try_join_all};
use helmdeck_cdp::{CdpError, Event, EventStream, Lagged};
use helmdeck_wire::browser::{Acted, TabId};
use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::{Value, json};
use tokio::{
    select,
    time::{sleep, timeout_at},
};

use crate::{
    BrowserError,
    downloads::Mark,
    frames::Described,
    page::{ActiveCallGuard, Page},
    running::Running,
    tabs::Target,
};

/// How long to wait for effects of input: a navigation to show, a download to begin.
const AFTERMATH: Duration = Duration::from_millis(500);
/// How long a download link may take to start its download.
const DOWNLOAD_BEGINS: Duration = Duration::from_secs(3);
/// How long to wait for a download to complete.
const DOWNLOAD: Duration = Duration::from_secs(1);

/// Unconfirmed input counts as done after this many answers of the page, at this interval.
const CONFIRM: (Duration, u32) = (Duration::from_millis(100), 3);

/// An action in progress.
pub(crate) struct PageAction {
    pub running: Arc<Running>,
    pub page: Page,
    pub deadline: Instant,
    /// Whether the page is in a visible window.
    pub on_screen: bool,
    /// `None` if the action only reads.
    visiting: Option<ActiveCallGuard>,
    /// Events of the page since the action began.
    events: EventStream,
    /// Events of tabs that open meanwhile.
    opened: EventStream,
    way: PendingNavigation,
    /// Downloads that began earlier do not belong to this action.
    begun: Mark,
}

/// The page's pending navigation and windows.
#[derive(Default)]
struct PendingNavigation {
    under_way: bool,
    /// Requested windows that have not opened yet.
    windows: usize,
    /// The last navigation target.
    url: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameEvent {
    frame_id: String,
    #[serde(default)]
    disposition: String,
    #[serde(default)]
    navigation_type: String,
    #[serde(default)]
    url: String,
}

#[derive(Deserialize)]
struct Navigated {
    frame: Described,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetInfo {
    target_info: Target,
}

impl PageAction {
    /// Begins an action. Dialogs are answered until it ends.
    pub async fn begin(
        running: Arc<Running>,
        page: Page,
        accept_dialogs: bool,
        deadline: Instant,
    ) -> Self {
        let events = page.events().only("Page.");
        let opened = running.cdp.events(None).only("Target.targetCreated");
        let begun = running.known.downloads.lock().mark();
        let visiting = Some(page.visit(accept_dialogs).await);
        let (on_screen, way) = (false, PendingNavigation::default());
        Self { running, page, deadline, on_screen, visiting, events, opened, way, begun }
    }

    /// Begins a read-only action on a page that a person uses. The person answers dialogs.
    pub fn begin_looking(
        running: Arc<Running>,
        page: Page,
        deadline: Instant,
    ) -> Result<Self, BrowserError> {
        if let Some(dialog) = page.with(|state| state.dialog.clone()) {
            return Err(BrowserError::DialogOpen(dialog.message));
        }
        let events = page.events().only("Page.");
        let opened = running.cdp.events(None).only("Target.targetCreated");
        let (way, begun) = (PendingNavigation::default(), running.known.downloads.lock().mark());
        let (on_screen, visiting) = (false, None);
        Ok(Self { running, page, deadline, on_screen, visiting, events, opened, way, begun })
    }

    /// Whether the action only reads.
    pub fn hands_off(&self) -> bool {
        self.visiting.is_none()
    }

    /// Calls a method of the page and ignores its result.
    pub async fn ask(&self, method: &str, params: impl Serialize) -> Result<(), BrowserError> {
        let session = self.page.session();
        self.page.call::<IgnoredAny>(session, method, params, self.deadline).await.map(|_| ())
    }

    /// Sends all input events together, so that a cancelled call leaves nothing pressed.
    pub async fn input(&self, method: &str, events: &[Value]) -> Result<(), BrowserError> {
        let sent = try_join_all(events.iter().map(|event| self.ask(method, event)));
        let done = select! {
            biased;
            done = sent => done.map(|_| ()),
            () = self.idles() => Ok(()),
        };
        match done {
            // The page received the input that closed it.
            Err(BrowserError::PageGone) => Ok(()),
            done => done,
        }
    }

    /// Waits until the page is idle. The browser never confirms input that moved another window to
    /// the front.
    async fn idles(&self) {
        for _ in 0..CONFIRM.1 {
            sleep(CONFIRM.0).await;
            self.barrier(self.deadline).await;
        }
    }

    /// Makes a round trip to the page: it answers after its synchronous work, and all earlier
    /// events have arrived by then.
    async fn barrier(&self, until: Instant) -> bool {
        let params = json!({ "expression": "0", "returnByValue": true });
        let session = self.page.session();
        self.page.call::<IgnoredAny>(session, "Runtime.evaluate", params, until).await.is_ok()
    }

    /// Waits for the effects of input, if it has any.
    pub async fn settle(&mut self, downloads: bool) {
        let patience = if downloads { DOWNLOAD_BEGINS } else { AFTERMATH };
        let until = (Instant::now() + patience).min(self.deadline);
        self.barrier(until).await;
        while let Some(Some(Ok(event))) = self.events.next().now_or_never() {
            self.way.goes(&event, &self.page.tab().0);
        }
        while (self.way.under_way || downloads)
            && !self.running.known.downloads.lock().any_since(self.begun)
        {
            let news = self.running.known.news.notified();
            let next = async {
                select! {
                    event = self.events.next() => event,
                    () = news => Some(Err(Lagged(0))),
                }
            };
            match timeout_at(until.into(), next).await {
                Ok(Some(Ok(event))) => self.way.goes(&event, &self.page.tab().0),
                Ok(Some(Err(_))) => {}
                Ok(None) | Err(_) => return,
            }
        }
    }

    /// Ends the action and returns the common part of the reply.
    pub async fn acted(&mut self) -> Result<Acted, BrowserError> {
        self.await_downloads().await;
        let params = json!({ "targetId": self.page.tab().0 });
        let left = DOWNLOAD;
        let found = self.running.cdp.call::<TargetInfo>(None, "Target.getTargetInfo", params, left);
        let url = match found.await {
            // The address is empty for a moment during a navigation.
            Ok(found) => Some(found.target_info.url).filter(|url| !url.is_empty()),
            Err(CdpError::BrowserGone) => return Err(BrowserError::Restarted),
            // The action closed the page; that is not a failure.
            Err(_) => None,
        };
        let url = url.or_else(|| self.way.url.take());
        Ok(Acted {
            ok: true,
            url: url.or_else(|| self.page.main().ok().map(|main| main.url)).unwrap_or_default(),
            tab: Some(self.page.tab().clone()),
            opened: self.opened().await,
            dialogs: self.visiting.as_ref().map(ActiveCallGuard::dialogs).unwrap_or_default(),
            downloads: self.running.known.downloads.lock().take(),
        })
    }

    async fn await_downloads(&self) {
        let until = Instant::now() + DOWNLOAD;
        loop {
            let news = self.running.known.news.notified();
            if self.running.known.downloads.lock().all_over() {
                return;
            }
            if timeout_at(until.into(), news).await.is_err() {
                return;
            }
        }
    }

    /// The tabs that opened. Each is ready for the next call.
    async fn opened(&mut self) -> Vec<TabId> {
        let mut opened = Vec::new();
        let until = Instant::now() + AFTERMATH;
        loop {
            let event = match self.opened.next().now_or_never() {
                Some(event) => event,
                None if opened.len() >= self.way.windows => break,
                None => timeout_at(until.into(), self.opened.next()).await.ok().flatten(),
            };
            let Some(Ok(event)) = event else { break };
            if let Ok(TargetInfo { target_info }) = event.read()
                && target_info.is_tab()
            {
                opened.push(TabId(target_info.target_id));
            }
        }
        for tab in &opened {
            self.running.attached(tab, until).await;
        }
        opened
    }
}

impl PendingNavigation {
    fn goes(&mut self, event: &Event, main: &str) {
        match event.method.as_str() {
            "Page.frameRequestedNavigation"
            | "Page.frameScheduledNavigation"
            | "Page.frameStartedNavigating" => {
                let Ok(of) = event.read::<FrameEvent>() else { return };
                let here = of.disposition.is_empty() || of.disposition == "currentTab";
                let same =
                    matches!(of.navigation_type.as_str(), "sameDocument" | "historySameDocument");
                self.under_way |= of.frame_id == main && here && !same;
            }
            "Page.frameNavigated" => {
                let Ok(Navigated { frame }) = event.read() else { return };
                if frame.id == main {
                    self.under_way = false;
                    self.url = Some(format!("{}{}", frame.url, frame.url_fragment));
                }
            }
            "Page.navigatedWithinDocument" => {
                let Ok(of) = event.read::<FrameEvent>() else { return };
                if of.frame_id == main {
                    self.under_way = false;
                    self.url = Some(of.url);
                }
            }
            "Page.windowOpen" => self.windows += 1,
            "Page.frameStoppedLoading" => {
                let Ok(of) = event.read::<FrameEvent>() else { return };
                self.under_way &= of.frame_id != main;
            }
            _ => {}
        }
    }
}
