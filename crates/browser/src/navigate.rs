//! Navigates to an address or through a tab's history, and waits for the page.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    time::{Duration, Instant},
};

use helmdeck_cdp::{CdpError, Event, EventStream};
use helmdeck_wire::browser::{History, Navigate, Navigated, Until, Vault};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout_at;

use crate::{
    BrowserError, address::addressed, downloads::Mark, locate::GRACE, page_action::PageAction,
    world::Evaluated,
};

/// How long a download may take to begin in place of a page.
const DOWNLOAD: Duration = Duration::from_secs(1);
/// Marks an answer of the session's proxy that replaces the host's.
const EGRESS_HEADER: &str = "x-helmdeck-egress";
/// How long the error page of a failed navigation may take to appear.
const FAILURE: Duration = Duration::from_millis(500);
/// Chromium drops requests when an interface or address of the sandbox appears or goes.
const NETWORK_CHANGED: &str = "net::ERR_NETWORK_CHANGED";
/// How many such changes a navigation survives.
const NETWORK_CHANGES: usize = 3;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    #[serde(default)]
    loader_id: Option<String>,
    #[serde(default)]
    error_text: Option<String>,
    #[serde(default)]
    is_download: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entries {
    current_index: usize,
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    id: i64,
}

/// The progress of a navigation, from the page's events.
struct Arrival {
    main: String,
    wanted: &'static str,
    /// The expected document; if unknown, any document other than the previous one.
    loader: Option<String>,
    /// Whether a navigation within the document counts.
    within: bool,
    arrived: bool,
    /// Why the page cannot be shown.
    failed: Option<String>,
    unreachable: Option<String>,
    statuses: HashMap<String, u16>,
    /// Requests that the session's proxy answered in place of the host.
    refused: HashSet<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Lifecycle {
    frame_id: String,
    loader_id: String,
    name: String,
}

#[derive(Deserialize)]
struct Committed {
    frame: Document,
    #[serde(rename = "type", default)]
    kind: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    id: String,
    loader_id: String,
    #[serde(default)]
    unreachable_url: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Within {
    frame_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Received {
    request_id: String,
    response: Response,
}

#[derive(Deserialize)]
struct Response {
    status: u16,
    url: String,
    #[serde(default)]
    headers: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Failed {
    request_id: String,
    error_text: String,
}

impl PageAction {
    pub async fn navigate(&mut self, navigate: &Navigate) -> Result<Navigated, BrowserError> {
        let mut events = self.page.events();
        let mut arrival = Arrival::new(&self.page.tab().0, navigate.wait_until);
        let whereto = match (&navigate.url, navigate.history) {
            (Some(_), Some(_)) => {
                let message = "set url or history, not both";
                return Err(BrowserError::Invalid { field: "history", message });
            }
            (Some(url), None) => {
                let gone = self.go(&addressed(url)?, &mut arrival).await;
                if matches!(gone, Err(BrowserError::Navigation { .. })) {
                    self.show_failure(&mut events, &mut arrival).await;
                }
                gone?
            }
            (None, Some(History::Reload)) => {
                self.ask_shown("Page.reload", json!({})).await?;
                "the page".to_owned()
            }
            (None, Some(step)) => self.step(step, &mut arrival).await?,
            (None, None) => return Err(BrowserError::MissingUrl),
        };
        self.arrive(&mut events, &mut arrival, &whereto).await?;
        if arrival.is_refused() {
            // The error page stays: it explains the failure to viewers.
            let why = "the session's proxy refused the connection".to_owned();
            return Err(BrowserError::Navigation { url: whereto, why });
        }
        if navigate.wait_until == Until::NetworkIdle {
            self.quiet().await?;
        }
        let title = self.title().await;
        let status = arrival.status();
        Ok(Navigated { acted: self.acted().await?, title, status, vault: Vault::default() })
    }

    /// Navigates to an address. Begins again if the network changed meanwhile.
    async fn go(&self, url: &str, arrival: &mut Arrival) -> Result<String, BrowserError> {
        for _ in 0..NETWORK_CHANGES {
            match self.try_to_go(url, arrival).await {
                Err(BrowserError::Navigation { why, .. }) if why == NETWORK_CHANGED => {}
                gone => return gone,
            }
        }
        self.try_to_go(url, arrival).await
    }

    async fn try_to_go(&self, url: &str, arrival: &mut Arrival) -> Result<String, BrowserError> {
        let begun = self.running.known.downloads.lock().mark();
        let session = self.page.session();
        let params = json!({ "url": url });
        let answer = self.page.call::<Answer>(session, "Page.navigate", params, self.deadline);
        let answer = match answer.await {
            Ok(answer) => answer,
            Err(BrowserError::Timeout(_)) => {
                return Err(BrowserError::Timeout(format!("{url} did not answer in time")));
            }
            Err(BrowserError::Browser(CdpError::Refused { message, .. })) => {
                return Err(BrowserError::Navigation { url: url.to_owned(), why: message });
            }
            Err(error) => return Err(error),
        };
        if let Some(why) = answer.error_text {
            // The navigation became a download; the previous page stays.
            if answer.is_download || why == "net::ERR_ABORTED" && self.download_began(begun).await {
                arrival.arrived = true;
                return Ok(url.to_owned());
            }
            return Err(BrowserError::Navigation { url: url.to_owned(), why });
        }
        arrival.arrived = answer.loader_id.is_none();
        arrival.loader = answer.loader_id;
        Ok(url.to_owned())
    }

    /// Waits for the error page, which appears a moment later. Until then, calls to the page fail.
    async fn show_failure(&self, events: &mut EventStream, arrival: &mut Arrival) {
        let until = (Instant::now() + FAILURE).min(self.deadline);
        while arrival.unreachable.is_none() {
            match timeout_at(until.into(), events.next()).await {
                Ok(Some(Ok(event))) => arrival.hear(&event),
                Ok(Some(Err(_))) => {}
                Ok(None) | Err(_) => return,
            }
        }
    }

    async fn step(&self, step: History, arrival: &mut Arrival) -> Result<String, BrowserError> {
        let (page, session) = (&self.page, self.page.session());
        let method = "Page.getNavigationHistory";
        let Entries { current_index, entries } =
            page.call(session, method, json!({}), self.deadline).await?;
        let (index, name) = match step {
            History::Forward => (current_index.checked_add(1), "the next page"),
            History::Back | History::Reload => (current_index.checked_sub(1), "the page before"),
        };
        let Some(entry) = index.and_then(|index| entries.get(index)) else {
            let why = "the tab's history ends here".to_owned();
            return Err(BrowserError::Navigation { url: name.to_owned(), why });
        };
        arrival.within = true;
        let params = json!({ "entryId": entry.id });
        self.ask_shown("Page.navigateToHistoryEntry", params).await?;
        Ok(name.to_owned())
    }

    /// Repeats a call for a moment: between two documents the browser refuses it.
    async fn ask_shown(&self, method: &str, params: Value) -> Result<(), BrowserError> {
        let until = (Instant::now() + FAILURE).min(self.deadline);
        loop {
            let news = self.page.next_news();
            match self.ask(method, &params).await {
                Err(BrowserError::Browser(CdpError::Refused { .. })) if Instant::now() < until => {}
                answer => return answer,
            }
            let _ = timeout_at(until.into(), news).await;
        }
    }

    async fn arrive(
        &self,
        events: &mut EventStream,
        arrival: &mut Arrival,
        whereto: &str,
    ) -> Result<(), BrowserError> {
        while !arrival.arrived {
            match timeout_at(self.deadline.into(), events.next()).await {
                Ok(Some(Ok(event))) if event.method == "Inspector.targetCrashed" => {
                    return Err(BrowserError::PageGone);
                }
                Ok(Some(Ok(event))) => arrival.hear(&event),
                Ok(Some(Err(_))) => {}
                Ok(None) if self.page.cdp().is_closed() => return Err(BrowserError::Restarted),
                Ok(None) => return Err(BrowserError::PageGone),
                Err(_) => {
                    let what = arrival.wanted;
                    return Err(BrowserError::Timeout(format!(
                        "{whereto} is not there in time ({what} did not come): look at it as it is \
                         now, wait less far with wait_until: dom, or longer with timeout_s"
                    )));
                }
            }
            if let Some(url) = arrival.unreachable.take() {
                let why = arrival.failed.take().unwrap_or_else(|| "it cannot be reached".into());
                return Err(BrowserError::Navigation { url, why });
            }
        }
        Ok(())
    }

    /// Waits until the network has been idle for a while.
    pub async fn quiet(&self) -> Result<(), BrowserError> {
        loop {
            let (quiet, count) =
                self.page.with(|state| (state.network.quiet_at(), state.network.count()));
            let now = Instant::now();
            if quiet.is_some_and(|quiet| quiet <= now) {
                return Ok(());
            }
            if now >= self.deadline {
                return Err(BrowserError::Timeout(format!(
                    "the network did not become idle in time: {count} requests are in progress"
                )));
            }
            self.page.news(quiet.unwrap_or(self.deadline).min(self.deadline)).await;
        }
    }

    async fn download_began(&self, since: Mark) -> bool {
        let until = (Instant::now() + DOWNLOAD).min(self.deadline);
        loop {
            let news = self.running.known.news.notified();
            if self.running.known.downloads.lock().any_since(since) {
                return true;
            }
            if timeout_at(until.into(), news).await.is_err() {
                return false;
            }
        }
    }

    /// The page's title; empty if it has none.
    pub async fn title(&self) -> String {
        let params = json!({ "expression": "document.title", "returnByValue": true });
        let session = self.page.session();
        let until = Instant::now() + GRACE;
        let title = self.page.call::<Evaluated>(session, "Runtime.evaluate", params, until).await;
        let title = title.ok().and_then(|title| title.result.value.as_str().map(str::to_owned));
        title.unwrap_or_default()
    }
}

impl Arrival {
    fn new(main: &str, until: Until) -> Self {
        let wanted = match until {
            Until::Dom => "DOMContentLoaded",
            Until::Load | Until::NetworkIdle => "load",
        };
        Self {
            main: main.to_owned(),
            wanted,
            loader: None,
            within: false,
            arrived: false,
            failed: None,
            unreachable: None,
            statuses: HashMap::new(),
            refused: HashSet::new(),
        }
    }

    fn is_refused(&self) -> bool {
        self.loader.as_ref().is_some_and(|loader| self.refused.contains(loader))
    }

    fn status(&self) -> Option<u16> {
        self.loader.as_ref().and_then(|loader| self.statuses.get(loader).copied())
    }

    fn hear(&mut self, event: &Event) {
        match event.method.as_str() {
            "Page.frameNavigated" => {
                let Ok(Committed { frame, kind }) = event.read() else { return };
                if frame.id == self.main {
                    self.unreachable = frame.unreachable_url;
                    self.loader = Some(frame.loader_id);
                    // A page restored from the back-forward cache loads nothing.
                    self.arrived |= kind == "BackForwardCacheRestore";
                }
            }
            "Page.navigatedWithinDocument" => {
                let Ok(Within { frame_id }) = event.read() else { return };
                self.arrived |= self.within && self.loader.is_none() && frame_id == self.main;
            }
            "Page.lifecycleEvent" => {
                let Ok(Lifecycle { frame_id, loader_id, name }) = event.read() else { return };
                let here = frame_id == self.main && self.loader.as_ref() == Some(&loader_id);
                self.arrived |= here && name == self.wanted;
            }
            "Network.responseReceived" => {
                let Ok(Received { request_id, response }) = event.read() else { return };
                if !response.url.starts_with("http") || self.statuses.len() >= 1000 {
                    return;
                }
                // Over TLS, the proxy cannot answer in place of a host.
                let named = |name: &String| name.eq_ignore_ascii_case(EGRESS_HEADER);
                if response.url.starts_with("http:") && response.headers.keys().any(named) {
                    self.refused.insert(request_id.clone());
                }
                self.statuses.insert(request_id, response.status);
            }
            "Network.loadingFailed" => {
                let Ok(Failed { request_id, error_text }) = event.read() else { return };
                if self.loader.as_ref().is_none_or(|loader| *loader == request_id) {
                    self.failed = Some(error_text);
                }
            }
            _ => {}
        }
    }
}
