//! Attaches to pages, frames and workers, and asks them to tell what happens.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use helmdeck_cdp::{Cdp, SessionId};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json};
use tokio::join;

use crate::{emulation::Emulating, frames::Listed, page::Page, record::MAX_POSTED};

/// A page may be busy, or a dialog may be open in it, while we ask it to tell what happens.
const READY: Duration = Duration::from_secs(120);

/// Attaching is a matter of the browser alone, however busy the page is.
const ATTACH: Duration = Duration::from_secs(10);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tree {
    frame_tree: Listed,
}

/// Attaches to a page. That it is so is told as an event.
///
/// One by one: a browser that attaches by itself makes every window that a page opens wait for us,
/// even if it is told not to.
pub(crate) async fn attach(cdp: Cdp, target: String) {
    let params = json!({ "targetId": target, "flatten": true });
    // It may be gone by now.
    let _ = cdp.call::<IgnoredAny>(None, "Target.attachToTarget", params, ATTACH).await;
}

/// Asks a session to tell what happens, and what is there already.
pub(crate) async fn prepare(
    page: Page,
    session: SessionId,
    worker: bool,
    emulating: Arc<Emulating>,
) {
    let deadline = Instant::now() + READY;
    let ask = |method: &'static str, params: Value| {
        let (page, session) = (page.clone(), session.clone());
        async move { page.call::<IgnoredAny>(&session, method, params, deadline).await.is_ok() }
    };
    let attach = json!({
        "autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true,
        "filter": [{ "type": "iframe" }, { "type": "worker" }],
    });
    // Their bodies are not kept for anybody.
    let no_bodies = json!({
        "maxTotalBufferSize": 0, "maxResourceBufferSize": 0, "maxPostDataSize": MAX_POSTED,
    });
    let tell = async {
        join!(
            ask("Network.enable", no_bodies),
            ask("Runtime.enable", json!({})),
            ask("Log.enable", json!({})),
            ask("Target.setAutoAttach", attach),
        )
    };
    if worker {
        tell.await;
        return;
    }
    let tree = page.call::<Tree>(&session, "Page.getFrameTree", json!({}), deadline);
    let (_, _, _, _, (), tree) = join!(
        ask("Page.enable", json!({})),
        ask("Page.setLifecycleEventsEnabled", json!({ "enabled": true })),
        tell,
        // The page behaves as if it had the focus, whichever window a person has it in.
        ask("Emulation.setFocusEmulationEnabled", json!({ "enabled": true })),
        emulating.tell(&page, &session, deadline),
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
