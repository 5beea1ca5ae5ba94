//! Follows what happens in a browser: one task reads the events of all sessions and keeps tabs,
//! frames, dialogs and downloads up to date.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::{
    FutureExt as _, StreamExt as _,
    future::BoxFuture,
    stream::{self, BoxStream, FuturesUnordered, SelectAll},
};
use helmdeck_cdp::{Cdp, Event, EventStream, Lagged, SessionId};
use helmdeck_wire::browser::{DialogKind, TabId};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json};
use tokio::{join, select};

use crate::{
    frames::{Described, Listed},
    page::{Opening, Page},
    running::Known,
    tabs::Target,
};

/// A page may be busy, or a dialog may be open in it, while we ask it to tell what happens.
const READY: Duration = Duration::from_secs(120);

/// Attaching is a matter of the browser alone, however busy the page is.
const ATTACH: Duration = Duration::from_secs(10);

/// Something that one session told.
type Heard = (Option<SessionId>, Result<Arc<Event>, Lagged>);

/// The one who follows.
pub(crate) struct Follower {
    cdp: Cdp,
    known: Arc<Known>,
    /// Which tab a session belongs to.
    pages: HashMap<SessionId, Page>,
    heard: SelectAll<BoxStream<'static, Heard>>,
    /// What the browser was asked because of what it told.
    jobs: FuturesUnordered<BoxFuture<'static, ()>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attached {
    session_id: SessionId,
    target_info: Target,
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
struct OfFrame {
    frame_id: String,
    #[serde(default)]
    parent_frame_id: String,
    #[serde(default)]
    url: String,
    #[serde(default)]
    reason: String,
}

#[derive(Deserialize)]
struct Navigated {
    frame: Described,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfDialog {
    message: String,
    #[serde(rename = "type")]
    kind: DialogKind,
    #[serde(default)]
    default_prompt: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfRequest {
    request_id: String,
    #[serde(default)]
    loader_id: String,
    #[serde(rename = "type", default)]
    kind: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tree {
    frame_tree: Listed,
}

impl Follower {
    /// Begins with the events of the browser itself.
    pub fn new(cdp: Cdp, known: Arc<Known>, events: EventStream) -> Self {
        let mut heard = SelectAll::new();
        heard.push(tagged(None, events));
        Self { cdp, known, pages: HashMap::new(), heard, jobs: FuturesUnordered::new() }
    }

    /// Attaches to the pages that were told already.
    pub async fn catch_up(&mut self) {
        self.handle_all();
        while let Some(()) = self.jobs.next().await {}
        self.handle_all();
    }

    fn handle_all(&mut self) {
        while let Some(Some(heard)) = self.heard.next().now_or_never() {
            self.handle(heard);
        }
    }

    /// Goes on until the browser is gone.
    pub async fn follow(mut self) {
        loop {
            select! {
                heard = self.heard.next() => match heard {
                    Some(heard) => self.handle(heard),
                    None => return,
                },
                Some(()) = self.jobs.next() => {}
            }
        }
    }

    fn handle(&mut self, (session, event): Heard) {
        // What was missed is told again by the calls that need it.
        let Ok(event) = event else { return };
        match session {
            None => self.of_browser(&event),
            Some(session) => {
                let Some(page) = self.pages.get(&session).cloned() else { return };
                self.of_page(&page, &session, &event);
                page.tell();
            }
        }
    }

    fn of_browser(&mut self, event: &Event) {
        match event.method.as_str() {
            "Target.targetCreated" => {
                let Ok(Changed { target_info }) = event.read() else { return };
                self.jobs.push(attach(self.cdp.clone(), target_info.target_id).boxed());
            }
            "Target.attachedToTarget" => {
                let Ok(Attached { session_id, target_info }) = event.read() else { return };
                if target_info.kind == "page" {
                    self.open(session_id, target_info);
                }
            }
            "Target.detachedFromTarget" => {
                let Ok(Detached { session_id }) = event.read() else { return };
                self.known.tabs.lock().detached(&session_id);
                self.pages.retain(|_, page| *page.session() != session_id);
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

    /// There is a page that we are attached to.
    fn open(&mut self, session: SessionId, target: Target) {
        let tab = TabId(target.target_id.clone());
        let page = Page::new(self.cdp.clone(), tab, session.clone(), &target.url, Instant::now());
        self.listen(&page, &session);
        self.known.tabs.lock().attached(page, target);
    }

    fn listen(&mut self, page: &Page, session: &SessionId) {
        let events = self.cdp.events(Some(session));
        self.heard.push(tagged(Some(session.clone()), events));
        self.pages.insert(session.clone(), page.clone());
        self.jobs.push(prepare(page.clone(), session.clone()).boxed());
    }

    fn of_page(&mut self, page: &Page, session: &SessionId, event: &Event) {
        let method = event.method.as_str();
        if method.starts_with("Network.") {
            return of_network(page, event);
        }
        match method {
            "Target.attachedToTarget" => {
                let Ok(Attached { session_id, target_info }) = event.read() else { return };
                if target_info.kind == "iframe" {
                    page.with(|state| state.frames.moved_to(&session_id, &target_info.target_id));
                    self.listen(page, &session_id);
                }
            }
            "Target.detachedFromTarget" => {
                let Ok(Detached { session_id }) = event.read() else { return };
                self.pages.remove(&session_id);
                page.with(|state| state.frames.lost(&session_id));
            }
            "Page.javascriptDialogOpening" => {
                let Ok(OfDialog { message, kind, default_prompt }) = event.read() else { return };
                let session = session.clone();
                let opening = Opening { session, kind, message, proposal: default_prompt };
                page.with(|state| state.dialog = Some(opening));
                let page = page.clone();
                self.jobs.push(async move { page.answer_dialog().await }.boxed());
            }
            "Page.javascriptDialogClosed" => page.with(|state| state.dialog = None),
            "Inspector.targetCrashed" if session == page.session() => {
                page.with(|state| state.crashed = true);
            }
            _ => of_frames(page, session, event),
        }
    }
}

fn tagged(session: Option<SessionId>, events: EventStream) -> BoxStream<'static, Heard> {
    stream::unfold((session, events), |(session, mut events)| async move {
        let event = events.next().await?;
        Some(((session.clone(), event), (session, events)))
    })
    .boxed()
}

fn of_frames(page: &Page, session: &SessionId, event: &Event) {
    match event.method.as_str() {
        "Page.frameAttached" => {
            let Ok(OfFrame { frame_id, parent_frame_id, .. }) = event.read() else { return };
            page.with(|state| state.frames.attached(session, &frame_id, &parent_frame_id));
        }
        "Page.frameNavigated" => {
            let Ok(Navigated { frame }) = event.read() else { return };
            let main = frame.parent_id.is_none();
            page.with(|state| {
                state.frames.navigated(session, &frame);
                if main {
                    state.crashed = false;
                    state.network.left(&frame.loader_id, Instant::now());
                }
            });
        }
        "Page.navigatedWithinDocument" => {
            let Ok(OfFrame { frame_id, url, .. }) = event.read() else { return };
            page.with(|state| state.frames.moved_within(&frame_id, &url));
        }
        "Page.frameDetached" => {
            let Ok(OfFrame { frame_id, reason, .. }) = event.read() else { return };
            // A frame that moves to another process keeps its place.
            if reason != "swap" {
                page.with(|state| state.frames.removed(&frame_id));
            }
        }
        _ => {}
    }
}

fn of_network(page: &Page, event: &Event) {
    let now = Instant::now();
    match event.method.as_str() {
        "Network.requestWillBeSent" => {
            let Ok(OfRequest { request_id, loader_id, kind }) = event.read() else { return };
            // These stay open for as long as the page likes.
            if !matches!(kind.as_str(), "EventSource" | "WebSocket" | "Ping") {
                page.with(|state| state.network.begun(&request_id, &loader_id, now));
            }
        }
        "Network.loadingFinished" | "Network.loadingFailed" => {
            let Ok(OfRequest { request_id, .. }) = event.read() else { return };
            page.with(|state| state.network.ended(&request_id, now));
        }
        _ => {}
    }
}

/// Attaches to a page. That it is so is told as an event.
///
/// One by one: a browser that attaches by itself makes every window that a page opens wait for us,
/// even if it is told not to.
async fn attach(cdp: Cdp, target: String) {
    let params = json!({ "targetId": target, "flatten": true });
    // It may be gone by now.
    let _ = cdp.call::<IgnoredAny>(None, "Target.attachToTarget", params, ATTACH).await;
}

/// Asks a session to tell what happens, and what is there already.
async fn prepare(page: Page, session: SessionId) {
    let deadline = Instant::now() + READY;
    let ask = |method: &'static str, params: Value| {
        let (page, session) = (page.clone(), session.clone());
        async move { page.call::<IgnoredAny>(&session, method, params, deadline).await.is_ok() }
    };
    let attach = json!({
        "autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true,
        "filter": [{ "type": "iframe" }],
    });
    // Their bodies are not kept for anybody.
    let no_bodies = json!({ "maxTotalBufferSize": 0, "maxResourceBufferSize": 0 });
    let tree = page.call::<Tree>(&session, "Page.getFrameTree", json!({}), deadline);
    let (_, _, _, _, _, tree) = join!(
        ask("Page.enable", json!({})),
        ask("Page.setLifecycleEventsEnabled", json!({ "enabled": true })),
        ask("Network.enable", no_bodies),
        ask("Target.setAutoAttach", attach),
        // The page behaves as if it had the focus, whichever window a person has it in.
        ask("Emulation.setFocusEmulationEnabled", json!({ "enabled": true })),
        tree,
    );
    if let Ok(tree) = tree {
        page.with(|state| state.frames.listed(&session, &tree.frame_tree));
    }
    if session == *page.session() {
        page.set_ready();
    }
    page.tell();
}
