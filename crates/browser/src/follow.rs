//! Follows what happens in a browser: one task reads the events of all sessions and keeps tabs,
//! frames, dialogs and downloads up to date.

mod page_events;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Instant,
};

use futures_util::{
    FutureExt as _, StreamExt as _,
    future::BoxFuture,
    stream::{self, BoxStream, FuturesUnordered, SelectAll},
};
use helmdeck_cdp::{Cdp, Event, EventStream, Lagged, SessionId};
use helmdeck_wire::browser::DialogKind;
use serde::Deserialize;
use time::OffsetDateTime;
use tokio::{
    select,
    sync::{mpsc, oneshot},
    task::yield_now,
};

use self::page_events::{on_frame_event, on_network_event, on_worker_event};
use crate::{
    attach::{Subject, attach, attach_again, prepare},
    events::PageEvent,
    page::{Opening, Page},
    record::Releases,
    running::Known,
    tabs::Target,
};

/// An event of one session.
type SessionEvent = (Option<SessionId>, Result<Arc<Event>, Lagged>);

/// The task that follows a browser.
pub(crate) struct Follower {
    cdp: Cdp,
    known: Arc<Known>,
    /// The browser's number in the records.
    browser: u64,
    /// The tab of each session.
    pages: HashMap<SessionId, Page>,
    heard: SelectAll<BoxStream<'static, SessionEvent>>,
    /// Calls made in response to events.
    jobs: FuturesUnordered<BoxFuture<'static, ()>>,
    /// Workers of the tabs; they only send events.
    workers: HashSet<SessionId>,
    releases: Releases,
    /// Whether the tabs that existed before are known.
    caught_up: bool,
    /// Callers that wait until all received events are handled.
    asked: mpsc::UnboundedReceiver<oneshot::Sender<()>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attached {
    session_id: SessionId,
    target_info: Target,
    #[serde(default)]
    waiting_for_debugger: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Detached {
    session_id: SessionId,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Changed {
    target_info: Target,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DialogOpening {
    message: String,
    #[serde(rename = "type")]
    kind: DialogKind,
    #[serde(default)]
    default_prompt: String,
}

impl Follower {
    /// Subscribes to the events of the browser itself.
    pub fn new(
        cdp: Cdp,
        known: Arc<Known>,
        browser: u64,
        events: EventStream,
        asked: mpsc::UnboundedReceiver<oneshot::Sender<()>>,
    ) -> Self {
        let mut heard = SelectAll::new();
        heard.push(tagged(None, events));
        Self {
            cdp,
            known,
            browser,
            pages: HashMap::new(),
            heard,
            jobs: FuturesUnordered::new(),
            workers: HashSet::new(),
            releases: Releases::default(),
            caught_up: false,
            asked,
        }
    }

    /// Attaches to the pages that exist already.
    pub async fn catch_up(&mut self) {
        self.handle_all();
        while let Some(()) = self.jobs.next().await {}
        self.handle_all();
        self.caught_up = true;
    }

    fn handle_all(&mut self) {
        while let Some(Some(heard)) = self.heard.next().now_or_never() {
            self.handle(heard);
        }
    }

    /// Runs until the browser is gone.
    pub async fn follow(mut self) {
        loop {
            select! {
                heard = self.heard.next() => match heard {
                    Some(heard) => self.handle(heard),
                    None => break,
                },
                Some(()) = self.jobs.next() => {}
                Some(done) = self.asked.recv() => {
                    self.handle_all();
                    // Let other tasks run in between.
                    yield_now().await;
                    self.handle_all();
                    let _ = done.send(());
                }
            }
        }
        let mut records = self.known.records.lock();
        for page in self.pages.values() {
            records.ended(page.tab());
        }
    }

    fn handle(&mut self, (session, event): SessionEvent) {
        let page = session.as_ref().and_then(|session| self.pages.get(session)).cloned();
        match (event, session, page) {
            (Ok(event), None, _) => self.on_browser_event(&event),
            (Ok(event), Some(session), Some(page)) => {
                self.record(&page, &session, &event);
                if self.workers.contains(&session) {
                    on_worker_event(&page, &event);
                } else {
                    self.on_page_event(&page, &session, &event);
                }
                page.tell();
            }
            // Later calls read lost state again; only the records have a gap.
            (Err(Lagged(events)), session, Some(page)) => {
                self.known.records.lock().missed(page.tab(), events, OffsetDateTime::now_utc());
                if let Some(session) = session.filter(|_| self.known.emulating.any()) {
                    self.jobs.push(attach_again(page, session).boxed());
                }
            }
            (_, _, None) => {}
        }
    }

    fn record(&mut self, page: &Page, session: &SessionId, event: &Event) {
        let (main, now) = (session == page.session(), OffsetDateTime::now_utc());
        let held =
            self.known.records.lock().record_event(self.browser, page.tab(), main, event, now);
        if held {
            self.jobs.extend(self.releases.schedule(page, session));
        }
    }

    fn on_browser_event(&mut self, event: &Event) {
        match event.method.as_str() {
            "Target.targetCreated" => {
                let Ok(Changed { target_info }) = event.read() else { return };
                self.jobs.push(attach(self.cdp.clone(), target_info.target_id).boxed());
            }
            "Target.attachedToTarget" => {
                let Ok(Attached { session_id, target_info, .. }) = event.read() else { return };
                if target_info.kind == "page" {
                    self.open(session_id, target_info);
                }
            }
            "Target.detachedFromTarget" => {
                let Ok(Detached { session_id }) = event.read() else { return };
                self.known.tabs.lock().detached(&session_id);
                if let Some(page) = self.pages.get(&session_id) {
                    self.known.records.lock().closed(page.tab());
                    self.known.listeners.tell(PageEvent::TabClosed { tab: page.tab().clone() });
                }
                let gone = self.pages.extract_if(|_, page| *page.session() == session_id);
                for (session, _) in gone {
                    self.workers.remove(&session);
                    self.releases.forget(&session);
                }
                self.remind();
            }
            "Target.targetInfoChanged" => {
                let Ok(Changed { target_info }) = event.read() else { return };
                if !self.known.tabs.lock().changed(target_info) {
                    return;
                }
            }
            "Browser.downloadWillBegin" => {
                if let Ok(begun) = event.read() {
                    self.known.downloads.lock().begun(begun);
                    self.known.listeners.tell(PageEvent::Download);
                }
            }
            "Browser.downloadProgress" => {
                if let Ok(progress) = event.read() {
                    self.known.downloads.lock().went_on(&progress);
                }
            }
            _ => return,
        }
        self.known.news.notify_waiters();
    }

    /// Handles a page that we were attached to.
    fn open(&mut self, session: SessionId, target: Target) {
        let page = Page::new(self.cdp.clone(), session.clone(), &target, Instant::now());
        // If the page waits, then for another client, which opened it.
        self.listen(&page, &session, false);
        if self.caught_up && target.is_tab() {
            let (tab, url) = (page.tab().clone(), target.url.clone());
            self.known.listeners.tell(PageEvent::TabOpened { tab, url });
        }
        self.known.tabs.lock().attached(page, target);
    }

    fn listen(&mut self, page: &Page, session: &SessionId, waits: bool) {
        let events = self.cdp.events(Some(session));
        self.heard.push(tagged(Some(session.clone()), events));
        self.pages.insert(session.clone(), page.clone());
        let worker = self.workers.contains(session);
        let emulating = Arc::clone(&self.known.emulating);
        let subject = Subject { session: session.clone(), worker, waits };
        self.jobs.push(prepare(page.clone(), subject, emulating).boxed());
    }

    /// Applies shared emulation again after a page went away: others may have shared its settings.
    fn remind(&mut self) {
        if !self.known.emulating.is_shared() {
            return;
        }
        for (session, page) in &self.pages {
            if self.workers.contains(session) {
                continue;
            }
            let (session, page) = (session.clone(), page.clone());
            let emulating = Arc::clone(&self.known.emulating);
            self.jobs.push(async move { emulating.remind(&page, &session).await }.boxed());
        }
    }

    fn on_page_event(&mut self, page: &Page, session: &SessionId, event: &Event) {
        let method = event.method.as_str();
        if method.starts_with("Network.") {
            return on_network_event(page, event);
        }
        match method {
            "Target.attachedToTarget" => {
                let Ok(attached) = event.read() else { return };
                let Attached { session_id, target_info, waiting_for_debugger: waits } = attached;
                if target_info.kind == "iframe" {
                    page.with(|state| state.frames.moved_to(&session_id, &target_info.target_id));
                    self.listen(page, &session_id, waits);
                } else if target_info.kind == "worker" {
                    // The worker's script is loaded, and the page gets no event for that.
                    let now = Instant::now();
                    page.with(|state| state.network.ended(&target_info.target_id, now));
                    self.workers.insert(session_id.clone());
                    self.listen(page, &session_id, waits);
                }
            }
            "Target.detachedFromTarget" => {
                let Ok(Detached { session_id }) = event.read() else { return };
                self.pages.remove(&session_id);
                self.workers.remove(&session_id);
                self.releases.forget(&session_id);
                page.with(|state| state.frames.lost(&session_id));
            }
            "Page.javascriptDialogOpening" => {
                let Ok(DialogOpening { message, kind, default_prompt }) = event.read() else {
                    return;
                };
                let session = session.clone();
                let opening = Opening { session, kind, message, proposal: default_prompt };
                page.with(|state| state.dialog = Some(opening));
                self.known.listeners.tell(PageEvent::Dialog { tab: page.tab().clone() });
                let page = page.clone();
                self.jobs.push(async move { page.answer_dialog().await }.boxed());
            }
            "Page.javascriptDialogClosed" => page.with(|state| state.dialog = None),
            "Inspector.targetCrashed" if session == page.session() => {
                page.with(|state| state.crashed = true);
            }
            "Page.frameNavigated" => {
                self.follow_address(page, |page| on_frame_event(page, session, event));
                if self.pages.len() > 1 {
                    self.remind();
                }
            }
            "Page.navigatedWithinDocument" => {
                self.follow_address(page, |page| on_frame_event(page, session, event));
            }
            _ => on_frame_event(page, session, event),
        }
    }

    /// Tells the listener if an event gave a tab another document or address.
    fn follow_address(&self, page: &Page, handle: impl FnOnce(&Page)) {
        let shown = || page.main().map(|main| (main.loader, main.url)).ok();
        let before = shown();
        handle(page);
        let after = shown();
        let known = self.known.tabs.lock().find(page.tab()).is_some();
        if let Some((_, url)) = after.filter(|after| known && before.as_ref() != Some(after)) {
            self.known.listeners.tell(PageEvent::Navigated { tab: page.tab().clone(), url });
        }
    }
}

fn tagged(session: Option<SessionId>, events: EventStream) -> BoxStream<'static, SessionEvent> {
    stream::unfold((session, events), |(session, mut events)| async move {
        let event = events.next().await?;
        Some(((session.clone(), event), (session, events)))
    })
    .boxed()
}
