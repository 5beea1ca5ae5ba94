//! Ports outside that a session opens as ports of its own loopback.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// The port inside a session where its programs find the way out.
pub const PROXY_PORT: u16 = 3128;
/// Programs inside cannot listen on lower ports.
const LEAST_PORT: u16 = 1024;
/// How hosts may be written: all mean loopback.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// A forwarded port: `5173`, `localhost:5173`, or `3000:localhost:8080` to open port 8080 outside
/// as port 3000 inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ForwardRule {
    /// The port inside the session.
    pub port: u16,
    /// The port outside.
    pub to: u16,
}

impl FromStr for ForwardRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || {
            format!(
                "{text:?} is not a port to forward: expected \"5173\", \"localhost:5173\" or \
                 \"3000:localhost:8080\""
            )
        };
        let port = |text: &str| -> Result<u16, String> {
            let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            let number = digits.then(|| text.parse().ok()).flatten();
            number.filter(|port| *port > 0).ok_or_else(expected)
        };
        let (before, to) = match text.rsplit_once(':') {
            Some((before, to)) => (Some(before), port(to)?),
            None => (None, port(text)?),
        };
        let inside = match before {
            None => to,
            Some(host) if LOOPBACK.contains(&host) => to,
            Some(before) => match before.split_once(':') {
                Some((inside, host)) if LOOPBACK.contains(&host) => port(inside)?,
                None if before.bytes().all(|b| b.is_ascii_digit()) => port(before)?,
                _ => return Err(format!("{}; only localhost can be forwarded", expected())),
            },
        };
        if inside < LEAST_PORT {
            return Err(format!(
                "port {inside} cannot be opened inside a session: map it to one from {LEAST_PORT} \
                 on, for example \"8080:localhost:{to}\""
            ));
        }
        if inside == PROXY_PORT {
            return Err(format!(
                "port {PROXY_PORT} inside a session is its proxy: map another, for example \
                 \"3129:localhost:{to}\""
            ));
        }
        Ok(Self { port: inside, to })
    }
}

impl fmt::Display for ForwardRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.port == self.to {
            write!(f, "localhost:{}", self.to)
        } else {
            write!(f, "{}:localhost:{}", self.port, self.to)
        }
    }
}

impl Serialize for ForwardRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ForwardRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl JsonSchema for ForwardRule {
    fn schema_name() -> Cow<'static, str> {
        "ForwardRule".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "A port to forward: `5173`, `localhost:5173`, or `3000:localhost:8080` \
                to open port 8080 outside as port 3000 inside. Ports inside are 1024 or higher.",
            "pattern": r"^(([1-9][0-9]{0,4}:)?(localhost|127\.0\.0\.1|\[::1\]):|[1-9][0-9]{0,4}:)?[1-9][0-9]{0,4}$",
            "examples": ["localhost:5173"],
            "x-expected": "a port such as 5173, localhost:5173 or 3000:localhost:8080",
        })
    }
}

/// A port to forward into a session that runs.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewForward {
    /// Which port of the server's machine.
    pub forward: ForwardRule,
}

/// Whose loopback a forwarded port leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ForwardedFrom {
    /// The machine that the server runs on.
    Server,
    /// The machine that `helmdeck forward` runs on.
    Client,
}

/// A port that is forwarded into a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Forward {
    /// The port inside the session; `http://localhost:<port>` for its programs and its browser.
    pub port: u16,
    /// The port outside.
    pub to_port: u16,
    /// Whose loopback that is.
    pub from: ForwardedFrom,
}

/// The ports that are forwarded into a session.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct ForwardList {
    /// By the port inside.
    pub forwards: Vec<Forward>,
}

/// What the server tells `helmdeck forward`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForwardNews {
    /// The port is open inside.
    Open,
    /// A program inside connected: bring a connection under this name.
    Connect(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> Result<(u16, u16), String> {
        text.parse::<ForwardRule>().map(|rule| (rule.port, rule.to))
    }

    #[test]
    fn ports_are_written_as_people_write_them() {
        for (text, expected) in [
            ("5173", (5173, 5173)),
            ("localhost:5173", (5173, 5173)),
            ("127.0.0.1:8000", (8000, 8000)),
            ("[::1]:8000", (8000, 8000)),
            ("3000:localhost:8080", (3000, 8080)),
            ("3000:8080", (3000, 8080)),
            ("8080:localhost:80", (8080, 80)),
        ] {
            assert_eq!(rule(text), Ok(expected), "{text}");
            let shown = text.parse::<ForwardRule>().unwrap().to_string();
            assert_eq!(rule(&shown), Ok(expected), "{shown}");
        }
    }

    #[test]
    fn what_cannot_be_forwarded_is_refused_with_a_way_out() {
        for (text, part) in [
            ("", "expected"),
            ("0", "expected"),
            ("70000", "expected"),
            ("+80", "expected"),
            ("http://localhost:5173", "only localhost"),
            ("10.0.0.1:80", "only localhost"),
            ("3000:10.0.0.1:80", "only localhost"),
            ("localhost:80", "8080:localhost:80"),
            ("3128", "3129:localhost:3128"),
            ("3000:localhost:", "expected"),
            (":5173", "expected"),
        ] {
            let refused = rule(text).unwrap_err();
            assert!(refused.contains(part), "{text}: {refused}");
        }
    }
}
