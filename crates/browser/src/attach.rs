//! Attaches to pages, frames and workers, and enables their events.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use helmdeck_cdp::{Cdp, SessionId};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json};
use tokio::join;

use crate::{emulation::Emulating, frames::Listed, page::Page, record::MAX_POSTED};

/// Long, because the page may be busy or show a dialog while events are enabled.
const READY: Duration = Duration::from_secs(120);

/// Attaching involves only the browser, however busy the page is.
const ATTACH: Duration = Duration::from_secs(10);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tree {
    frame_tree: Listed,
}

/// Attaches to a page. The browser confirms it with an event.
///
/// Pages are attached one by one. With auto-attach, every window that a page opens would wait for
/// us, even with `waitForDebuggerOnStart` off.
pub(crate) async fn attach(cdp: Cdp, target: String) {
    let params = json!({ "targetId": target, "flatten": true });
    // The page may be gone by now.
    let _ = cdp.call::<IgnoredAny>(None, "Target.attachToTarget", params, ATTACH).await;
}

/// Attaches to the frames of other processes and to the workers of a session. With `wait`, they run
/// no script until [`prepare`] lets them.
pub(crate) fn auto_attach(wait: bool) -> (&'static str, Value) {
    let params = json!({
        "autoAttach": true, "waitForDebuggerOnStart": wait, "flatten": true,
        "filter": [{ "type": "iframe" }, { "type": "worker" }],
    });
    ("Target.setAutoAttach", params)
}

/// Attaches again to the frames and workers of a session whose events were lost. One of them could
/// wait for us.
pub(crate) async fn attach_again(page: Page, session: SessionId) {
    let deadline = Instant::now() + READY;
    let none = json!({ "autoAttach": false, "waitForDebuggerOnStart": false, "flatten": true });
    let (method, again) = auto_attach(true);
    for params in [none, again] {
        let _ = page.call::<IgnoredAny>(&session, method, params, deadline).await;
    }
}

/// What we were attached to.
pub(crate) struct Subject {
    pub session: SessionId,
    pub worker: bool,
    /// Whether it waits for us before its first script.
    pub waits: bool,
}

/// Enables the events of a session and reads its current state.
pub(crate) async fn prepare(page: Page, subject: Subject, emulating: Arc<Emulating>) {
    let Subject { session, worker, waits } = subject;
    let deadline = Instant::now() + READY;
    let ask = |method: &'static str, params: Value| {
        let (page, session) = (page.clone(), session.clone());
        async move { page.call::<IgnoredAny>(&session, method, params, deadline).await.is_ok() }
    };
    // Response bodies are not kept.
    let no_bodies = json!({
        "maxTotalBufferSize": 0, "maxResourceBufferSize": 0, "maxPostDataSize": MAX_POSTED,
    });
    let (method, attach) = auto_attach(emulating.any());
    let tell = async {
        join!(
            ask("Network.enable", no_bodies),
            ask("Runtime.enable", json!({})),
            ask("Log.enable", json!({})),
            ask(method, attach),
        )
    };
    // Calls are sent in this order, and the last one without waiting for the others: a frame that
    // does not answer still goes on.
    let resume = async {
        if waits {
            ask("Runtime.runIfWaitingForDebugger", json!({})).await;
        }
    };
    if worker {
        join!(tell, resume);
        return;
    }
    let tree = page.call::<Tree>(&session, "Page.getFrameTree", json!({}), deadline);
    let (_, _, _, _, (), tree, ()) = join!(
        ask("Page.enable", json!({})),
        ask("Page.setLifecycleEventsEnabled", json!({ "enabled": true })),
        tell,
        // The page behaves as focused, whichever window a person uses.
        ask("Emulation.setFocusEmulationEnabled", json!({ "enabled": true })),
        emulating.tell(&page, &session, deadline),
        tree,
        resume,
    );
    if let Ok(tree) = tree {
        page.with(|state| state.frames.listed(&session, &tree.frame_tree));
    }
    if session == *page.session() {
        page.set_ready();
    }
    page.tell();
}
