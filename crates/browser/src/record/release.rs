//! Releases console objects. The browser keeps each object that a page logs for its debugging
//! clients, until the document is left or they release it.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::{FutureExt as _, future::BoxFuture};
use helmdeck_cdp::SessionId;
use serde::de::IgnoredAny;
use serde_json::json;
use tokio::time::sleep;

use crate::page::Page;

/// Objects logged within this time are released together.
const TOGETHER: Duration = Duration::from_millis(250);
/// The page may be busy.
const DEADLINE: Duration = Duration::from_secs(60);
/// The browser's object group for the console.
const GROUP: &str = "console";

/// The number of held objects of each session.
#[derive(Default)]
pub(crate) struct Releases {
    held: HashMap<SessionId, Arc<AtomicU64>>,
}

impl Releases {
    /// A session holds objects. Returns the future that releases them, unless one is pending.
    pub fn schedule(&mut self, page: &Page, session: &SessionId) -> Option<BoxFuture<'static, ()>> {
        let held = Arc::clone(self.held.entry(session.clone()).or_default());
        let first = held.fetch_add(1, Ordering::Relaxed) == 0;
        first.then(|| release(page.clone(), session.clone(), held).boxed())
    }

    /// A session ended and holds nothing.
    pub fn forget(&mut self, session: &SessionId) {
        self.held.remove(session);
    }
}

async fn release(page: Page, session: SessionId, held: Arc<AtomicU64>) {
    loop {
        sleep(TOGETHER).await;
        let count = held.load(Ordering::Relaxed);
        let (method, params) = ("Runtime.releaseObjectGroup", json!({ "objectGroup": GROUP }));
        // A page that is gone holds nothing.
        let until = Instant::now() + DEADLINE;
        let _ = page.call::<IgnoredAny>(&session, method, params, until).await;
        if held.fetch_sub(count, Ordering::Relaxed) == count {
            return;
        }
    }
}
