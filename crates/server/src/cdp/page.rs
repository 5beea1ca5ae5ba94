//! A WebSocket for a single page: the same protocol within that page's session.

use std::collections::BTreeMap;

use serde_json::value::{RawValue, to_raw_value};

const SESSION: &str = "sessionId";

/// Adds the page's session to messages, and removes it.
pub struct PageSocket {
    session: String,
}

/// A message with unparsed fields.
type Parts = BTreeMap<String, Box<RawValue>>;

impl PageSocket {
    /// The socket of the page that is attached as `session`.
    pub fn new(session: String) -> Self {
        Self { session }
    }

    /// A client's message for the browser. Invalid messages pass unchanged, for the browser to
    /// answer.
    pub fn up(&self, text: &str) -> String {
        let put = || {
            let mut parts: Parts = serde_json::from_str(text).ok()?;
            if !parts.contains_key(SESSION) {
                parts.insert(SESSION.to_owned(), to_raw_value(&self.session).ok()?);
            }
            serde_json::to_string(&parts).ok()
        };
        put().unwrap_or_else(|| text.to_owned())
    }

    /// The browser's message for the client; `None` if it belongs to another page. Messages of
    /// targets that are attached from the page keep their session.
    pub fn down(&self, text: &str) -> Option<String> {
        let mut parts: Parts = serde_json::from_str(text).ok()?;
        let session: String = serde_json::from_str(parts.get(SESSION)?.get()).ok()?;
        if session == self.session {
            parts.remove(SESSION);
        }
        serde_json::to_string(&parts).ok()
    }

    /// Whether the browser reports that the page is gone.
    pub fn ends(&self, text: &str) -> bool {
        text.contains("\"Target.detachedFromTarget\"") && {
            let message: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
            let detached = message.pointer("/params/sessionId").and_then(|it| it.as_str());
            message.get(SESSION).is_none()
                && message.get("method").is_some_and(|it| it == "Target.detachedFromTarget")
                && detached == Some(self.session.as_str())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_socket_sees_only_its_page() {
        let page = PageSocket::new("P".to_owned());
        let up = page.up(r#"{"id":1,"method":"Page.enable"}"#);
        assert_eq!(up, r#"{"id":1,"method":"Page.enable","sessionId":"P"}"#);
        let below = r#"{"id":1,"method":"Page.enable","sessionId":"W"}"#;
        assert_eq!(page.up(below), below);
        assert_eq!(page.up("nonsense"), "nonsense");

        let down = page.down(r#"{"id":1,"result":{},"sessionId":"P"}"#);
        assert_eq!(down.unwrap(), r#"{"id":1,"result":{}}"#);
        let worker = r#"{"method":"a","params":{},"sessionId":"W"}"#;
        assert_eq!(page.down(worker).unwrap(), worker);
        assert_eq!(page.down(r#"{"method":"Target.targetCreated","params":{}}"#), None);

        let gone = r#"{"method":"Target.detachedFromTarget","params":{"sessionId":"P"}}"#;
        assert!(page.ends(gone) && !page.ends(&gone.replace("\"P\"", "\"Q\"")));
    }
}
