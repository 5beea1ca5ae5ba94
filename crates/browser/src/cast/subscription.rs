//! The casts of a browser, and the viewers of each.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use helmdeck_cdp::{Cdp, CdpError, SessionId};
use helmdeck_wire::{
    browser::TabId,
    cast::{CastView, Quality, Shown, Side},
};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{OnceCell, watch};

use super::source;

/// These calls involve only the browser, however busy the page is.
pub(super) const ASK: Duration = Duration::from_secs(10);

/// Identifies a cast.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct CastKey {
    pub tab: TabId,
    pub quality: Quality,
    pub max_width: Side,
    pub max_height: Side,
    /// For thumbnails: a lower rate.
    pub in_passing: bool,
}

impl CastKey {
    pub fn of(tab: &TabId, view: &CastView, in_passing: bool) -> Self {
        let CastView { quality, max_width, max_height, .. } = *view;
        Self { tab: tab.clone(), quality, max_width, max_height, in_passing }
    }
}

/// One picture.
pub(crate) struct Picture {
    /// Its position in the cast.
    pub number: u64,
    pub shown: Shown,
    pub jpeg: Bytes,
}

/// All casts of a browser.
pub(crate) struct Casts {
    shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub cdp: Cdp,
    /// Tabs are attached from this session, so that no other session gets events for it.
    session: OnceCell<SessionId>,
    pub open: Mutex<HashMap<CastKey, Arc<Cast>>>,
}

/// One cast, as its viewers know it.
pub(super) struct Cast {
    pub latest: watch::Sender<Latest>,
    /// The newest picture that any viewer took.
    pub taken: watch::Sender<u64>,
    /// The pictures per second of each viewer.
    paces: Mutex<Vec<u32>>,
    pub hidden: AtomicBool,
}

#[derive(Clone, Default)]
pub(crate) struct Latest {
    pub picture: Option<Arc<Picture>>,
    /// No more pictures follow: the tab is gone or cannot be shown.
    pub over: bool,
}

/// A viewer's place in a cast. The cast ends with its last seat.
pub(crate) struct Subscription {
    cast: Arc<Cast>,
    latest: watch::Receiver<Latest>,
    pub key: CastKey,
    pace: u32,
    /// The last picture taken.
    seen: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attached {
    session_id: SessionId,
}

impl Casts {
    pub fn new(cdp: Cdp) -> Self {
        let (session, open) = (OnceCell::new(), Mutex::default());
        Self { shared: Arc::new(Shared { cdp, session, open }) }
    }

    /// Takes a seat in a cast, and starts the cast if necessary.
    pub fn join(&self, key: CastKey, pace: u32) -> Subscription {
        let mut open = self.shared.open.lock();
        let cast = open.entry(key.clone()).or_insert_with(|| {
            let cast = Arc::new(Cast {
                latest: watch::Sender::default(),
                taken: watch::Sender::default(),
                paces: Mutex::default(),
                hidden: AtomicBool::new(false),
            });
            // Ends with its last viewer, its tab or its browser.
            helmdeck_task::spawn(source::run(
                Arc::clone(&self.shared),
                key.clone(),
                Arc::clone(&cast),
            ));
            cast
        });
        cast.paces.lock().push(pace);
        let (cast, latest) = (Arc::clone(cast), cast.latest.subscribe());
        Subscription { cast, latest, key, pace, seen: 0 }
    }

    /// Whether a cast tab is hidden. Unknown, and so false, while the cast pauses.
    pub fn hidden(&self, tab: &TabId) -> bool {
        let open = self.shared.open.lock();
        let mut casts = open.iter().filter(|(key, _)| key.tab == *tab && !key.in_passing);
        casts.any(|(_, cast)| cast.hidden.load(Ordering::Relaxed))
    }
}

impl Subscription {
    /// The newest picture, and whether the cast is over.
    pub fn latest(&mut self) -> Latest {
        self.latest.borrow_and_update().clone()
    }

    /// Waits for a newer one. Cancel-safe.
    pub async fn changed(&mut self) {
        // The sender lives in `cast`.
        let _ = self.latest.changed().await;
    }

    /// Whether this viewer has not taken the picture yet.
    pub fn is_new(&self, picture: &Picture) -> bool {
        picture.number != self.seen
    }

    /// Marks a picture as taken.
    pub fn take(&mut self, picture: &Picture) {
        self.seen = picture.number;
        self.cast.taken.send_if_modified(|taken| {
            let newer = picture.number > *taken;
            *taken = picture.number.max(*taken);
            newer
        });
    }

    /// Sets how many pictures per second the viewer takes.
    pub fn set_pace(&mut self, pace: u32) {
        if pace != self.pace {
            self.cast.leave(self.pace);
            self.cast.paces.lock().push(pace);
            self.pace = pace;
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.cast.leave(self.pace);
    }
}

impl Cast {
    fn leave(&self, pace: u32) {
        let mut paces = self.paces.lock();
        if let Some(index) = paces.iter().position(|one| *one == pace) {
            paces.swap_remove(index);
        }
    }

    /// The interval between two pictures of the fastest viewer.
    pub fn period(&self) -> Duration {
        let fastest = self.paces.lock().iter().copied().max();
        Duration::from_secs(1) / fastest.unwrap_or(1).max(1)
    }
}

impl Shared {
    pub async fn attach(&self, tab: &TabId) -> Result<(SessionId, SessionId), CdpError> {
        let to_browser = async {
            let method = "Target.attachToBrowserTarget";
            let attached = self.cdp.call::<Attached>(None, method, json!({}), ASK).await?;
            Ok::<_, CdpError>(attached.session_id)
        };
        let parent = self.session.get_or_try_init(|| to_browser).await?;
        let params = json!({ "targetId": tab.0, "flatten": true });
        let attached =
            self.cdp.call::<Attached>(Some(parent), "Target.attachToTarget", params, ASK);
        Ok((parent.clone(), attached.await?.session_id))
    }

    /// Ends a cast without viewers. False if a viewer has just joined.
    pub fn close(&self, key: &CastKey, cast: &Cast) -> bool {
        let mut open = self.open.lock();
        let empty = cast.latest.receiver_count() == 0;
        if empty {
            open.remove(key);
        }
        empty
    }
}
