//! A running browser: its tabs and downloads, since we connected to it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use helmdeck_cdp::{Cdp, CdpError};
use helmdeck_wire::browser::{TabId, Tabs as TabsAction};
use parking_lot::Mutex;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::json;
use time::OffsetDateTime;
use tokio::{
    select,
    sync::{Notify, mpsc, oneshot},
    task::AbortHandle,
    time::{timeout, timeout_at},
    try_join,
};

use crate::{
    BrowserError, DownloadFiles,
    cast::Casts,
    context::Context,
    downloads::{self, Downloads},
    emulation::Emulating,
    events::Listeners,
    follow::Follower,
    page::Page,
    record::Records,
    tabs::{Tabs, Target},
};

/// How long a new browser may take to show its first page before we open one.
const FIRST_PAGE: Duration = Duration::from_millis(500);
/// How long to wait for pending events before the records are read as they are.
const UP_TO_DATE: Duration = Duration::from_secs(1);

/// Listing tabs involves only the browser.
const LOOK: Duration = Duration::from_secs(2);

/// Who started a browser. Tabs are opened without a request only in the session's own browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The session.
    Session,
    /// A program of the agent, which also chose the download folder.
    Agent,
    /// It was attached.
    Attached,
}

/// One browser process, until it ends.
pub(crate) struct Running {
    pub cdp: Cdp,
    pub known: Arc<Known>,
    pub casts: Casts,
    pub owner: Owner,
    follower: AbortHandle,
    /// Callers that wait until the follower has handled all received events.
    flush: mpsc::UnboundedSender<oneshot::Sender<()>>,
}

/// The state of a browser.
pub(crate) struct Known {
    pub tabs: Mutex<Tabs>,
    pub downloads: Mutex<Downloads>,
    pub records: Arc<Mutex<Records>>,
    pub emulating: Arc<Emulating>,
    pub listeners: Listeners,
    /// Notified when the browser itself changes.
    pub news: Notify,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    target_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    target_infos: Vec<Target>,
}

impl Running {
    /// Attaches to all present and future pages. The download folder is set unless the agent
    /// started the browser: then its program has set it.
    pub async fn start(
        cdp: Cdp,
        owner: Owner,
        download_files: Option<Arc<DownloadFiles>>,
        records: Arc<Mutex<Records>>,
        emulating: Arc<Emulating>,
        listeners: Listeners,
        deadline: Instant,
    ) -> Result<Self, BrowserError> {
        let home = download_files.clone();
        let known = Arc::new(Known {
            tabs: Mutex::default(),
            downloads: Mutex::new(Downloads::new(download_files)),
            records,
            emulating,
            listeners,
            news: Notify::new(),
        });
        known.emulating.tell_browser(&cdp).await;
        let events = cdp.events(None);
        let left = deadline.saturating_duration_since(Instant::now());
        let pages = json!({ "discover": true, "filter": [{ "type": "page" }] });
        let downloads = async {
            match owner {
                Owner::Agent => Ok(()),
                Owner::Session | Owner::Attached => {
                    set_downloads(&cdp, home.as_deref(), left).await
                }
            }
        };
        // An earlier client on this connection may have enabled discovery. Turning it off first
        // makes the browser report all targets again.
        let again = json!({ "discover": false });
        cdp.call::<IgnoredAny>(None, "Target.setDiscoverTargets", again, left).await?;
        try_join!(
            cdp.call::<IgnoredAny>(None, "Target.setDiscoverTargets", pages, left),
            downloads,
        )?;
        let own = owner != Owner::Agent;
        let browser = known.records.lock().browser_started(own, OffsetDateTime::now_utc());
        let (flush, asked) = mpsc::unbounded_channel();
        let mut follower = Follower::new(cdp.clone(), Arc::clone(&known), browser, events, asked);
        follower.catch_up().await;
        let follower = helmdeck_task::spawn(follower.follow()).abort_handle();
        let casts = Casts::new(cdp.clone());
        Ok(Self { cdp, known, owner, casts, follower, flush })
    }

    /// Waits until all events sent so far are recorded, including those of pages that are being
    /// attached.
    pub async fn flush(&self) {
        let pages = self.known.tabs.lock().pages();
        let until = Instant::now() + UP_TO_DATE;
        for page in pages {
            // A busy page has nothing to report.
            let _ = page.ready(until).await;
        }
        let (done, seen) = oneshot::channel();
        if self.flush.send(done).is_ok() {
            let _ = timeout(UP_TO_DATE, seen).await;
        }
    }

    /// The named tab, or the active one.
    pub async fn shown(
        &self,
        tab: Option<&TabId>,
        deadline: Instant,
    ) -> Result<Page, BrowserError> {
        let page = match tab {
            Some(tab) => self.find(tab)?,
            None => {
                let until = match self.owner {
                    Owner::Session => Instant::now() + FIRST_PAGE,
                    Owner::Attached | Owner::Agent => deadline,
                };
                let active = self.active(until).await?;
                active.ok_or_else(|| BrowserError::TabNotFound("active".to_owned()))?
            }
        };
        page.ready(deadline).await?;
        Ok(page)
    }

    /// The named tab, or the active one. Without any tab, one is opened, or waited for. In an
    /// attached browser, a tab is opened only with `fill`, for a call that brings an address.
    pub async fn page(
        &self,
        tab: Option<&TabId>,
        fill: bool,
        deadline: Instant,
    ) -> Result<Page, BrowserError> {
        let opens = match self.owner {
            Owner::Session => true,
            Owner::Attached => fill,
            Owner::Agent => false,
        };
        let until = if opens { Instant::now() + FIRST_PAGE } else { deadline };
        let page = match tab {
            Some(tab) => self.find(tab)?,
            None => match self.active(until).await? {
                Some(page) => page,
                None if opens => self.open(None, deadline).await?,
                None => return Err(BrowserError::TabNotFound("active".to_owned())),
            },
        };
        page.ready(deadline).await?;
        Ok(page)
    }

    pub fn find(&self, tab: &TabId) -> Result<Page, BrowserError> {
        let found = self.known.tabs.lock().find(tab);
        found.ok_or_else(|| BrowserError::TabNotFound(tab.0.clone()))
    }

    async fn active(&self, until: Instant) -> Result<Option<Page>, BrowserError> {
        loop {
            let news = self.known.news.notified();
            if let Some(page) = self.known.tabs.lock().active() {
                return Ok(Some(page));
            }
            select! {
                waited = timeout_at(until.into(), news) => if waited.is_err() { return Ok(None) },
                () = self.cdp.closed() => return Err(BrowserError::Restarted),
            }
        }
    }

    /// The context of the active tab.
    pub fn context(&self) -> Context {
        let active = self.known.tabs.lock().active();
        active.map(|page| page.context().clone()).unwrap_or_default()
    }

    /// Opens a tab in the context of the active one and activates it.
    pub async fn open(&self, url: Option<&str>, deadline: Instant) -> Result<Page, BrowserError> {
        let left = deadline.saturating_duration_since(Instant::now());
        let params = self.context().about(json!({ "url": url.unwrap_or("about:blank") }));
        let created = self.cdp.call::<Created>(None, "Target.createTarget", params, left).await?;
        let tab = TabId(created.target_id);
        self.choose(&tab);
        let page = self.attached(&tab, deadline).await;
        let late = || BrowserError::Timeout("the tab did not open in time".to_owned());
        let page = page.ok_or_else(late)?;
        page.ready(deadline).await?;
        Ok(page)
    }

    /// Waits until a new tab is attached.
    pub async fn attached(&self, tab: &TabId, until: Instant) -> Option<Page> {
        loop {
            let news = self.known.news.notified();
            if let Ok(page) = self.find(tab) {
                return Some(page);
            }
            timeout_at(until.into(), news).await.ok()?;
        }
    }

    /// Brings a tab to the front and makes it the active one.
    pub async fn activate(&self, tab: &TabId, deadline: Instant) -> Result<(), BrowserError> {
        self.call_for_tab("Target.activateTarget", tab, deadline).await?;
        self.choose(tab);
        Ok(())
    }

    /// Returns to the tab the agent used before a person took control, if it still exists.
    pub async fn go_back(&self, deadline: Instant) {
        let left = self.known.tabs.lock().left();
        if let Some(tab) = left {
            // Calls use this tab even if activating it fails.
            let _ = self.call_for_tab("Target.activateTarget", &tab, deadline).await;
        }
    }

    /// Reads the titles of all tabs: the browser sends no events for them.
    pub async fn look_again(&self) {
        let params = json!({ "filter": [{ "type": "page" }] });
        let found = self.cdp.call::<Listed>(None, "Target.getTargets", params, LOOK).await;
        // Fails only with the browser.
        let Ok(Listed { target_infos }) = found else { return };
        let mut tabs = self.known.tabs.lock();
        let news = target_infos.into_iter().filter(|one| tabs.changed(one.clone())).count() > 0;
        drop(tabs);
        if news {
            self.known.news.notify_waiters();
        }
    }

    fn choose(&self, tab: &TabId) {
        self.known.tabs.lock().choose(tab);
        self.known.news.notify_waiters();
    }

    /// Closes a tab without asking the page.
    pub async fn close(&self, page: &Page, deadline: Instant) -> Result<(), BrowserError> {
        let _visiting = page.visit(false).await;
        let closed = self.call_for_tab("Target.closeTarget", page.tab(), deadline).await;
        closed?;
        loop {
            let news = self.known.news.notified();
            if self.find(page.tab()).is_err() {
                return Ok(());
            }
            let waited = timeout_at(deadline.into(), news).await;
            waited
                .map_err(|_| BrowserError::Timeout("the tab did not close in time".to_owned()))?;
        }
    }

    /// The tab of a tabs action.
    pub fn meant(&self, tabs: &TabsAction) -> Result<Page, BrowserError> {
        match &tabs.tab {
            Some(tab) => self.find(tab),
            None => {
                let active = self.known.tabs.lock().active();
                active.ok_or_else(|| BrowserError::TabNotFound("that is active".to_owned()))
            }
        }
    }

    async fn call_for_tab(
        &self,
        method: &str,
        tab: &TabId,
        deadline: Instant,
    ) -> Result<(), BrowserError> {
        let left = deadline.saturating_duration_since(Instant::now());
        let params = json!({ "targetId": tab.0 });
        match self.cdp.call::<IgnoredAny>(None, method, params, left).await {
            Ok(_) => Ok(()),
            Err(helmdeck_cdp::CdpError::Refused { .. }) => {
                Err(BrowserError::TabNotFound(tab.0.clone()))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Sets where downloads go: under a number into the folder, where [`Downloads`] renames them, or
/// where the browser decides.
pub(crate) async fn set_downloads(
    cdp: &Cdp,
    download_files: Option<&DownloadFiles>,
    left: Duration,
) -> Result<(), CdpError> {
    let params =
        match download_files.map(|download_files| download_files.home().join(downloads::FOLDER)) {
            Some(folder) => json!({
                "behavior": "allowAndName",
                "downloadPath": folder,
                "eventsEnabled": true,
            }),
            None => json!({ "behavior": "default", "eventsEnabled": true }),
        };
    cdp.call::<IgnoredAny>(None, "Browser.setDownloadBehavior", params, left).await?;
    Ok(())
}

impl Drop for Running {
    fn drop(&mut self) {
        self.follower.abort();
    }
}
