//! Limits the sites that tabs open. What is outside is aborted before the request leaves the browser: the page stays
//! as it is.

use std::{
    mem,
    sync::Arc,
    time::{Duration, Instant},
};

use helmdeck_cdp::{Cdp, Event, EventStream};
use helmdeck_wire::site::Site;
use parking_lot::Mutex;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::json;
use tokio::task::AbortHandle;

use crate::{Browser, BrowserError, browser_session::BrowserSession};

/// Only the browser itself is involved.
const SHORT: Duration = Duration::from_secs(3);
/// A limit that is not renewed ends: its caller is gone.
const VALID: Duration = Duration::from_secs(300);
/// Limit on remembered addresses.
const REMEMBERED: usize = 100;

/// A limit of one browser, which ends when dropped.
pub(crate) struct SiteLimit {
    rules: Arc<Mutex<Rules>>,
    answering: AbortHandle,
}

struct Rules {
    sites: Vec<Site>,
    until: Instant,
    refused: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Paused {
    request_id: String,
    request: Request,
    frame_id: String,
}

#[derive(Deserialize)]
struct Request {
    url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Described {
    target_info: Info,
}

#[derive(Deserialize)]
struct Info {
    #[serde(rename = "type")]
    kind: String,
}

impl Browser {
    /// Limits the sites that tabs open for some minutes, or ends the limit. Returns the addresses that were refused
    /// since the last call. A browser that restarts has no limit until the next call.
    pub async fn limit_sites(&self, sites: Option<Vec<Site>>) -> Result<Vec<String>, BrowserError> {
        let Some(sites) = sites else {
            let ended = self.shared.site_limit.lock().take();
            return Ok(ended.map(|limit| limit.refused()).unwrap_or_default());
        };
        if let Some(limit) = &*self.shared.site_limit.lock()
            && !limit.answering.is_finished()
        {
            limit.renew(sites);
            return Ok(limit.refused());
        }
        let running = self.own(Instant::now() + SHORT).await?;
        let limit = SiteLimit::begin(&running.cdp, sites).await?;
        *self.shared.site_limit.lock() = Some(limit);
        Ok(Vec::new())
    }
}

impl SiteLimit {
    async fn begin(cdp: &Cdp, sites: Vec<Site>) -> Result<Self, BrowserError> {
        let session = BrowserSession::open(cdp, SHORT).await?;
        let requests = cdp.events(Some(session.id())).only("Fetch.");
        let until = Instant::now() + VALID;
        let rules = Arc::new(Mutex::new(Rules { sites, until, refused: Vec::new() }));
        // Requests that wait when the session ends go on.
        let params = json!({ "patterns": [{ "resourceType": "Document" }] });
        cdp.call::<IgnoredAny>(Some(session.id()), "Fetch.enable", params, SHORT).await?;
        let answering = answer_all(cdp.clone(), session, requests, rules.clone());
        let answering = helmdeck_task::spawn(answering).abort_handle();
        Ok(Self { rules, answering })
    }

    fn renew(&self, sites: Vec<Site>) {
        let mut rules = self.rules.lock();
        rules.sites = sites;
        rules.until = Instant::now() + VALID;
    }

    fn refused(&self) -> Vec<String> {
        mem::take(&mut self.rules.lock().refused)
    }
}

impl Drop for SiteLimit {
    fn drop(&mut self) {
        self.answering.abort();
    }
}

/// Answers until the browser ends, or until requests were missed: with the session, those go on.
async fn answer_all(
    cdp: Cdp,
    session: BrowserSession,
    mut requests: EventStream,
    rules: Arc<Mutex<Rules>>,
) {
    while let Some(Ok(event)) = requests.next().await {
        answer(&cdp, &session, &event, &rules).await;
    }
}

async fn answer(cdp: &Cdp, session: &BrowserSession, event: &Event, rules: &Mutex<Rules>) {
    let Ok(Paused { request_id, request, frame_id }) = event.read::<Paused>() else { return };
    let allowed = rules.lock().allow(&request.url) || !is_tab(cdp, session, &frame_id).await;
    let (method, params) = if allowed {
        ("Fetch.continueRequest", json!({ "requestId": request_id }))
    } else {
        rules.lock().refuse(request.url);
        ("Fetch.failRequest", json!({ "requestId": request_id, "errorReason": "Aborted" }))
    };
    // The browser may have given up the request.
    let _ = cdp.call::<IgnoredAny>(Some(session.id()), method, params, SHORT).await;
}

/// Whether a frame is the whole page of a tab. Frames inside of pages may show other sites.
async fn is_tab(cdp: &Cdp, session: &BrowserSession, frame: &str) -> bool {
    let params = json!({ "targetId": frame });
    let described: Result<Described, _> =
        cdp.call(Some(session.id()), "Target.getTargetInfo", params, SHORT).await;
    described.is_ok_and(|described| described.target_info.kind == "page")
}

impl Rules {
    fn allow(&self, url: &str) -> bool {
        let is_web = url.starts_with("http://") || url.starts_with("https://");
        !is_web
            || Instant::now() > self.until
            || Site::of(url).is_some_and(|site| self.sites.iter().any(|own| own.covers(&site)))
    }

    fn refuse(&mut self, url: String) {
        if self.refused.len() < REMEMBERED && !self.refused.contains(&url) {
            self.refused.push(url);
        }
    }
}
