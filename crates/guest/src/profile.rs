//! Loads and saves the browser's profile: what keeps it signed in, without caches.
//!
//! Cookies are also kept in a separate file: the browser writes its own only now and then, and
//! never its session cookies. The agent's programs can reach neither.

use std::{
    fs, io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures_util::Stream;
use helmdeck_cdp::{Cdp, CdpError, Current};
use helmdeck_task::block_in_place;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use tokio::{sync::Notify, time::timeout};

use crate::{
    archive::{self, Source},
    error::GuestError,
    nest::BROWSER_HOME,
};

/// Relative to the browser's home.
const PROFILE: &str = ".config/chromium";
/// The name of the file with all cookies, in the archive.
const COOKIES: &str = "helmdeck-cookies.json";
/// Where it is created: nested sandboxes have another `/tmp`.
const OURS: &str = "/tmp/helmdeck-profile";
/// Excluded files: caches, and files that belong to one run. By full name, by prefix, and by
/// substring.
const LEFT_OUT: [&str; 7] = [
    "DevToolsActivePort",
    "Crash Reports",
    "Crashpad",
    "component_crx_cache",
    "extensions_crx_cache",
    "segmentation_platform",
    "lockfile",
];
const LEFT_OUT_BEGINNINGS: [&str; 4] =
    ["Singleton", "BrowserMetrics", "Safe Browsing", "optimization_guide"];
const LEFT_OUT_PART: &str = "Cache";
/// The browser answers at once, and flushes its data before it ends.
const CALL_DEADLINE: Duration = Duration::from_secs(3);
const CLOSE_DEADLINE: Duration = Duration::from_secs(5);
/// Browsers keep a few thousand cookies of a few kilobytes.
const MAX_COOKIES: u64 = 64 << 20;

/// Whether the browser is to stay closed after it ends.
#[derive(Clone, Default)]
pub struct StayClosed {
    set: Arc<AtomicBool>,
    gone: Arc<Notify>,
}

impl StayClosed {
    /// Whether it is to stay closed.
    pub fn is_set(&self) -> bool {
        self.set.load(Ordering::Acquire)
    }

    /// Marks it as ended for good.
    pub fn gone(&self) {
        self.gone.notify_one();
    }
}

fn is_left_out(name: &str) -> bool {
    LEFT_OUT.contains(&name)
        || LEFT_OUT_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || name.contains(LEFT_OUT_PART)
}

/// Unpacks a profile into the browser's home, and returns the cookies to restore. Called before the
/// agent runs anything.
pub async fn load<E>(
    pieces: impl Stream<Item = Result<Bytes, E>> + Unpin,
) -> Result<Option<Value>, GuestError>
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    archive::unpack(Path::new(BROWSER_HOME), pieces, "the profile").await?;
    Ok(block_in_place(|| take_cookies(&Path::new(BROWSER_HOME).join(COOKIES))))
}

/// Reads the cookie file of the archive and removes it.
fn take_cookies(path: &Path) -> Option<Value> {
    let facts = fs::symlink_metadata(path).ok()?;
    let sane = facts.is_file() && facts.len() <= MAX_COOKIES;
    let text = sane.then(|| fs::read_to_string(path).ok()).flatten();
    let _ = fs::remove_file(path);
    serde_json::from_str(&text?).ok()
}

/// Restores the browser's cookies. If this fails, the browser works but may be signed out.
pub async fn restore_cookies(cdp: &Cdp, cookies: Value) {
    let set = async |cookies: Value| {
        let params = json!({ "cookies": cookies });
        cdp.call::<IgnoredAny>(None, "Storage.setCookies", params, CALL_DEADLINE).await
    };
    if let Err(CdpError::Refused { .. }) = set(cookies.clone()).await {
        // One invalid cookie makes the whole call fail, so they are set one by one.
        for cookie in cookies.as_array().into_iter().flatten() {
            let _ = set(json!([cookie])).await;
        }
    }
}

/// Packs the profile; with `last`, the browser is closed first and stays closed.
pub async fn save(
    current: &Current,
    stay_closed: &StayClosed,
    last: bool,
) -> Result<impl Stream<Item = io::Result<Bytes>> + use<>, GuestError> {
    if last {
        // Also prevents a restart that is about to happen.
        stay_closed.set.store(true, Ordering::Release);
    }
    if let Ok(cdp) = current.own(CALL_DEADLINE).await {
        let _ = keep_cookies(&cdp).await;
        if last {
            let closing = json!({});
            let _ = cdp.call::<IgnoredAny>(None, "Browser.close", closing, CALL_DEADLINE).await;
            // A browser that hangs is packed as it is.
            let _ = timeout(CLOSE_DEADLINE, stay_closed.gone.notified()).await;
        }
    }
    let source = |inside: &str, name: &str| Source { inside: inside.into(), name: name.into() };
    let sources = vec![source(BROWSER_HOME, PROFILE), source(OURS, COOKIES)];
    Ok(archive::pack(sources, is_left_out))
}

async fn keep_cookies(cdp: &Cdp) -> Result<(), CdpError> {
    let mut all: Value = cdp.call(None, "Storage.getCookies", json!({}), CALL_DEADLINE).await?;
    let cookies = all.get_mut("cookies").and_then(Value::as_array_mut);
    let Some(cookies) = cookies else { return Ok(()) };
    for cookie in cookies.iter_mut() {
        *cookie = settable(cookie.take());
    }
    let text = Value::from(std::mem::take(cookies)).to_string();
    // If this fails, the browser's own cookie file is kept.
    let _ = block_in_place(|| {
        fs::create_dir_all(OURS)?;
        fs::write(Path::new(OURS).join(COOKIES), text)
    });
    Ok(())
}

/// Converts a reported cookie to the format for setting it.
fn settable(mut cookie: Value) -> Value {
    let Some(facts) = cookie.as_object_mut() else { return cookie };
    for only_said in ["size", "partitionKeyOpaque"] {
        facts.remove(only_said);
    }
    if facts.remove("session").is_some_and(|session| session == true) {
        facts.remove("expires");
    }
    let text = |name: &str| facts.get(name).and_then(Value::as_str).unwrap_or_default();
    if !text("domain").starts_with('.') {
        // A host-only cookie. With a domain, it would also apply to subdomains.
        let scheme =
            if facts.get("secure").is_some_and(|it| it == true) { "https" } else { "http" };
        let url = format!("{scheme}://{}{}", text("domain"), text("path"));
        facts.remove("domain");
        facts.insert("url".to_owned(), url.into());
    }
    cookie
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_and_per_run_files_are_excluded() {
        for name in ["Cache", "GPUCache", "Code Cache", "SingletonLock", "Crashpad", "lockfile"] {
            assert!(is_left_out(name), "{name}");
        }
        for name in ["Default", "Cookies", "Local Storage", "Preferences", "not a lockfile"] {
            assert!(!is_left_out(name), "{name}");
        }
    }

    #[test]
    fn a_cookie_is_set_for_its_original_hosts() {
        let said = json!({
            "name": "a", "value": "1", "domain": "x.example", "path": "/p", "secure": true,
            "session": true, "expires": -1, "size": 2,
        });
        let host = json!({
            "name": "a", "value": "1", "url": "https://x.example/p", "path": "/p", "secure": true,
        });
        assert_eq!(settable(said), host);
        let said = json!({ "name": "a", "domain": ".x.example", "session": false, "expires": 9 });
        assert_eq!(settable(said), json!({ "name": "a", "domain": ".x.example", "expires": 9 }));
    }
}
