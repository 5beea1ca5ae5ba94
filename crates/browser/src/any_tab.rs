//! Follows whether a browser has any tab, without disturbing its other clients.

use std::{collections::HashSet, time::Duration};

use helmdeck_cdp::{Cdp, CdpError, Event, EventStream, SessionId};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::json;

use crate::tabs::Target;

/// Limit on tracked tabs: what claims to have more is probably not a browser.
const MAX_TABS: usize = 10_000;

/// Follows whether a browser has any tab, over a separate session with the browser.
pub struct AnyTab {
    events: EventStream,
    tabs: HashSet<String>,
    /// The last value returned by `next`.
    told: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Opened {
    session_id: SessionId,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Described {
    target_info: Target,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Destroyed {
    target_id: String,
}

impl AnyTab {
    /// Starts watching a browser.
    pub async fn of(cdp: &Cdp, deadline: Duration) -> Result<Self, CdpError> {
        let method = "Target.attachToBrowserTarget";
        let Opened { session_id } = cdp.call(None, method, json!({}), deadline).await?;
        let events = cdp.events(Some(&session_id)).only("Target.target");
        let pages = json!({ "discover": true, "filter": [{ "type": "page" }] });
        let method = "Target.setDiscoverTargets";
        // The existing tabs are reported before the answer.
        cdp.call::<IgnoredAny>(Some(&session_id), method, pages, deadline).await?;
        Ok(Self { events, tabs: HashSet::new(), told: false })
    }

    /// Waits until the browser gets its first tab or loses its last, and returns whether it has
    /// any.
    /// `None` when the browser is gone or events were lost. Cancel-safe.
    pub async fn next(&mut self) -> Option<bool> {
        loop {
            let any = !self.tabs.is_empty();
            if any != self.told {
                self.told = any;
                return Some(any);
            }
            let event = self.events.next().await?.ok()?;
            self.hear(&event);
        }
    }

    fn hear(&mut self, event: &Event) {
        match event.method.as_str() {
            "Target.targetCreated" | "Target.targetInfoChanged" => {
                let Ok(Described { target_info }) = event.read() else { return };
                // A target that was a tab once stays a tab, whatever it shows later.
                if target_info.is_tab() && self.tabs.len() < MAX_TABS {
                    self.tabs.insert(target_info.target_id);
                }
            }
            "Target.targetDestroyed" => {
                let Ok(Destroyed { target_id }) = event.read() else { return };
                self.tabs.remove(&target_id);
            }
            _ => {}
        }
    }
}
