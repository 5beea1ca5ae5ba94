//! Limits the sites that tabs open. What is outside is aborted before the request leaves the browser: the page stays
//! as it is.

use std::{
    collections::HashMap,
    mem,
    sync::Arc,
    time::{Duration, Instant},
};

use helmdeck_cdp::{Cdp, CdpError, Event, EventStream};
use helmdeck_wire::{guest::RefusedSites, site::Site};
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

/// The limits of one browser, which end when dropped.
pub(crate) struct SiteLimit {
    owners: Arc<Mutex<Owners>>,
    answering: AbortHandle,
}

/// What each owner limits. An address has to be within all of them.
#[derive(Default)]
struct Owners(HashMap<String, Rules>);

struct Rules {
    sites: Vec<Site>,
    until: Instant,
    refused: Vec<String>,
    /// Downloads of the browser that were reported already, or began before the limit.
    downloads: u64,
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
    /// Limits the sites that tabs open for some minutes, or ends the owner's limit. Returns the addresses that it
    /// refused and the downloads that began since the last call. A browser that restarts has no limit until the next
    /// call.
    pub async fn limit_sites(
        &self,
        owner: &str,
        sites: Option<Vec<Site>>,
    ) -> Result<RefusedSites, BrowserError> {
        let _one_at_a_time = self.shared.limiting.lock().await;
        let Some(sites) = sites else {
            let downloads = self.shared.listeners.downloads();
            let mut current = self.shared.site_limit.lock();
            let Some(limit) = &*current else { return Ok(RefusedSites::default()) };
            let refused = limit.owners.lock().end(owner, downloads);
            if limit.owners.lock().0.is_empty() {
                current.take();
            }
            return Ok(refused);
        };
        let mut owners = Owners::default();
        if let Some(limit) = &*self.shared.site_limit.lock() {
            if !limit.answering.is_finished() {
                let downloads = self.shared.listeners.downloads();
                return Ok(limit.owners.lock().renew(owner, sites, downloads));
            }
            owners = mem::take(&mut *limit.owners.lock());
        }
        let refused = owners.renew(owner, sites, self.shared.listeners.downloads());
        let running = match self.own(Instant::now() + SHORT).await {
            // A browser that runs and does not answer is not the same as none.
            Err(BrowserError::Unavailable) if self.is_there().await => {
                return Err(BrowserError::Timeout("the browser did not answer in time".to_owned()));
            }
            running => running?,
        };
        let limit = SiteLimit::begin(&running.cdp, owners).await?;
        *self.shared.site_limit.lock() = Some(limit);
        Ok(refused)
    }
}

impl SiteLimit {
    async fn begin(cdp: &Cdp, owners: Owners) -> Result<Self, BrowserError> {
        let session = BrowserSession::open(cdp, SHORT).await?;
        let requests = cdp.events(Some(session.id())).only("Fetch.");
        let owners = Arc::new(Mutex::new(owners));
        // Requests that wait when the session ends go on.
        let params = json!({ "patterns": [{ "resourceType": "Document" }] });
        cdp.call::<IgnoredAny>(Some(session.id()), "Fetch.enable", params, SHORT).await?;
        let answering = answer_all(cdp.clone(), session, requests, owners.clone());
        let answering = helmdeck_task::spawn(answering).abort_handle();
        Ok(Self { owners, answering })
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
    owners: Arc<Mutex<Owners>>,
) {
    while let Some(Ok(event)) = requests.next().await {
        answer(&cdp, &session, &event, &owners).await;
    }
}

async fn answer(cdp: &Cdp, session: &BrowserSession, event: &Event, owners: &Mutex<Owners>) {
    let Ok(Paused { request_id, request, frame_id }) = event.read::<Paused>() else { return };
    let allowed = owners.lock().allow(&request.url) || !may_be_tab(cdp, session, &frame_id).await;
    let (method, params) = if allowed {
        ("Fetch.continueRequest", json!({ "requestId": request_id }))
    } else {
        owners.lock().refuse(&request.url);
        ("Fetch.failRequest", json!({ "requestId": request_id, "errorReason": "Aborted" }))
    };
    // The browser may have given up the request.
    let _ = cdp.call::<IgnoredAny>(Some(session.id()), method, params, SHORT).await;
}

/// Whether a frame is the whole page of a tab, or could be. Frames inside of pages may show other sites.
async fn may_be_tab(cdp: &Cdp, session: &BrowserSession, frame: &str) -> bool {
    let params = json!({ "targetId": frame });
    let described: Result<Described, _> =
        cdp.call(Some(session.id()), "Target.getTargetInfo", params, SHORT).await;
    match described {
        Ok(described) => described.target_info.kind == "page",
        // A frame in the process of its page is no target.
        Err(CdpError::Refused { .. }) => false,
        Err(_) => true,
    }
}

impl Owners {
    /// Begins or renews a limit, and returns what it refused and what began. `downloads` have begun so far.
    fn renew(&mut self, owner: &str, sites: Vec<Site>, downloads: u64) -> RefusedSites {
        let now = Instant::now();
        let (until, refused) = (now + VALID, self.end(owner, downloads));
        self.0.retain(|_, rules| now <= rules.until);
        let rules = Rules { sites, until, refused: Vec::new(), downloads };
        self.0.insert(owner.to_owned(), rules);
        refused
    }

    /// Ends a limit, and returns what it refused and what began.
    fn end(&mut self, owner: &str, downloads: u64) -> RefusedSites {
        let Some(rules) = self.0.remove(owner) else { return RefusedSites::default() };
        let downloads = downloads.saturating_sub(rules.downloads);
        RefusedSites { urls: rules.refused, downloads }
    }

    fn allow(&self, url: &str) -> bool {
        self.0.values().all(|rules| rules.allow(url))
    }

    fn refuse(&mut self, url: &str) {
        let refusing = self.0.values_mut().filter(|rules| !rules.allow(url));
        refusing.for_each(|rules| rules.refuse(url));
    }
}

impl Rules {
    fn allow(&self, url: &str) -> bool {
        let is_web = url.starts_with("http://") || url.starts_with("https://");
        !is_web
            || Instant::now() > self.until
            || Site::of(url).is_some_and(|site| self.sites.iter().any(|own| own.covers(&site)))
    }

    fn refuse(&mut self, url: &str) {
        if self.refused.len() < REMEMBERED && !self.refused.iter().any(|old| old == url) {
            self.refused.push(url.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_several_owners_hold_together_and_end_one_by_one() {
        let sites = |hosts: &[&str]| hosts.iter().filter_map(|host| Site::of(host)).collect();
        let mut owners = Owners::default();
        owners.renew("one", sites(&["https://a.test", "https://b.test"]), 0);
        owners.renew("two", sites(&["https://b.test", "https://c.test"]), 0);
        let allowed = |owners: &Owners| {
            let urls = ["https://a.test/", "https://b.test/", "https://c.test/"];
            urls.map(|url| owners.allow(url))
        };
        assert_eq!(allowed(&owners), [false, true, false]);
        owners.refuse("https://a.test/");
        assert_eq!(owners.end("another", 0), RefusedSites::default());
        assert_eq!(owners.renew("one", sites(&["https://a.test"]), 0), RefusedSites::default());
        assert_eq!(owners.end("two", 0).urls, ["https://a.test/"]);
        assert_eq!(allowed(&owners), [true, false, false]);
        owners.end("one", 0);
        assert_eq!(allowed(&owners), [true; 3]);
    }

    #[test]
    fn each_owner_is_told_once_of_downloads_that_began_during_its_limit() {
        let mut owners = Owners::default();
        let mut told = |owner: &str, begun| owners.renew(owner, Vec::new(), begun).downloads;
        assert_eq!(told("one", 3), 0);
        assert_eq!(told("one", 4), 1);
        assert_eq!(told("two", 5), 0);
        assert_eq!([told("one", 5), told("one", 5), told("two", 5)], [1, 0, 0]);
    }
}
