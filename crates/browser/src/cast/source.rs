//! Casts one tab for all viewers with the same settings.
//!
//! Chromium sends a few pictures and then waits for acknowledgements. Changes during that time are
//! not sent later. A cast that delayed an acknowledgement therefore requests one more picture once
//! the page is quiet, so that viewers end up with the current page. After a crashed page is
//! reloaded, Chromium may miss the first paint and send nothing until the page changes: a cast
//! that lacks an expected picture restarts until the picture arrives.
//!
//! Chromium renders every picture of a moving page, sent or not. A cast for thumbnails therefore
//! stops between two pictures and starts again: a cast that starts sends the current page. If the
//! picture is unchanged, the page is still, and the cast waits for a change.

use std::{
    borrow::Cow,
    collections::VecDeque,
    future::pending,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use futures_util::{FutureExt as _, future::BoxFuture};
use helmdeck_cdp::{Cdp, CdpError, Event, SessionId};
use helmdeck_wire::cast::Shown;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::json;
use tokio::{
    select,
    time::{Instant, sleep_until},
};

use super::subscription::{ASK, Cast, CastKey, Picture, Shared};

/// Limit on a screenshot that is taken to force a paint; a page with a dialog gives none.
const NUDGE: Duration = Duration::from_secs(5);
/// How often a page is forced to paint if it does not by itself: a hidden tab.
const NUDGE_EVERY: Duration = Duration::from_secs(1);
/// The same for thumbnails, which have a picture already.
const NUDGE_IN_PASSING: Duration = Duration::from_secs(10);
/// How long a page must be quiet after a burst before the last picture is requested again.
const QUIET: Duration = Duration::from_millis(120);
/// How long a starting cast may take to send a picture before it restarts. The time doubles with
/// each restart, in case the machine is slow.
const OWED: Duration = Duration::from_secs(2);
const MOST_PATIENCE: Duration = Duration::from_secs(30);
/// Chromium sends more than this before it waits for us, and drops later pictures.
const IN_FLIGHT: usize = 1;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Frame<'a> {
    #[serde(borrow)]
    data: Cow<'a, str>,
    session_id: i64,
    metadata: Metadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    offset_top: f64,
    page_scale_factor: f64,
    device_width: f64,
    device_height: f64,
    scroll_offset_x: f64,
    scroll_offset_y: f64,
}

#[derive(Deserialize)]
struct Visibility {
    visible: bool,
}

/// Casts until there is no viewer, or the tab is gone.
pub(super) async fn run(shared: Arc<Shared>, key: CastKey, cast: Arc<Cast>) {
    if let Ok((parent, session)) = shared.attach(&key.tab).await {
        let source = Source {
            cdp: &shared.cdp,
            session: &session,
            key: &key,
            cast: &cast,
            unacknowledged: VecDeque::new(),
            acknowledged: Instant::now(),
            held_back: false,
            owed: None,
            patience: OWED,
            reloaded: false,
            visible: true,
            nudged: Instant::now(),
            resting: None,
        };
        source.show(&shared).await;
        let params = json!({ "sessionId": session });
        // The tab may be gone already.
        let detach = "Target.detachFromTarget";
        let _ = shared.cdp.call::<IgnoredAny>(Some(&parent), detach, params, ASK).await;
    }
    let mut open = shared.open.lock();
    if open.get(&key).is_some_and(|current| Arc::ptr_eq(current, &cast)) {
        open.remove(&key);
    }
    drop(open);
    cast.latest.send_modify(|latest| latest.over = true);
}

/// A running cast.
struct Source<'a> {
    cdp: &'a Cdp,
    session: &'a SessionId,
    key: &'a CastKey,
    cast: &'a Cast,
    unacknowledged: VecDeque<Unacknowledged>,
    /// The time of the last acknowledgement.
    acknowledged: Instant,
    /// A late acknowledgement may have made Chromium drop pictures.
    held_back: bool,
    /// Since when a picture is expected from Chromium.
    owed: Option<Instant>,
    /// How long to wait for the expected picture.
    patience: Duration,
    /// The page crashed and was reloaded: publish the next picture even if it is unchanged.
    reloaded: bool,
    visible: bool,
    nudged: Instant,
    /// Since when the cast pauses between two pictures.
    resting: Option<Instant>,
}

struct Unacknowledged {
    /// Chromium's number of the picture.
    id: i64,
    number: u64,
    came: Instant,
}

impl Source<'_> {
    async fn show(mut self, shared: &Shared) {
        let mut events = self.cdp.events(Some(self.session));
        let mut taken = self.cast.taken.subscribe();
        if self.start().await.is_err() {
            return;
        }
        let mut nudging: Option<BoxFuture<'_, ()>> = None;
        loop {
            let (acknowledge, refresh) = (self.acknowledge_at(), self.refresh_at());
            let nudge = self.nudge_at().filter(|_| nudging.is_none());
            let wake = self.wake_at();
            select! {
                event = events.next() => match event {
                    Some(Ok(event)) => {
                        if self.heard(&event) && self.key.in_passing {
                            self.rest().await;
                        }
                    }
                    // Events were lost, and Chromium waits for their acknowledgements.
                    Some(Err(_)) => {
                        self.unacknowledged.clear();
                        self.held_back = true;
                        self.acknowledged = Instant::now();
                    }
                    None => return,
                },
                () = self.cast.latest.closed() => {
                    if shared.close(self.key, self.cast) {
                        return;
                    }
                }
                _ = taken.changed() => {}
                () = at(acknowledge) => self.acknowledge().await,
                () = at(refresh) => self.refresh().await,
                () = at(wake) => {
                    self.resting = None;
                    // Fails only with the page or the browser, which events report.
                    let _ = self.start().await;
                }
                () = at(nudge) => {
                    self.nudged = Instant::now();
                    nudging = Some(nudge_page(self.cdp, self.session).boxed());
                }
                () = async { match &mut nudging {
                    Some(nudging) => nudging.await,
                    None => pending().await,
                } } => nudging = None,
            }
        }
    }

    async fn start(&mut self) -> Result<(), CdpError> {
        let CastKey { quality, max_width, max_height, .. } = self.key;
        let params = json!({
            "format": "jpeg", "quality": quality, "everyNthFrame": 1,
            "maxWidth": max_width, "maxHeight": max_height,
        });
        let started = self.ask("Page.startScreencast", params).await;
        self.owed = Some(Instant::now());
        started
    }

    async fn ask(&self, method: &str, params: serde_json::Value) -> Result<(), CdpError> {
        self.cdp.call::<IgnoredAny>(Some(self.session), method, params, ASK).await.map(|_| ())
    }

    /// Handles an event; returns whether there is a new picture.
    fn heard(&mut self, event: &Event) -> bool {
        match event.method.as_str() {
            "Page.screencastFrame" => {
                let Ok(frame) = event.read::<Frame<'_>>() else { return false };
                let (id, came) = (frame.session_id, Instant::now());
                (self.owed, self.patience) = (None, OWED);
                let before = self.newest();
                let number = self.publish(frame);
                self.unacknowledged.push_back(Unacknowledged { id, number, came });
                self.held_back |= self.unacknowledged.len() > IN_FLIGHT;
                number > before
            }
            "Page.screencastVisibilityChanged" => {
                let Ok(Visibility { visible }) = event.read() else { return false };
                self.visible = visible;
                self.cast.hidden.store(!visible, Ordering::Relaxed);
                false
            }
            "Inspector.targetReloadedAfterCrash" => {
                (self.owed, self.reloaded) = (Some(Instant::now()), true);
                false
            }
            _ => false,
        }
    }

    /// The number of the newest picture; 0 before the first.
    fn newest(&self) -> u64 {
        self.cast.latest.borrow().picture.as_ref().map_or(0, |picture| picture.number)
    }

    /// Pauses the cast. Starting it again shows what changed.
    async fn rest(&mut self) {
        self.unacknowledged.clear();
        self.held_back = false;
        self.resting = Some(Instant::now());
        let _ = self.ask("Page.stopScreencast", json!({})).await;
    }

    /// When the pause ends: not before a viewer took the newest picture.
    fn wake_at(&self) -> Option<Instant> {
        let since = self.resting?;
        let wanted = *self.cast.taken.borrow() >= self.newest();
        wanted.then(|| since + self.cast.period())
    }

    /// Publishes a picture, unless it equals the last one. Returns its number.
    fn publish(&mut self, frame: Frame<'_>) -> u64 {
        let last = self.cast.latest.borrow().picture.clone();
        let number = last.as_ref().map_or(0, |last| last.number);
        let Ok(jpeg) = STANDARD.decode(frame.data.as_bytes()) else { return number };
        let metadata = frame.metadata;
        let shown = Shown {
            tab: self.key.tab.clone(),
            width: metadata.device_width,
            height: metadata.device_height,
            page_scale: metadata.page_scale_factor,
            offset_top: metadata.offset_top,
            scroll_x: metadata.scroll_offset_x,
            scroll_y: metadata.scroll_offset_y,
            seq: 0,
        };
        let reloaded = std::mem::take(&mut self.reloaded);
        if !reloaded && last.is_some_and(|last| last.shown == shown && last.jpeg == jpeg) {
            return number;
        }
        let picture = Picture { number: number + 1, shown, jpeg: jpeg.into() };
        self.cast.latest.send_modify(|latest| latest.picture = Some(Arc::new(picture)));
        number + 1
    }

    /// When to acknowledge the oldest picture: after a viewer took it or a newer one, and no faster
    /// than the fastest viewer wants.
    fn acknowledge_at(&self) -> Option<Instant> {
        let oldest = self.unacknowledged.front()?;
        let wanted = *self.cast.taken.borrow() >= oldest.number;
        wanted.then(|| oldest.came.max(self.acknowledged + self.cast.period()))
    }

    async fn acknowledge(&mut self) {
        let Some(Unacknowledged { id, .. }) = self.unacknowledged.pop_front() else { return };
        self.acknowledged = Instant::now();
        // Fails only with the page or the browser, which events report.
        let _ = self.ask("Page.screencastFrameAck", json!({ "sessionId": id })).await;
    }

    /// When to request the current page, because pictures were dropped or one never came.
    fn refresh_at(&self) -> Option<Instant> {
        let due = self.held_back && self.unacknowledged.is_empty();
        let lost = due.then(|| self.acknowledged + self.cast.period().max(QUIET));
        let owed = self.owed.map(|since| since + self.patience);
        lost.into_iter().chain(owed).min()
    }

    /// Restarts the cast, which sends the current page. A page that is navigating refuses; the
    /// request is repeated soon.
    async fn refresh(&mut self) {
        if self.owed.is_some() {
            self.patience = (self.patience * 2).min(MOST_PATIENCE);
        }
        // The restarted cast waits for none of these.
        self.unacknowledged.clear();
        self.resting = None;
        let _ = self.ask("Page.stopScreencast", json!({})).await;
        self.held_back = self.start().await.is_err();
        self.acknowledged = Instant::now();
    }

    fn nudge_at(&self) -> Option<Instant> {
        let never_drawn = self.cast.latest.borrow().picture.is_none();
        let pause =
            if self.key.in_passing && !never_drawn { NUDGE_IN_PASSING } else { NUDGE_EVERY };
        (!self.visible || never_drawn).then(|| self.nudged + pause)
    }
}

/// Forces a page to paint, by taking a screenshot. The cast then gets a picture, too.
async fn nudge_page(cdp: &Cdp, session: &SessionId) {
    let params = json!({ "format": "jpeg", "quality": 1 });
    let method = "Page.captureScreenshot";
    let _ = cdp.call::<IgnoredAny>(Some(session), method, params, NUDGE).await;
}

pub(super) async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => pending().await,
    }
}
