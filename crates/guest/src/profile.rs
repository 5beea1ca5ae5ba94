//! The browser's profile, in and out: what makes it signed in, less what it can fetch again.
//!
//! Cookies are also kept in a file of ours: the browser writes its own only now and then, and those
//! that end with it never. The agent's programs reach neither.

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
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use tokio::{sync::Notify, task::block_in_place, time::timeout};

use crate::{
    archive::{self, Source},
    error::GuestError,
    nest::BROWSER_HOME,
};

/// From the browser's home on.
const PROFILE: &str = ".config/chromium";
/// The name of the file with all cookies, in the archive.
const COOKIES: &str = "helmdeck-cookies.json";
/// Where it is made: nested sandboxes have another `/tmp`.
const OURS: &str = "/tmp/helmdeck-profile";
/// What the browser can fetch or make again, and what belongs to one run of it: by its whole name, by
/// the beginning of the name, and by a part of it.
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
/// The browser answers at once, and writes what it has before it ends.
const CALL_DEADLINE: Duration = Duration::from_secs(3);
const CLOSE_DEADLINE: Duration = Duration::from_secs(5);
/// Browsers keep a few thousand cookies of a few kilobytes.
const MAX_COOKIES: u64 = 64 << 20;

/// Whether the browser is wanted again when it ends.
#[derive(Clone, Default)]
pub struct Leaving {
    set: Arc<AtomicBool>,
    gone: Arc<Notify>,
}

impl Leaving {
    /// Whether it is not.
    pub fn is_set(&self) -> bool {
        self.set.load(Ordering::Acquire)
    }

    /// It has ended and stays so.
    pub fn gone(&self) {
        self.gone.notify_one();
    }
}

fn is_left_out(name: &str) -> bool {
    LEFT_OUT.contains(&name)
        || LEFT_OUT_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || name.contains(LEFT_OUT_PART)
}

/// Unpacks a profile into the browser's home, and gives the cookies that are to be restored. Nothing of the
/// agent runs yet.
pub async fn load<E>(
    pieces: impl Stream<Item = Result<Bytes, E>> + Unpin,
) -> Result<Option<Value>, GuestError>
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    archive::unpack(Path::new(BROWSER_HOME), pieces, "the profile").await?;
    Ok(block_in_place(|| take_cookies(&Path::new(BROWSER_HOME).join(COOKIES))))
}

/// The cookies in a file of the archive, which is removed.
fn take_cookies(path: &Path) -> Option<Value> {
    let facts = fs::symlink_metadata(path).ok()?;
    let sane = facts.is_file() && facts.len() <= MAX_COOKIES;
    let text = sane.then(|| fs::read_to_string(path).ok()).flatten();
    let _ = fs::remove_file(path);
    serde_json::from_str(&text?).ok()
}

/// Gives the browser its cookies back. Without them it is signed out here and there, and works.
pub async fn restore_cookies(cdp: &Cdp, cookies: Value) {
    let set = async |cookies: Value| {
        let params = json!({ "cookies": cookies });
        cdp.call::<IgnoredAny>(None, "Storage.setCookies", params, CALL_DEADLINE).await
    };
    if let Err(CdpError::Refused { .. }) = set(cookies.clone()).await {
        // One that cannot be set keeps the others out.
        for cookie in cookies.as_array().into_iter().flatten() {
            let _ = set(json!([cookie])).await;
        }
    }
}

/// Packs the profile; with `last`, of a browser that is closed and stays so.
pub async fn save(
    current: &Current,
    leaving: &Leaving,
    last: bool,
) -> Result<impl Stream<Item = io::Result<Bytes>> + use<>, GuestError> {
    if last {
        // Also one that is about to be started again is not any more.
        leaving.set.store(true, Ordering::Release);
    }
    if let Ok(cdp) = current.own(CALL_DEADLINE).await {
        let _ = keep_cookies(&cdp).await;
        if last {
            let closing = json!({});
            let _ = cdp.call::<IgnoredAny>(None, "Browser.close", closing, CALL_DEADLINE).await;
            // One that hangs is packed as it is.
            let _ = timeout(CLOSE_DEADLINE, leaving.gone.notified()).await;
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
    // Without it, the browser's own file is what is kept.
    let _ = block_in_place(|| {
        fs::create_dir_all(OURS)?;
        fs::write(Path::new(OURS).join(COOKIES), text)
    });
    Ok(())
}

/// A cookie as it is set, from what is said of it.
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
        // One host's alone; with a domain it would be that of all hosts below, too.
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
    fn caches_and_what_belongs_to_one_run_are_left_out() {
        for name in ["Cache", "GPUCache", "Code Cache", "SingletonLock", "Crashpad", "lockfile"] {
            assert!(is_left_out(name), "{name}");
        }
        for name in ["Default", "Cookies", "Local Storage", "Preferences", "not a lockfile"] {
            assert!(!is_left_out(name), "{name}");
        }
    }

    #[test]
    fn a_cookie_is_set_for_whom_it_was() {
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
