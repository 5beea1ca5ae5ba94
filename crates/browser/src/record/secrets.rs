//! Which parts of requests are secrets: a HAR has them only on request.

use super::{headers::MAX_VALUE, shown};

/// Replaces a secret.
const HIDDEN: &str = "•••";
/// Headers whose name contains one of these hold secrets.
const SECRET: [&str; 12] = [
    "auth",
    "cookie",
    "token",
    "secret",
    "session",
    "csrf",
    "xsrf",
    "api-key",
    "apikey",
    "password",
    "credential",
    "signature",
];
/// Exceptions to that rule.
const PUBLIC: [&str; 3] = ["www-authenticate", "proxy-authenticate", "sec-websocket-key"];
/// A header that holds a password, which is never shown.
const PASSWORD: &str = "proxy-authorization";

/// The value of a header as it may be shown.
pub(super) fn header(name: &str, value: &str, secrets: bool) -> String {
    let lower = name.to_ascii_lowercase();
    let secret = SECRET.iter().any(|part| lower.contains(part))
        && !PUBLIC.contains(&lower.as_str())
        && !lower.starts_with(':');
    if !secret {
        // The value may contain addresses.
        return shown(value, MAX_VALUE);
    }
    if !secrets || lower == PASSWORD {
        return HIDDEN.to_owned();
    }
    match value.split_once(' ') {
        Some((scheme, _)) if lower == "authorization" && is_password(scheme) => {
            format!("{scheme} {HIDDEN}")
        }
        _ => value.to_owned(),
    }
}

/// Whether a scheme's credentials contain the password itself, not a token.
fn is_password(scheme: &str) -> bool {
    ["basic", "digest", "negotiate", "ntlm"].contains(&scheme.to_ascii_lowercase().as_str())
}

/// The value of a cookie as it may be shown.
pub(super) fn cookie(value: &str, secrets: bool) -> &str {
    if secrets { value } else { HIDDEN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_shown_only_on_request_and_passwords_never() {
        for (name, value, hidden, open) in [
            ("Accept", "text/html", "text/html", "text/html"),
            ("Cookie", "a=1; b=2", HIDDEN, "a=1; b=2"),
            ("set-cookie", "a=1", HIDDEN, "a=1"),
            ("Authorization", "Bearer abc", HIDDEN, "Bearer abc"),
            ("authorization", "Basic YTpi", HIDDEN, "Basic •••"),
            ("Proxy-Authorization", "Bearer abc", HIDDEN, HIDDEN),
            ("X-Api-Key", "abc", HIDDEN, "abc"),
            ("x-amz-security-token", "abc", HIDDEN, "abc"),
            (":authority", "a.example", "a.example", "a.example"),
            ("WWW-Authenticate", "Basic realm=a", "Basic realm=a", "Basic realm=a"),
            ("Location", "http://u:p@a.example/", "http://a.example/", "http://a.example/"),
        ] {
            assert_eq!(header(name, value, false), hidden, "{name}");
            assert_eq!(header(name, value, true), open, "{name}");
        }
    }

    #[test]
    fn cookies_are_shown_only_on_request() {
        assert_eq!((cookie("a", false), cookie("a", true)), (HIDDEN, "a"));
    }
}
