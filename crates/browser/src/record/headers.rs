//! Headers, and which of them are secrets.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::{Value, json};

use super::{cut, shown};

/// Replaces a secret.
pub(super) const HIDDEN: &str = "•••";
/// The most bytes of a value, and the most headers.
const MAX_VALUE: usize = 8 << 10;
const MAX_HEADERS: usize = 200;

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

/// Names and values. A repeated header has one entry for each occurrence.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Headers(pub Vec<(Box<str>, Box<str>)>);

impl Headers {
    /// The value of a header; names are case-insensitive.
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut found = self.0.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| &**value)
    }

    /// Their size in bytes.
    pub fn size(&self) -> usize {
        self.0.iter().map(|(name, value)| name.len() + value.len() + 32).sum()
    }

    /// In HAR format: one entry for each occurrence.
    pub fn har(&self, secrets: bool) -> Vec<Value> {
        let lines = self.0.iter().flat_map(|(name, value)| {
            value.split('\n').map(move |line| (name, told(name, line, secrets)))
        });
        lines.map(|(name, value)| json!({ "name": name, "value": value })).collect()
    }
}

/// The value as it may be shown.
fn told(name: &str, value: &str, secrets: bool) -> String {
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

impl<'de> Deserialize<'de> for Headers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Map;
        impl<'de> Visitor<'de> for Map {
            type Value = Headers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("headers")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Headers, A::Error> {
                let mut headers = Vec::with_capacity(map.size_hint().unwrap_or(16).min(64));
                while let Some((name, value)) = map.next_entry::<String, String>()? {
                    if headers.len() < MAX_HEADERS {
                        headers.push((cut(&name, MAX_VALUE).into(), cut(&value, MAX_VALUE).into()));
                    }
                }
                Ok(Headers(headers))
            }
        }
        deserializer.deserialize_map(Map)
    }
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
            assert_eq!(told(name, value, false), hidden, "{name}");
            assert_eq!(told(name, value, true), open, "{name}");
        }
    }

    #[test]
    fn repeated_headers_are_all_shown() {
        let headers: Headers =
            serde_json::from_str(r#"{"Vary":"a\nb","Content-Type":"text/html"}"#).unwrap();
        assert_eq!(headers.get("content-type"), Some("text/html"));
        let expected = json!([
            { "name": "Vary", "value": "a" },
            { "name": "Vary", "value": "b" },
            { "name": "Content-Type", "value": "text/html" },
        ]);
        assert_eq!(Value::from(headers.har(false)), expected);
    }
}
