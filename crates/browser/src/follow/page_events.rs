//! What the events of a page, its frames and workers mean for its state.

use std::time::Instant;

use helmdeck_cdp::{Event, SessionId};
use serde::Deserialize;

use crate::{frames::Described, page::Page};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameEvent {
    frame_id: String,
    #[serde(default)]
    parent_frame_id: String,
    #[serde(default)]
    url: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    disposition: String,
    #[serde(default)]
    navigation_type: String,
}

#[derive(Deserialize)]
struct Navigated {
    frame: Described,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestEvent {
    request_id: String,
    #[serde(default)]
    loader_id: String,
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    request: Addressed,
}

#[derive(Default, Deserialize)]
struct Addressed {
    #[serde(default)]
    url: String,
}

pub(super) fn on_frame_event(page: &Page, session: &SessionId, event: &Event) {
    match event.method.as_str() {
        "Page.frameAttached" => {
            let Ok(FrameEvent { frame_id, parent_frame_id, .. }) = event.read() else { return };
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
                    state.asked.left();
                }
            });
        }
        "Page.navigatedWithinDocument" => {
            let Ok(FrameEvent { frame_id, url, .. }) = event.read() else { return };
            page.with(|state| state.frames.moved_within(&frame_id, &url));
        }
        "Page.frameRequestedNavigation"
        | "Page.frameScheduledNavigation"
        | "Page.frameStartedNavigating" => {
            let Ok(of) = event.read::<FrameEvent>() else { return };
            let here = of.disposition.is_empty() || of.disposition == "currentTab";
            let same =
                matches!(of.navigation_type.as_str(), "sameDocument" | "historySameDocument");
            if here && !same && of.frame_id == page.tab().0 {
                page.with(|state| state.loading.requested(Instant::now()));
            }
        }
        "Page.frameStartedLoading" | "Page.frameStoppedLoading" => {
            let Ok(FrameEvent { frame_id, .. }) = event.read() else { return };
            if frame_id == page.tab().0 {
                let (now, starts) = (Instant::now(), event.method == "Page.frameStartedLoading");
                page.with(|state| match starts {
                    true => state.loading.started(now),
                    false => state.loading.stopped(now),
                });
            }
        }
        "Page.frameDetached" => {
            let Ok(FrameEvent { frame_id, reason, .. }) = event.read() else { return };
            // A frame that moves to another process keeps its place in the tree.
            if reason != "swap" {
                page.with(|state| state.frames.removed(&frame_id));
            }
        }
        _ => {}
    }
}

pub(super) fn on_network_event(page: &Page, event: &Event) {
    let now = Instant::now();
    match event.method.as_str() {
        "Network.requestWillBeSent" => {
            let Ok(RequestEvent { request_id, loader_id, kind, request }) = event.read() else {
                return;
            };
            // These stay open for as long as the page wants.
            let stays = matches!(kind.as_str(), "EventSource" | "WebSocket" | "Ping");
            page.with(|state| {
                if !stays {
                    state.network.begun(&request_id, &loader_id, now);
                }
                if !stays && !matches!(kind.as_str(), "Media" | "Prefetch" | "Manifest") {
                    state.asked.begun(&request_id, &request.url, now);
                }
            });
        }
        "Network.loadingFinished" | "Network.loadingFailed" => {
            let Ok(RequestEvent { request_id, .. }) = event.read() else { return };
            page.with(|state| {
                state.network.ended(&request_id, now);
                state.asked.over(&request_id, now);
            });
        }
        _ => {}
    }
}

/// Handles requests that a worker took over from its page.
pub(super) fn on_worker_event(page: &Page, event: &Event) {
    if event.method != "Network.requestWillBeSent" {
        on_network_event(page, event);
    }
}
