//! Private sign-in: while a person has a browser for themselves, nobody else uses this one, and who is
//! signed in travels from one to the other.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use helmdeck_wire::browser::{ExportState, ImportState, Origin, StorageItem, StorageState, TabId};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::json;

use crate::{Browser, BrowserError, page::Page, running::Running, world::Evaluated};

/// Reading and writing what sites have stored takes a page for each of them.
const CARRY: Duration = Duration::from_secs(30);
/// The page that is gone to may be slow.
const ARRIVE: Duration = Duration::from_secs(15);
/// Addresses that a person visited, whose sites are looked into.
const MAX_SITES: usize = 50;

const READ_SESSION: &str = "Object.keys(sessionStorage)
    .map((name) => ({ name, value: sessionStorage.getItem(name) }))";

/// Who signs in privately, and in which browser.
#[derive(Clone)]
pub struct SignIn {
    /// The person, as others are told.
    pub by: String,
    /// The key of their connections.
    pub key: String,
    /// Their own browser.
    pub browser: Browser,
}

/// Where a browser is, and as whom.
#[derive(Clone)]
pub struct Carried {
    /// The page.
    pub url: String,
    /// Its tab.
    pub tab: TabId,
    state: StorageState,
    /// What the page has stored for its tab alone.
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
    /// Gives a person a browser for themselves, or ends that. Meanwhile calls in a person's hands are
    /// about that browser, and all others fail.
    pub fn set_private(&self, sign_in: Option<SignIn>) {
        self.shared.private.send_replace(sign_in);
    }

    /// Who signs in privately, now and later.
    pub fn private(&self) -> tokio::sync::watch::Receiver<Option<SignIn>> {
        self.shared.private.subscribe()
    }

    /// Where the session's own browser is, and as whom.
    pub async fn carried(&self) -> Result<Carried, BrowserError> {
        let deadline = Instant::now() + CARRY;
        let running = self.own(deadline).await?;
        let page = running.page(None, false, deadline).await?;
        let origins = visited(&running, deadline).await;
        let wanted = ExportState { origins, timeout_s: Default::default() };
        let state = running.export(&wanted, deadline).await?;
        let main = page.frames().into_iter().next();
        let url = main.map_or_else(|| "about:blank".to_owned(), |frame| frame.url);
        // A page without storage, such as about:blank, throws.
        let session_storage = session_storage(&page, deadline).await.unwrap_or_default();
        Ok(Carried { url, tab: page.tab().clone(), state, session_storage })
    }

    /// Goes where another browser was, as whom it was there: in this tab, if there still is one.
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

/// The sites of all pages that were visited in the tabs that are open.
async fn visited(running: &Running, deadline: Instant) -> Vec<Origin> {
    let mut origins = BTreeSet::new();
    let pages = running.known.tabs.lock().pages();
    for page in pages {
        let method = "Page.getNavigationHistory";
        let history = page.call::<History>(page.session(), method, json!({}), deadline).await;
        // A page that is closed meanwhile has none.
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

/// Goes to a page whose tab has something stored before the page's own scripts run.
async fn go(page: &Page, url: &str, stored: &[StorageItem]) -> Result<(), BrowserError> {
    let deadline = Instant::now() + ARRIVE;
    let (session, origin) = (page.session(), Origin::of(url));
    let mut added = None;
    if let Some(origin) = origin.filter(|_| !stored.is_empty()) {
        // Two JSON texts are two expressions of the language.
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
        // It is on its way.
        Err(BrowserError::Timeout(_)) => Ok(()),
        Err(error) => Err(error),
    }
}
