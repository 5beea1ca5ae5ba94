//! Lets go what was told: the browser keeps each object that a page gave to its console for whoever
//! listens, until the document is left or they say that they do not need it.

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

/// Objects of so long are let go together.
const TOGETHER: Duration = Duration::from_millis(250);
/// A page may be busy.
const DEADLINE: Duration = Duration::from_secs(60);
/// What the browser calls them.
const GROUP: &str = "console";

/// How many objects of each session are held.
#[derive(Default)]
pub(crate) struct Releases {
    held: HashMap<SessionId, Arc<AtomicU64>>,
}

impl Releases {
    /// A session told of objects. What is to be done about it, unless it is being done already.
    pub fn told(&mut self, page: &Page, session: &SessionId) -> Option<BoxFuture<'static, ()>> {
        let held = Arc::clone(self.held.entry(session.clone()).or_default());
        let first = held.fetch_add(1, Ordering::Relaxed) == 0;
        first.then(|| release(page.clone(), session.clone(), held).boxed())
    }

    /// A session has ended, and holds nothing any more.
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
