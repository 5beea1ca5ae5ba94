//! A message of the client, as far as the bridge must know it.

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use super::{
    id::Id,
    problem::{self, Problem},
};

/// The first protocol version without sessions.
const STATELESS: &str = "2026-07-28";
/// Where requests of that version name theirs.
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

pub const VERSION_HEADER: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD_HEADER: HeaderName = HeaderName::from_static("mcp-method");
const NAME_HEADER: HeaderName = HeaderName::from_static("mcp-name");

/// Requests that can be sent twice: a second one changes nothing.
const REPEATABLE: [&str; 16] = [
    "completion/complete",
    "initialize",
    "logging/setLevel",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "server/discover",
    "subscriptions/listen",
    "tasks/cancel",
    "tasks/get",
    "tools/list",
];

/// A message.
#[derive(Debug, Clone)]
pub struct Message {
    /// Its JSON.
    pub text: Bytes,
    pub kind: Kind,
    /// The protocol version that it names, if it is of one without sessions.
    version: Option<String>,
    /// What it is about: a tool, a prompt, a resource or a task.
    pub name: Option<String>,
}

/// What a message is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    Request {
        id: Id,
        method: String,
    },
    Notification {
        method: String,
        /// The request that it cancels.
        cancels: Option<Id>,
    },
    /// The answer to a request of the server.
    Response,
}

impl Message {
    /// The messages of a line. Protocol version 2025-03-26 allows several in an array.
    pub fn read(line: &[u8]) -> Result<Vec<Self>, Problem> {
        let value: Value = serde_json::from_slice(line).map_err(|it| problem::not_json(&it))?;
        match value {
            Value::Array(items) => {
                items.into_iter().map(|it| Self::of(&it, it.to_string().into())).collect()
            }
            single => Ok(vec![Self::of(&single, Bytes::copy_from_slice(line.trim_ascii()))?]),
        }
    }

    fn of(value: &Value, text: Bytes) -> Result<Self, Problem> {
        let at = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let id = value.get("id").and_then(Id::of);
        let is_answer = value.get("result").or(value.get("error")).is_some();
        let kind = match (at("/method"), id) {
            (Some(method), Some(id)) => Kind::Request { id, method },
            (Some(method), None) => {
                let cancels = value.pointer("/params/requestId").and_then(Id::of);
                let cancels = cancels.filter(|_| method == "notifications/cancelled");
                Kind::Notification { method, cancels }
            }
            (None, _) if is_answer => Kind::Response,
            (None, _) => return Err(problem::not_a_message()),
        };
        let version =
            value.pointer("/params/_meta").and_then(|meta| meta.get(VERSION_KEY)?.as_str());
        let version = version.filter(|it| *it >= STATELESS).map(str::to_owned);
        let name = match kind.method() {
            "tools/call" | "prompts/get" => at("/params/name"),
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => at("/params/uri"),
            "tasks/get" | "tasks/update" | "tasks/cancel" => at("/params/taskId"),
            _ => None,
        };
        Ok(Self { text, kind, version, name })
    }

    /// Its method; empty for a response.
    pub fn method(&self) -> &str {
        self.kind.method()
    }

    /// Whether it is of a protocol version without sessions.
    pub fn is_stateless(&self) -> bool {
        self.version.is_some()
    }

    /// Whether messages that follow must wait for it.
    pub fn is_handshake(&self) -> bool {
        ["initialize", "notifications/initialized"].contains(&self.method())
    }

    /// Whether it can be sent twice.
    pub fn is_repeatable(&self) -> bool {
        REPEATABLE.contains(&self.method())
    }

    /// Whether its answer is a stream that ends with the connection.
    pub fn is_subscription(&self) -> bool {
        self.method() == "subscriptions/listen"
    }

    /// Whether its answer may take as long as a program in a session.
    pub fn is_long(&self) -> bool {
        self.method() == "tools/call" || self.is_subscription()
    }

    /// The headers of a version without sessions.
    pub fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let Some(version) = &self.version else { return headers };
        let name = self.name.as_deref().map(encode);
        let values = [
            (VERSION_HEADER, Some(version.clone())),
            (METHOD_HEADER, Some(self.method().to_owned())),
            (NAME_HEADER, name),
        ];
        for (header, value) in values {
            if let Some(value) = value.and_then(|it| HeaderValue::try_from(it).ok()) {
                headers.insert(header, value);
            }
        }
        headers
    }
}

impl Kind {
    fn method(&self) -> &str {
        match self {
            Self::Request { method, .. } | Self::Notification { method, .. } => method,
            Self::Response => "",
        }
    }
}

/// A text as a header value: in Base64 if it could not be one as it is.
fn encode(text: &str) -> String {
    let plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if plain && text.trim() == text && !text.starts_with("=?base64?") {
        return text.to_owned();
    }
    format!("=?base64?{}?=", BASE64_STANDARD.encode(text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: Value) -> Message {
        Message::read(value.to_string().as_bytes()).unwrap().remove(0)
    }

    fn meta(version: &str) -> Value {
        json!({ VERSION_KEY: version })
    }

    #[test]
    fn requests_notifications_and_responses_are_told_apart() {
        let id = Id::of(&json!(1)).unwrap();
        let request = read(json!({ "id": 1, "method": "ping" }));
        assert_eq!(request.kind, Kind::Request { id: id.clone(), method: "ping".to_owned() });
        let params = json!({ "requestId": 1 });
        let method = "notifications/cancelled".to_owned();
        let cancel = read(json!({ "method": method, "params": params }));
        assert_eq!(cancel.kind, Kind::Notification { method, cancels: Some(id) });
        assert_eq!(read(json!({ "id": 1, "result": {} })).kind, Kind::Response);
        for bad in ["", "{", "{}", "1", r#"{"id":1}"#, r#"[{"id":1}]"#] {
            assert!(Message::read(bad.as_bytes()).is_err(), "{bad}");
        }
        assert_eq!(Message::read(br#"[{"method":"a"},{"method":"b"}]"#).unwrap().len(), 2);
    }

    #[test]
    fn headers_repeat_the_body_only_in_versions_without_sessions() {
        let call = |name: &str, version: &str| {
            let params = json!({ "name": name, "_meta": meta(version) });
            read(json!({ "id": 1, "method": "tools/call", "params": params })).headers()
        };
        let headers = call("desktop-click", STATELESS);
        assert_eq!(headers[VERSION_HEADER], STATELESS);
        assert_eq!(
            (&headers[METHOD_HEADER], &headers[NAME_HEADER]),
            (&HeaderValue::from_static("tools/call"), &HeaderValue::from_static("desktop-click"))
        );
        assert_eq!(call("é", STATELESS)[NAME_HEADER], "=?base64?w6k=?=");
        assert_eq!(call(" a", STATELESS)[NAME_HEADER], "=?base64?IGE=?=");
        assert!(call("desktop-click", "2025-11-25").is_empty());
    }

    #[test]
    fn a_tool_call_is_not_repeatable() {
        assert!(!read(json!({ "id": 1, "method": "tools/call" })).is_repeatable());
        assert!(!read(json!({ "id": 1, "method": "unknown/method" })).is_repeatable());
        assert!(read(json!({ "id": 1, "method": "tools/list" })).is_repeatable());
    }
}
