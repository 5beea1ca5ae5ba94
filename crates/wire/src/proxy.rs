//! The proxy for a session's outgoing connections.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// A proxy for all outgoing connections of a session.
///
/// The proxy resolves host names. The egress policy therefore checks only blocked names, literal
/// addresses, and the address of the proxy itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Proxy {
    /// `http://host:port` or `socks5://host:port`, without credentials.
    #[schemars(length(max = 300), regex(pattern = "^(http|socks5)://[^/@]+/?$"))]
    #[schemars(extend(
        "x-secret" = true,
        "x-expected" = "http://host:port or socks5://host:port, without credentials"
    ))]
    pub server: String,
    /// User name for the proxy. Replies show `•••`, because some proxies take a key here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub username: Option<Secret>,
    /// Password for the proxy. Replies show `•••`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<Secret>,
    /// Hosts to dial directly: `name`, `*.name` for all its subdomains, an address, or a range such
    /// as `10.1.0.0/16` for hosts written as addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub bypass: Vec<String>,
}

impl Proxy {
    /// The proxy as replies show it, with masked credentials.
    #[must_use]
    pub fn without_credentials(&self) -> Self {
        let hidden = |secret: &Option<Secret>| secret.as_ref().map(|_| Secret("•••".into()));
        let (username, password) = (hidden(&self.username), hidden(&self.password));
        Self { username, password, ..self.clone() }
    }
}

/// Text that logs and errors never show; at most 255 bytes.
#[derive(Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Secret(#[schemars(length(max = 255), extend("x-secret" = true))] String);

impl Secret {
    /// The secret itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("•••")
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The error does not quote the value, whatever it is.
        match Value::deserialize(deserializer)? {
            Value::String(text) if text.len() <= 255 && !text.contains(char::is_control) => {
                Ok(Self(text))
            }
            _ => Err(serde::de::Error::custom("expected a text of at most 255 bytes")),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn credentials_are_written_only_to_the_link() {
        let proxy: Proxy = serde_json::from_value(json!({
            "server": "http://proxy.example:3128", "username": "alice", "password": "hunter2",
        }))
        .unwrap();
        assert!(!format!("{proxy:?}").contains("hunter2"));
        let shown = serde_json::to_value(proxy.without_credentials()).unwrap();
        assert_eq!((&shown["username"], &shown["password"]), (&json!("•••"), &json!("•••")));
        // The next server reads the record of the session.
        assert!(serde_json::from_value::<Proxy>(shown).is_ok());
        for wrong in [json!(31337), json!(["hunter2"]), json!("hunter2\n"), json!("x".repeat(256))]
        {
            let body = json!({ "server": "http://a:1", "password": wrong });
            let refused = serde_json::from_value::<Proxy>(body).unwrap_err().to_string();
            assert!(!refused.contains("hunter2") && !refused.contains("31337"), "{refused}");
        }
    }
}
