//! Decides which browser a call is for.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use helmdeck_cdp::{Cdp, Restarting};
use helmdeck_wire::control::Hands;
use tokio::{
    sync::OnceCell,
    time::{sleep, timeout},
};

use super::{Browser, Shared};
use crate::{
    BrowserError,
    running::{Owner, Running, set_downloads},
};

/// Even a call with a timeout of zero may ask the browser something.
const LEAST: Duration = Duration::from_secs(1);
/// How long one attempt waits for a browser that is starting.
const FOLLOW: Duration = Duration::from_secs(30);
const AGAIN: Duration = Duration::from_secs(1);

/// A browser we have connected to. It may become the current one again.
pub(super) struct KnownBrowser {
    cdp: Cdp,
    running: Arc<OnceCell<Arc<Running>>>,
}

impl Browser {
    /// Applies emulation also between calls. Returns once the open pages have it. Does nothing
    /// without emulation.
    pub async fn follow(&self) {
        if !self.shared.emulating.any() || self.shared.followed.swap(true, Ordering::Relaxed) {
            return;
        }
        let until = Instant::now() + FOLLOW;
        if let Ok(running) = self.own(until).await {
            let pages = running.known.tabs.lock().pages();
            // Pages that are too busy get it later.
            join_all(pages.iter().map(|page| page.ready(until))).await;
        }
        let shared = Arc::downgrade(&self.shared);
        // Ends when the last handle is dropped.
        helmdeck_task::spawn(async move {
            while let Some(shared) = shared.upgrade() {
                let browser = Self { shared, hands: Hands::Off };
                let running = browser.own(Instant::now() + FOLLOW).await;
                drop(browser);
                match running.map(|running| running.cdp.clone()) {
                    Ok(cdp) => cdp.closed().await,
                    Err(_) => sleep(AGAIN).await,
                }
            }
        });
    }

    /// Whether a browser is running now.
    pub(crate) async fn is_there(&self) -> bool {
        self.shared.current.get(Duration::ZERO).await.is_ok()
    }

    /// The error that explains why no browser is running.
    pub(crate) fn unavailable(&self) -> BrowserError {
        match self.shared.current.absence() {
            Some(Restarting { how, next }) => {
                let left = next.saturating_duration_since(Instant::now());
                BrowserError::Absent { how, seconds: left.as_secs() + 1 }
            }
            None => BrowserError::Unavailable,
        }
    }

    /// The same reason as a status for viewers. It contains no countdown, so it stays the same.
    pub(crate) fn why_absent(&self) -> String {
        match self.shared.current.absence() {
            Some(Restarting { how, .. }) => {
                format!("the browser keeps ending ({how}); it will be restarted later")
            }
            None => "the browser ended and is restarting".to_owned(),
        }
    }

    /// The current browser, if its state is known.
    pub(crate) fn known_running(&self) -> Option<Arc<Running>> {
        let known_browsers = self.shared.known_browsers.lock();
        let known = known_browsers.iter().find(|known| self.shared.current.is(&known.cdp))?;
        known.running.get().cloned()
    }

    /// Whether this is the current browser.
    pub(crate) fn is_current(&self, running: &Running) -> bool {
        self.shared.current.is(&running.cdp)
    }

    /// Waits until this is no longer the current browser.
    pub(crate) async fn left(&self, running: &Running) {
        self.shared.current.changed(&running.cdp).await;
    }

    /// The current browser. Waits until there is one.
    pub(super) async fn running(&self, deadline: Instant) -> Result<Arc<Running>, BrowserError> {
        let by = self.shared.private.borrow().as_ref().map(|sign_in| sign_in.by.clone());
        if let Some(by) = by {
            return Err(BrowserError::Private { by });
        }
        match self.hands {
            Hands::Agent => self.shared.records.lock().network.private = false,
            Hands::Off => self.shared.records.lock().network.private = true,
            // A person's call does not change who the pages belong to.
            Hands::Person => {}
        }
        let running = self.watched(deadline).await?;
        if self.hands == Hands::Agent {
            running.go_back(deadline).await;
        }
        Ok(running)
    }

    /// The same for a viewer.
    pub(crate) async fn watched(&self, deadline: Instant) -> Result<Arc<Running>, BrowserError> {
        let left = deadline.saturating_duration_since(Instant::now()).max(LEAST);
        let cdp = self.shared.current.get(left).await.map_err(|_| self.unavailable())?;
        self.get_or_initialize(cdp, left).await
    }

    /// The session's own browser, even if another is current.
    pub(crate) async fn own(&self, deadline: Instant) -> Result<Arc<Running>, BrowserError> {
        let left = deadline.saturating_duration_since(Instant::now()).max(LEAST);
        let cdp = self.shared.current.own(left).await.map_err(|_| self.unavailable())?;
        self.get_or_initialize(cdp, left).await
    }

    /// Restores where downloads go, because a client's setting ends with the client. Before the
    /// first call, nothing follows downloads, and the browser decides.
    pub async fn restore_downloads(&self, cdp: &Cdp, deadline: Duration) {
        let followed = {
            let known_browsers = self.shared.known_browsers.lock();
            known_browsers.iter().any(|known| known.cdp.is(cdp) && known.running.initialized())
        };
        let download_files = self.shared.download_files.as_deref().filter(|_| followed);
        // Fails only with the browser.
        let _ = set_downloads(cdp, download_files, deadline).await;
    }

    /// The state of a browser. The first call initializes it.
    async fn get_or_initialize(
        &self,
        cdp: Cdp,
        left: Duration,
    ) -> Result<Arc<Running>, BrowserError> {
        let running = self.shared.state_of(&cdp);
        let owner = if !self.shared.current.is_own(&cdp) {
            Owner::Agent
        } else if self.shared.download_files.is_none() {
            Owner::Attached
        } else {
            Owner::Session
        };
        let start = async {
            let records = Arc::clone(&self.shared.records);
            // The program that started a browser decides its emulation.
            let emulating = match owner {
                Owner::Session | Owner::Attached => Arc::clone(&self.shared.emulating),
                Owner::Agent => Arc::default(),
            };
            let until = Instant::now() + left;
            let download_files = self.shared.download_files.clone();
            let told = self.shared.listeners.clone();
            let running =
                Running::start(cdp, owner, download_files, records, emulating, told, until);
            running.await.map(Arc::new)
        };
        // A call with a longer deadline may be initializing it already.
        let running = timeout(left, running.get_or_try_init(|| start)).await;
        running.map_err(|_| BrowserError::Unavailable)?.cloned()
    }
}

impl Shared {
    /// Remembers the agent's tab in every browser.
    pub(super) fn remember(&self) {
        for running in self.known_browsers.lock().iter().filter_map(|known| known.running.get()) {
            running.known.tabs.lock().remember();
        }
    }

    /// The cell for the state of this browser.
    fn state_of(&self, cdp: &Cdp) -> Arc<OnceCell<Arc<Running>>> {
        let mut known_browsers = self.known_browsers.lock();
        known_browsers.retain(|known| !known.cdp.is_closed());
        if let Some(known) = known_browsers.iter().find(|known| known.cdp.is(cdp)) {
            return Arc::clone(&known.running);
        }
        let running = Arc::default();
        known_browsers.push(KnownBrowser { cdp: cdp.clone(), running: Arc::clone(&running) });
        running
    }
}
