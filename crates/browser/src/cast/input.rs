//! Input of a viewer who has control.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::{FutureExt as _, StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use helmdeck_cdp::SessionId;
use helmdeck_wire::cast::{
    Arrived, CastRequest, ChangeView, DialogAnswer, KeyInput, KeyKind, MouseInput, MouseKind,
    TouchInput, TouchKind,
};
use serde::de::IgnoredAny;
use serde_json::{Value, json, to_value};
use tokio::runtime::Handle;

use super::{ViewerState, held::Held};
use crate::{Browser, page::Page, running::Running};

/// A page that is busy or shows a dialog confirms input late.
const CONFIRM: Duration = Duration::from_secs(30);
/// Pointer moves are dropped while this many events are unconfirmed.
const MOVES: usize = 32;
/// All input is dropped while this many events are unconfirmed.
const PRESSES: usize = 256;
/// The longest text of one key that Chromium accepts, in UTF-16 units.
const KEY_TEXT: usize = 4;

/// The input of one viewer. Dropping it releases all held keys and buttons.
pub struct ViewerInput {
    browser: Browser,
    viewer: Arc<ViewerState>,
    held: Held<Page>,
    /// Events that the browser has not confirmed yet.
    unconfirmed: FuturesUnordered<BoxFuture<'static, ()>>,
}

impl ViewerInput {
    pub(super) fn new(browser: Browser, viewer: Arc<ViewerState>) -> Self {
        Self { browser, viewer, held: Held::default(), unconfirmed: FuturesUnordered::new() }
    }

    /// Does what a viewer with control asks. Never waits: input that the page cannot take is
    /// dropped.
    pub fn ask(&mut self, asked: CastRequest) {
        while let Some(Some(())) = self.unconfirmed.next().now_or_never() {}
        self.release_lost();
        match asked {
            CastRequest::Mouse(mouse) => self.mouse(&mouse),
            CastRequest::Key(key) => self.key(&key),
            CastRequest::Touch(touch) => self.touch(&touch),
            CastRequest::Dialog(answer) => self.answer(&answer),
            CastRequest::View(change) => self.look_at(change),
            CastRequest::Ack(Arrived { seq }) => {
                self.viewer.arrived.send_if_modified(|arrived| {
                    let newer = seq > *arrived;
                    *arrived = seq.max(*arrived);
                    newer
                });
            }
            CastRequest::ReleaseAll => self.release_all(),
        }
    }

    fn mouse(&mut self, mouse: &MouseInput) {
        let Some((running, shown)) = self.shown() else { return };
        let page = self.held.pointed().cloned().unwrap_or(shown);
        match mouse.kind {
            MouseKind::MouseReleased => {}
            MouseKind::MouseMoved if self.unconfirmed.len() >= MOVES => return,
            // A hidden tab takes no pointer events, and neither does a page with a dialog.
            MouseKind::MouseMoved if running.casts.hidden(page.tab()) => return,
            MouseKind::MouseMoved | MouseKind::MouseWheel | MouseKind::MousePressed => {
                if !self.is_free(&page) {
                    return;
                }
            }
        }
        if mouse.kind == MouseKind::MousePressed {
            self.bring_to_front(&running, &page);
        }
        self.held.mouse(&page, mouse);
        let params = to_value(mouse).unwrap_or_default();
        self.send(&page, "Input.dispatchMouseEvent", params);
    }

    fn key(&mut self, key: &KeyInput) {
        let Some((running, shown)) = self.shown() else { return };
        let page = match key.kind {
            KeyKind::KeyUp => self.held.pressed(key).cloned().unwrap_or(shown),
            KeyKind::KeyDown | KeyKind::RawKeyDown | KeyKind::Char => shown,
        };
        if key.kind != KeyKind::KeyUp {
            if !self.is_free(&page) {
                return;
            }
            self.bring_to_front(&running, &page);
        }
        self.held.key(&page, key);
        let mut params = to_value(key).unwrap_or_default();
        let long = key.text.as_ref().filter(|text| text.as_str().encode_utf16().count() > KEY_TEXT);
        if let Some(object) = params.as_object_mut() {
            if long.is_some() {
                object.remove("text");
            }
            if object.get("location") == Some(&json!(3)) {
                object.remove("location");
                object.insert("isKeypad".to_owned(), json!(true));
            }
        }
        if long.is_none() || key.kind != KeyKind::Char {
            self.send(&page, "Input.dispatchKeyEvent", params);
        }
        if let Some(text) = long.filter(|_| key.kind != KeyKind::KeyUp) {
            self.send(&page, "Input.insertText", json!({ "text": text }));
        }
    }

    fn touch(&mut self, touch: &TouchInput) {
        let Some((running, shown)) = self.shown() else { return };
        let page = self.held.pointed().cloned().unwrap_or(shown);
        match touch.kind {
            TouchKind::TouchStart | TouchKind::TouchMove => {
                if !self.is_free(&page) {
                    return;
                }
                self.bring_to_front(&running, &page);
            }
            TouchKind::TouchEnd | TouchKind::TouchCancel => {}
        }
        self.held.touch(&page, touch);
        let params = to_value(touch).unwrap_or_default();
        self.send(&page, "Input.dispatchTouchEvent", params);
    }

    /// Answers the open dialog, if any.
    fn answer(&mut self, answer: &DialogAnswer) {
        let Some((_, page)) = self.shown() else { return };
        let Some(opening) = page.with(|state| state.dialog.clone()) else { return };
        let text = answer.text.as_ref().map_or(opening.proposal.as_str(), |text| text.as_str());
        let params = json!({ "accept": answer.accept, "promptText": text });
        self.send_to(&page, &opening.session, "Page.handleJavaScriptDialog", params);
    }

    fn look_at(&mut self, change: ChangeView) {
        let elsewhere =
            change.tab.as_ref().is_some_and(|tab| *tab != self.viewer.view.borrow().tab);
        if elsewhere {
            self.release_all();
        }
        self.viewer.view.send_modify(|view| view.change(change));
    }

    fn release_all(&mut self) {
        for (page, method, params) in self.held.release_all() {
            self.send(&page, method, params);
        }
    }

    /// Releases keys and buttons held in pages that the viewer no longer sees: crashed or closed
    /// tabs, or another browser. A held button would keep the pointer from everyone else.
    fn release_lost(&mut self) {
        let running = self.browser.known_running();
        let is_lost = |page: &Page| {
            let shown = running.as_ref().and_then(|running| running.find(page.tab()).ok());
            let same = shown.is_some_and(|shown| shown.session() == page.session());
            !same || page.with(|state| state.crashed)
        };
        for (page, method, params) in self.held.release_in(is_lost) {
            self.send(&page, method, params);
        }
    }

    /// The browser and the page that the viewer sees.
    fn shown(&self) -> Option<(Arc<Running>, Page)> {
        let running = self.browser.known_running()?;
        let tabs = running.known.tabs.lock();
        let page = match &self.viewer.view.borrow().tab {
            Some(tab) => tabs.find(tab),
            None => tabs.active(),
        }?;
        drop(tabs);
        Some((running, page))
    }

    /// Whether a page takes input: not while it shows a dialog.
    fn is_free(&self, page: &Page) -> bool {
        self.unconfirmed.len() < PRESSES && page.with(|state| state.dialog.is_none())
    }

    /// Brings a hidden tab to the front when its viewer uses it.
    fn bring_to_front(&mut self, running: &Running, page: &Page) {
        if running.casts.hidden(page.tab()) {
            self.send(page, "Page.bringToFront", json!({}));
        }
    }

    fn send(&mut self, page: &Page, method: &'static str, params: Value) {
        let session = page.session().clone();
        self.send_to(page, &session, method, params);
    }

    /// Sends an event now, in order, and does not wait for the answer.
    fn send_to(&mut self, page: &Page, session: &SessionId, method: &'static str, params: Value) {
        let (page, session) = (page.clone(), session.clone());
        let deadline = Instant::now() + CONFIRM;
        let mut sending = async move {
            // Nothing is held in a page that is gone.
            let _ = page.call::<IgnoredAny>(&session, method, params, deadline).await;
        }
        .boxed();
        if (&mut sending).now_or_never().is_none() {
            self.unconfirmed.push(sending);
        }
    }
}

impl Drop for ViewerInput {
    fn drop(&mut self) {
        // Without a tokio runtime there is no browser either.
        let Ok(runtime) = Handle::try_current() else { return };
        self.release_all();
        // A busy browser gets the releases late.
        let unconfirmed = std::mem::take(&mut self.unconfirmed);
        runtime.spawn(unconfirmed.collect::<()>());
    }
}
