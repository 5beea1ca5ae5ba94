//! Private sign-in. A person gets a private browser, all other calls are refused meanwhile, and the
//! signed-in state is carried from one browser to the other.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use helmdeck_wire::browser::{ExportState, ImportState, Origin, StorageItem, StorageState, TabId};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::json;

use crate::{Browser, BrowserError, page::Page, running::Running, world::Evaluated};

/// Reading and writing site storage takes one page for each site.
const CARRY: Duration = Duration::from_secs(30);
/// The target page may be slow.
const ARRIVE: Duration = Duration::from_secs(15);
/// Limit on visited origins whose storage is read.
const MAX_SITES: usize = 50;

const READ_SESSION: &str = "Object.keys(sessionStorage)
    .map((name) => ({ name, value: sessionStorage.getItem(name) }))";

/// A private sign-in in progress.
#[derive(Clone)]
pub struct SignIn {
    /// The name of the person, as shown to others.
    pub by: String,
    /// The key of the person's connections.
    pub key: String,
    /// The private browser.
    pub browser: Browser,
}

/// The page, cookies and storage carried from one browser to another.
#[derive(Clone)]
pub struct Carried {
    /// The address of the page.
    pub url: String,
    /// The tab of the page.
    pub tab: TabId,
    state: StorageState,
    /// The page's session storage, which belongs to its tab.
    session_storage: Vec<StorageItem>,
}

#[derive(Deserialize)]
struct History {
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    url: String,
}

#[derive(Deserialize)]
struct Added {
    identifier: String,
}

impl Browser {
    /// Starts or ends a private sign-in. Meanwhile, a person's calls go to the private browser, and
    /// all others fail.
    pub fn set_private(&self, sign_in: Option<SignIn>) {
        self.shared.private.send_replace(sign_in);
    }

    /// Watches the private sign-in.
    pub fn private(&self) -> tokio::sync::watch::Receiver<Option<SignIn>> {
        self.shared.private.subscribe()
    }

    /// Reads the page and the signed-in state of the session's own browser.
    pub async fn carried(&self) -> Result<Carried, BrowserError> {
        let deadline = Instant::now() + CARRY;
        let running = self.own(deadline).await?;
        let page = running.page(None, false, deadline).await?;
        let origins = visited(&running, deadline).await;
        let wanted = ExportState { origins, timeout_s: Default::default() };
        let state = running.export(&wanted, deadline).await?;
        let main = page.frames().into_iter().next();
        let url = main.map_or_else(|| "about:blank".to_owned(), |frame| frame.url);
        // Reading throws on a page without storage, such as about:blank.
        let session_storage = session_storage(&page, deadline).await.unwrap_or_default();
        Ok(Carried { url, tab: page.tab().clone(), state, session_storage })
    }

    /// Opens the page of another browser with its signed-in state. Uses `tab` if it still exists.
    pub async fn arrive(&self, carried: Carried, tab: Option<&TabId>) -> Result<(), BrowserError> {
        let Carried { url, state, session_storage, .. } = carried;
        let deadline = Instant::now() + CARRY;
        let running = self.own(deadline).await?;
        let import = ImportState { state, replace: false, timeout_s: Default::default() };
        running.import(&import, deadline).await?;
        if helmdeck_cdp::controls_browser(&url) {
            return Ok(());
        }
        let tab = tab.and_then(|tab| running.find(tab).ok());
        let page = match tab {
            Some(page) => page,
            None => running.page(None, true, deadline).await?,
        };
        page.ready(deadline).await?;
        go(&page, &url, &session_storage).await
    }
}

/// The origins in the histories of all open tabs.
async fn visited(running: &Running, deadline: Instant) -> Vec<Origin> {
    let mut origins = BTreeSet::new();
    let pages = running.known.tabs.lock().pages();
    for page in pages {
        let method = "Page.getNavigationHistory";
        let history = page.call::<History>(page.session(), method, json!({}), deadline).await;
        // A page that was closed meanwhile has no history.
        let entries = history.map(|history| history.entries).unwrap_or_default();
        origins.extend(entries.iter().rev().filter_map(|entry| Origin::of(&entry.url)));
    }
    origins.into_iter().take(MAX_SITES).collect()
}

async fn session_storage(page: &Page, deadline: Instant) -> Result<Vec<StorageItem>, BrowserError> {
    let params = json!({ "expression": READ_SESSION, "returnByValue": true });
    let read: Evaluated = page.call(page.session(), "Runtime.evaluate", params, deadline).await?;
    Ok(serde_json::from_value(read.result.value).unwrap_or_default())
}

/// Goes to a page. Its session storage is set before the page's own scripts run.
async fn go(page: &Page, url: &str, stored: &[StorageItem]) -> Result<(), BrowserError> {
    let deadline = Instant::now() + ARRIVE;
    let (session, origin) = (page.session(), Origin::of(url));
    let mut added = None;
    if let Some(origin) = origin.filter(|_| !stored.is_empty()) {
        // JSON texts are valid JavaScript expressions.
        let (items, origin) = (json!(stored), json!(origin.as_str()));
        let source = format!(
            "if (window === top && location.origin === {origin}) try {{
                for (const {{ name, value }} of {items}) sessionStorage.setItem(name, value)
            }} catch {{}}"
        );
        let params = json!({ "source": source });
        let method = "Page.addScriptToEvaluateOnNewDocument";
        added = Some(page.call::<Added>(session, method, params, deadline).await?.identifier);
    }
    let gone =
        page.call::<IgnoredAny>(session, "Page.navigate", json!({ "url": url }), deadline).await;
    if let Some(identifier) = added {
        let params = json!({ "identifier": identifier });
        let method = "Page.removeScriptToEvaluateOnNewDocument";
        page.call::<IgnoredAny>(session, method, params, deadline).await?;
    }
    match gone {
        Ok(_) => Ok(()),
        // The navigation continues.
        Err(BrowserError::Timeout(_)) => Ok(()),
        Err(error) => Err(error),
    }
}
