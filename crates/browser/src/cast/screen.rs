//! What one viewer sees: always the newest picture, however slow the viewer is.

use std::{
    future::pending,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use helmdeck_wire::{
    browser::{Tab, TabId},
    cast::{BrowserView, CastMessage, CastView, OpenDialog, Shown, ViewStatus},
};
use tokio::{select, sync::watch, time::sleep};

use super::{
    ViewerState,
    source::at,
    subscription::{CastKey, Latest, Picture, Subscription},
};
use crate::{Browser, page::Page, running::Running};

/// How long one attempt waits for a browser.
const BROWSER: Duration = Duration::from_secs(2);
/// Pause after a failure.
const PAUSE: Duration = Duration::from_millis(250);
/// How often titles are refreshed for a viewer.
const TITLES: Duration = Duration::from_secs(1);
/// Unacknowledged pictures that a viewer may have.
const ON_THE_WAY: u64 = 2;

/// An item sent to a viewer.
#[derive(Debug, Clone, PartialEq)]
pub enum ScreenMessage {
    /// A message.
    Words(CastMessage),
    /// A whole JPEG.
    Picture(Bytes),
}

/// One viewer's picture.
pub struct Screen {
    browser: Browser,
    view: watch::Receiver<CastView>,
    arrived: watch::Receiver<u64>,
    /// Only pictures, at a low rate: for thumbnails.
    in_passing: bool,
    running: Option<Arc<Running>>,
    subscription: Option<Subscription>,
    told: LastSent,
    /// The number of the last picture sent.
    sent: u64,
    /// When the next picture may be sent.
    next: tokio::time::Instant,
    /// When the titles were last read.
    looked: tokio::time::Instant,
}

/// What the viewer has been sent.
#[derive(Default)]
struct LastSent {
    status: Option<BrowserView>,
    tabs: Option<Vec<Tab>>,
    dialog: Option<OpenDialog>,
    shown: Option<Shown>,
}

impl LastSent {
    fn status(&mut self, status: BrowserView) -> Option<ScreenMessage> {
        if self.status.as_ref() == Some(&status) {
            return None;
        }
        self.status = Some(status.clone());
        Some(ScreenMessage::Words(CastMessage::Status(status)))
    }

    fn tabs(&mut self, tabs: Vec<Tab>) -> Option<ScreenMessage> {
        if self.tabs.as_ref() == Some(&tabs) {
            return None;
        }
        self.tabs = Some(tabs.clone());
        Some(ScreenMessage::Words(CastMessage::Tabs(tabs)))
    }

    fn dialog(&mut self, dialog: Option<OpenDialog>) -> Option<ScreenMessage> {
        if self.dialog == dialog {
            return None;
        }
        self.dialog.clone_from(&dialog);
        Some(ScreenMessage::Words(CastMessage::Dialog(dialog)))
    }

    fn shown(&mut self, shown: &Shown, seq: u64) -> Option<ScreenMessage> {
        if self.shown.as_ref() == Some(shown) {
            return None;
        }
        self.shown = Some(shown.clone());
        Some(ScreenMessage::Words(CastMessage::Frame(Shown { seq, ..shown.clone() })))
    }
}

impl Screen {
    pub(super) fn new(browser: Browser, viewer: &ViewerState, in_passing: bool) -> Self {
        Self {
            browser,
            view: viewer.view.subscribe(),
            arrived: viewer.arrived.subscribe(),
            in_passing,
            running: None,
            subscription: None,
            told: LastSent::default(),
            sent: *viewer.arrived.borrow(),
            next: now(),
            looked: now(),
        }
    }

    /// The number of the last picture sent.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// The next item for the viewer, current at the time of the call. Not cancel-safe.
    pub async fn next(&mut self) -> ScreenMessage {
        loop {
            let Some(running) = self.running.clone().filter(|one| self.browser.is_current(one))
            else {
                match self.find_browser().await {
                    Some(said) => return said,
                    None => continue,
                }
            };
            // Subscribe before looking, so that no change is missed.
            let news = running.known.news.notified();
            let view = self.view.borrow_and_update().clone();
            let (list, page) = {
                let tabs = running.known.tabs.lock();
                let page = view.tab.as_ref().map_or_else(|| tabs.active(), |tab| tabs.find(tab));
                (tabs.list(), page)
            };
            let any = !list.is_empty();
            if let Some(said) = self.told.tabs(list) {
                return said;
            }
            let Some(page) = page else {
                self.subscription = None;
                let status = no_tab(view.tab.as_ref().filter(|_| any));
                if let Some(said) = self.told.dialog(None).or_else(|| self.told.status(status)) {
                    return said;
                }
                select! {
                    () = news => {}
                    _ = self.view.changed() => {}
                    () = self.browser.left(&running) => {}
                }
                continue;
            };
            let page_news = page.next_news();
            if let Some(said) = self.page_status(&page) {
                return said;
            }
            let latest = self.look(&running, &page, &view);
            if latest.over {
                self.subscription = None;
                sleep(PAUSE).await;
                continue;
            }
            let alive = !page.with(|state| state.crashed);
            let fresh = latest.picture.filter(|one| alive && self.is_new(one));
            let waiting = fresh.is_some() && self.may_send(&view);
            if let Some(picture) = fresh.filter(|_| waiting && self.next <= now()) {
                return self.show(&picture, &view);
            }
            let due = at(waiting.then_some(self.next));
            let changed = async {
                match &mut self.subscription {
                    Some(subscription) => subscription.changed().await,
                    None => pending().await,
                }
            };
            let titles = (!self.in_passing).then(|| self.looked + TITLES);
            select! {
                () = news => {}
                () = page_news => {}
                () = due => {}
                () = changed => {}
                _ = self.view.changed() => {}
                _ = self.arrived.changed() => {}
                () = self.browser.left(&running) => {}
                () = at(titles) => {
                    self.looked = now();
                    running.look_again().await;
                }
            }
        }
    }

    /// Waits for the current browser.
    async fn find_browser(&mut self) -> Option<ScreenMessage> {
        (self.running, self.subscription) = (None, None);
        let status = if self.browser.is_there().await {
            ViewStatus::Ready.plainly()
        } else {
            ViewStatus::NoBrowser.because(self.browser.why_absent())
        };
        if let Some(said) = self.told.dialog(None).or_else(|| self.told.status(status)) {
            return Some(said);
        }
        match self.browser.watched(Instant::now() + BROWSER).await {
            Ok(running) => self.running = Some(running),
            Err(_) => {
                sleep(PAUSE).await;
                return None;
            }
        }
        // Also for a viewer that takes no pictures now.
        self.told.status(ViewStatus::Ready.plainly())
    }

    /// An open dialog that no call answers, and whether the page can be shown.
    fn page_status(&mut self, page: &Page) -> Option<ScreenMessage> {
        let (crashed, dialog) = page.with(|state| (state.crashed, state.waiting_dialog()));
        let crash = "the page crashed: go to another address, or choose another tab";
        let dialog = self.told.dialog(dialog);
        dialog.or_else(|| {
            if crashed { self.told.status(ViewStatus::Unavailable.because(crash)) } else { None }
        })
    }

    /// The latest state of the cast that the viewer wants.
    fn look(&mut self, running: &Running, page: &Page, view: &CastView) -> Latest {
        let key = CastKey::of(page.tab(), view, self.in_passing);
        let pace = view.max_fps.get();
        let subscription =
            match self.subscription.take().filter(|subscription| subscription.key == key) {
                Some(subscription) => subscription,
                None => running.casts.join(key, pace),
            };
        let subscription = self.subscription.insert(subscription);
        subscription.set_pace(pace);
        subscription.latest()
    }

    fn is_new(&self, picture: &Picture) -> bool {
        self.subscription.as_ref().is_some_and(|subscription| subscription.is_new(picture))
    }

    fn may_send(&mut self, view: &CastView) -> bool {
        let arrived = *self.arrived.borrow_and_update();
        !view.ack || self.sent.saturating_sub(arrived) < ON_THE_WAY
    }

    /// A picture, or a message that must precede it.
    fn show(&mut self, picture: &Picture, view: &CastView) -> ScreenMessage {
        let streaming = self.told.status(ViewStatus::Streaming.plainly());
        let seq = self.sent + 1;
        if let Some(said) = streaming.or_else(|| self.told.shown(&picture.shown, seq)) {
            return said;
        }
        if let Some(subscription) = &mut self.subscription {
            subscription.take(picture);
        }
        self.sent = seq;
        self.next = now() + Duration::from_secs(1) / view.max_fps.get();
        ScreenMessage::Picture(picture.jpeg.clone())
    }
}

fn now() -> tokio::time::Instant {
    tokio::time::Instant::now()
}

fn no_tab(wanted: Option<&TabId>) -> BrowserView {
    ViewStatus::Ready.because(match wanted {
        Some(tab) => format!("there is no tab {}: choose another", tab.0),
        None => "there is no tab".to_owned(),
    })
}
