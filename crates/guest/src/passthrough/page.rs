//! Opens pages for the agent's programs in the session's browser: `chromium URL`, `xdg-open`, links
//! in a terminal.

use std::{
    ffi::OsString,
    path::{Path, absolute},
    time::Duration,
};

use helmdeck_cdp::Current;
use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::json;

use crate::{handover, nest::HOME};

/// Limit on pages in one request.
const MAX_PAGES: usize = 16;
/// Limit on the length of an address.
const MAX_URL: usize = 8 << 10;
/// Long enough for a killed browser to restart.
const OPEN_DEADLINE: Duration = Duration::from_secs(25);
/// The page of a new window.
const EMPTY: &str = "about:blank";

/// A request to open pages.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    pages: Vec<String>,
}

/// The pages in a browser's arguments, if they contain nothing else. Without any, a new window.
pub fn parse_arguments(args: &[OsString]) -> Option<Open> {
    let mut pages = Vec::new();
    for arg in args {
        match arg.to_str()? {
            "--new-window" | "--new-tab" => {}
            switch if switch.starts_with('-') => return None,
            page => pages.push(address(page)?),
        }
    }
    if pages.is_empty() {
        pages.push(EMPTY.to_owned());
    }
    let open = Open { pages };
    open.is_allowed().then_some(open)
}

/// Completes an address as people write it.
fn address(text: &str) -> Option<String> {
    if is_allowed(text) {
        return Some(text.to_owned());
    }
    if Path::new(text).exists() {
        let path = absolute(text).ok()?;
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(byte);
        let encoded = path.to_str()?.bytes().map(|byte| match byte {
            byte if plain(&byte) => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        });
        return Some(format!("file://{}", encoded.collect::<String>()));
    }
    let host = text.split('/').next().unwrap_or_default();
    let named = host.contains('.') || host.starts_with("localhost");
    let plain = |c: char| c.is_ascii_alphanumeric() || "-.:".contains(c);
    (named && host.chars().all(plain)).then(|| format!("http://{text}"))
}

impl Open {
    fn is_allowed(&self) -> bool {
        self.pages.len() <= MAX_PAGES && self.pages.iter().all(|page| is_allowed(page))
    }
}

/// Whether it is a web page or a file of the home.
fn is_allowed(url: &str) -> bool {
    let known = ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme));
    let home = url.strip_prefix("file://").and_then(|path| path.strip_prefix(HOME));
    let beneath = home.is_some_and(|rest| rest.starts_with('/') && !rest.contains(".."));
    let sane = url.len() <= MAX_URL && !url.chars().any(char::is_control);
    sane && (known || beneath || url == EMPTY)
}

/// Opens pages in the session's own browser; `None` on failure.
pub async fn open(open: &Open, current: &Current) -> Option<()> {
    if !open.is_allowed() {
        return None;
    }
    let cdp = current.own(OPEN_DEADLINE).await.ok()?;
    for url in &open.pages {
        handover::page(url).ok()?;
        let params = json!({ "url": url, "newWindow": url == EMPTY });
        let method = "Target.createTarget";
        cdp.call::<IgnoredAny>(None, method, params, OPEN_DEADLINE).await.ok()?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(line: &str) -> Option<Vec<String>> {
        let args: Vec<_> = line.split_whitespace().map(OsString::from).collect();
        parse_arguments(&args).map(|open| open.pages)
    }

    #[test]
    fn only_pages_are_opened_in_the_sessions_browser() {
        assert_eq!(pages("").unwrap(), [EMPTY]);
        assert_eq!(pages("--new-window https://a.example/").unwrap(), ["https://a.example/"]);
        assert_eq!(pages("example.com/x localhost:80").unwrap().len(), 2);
        assert_eq!(pages("file:///home/agent/x.html").unwrap(), ["file:///home/agent/x.html"]);
        for other in [
            "--incognito https://a.example/",
            "--user-data-dir=/tmp/p https://a.example/",
            "--version",
            "chrome://settings",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "file:///home/agent/../browser/x",
            "word",
        ] {
            assert_eq!(pages(other), None, "{other}");
        }
    }
}
