//! Observes the pages of a browser around an action: navigations, tabs, dialogs, downloads, focus,
//! scrolling, and what moves on its own.

mod changes;
mod look;

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use futures_util::future::join_all;
use helmdeck_wire::browser::{Tab, TabId};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::{join, select, time::timeout};

use self::{
    changes::title_of,
    look::{Look, Placed},
};
pub use self::{
    changes::{Inserted, PageChanges, ShownTitle},
    look::{Area, PagePeriodic, PeriodicKind, hashed},
};
use crate::{
    Browser,
    downloads::Mark,
    page::{Frame, Page},
    picture::Captured,
    running::{Owner, Running},
    world::Outcome,
};

/// How long an observation may wait for the browser before the action.
const BEGIN: Duration = Duration::from_secs(2);
/// How long a page may take to answer; a busy one is observed without its own knowledge.
const ANSWER: Duration = Duration::from_millis(500);
/// How long a page may take to draw after an action.
const DRAWN: Duration = Duration::from_secs(2);
/// How long a picture of the page may take.
const PICTURE: Duration = Duration::from_secs(5);
/// A page stops to note what happens if nothing asks for it within this time.
const FORGOTTEN: Duration = Duration::from_secs(120);
/// Limit on tabs that are asked whether they are visible.
const MAX_ASKED: usize = 8;
/// Limit on frames of a page that are asked, too.
const MAX_FRAMES: usize = 8;

/// An observation of the browser's pages, from the moment before an action.
pub struct PageWatch {
    running: Arc<Running>,
    /// Whether the pages are on a screen.
    on_screen: bool,
    begun: Instant,
    tabs: Vec<SeenTab>,
    /// The tab that the action names, or the one for actions that name none.
    acts_in: Option<TabId>,
    downloads: Mark,
    /// The visible page.
    before: Option<Looked>,
    latest: Mutex<Latest>,
}

/// What the page said last.
#[derive(Default)]
struct Latest {
    periodic: Vec<PagePeriodic>,
    /// When the last transition ends.
    moving: Option<Instant>,
    /// When its document last changed.
    changed: Option<Instant>,
}

/// What keeps a page from being quiet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PageActivity {
    /// A navigation is under way.
    pub busy: bool,
    /// Until when a request or a transition is awaited.
    pub busy_until: Option<Instant>,
    /// When something like that last ended.
    pub idle_since: Option<Instant>,
    /// When the document of the visible page last changed, as far as it was asked.
    pub changed: Option<Instant>,
}

/// A tab at one moment.
struct SeenTab {
    tab: Tab,
    loader: String,
    dialog: bool,
}

/// A page at one moment.
struct Looked {
    page: Page,
    frame: Frame,
    look: Look,
    /// The frames in it.
    inner: Vec<Frame>,
    frames: Vec<Look>,
}

impl Looked {
    fn placed(&self, on_screen: bool) -> Placed<'_> {
        Placed { look: &self.look, frames: &self.frames, on_screen }
    }
}

impl Browser {
    /// Begins to observe the pages; `tab` is the one that an action names. `None` without a
    /// browser, and during a private sign-in.
    pub async fn watch(&self, tab: Option<&TabId>) -> Option<PageWatch> {
        if self.shared.private.borrow().is_some() || !self.is_there().await {
            return None;
        }
        let running = timeout(BEGIN, self.watched(Instant::now() + BEGIN)).await.ok()?.ok()?;
        let on_screen =
            running.owner == Owner::Session && self.shared.on_screen.load(Ordering::Relaxed);
        running.look_again().await;
        let before = visible(&running, tab, json!({ "ms": FORGOTTEN.as_millis() })).await;
        let downloads = running.known.downloads.lock().mark();
        let active = || running.known.tabs.lock().active().map(|page| page.tab().clone());
        let watch = PageWatch {
            begun: Instant::now(),
            tabs: seen_tabs(&running),
            acts_in: tab.cloned().or_else(active),
            downloads,
            running,
            on_screen,
            before,
            latest: Mutex::default(),
        };
        if let Some(before) = &watch.before {
            watch.heard(&before.look);
        }
        Some(watch)
    }
}

impl PageWatch {
    /// What the pages are doing, for an action that began with the watch.
    pub fn activity(&self, now: Instant) -> PageActivity {
        let mut activity = PageActivity::default();
        let pages = self.running.known.tabs.lock().pages();
        for page in pages {
            let watched = self.is_watched(&page);
            page.with(|state| {
                let loading = &state.loading;
                let counts = watched || loading.began().is_some_and(|at| at >= self.begun);
                if counts && loading.is_busy(now) && state.dialog.is_none() {
                    activity.busy |= loading.gives_up().is_none();
                    activity.busy_until = activity.busy_until.max(loading.gives_up());
                }
                let awaited = state.asked.awaited(self.begun, now);
                activity.busy_until = activity.busy_until.max(awaited);
                let ended = loading.ended().filter(|ended| *ended >= self.begun);
                let answered = state.asked.answered(self.begun);
                activity.idle_since = activity.idle_since.max(ended).max(answered);
            });
        }
        let latest = self.latest.lock();
        activity.busy_until = activity.busy_until.max(latest.moving);
        activity.changed = latest.changed;
        activity
    }

    /// Waits for any news of the browser or the visible page after this call, also if the future is
    /// polled later.
    pub fn news(&self) -> impl Future<Output = ()> + use<'_> {
        let page = self.before.as_ref().map(|before| before.page.next_news());
        let browser = self.running.known.news.notified();
        async move {
            let page = async {
                match page {
                    Some(page) => page.await,
                    None => std::future::pending().await,
                }
            };
            select! {
                () = page => {}
                () = browser => {}
            }
        }
    }

    /// Waits until the visible page has drawn what the action changed, up to a limit.
    pub async fn drawn(&self) {
        let Some(Looked { page, frame, .. }) = &self.before else { return };
        if let Some(look) = ask(page, frame, "drawn", json!({}), DRAWN).await {
            self.heard(&look);
        }
    }

    /// Asks the visible page again what moves, and until when.
    pub async fn look(&self) {
        let Some(Looked { page, frame, .. }) = &self.before else { return };
        if let Some(look) = ask(page, frame, "look", json!(false), ANSWER).await {
            self.heard(&look);
        }
    }

    /// Waits until nothing has happened in the document of the visible page for `quiet`, up to
    /// `limit`.
    pub async fn calm(&self, quiet: Duration, limit: Duration) {
        let Some(Looked { page, frame, .. }) = &self.before else { return };
        let argument = json!({ "quiet": quiet.as_millis(), "ms": limit.as_millis() });
        if let Some(look) = ask(page, frame, "calm", argument, limit + ANSWER).await {
            self.heard(&look);
        }
    }

    /// A PNG picture of the visible page; `None` if it does not answer in time.
    pub async fn picture(&self) -> Option<Vec<u8>> {
        let page = match &self.before {
            Some(Looked { page, .. }) => self.running.find(page.tab()).ok(),
            None => None,
        };
        let page = page.or_else(|| self.running.known.tabs.lock().active())?;
        if page.with(|state| state.dialog.is_some() || state.crashed) {
            return None;
        }
        let params = json!({ "format": "png", "optimizeForSpeed": true });
        let (method, until) = ("Page.captureScreenshot", Instant::now() + PICTURE);
        let captured = page.call::<Captured>(page.session(), method, params, until).await.ok()?;
        BASE64_STANDARD.decode(captured.data).ok()
    }

    /// What moves on its own, as the page said last.
    pub fn periodic(&self) -> Vec<PagePeriodic> {
        self.latest.lock().periodic.clone()
    }

    /// The title of the visible tab when the watch began.
    pub fn title(&self) -> Option<ShownTitle> {
        title_of(&self.tabs, self.before.as_ref()?.page.tab())
    }

    /// What changed since the watch began.
    pub async fn changes(&self) -> PageChanges {
        self.running.flush().await;
        self.running.look_again().await;
        let tab = self.before.as_ref().map(|before| before.page.tab());
        let after = visible(&self.running, tab, Value::Null).await;
        if let Some(after) = &after {
            self.heard(&after.look);
        }
        self.compare(after.as_ref())
    }

    fn is_watched(&self, page: &Page) -> bool {
        self.before.as_ref().is_some_and(|before| before.page.tab() == page.tab())
    }

    fn heard(&self, look: &Look) {
        let placed = Placed { look, frames: &[], on_screen: self.on_screen };
        let mut latest = self.latest.lock();
        latest.periodic = placed.periodic();
        let now = Instant::now();
        latest.moving = look.moving().map(|left| now + left);
        latest.changed = look.ago().and_then(|ago| now.checked_sub(ago)).or(latest.changed);
    }
}

impl Drop for PageWatch {
    fn drop(&mut self) {
        // The page may be gone, or have been asked already.
        if let Some(Looked { page, frame, inner, .. }) = self.before.take()
            && tokio::runtime::Handle::try_current().is_ok()
        {
            helmdeck_task::spawn(async move {
                let all = std::iter::once(&frame).chain(&inner);
                join_all(all.map(|frame| ask(&page, frame, "look", json!(true), ANSWER))).await;
            });
        }
    }
}

/// The tabs of a browser now.
fn seen_tabs(running: &Running) -> Vec<SeenTab> {
    let tabs = running.known.tabs.lock();
    let seen = tabs.list().into_iter().filter_map(|tab| {
        let page = tabs.find(&tab.id)?;
        let (loader, dialog) = page.with(|state| {
            let loader = state.frames.main().map(|main| main.loader.clone());
            (loader.unwrap_or_default(), state.dialog.is_some())
        });
        Some(SeenTab { tab, loader, dialog })
    });
    seen.collect()
}

/// The visible page: the named or active tab, if it is visible, else another. With an argument, it
/// begins to note what happens.
async fn visible(running: &Running, tab: Option<&TabId>, begin: Value) -> Option<Looked> {
    let mut pages: Vec<Page> = {
        let tabs = running.known.tabs.lock();
        let named = tab.and_then(|tab| tabs.find(tab));
        let others = tabs.list().into_iter().rev().filter_map(|tab| tabs.find(&tab.id));
        named.into_iter().chain(tabs.active()).chain(others).collect()
    };
    let mut met = Vec::new();
    pages.retain(|page| {
        !met.contains(page.tab()) && {
            met.push(page.tab().clone());
            true
        }
    });
    let mut first = None;
    for page in pages.into_iter().take(MAX_ASKED) {
        let Ok(frame) = page.main() else { continue };
        let (function, argument) = match &begin {
            Value::Null => ("look", json!(false)),
            begin => ("watch", begin.clone()),
        };
        let mut inner = page.frames();
        inner.retain(|inner| inner.id != frame.id);
        inner.truncate(MAX_FRAMES);
        let asked = ask(&page, &frame, function, argument.clone(), ANSWER);
        let ask_inner = |frame| ask(&page, frame, function, argument.clone(), ANSWER);
        let (look, frames) = join!(asked, join_all(inner.iter().map(ask_inner)));
        let Some(look) = look else { continue };
        let frames = frames.into_iter().flatten().collect();
        let is_visible = look.visible;
        let looked = Looked { page: page.clone(), frame, look, inner, frames };
        if is_visible {
            return Some(looked);
        }
        first.get_or_insert(looked);
    }
    first
}

/// Calls a function of `watch.js`; `None` if the page does not answer in time or shows a dialog.
async fn ask(
    page: &Page,
    frame: &Frame,
    function: &str,
    argument: Value,
    patience: Duration,
) -> Option<Look> {
    let deadline = Instant::now() + patience;
    let asking = page.run::<Look>(frame, function, argument, deadline);
    let blocked = async {
        loop {
            let news = page.next_news();
            if page.with(|state| state.dialog.is_some() || state.crashed) {
                return;
            }
            news.await;
        }
    };
    select! {
        biased;
        () = blocked => None,
        answer = timeout(patience, asking) => match answer {
            Ok(Ok(Outcome::Value(look))) => Some(look),
            _ => None,
        },
    }
}
