//! Completes addresses as people type them.

use crate::BrowserError;

/// Schemes that are not followed by `//`.
const BARE: [&str; 7] =
    ["about:", "blob:", "data:", "javascript:", "mailto:", "view-source:", "chrome:"];
/// Hosts that mean the session itself.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Returns the address with a scheme. Addresses that control the browser itself are an error.
pub(crate) fn addressed(url: &str) -> Result<String, BrowserError> {
    let url = with_scheme(url);
    if helmdeck_cdp::controls_browser(&url) {
        let field = "url".to_owned();
        let why = "this address controls the browser: expected a page of the web, about:blank, \
                   data:, blob: or file:";
        return Err(BrowserError::Field { field, why: why.to_owned() });
    }
    Ok(url)
}

fn with_scheme(url: &str) -> String {
    let url = url.trim();
    let has_scheme = url.split_once("://").is_some_and(|(scheme, _)| {
        scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    });
    let small = url.to_ascii_lowercase();
    if has_scheme || BARE.iter().any(|scheme| small.starts_with(scheme)) {
        return url.to_owned();
    }
    // Servers on loopback usually speak plain HTTP.
    let host = small.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    let scheme = if LOOPBACK.contains(&host) { "http" } else { "https" };
    format!("{scheme}://{url}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_a_scheme_gets_one() {
        for (given, address) in [
            ("example.com", "https://example.com"),
            ("localhost:3000/a?b=c://d", "http://localhost:3000/a?b=c://d"),
            ("127.0.0.1", "http://127.0.0.1"),
            ("[::1]:3000/", "http://[::1]:3000/"),
            ("localhost.example:3000", "https://localhost.example:3000"),
            (" http://a.example ", "http://a.example"),
            ("about:blank", "about:blank"),
            ("data:text/html,a", "data:text/html,a"),
            ("file:///etc/hosts", "file:///etc/hosts"),
        ] {
            assert_eq!(addressed(given).unwrap(), address);
        }
        for given in ["chrome://quit", " CHROME://restart", "about:quit"] {
            assert!(matches!(addressed(given), Err(BrowserError::Field { .. })), "{given}");
        }
    }
}
