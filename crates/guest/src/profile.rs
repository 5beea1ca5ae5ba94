//! The browser's profile, in and out: what makes it signed in, less what it can fetch again.
//!
//! Cookies are also kept in a file of ours: the browser writes its own only now and then, and those
//! that end with it never.

use std::{
    fs, io,
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use helmdeck_cdp::{Cdp, CdpError, Current};
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

use crate::{error::GuestError, nest::HOME};

/// From the home on.
const PROFILE: &str = ".config/chromium";
/// All cookies, from the home on.
const COOKIES: &str = ".config/chromium/helmdeck-cookies.json";
/// What the browser can fetch or make again, and what belongs to one run of it.
const LEFT_OUT: [&str; 12] = [
    "*Cache*",
    "Singleton*",
    "DevToolsActivePort",
    "Crash Reports",
    "Crashpad",
    "BrowserMetrics*",
    "Safe Browsing*",
    "component_crx_cache",
    "extensions_crx_cache",
    "optimization_guide*",
    "segmentation_platform",
    "lockfile",
];
/// The browser answers at once, and writes what it has before it ends.
const CALL_DEADLINE: Duration = Duration::from_secs(5);
const CLOSE_DEADLINE: Duration = Duration::from_secs(5);
const PIECE: usize = 256 << 10;

/// Whether the browser is wanted again when it ends.
#[derive(Clone, Default)]
pub struct Leaving(Arc<AtomicBool>);

impl Leaving {
    /// Whether it is not.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

fn failed(what: &'static str) -> impl Fn(io::Error) -> GuestError {
    move |error| GuestError::Io(what, error)
}

/// Unpacks a profile into the home.
pub async fn load<E>(
    mut pieces: impl Stream<Item = Result<Bytes, E>> + Unpin,
) -> Result<(), GuestError>
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let mut tar = tar(&["--extract", "--no-same-owner"], Stdio::piped(), Stdio::null())?;
    let mut input = tar.stdin.take().ok_or(GuestError::Ended("tar"))?;
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|e| GuestError::Io("the profile", io::Error::other(e)))?;
        input.write_all(&piece).await.map_err(failed("the profile"))?;
    }
    drop(input);
    let status = tar.wait().await.map_err(failed("tar"))?;
    if status.success() { Ok(()) } else { Err(GuestError::Ended("tar")) }
}

/// Gives the browser its cookies back.
pub async fn restore_cookies(cdp: &Cdp) {
    let path = format!("{HOME}/{COOKIES}");
    let Ok(text) = fs::read_to_string(&path) else { return };
    let _ = fs::remove_file(&path);
    if let Ok(cookies) = serde_json::from_str::<Value>(&text) {
        let params = json!({ "cookies": cookies });
        // Without them it is signed out here and there, and works.
        let _ = cdp.call::<IgnoredAny>(None, "Storage.setCookies", params, CALL_DEADLINE).await;
    }
}

/// Packs the profile; with `last`, of a browser that is closed and stays so.
pub async fn save(
    current: &Current,
    leaving: &Leaving,
    last: bool,
) -> Result<impl Stream<Item = io::Result<Bytes>> + use<>, GuestError> {
    if let Ok(cdp) = current.get(CALL_DEADLINE).await {
        let _ = keep_cookies(&cdp).await;
        if last {
            leaving.0.store(true, Ordering::Release);
            let closing = json!({});
            let _ = cdp.call::<IgnoredAny>(None, "Browser.close", closing, CALL_DEADLINE).await;
            // One that hangs is packed as it is.
            let _ = timeout(CLOSE_DEADLINE, cdp.closed()).await;
        }
    }
    let excluded = LEFT_OUT.map(|name| format!("--exclude={name}"));
    let mut arguments = vec!["--create", "--ignore-failed-read"];
    arguments.extend(excluded.iter().map(String::as_str));
    arguments.push(PROFILE);
    let mut tar = tar(&arguments, Stdio::null(), Stdio::piped())?;
    let output = tar.stdout.take().ok_or(GuestError::Ended("tar"))?;
    Ok(pieces(tar, output))
}

/// What tar writes. An archive that is not complete breaks off.
fn pieces(tar: Child, output: ChildStdout) -> impl Stream<Item = io::Result<Bytes>> {
    stream::try_unfold((tar, output), async |(mut tar, mut output)| {
        let mut piece = vec![0; PIECE];
        let read = output.read(&mut piece).await?;
        if read > 0 {
            piece.truncate(read);
            return Ok(Some((piece.into(), (tar, output))));
        }
        // 1: a file changed while it was read, which a running browser's files do.
        match tar.wait().await?.code() {
            Some(0 | 1) => Ok(None),
            _ => Err(io::Error::other("tar failed")),
        }
    })
}

async fn keep_cookies(cdp: &Cdp) -> Result<(), CdpError> {
    let mut all: Value = cdp.call(None, "Storage.getCookies", json!({}), CALL_DEADLINE).await?;
    let cookies = all.get_mut("cookies").and_then(Value::as_array_mut);
    let Some(cookies) = cookies else { return Ok(()) };
    for cookie in cookies.iter_mut() {
        *cookie = settable(cookie.take());
    }
    let _ = fs::write(format!("{HOME}/{COOKIES}"), Value::from(cookies.clone()).to_string());
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

fn tar(arguments: &[&str], input: Stdio, output: Stdio) -> Result<Child, GuestError> {
    let mut command = Command::new("tar");
    command.args(["--directory", HOME]).args(arguments);
    command.env_clear().env("PATH", "/usr/bin:/bin");
    command.stdin(input).stdout(output).stderr(Stdio::null()).kill_on_drop(true);
    command.spawn().map_err(|source| GuestError::Spawn { program: "tar".into(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

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
