//! An MCP client that says exactly what a test wants it to say.

use std::net::SocketAddr;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;

pub const MODERN: &str = "2026-07-28";
pub const LEGACY: &str = "2025-11-25";

/// A client of one token and one protocol version.
pub struct McpClient {
    pub address: SocketAddr,
    token: String,
    path: String,
    version: &'static str,
    /// The MCP session of a protocol version that has sessions.
    pub session: Option<String>,
    /// What it declares with each request.
    capabilities: Value,
    /// What it calls itself.
    name: &'static str,
}

/// What came back: its messages, whether JSON or a stream of events.
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub messages: Vec<Value>,
    pub text: String,
}

impl McpClient {
    pub fn modern(address: SocketAddr, token: String) -> Self {
        let (path, capabilities) = ("/mcp".to_owned(), json!({}));
        Self { address, token, path, version: MODERN, session: None, capabilities, name: "test" }
    }

    /// The same client under another name.
    pub fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// The same client, which declares the tasks extension.
    pub fn with_tasks(self) -> Self {
        let capabilities = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
        Self { capabilities, ..self }
    }

    /// A client of the older protocol versions, after its handshake.
    pub async fn legacy(address: SocketAddr, token: String) -> Self {
        let client = Self::greeted(address, token).await;
        let done = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(client.post(&done, &[]).await.status, StatusCode::ACCEPTED);
        client
    }

    /// The same before it has said that it is initialized.
    pub async fn greeted(address: SocketAddr, token: String) -> Self {
        let mut client = Self { version: LEGACY, ..Self::modern(address, token) };
        let params = json!({
            "protocolVersion": LEGACY, "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        let reply = client.request("initialize", params).await;
        assert_eq!(reply.result()["protocolVersion"], LEGACY);
        client.session = Some(reply.headers["mcp-session-id"].to_str().unwrap().to_owned());
        client
    }

    pub fn at(self, path: &str) -> Self {
        Self { path: path.to_owned(), ..self }
    }

    pub async fn request(&self, method: &str, mut params: Value) -> Reply {
        if self.version == MODERN {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientInfo": { "name": self.name, "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            });
        }
        let name = params.get("name").or(params.get("uri")).or(params.get("taskId"));
        let name = name.and_then(Value::as_str);
        let name = name.unwrap_or_default().to_owned();
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let mut headers = vec![("mcp-method", method)];
        let named = ["tools/call", "prompts/get", "resources/read"].contains(&method);
        if named || method.starts_with("tasks/") {
            headers.push(("mcp-name", &name));
        }
        self.post(&body, &headers).await
    }

    /// Calls a tool and returns the result.
    pub async fn call(&self, name: &str, arguments: Value) -> Value {
        let params = json!({ "name": name, "arguments": arguments });
        self.request("tools/call", params).await.result()
    }

    /// Calls a tool that succeeds and returns its structured content.
    pub async fn ok(&self, name: &str, arguments: Value) -> Value {
        let result = self.call(name, arguments).await;
        assert_ne!(result["isError"], true, "{result}");
        result["structuredContent"].clone()
    }

    /// Calls a tool that fails and returns the error body.
    pub async fn error(&self, name: &str, arguments: Value) -> Value {
        let result = self.call(name, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        assert_eq!(result.get("structuredContent"), None, "{result}");
        result["_meta"]["error"].clone()
    }

    pub async fn tools(&self) -> Vec<Value> {
        let result = self.request("tools/list", json!({})).await.result();
        result["tools"].as_array().unwrap().clone()
    }

    pub async fn post(&self, body: &Value, headers: &[(&str, &str)]) -> Reply {
        let (status, headers, body) = self.open(Method::POST, Some(body), headers).await;
        Reply::read(status, headers, body).await
    }

    /// Sends a request and returns before its body has come.
    pub async fn open(
        &self,
        method: Method,
        body: Option<&Value>,
        headers: &[(&str, &str)],
    ) -> (StatusCode, HeaderMap, Incoming) {
        let mut request = Request::builder().method(method).uri(&self.path);
        let own = [
            ("host", "localhost"),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", self.version),
            ("mcp-session-id", self.session.as_deref().unwrap_or_default()),
        ];
        let given = |name: &str| headers.iter().any(|(given, _)| *given == name);
        for (name, value) in own.iter().filter(|(name, _)| !given(name)).chain(headers) {
            if !value.is_empty() {
                request = request.header(*name, *value);
            }
        }
        if !self.token.is_empty() {
            request = request.header("authorization", format!("Bearer {}", self.token));
        }
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        let body = body.map(ToString::to_string).unwrap_or_default();
        let request = request.body(Full::new(Bytes::from(body))).unwrap();
        let (parts, body) = sender.send_request(request).await.unwrap().into_parts();
        (parts.status, parts.headers, body)
    }
}

impl Reply {
    async fn read(status: StatusCode, headers: HeaderMap, body: Incoming) -> Self {
        let bytes = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let messages = match serde_json::from_str(&text) {
            Ok(message) => vec![message],
            Err(_) => events(&text),
        };
        Self { status, headers, messages, text }
    }

    /// The result of the request.
    #[track_caller]
    pub fn result(&self) -> Value {
        let last = self.messages.last().unwrap_or_else(|| panic!("{} {}", self.status, self.text));
        assert!(last.get("result").is_some(), "{last}");
        last["result"].clone()
    }

    /// The error of the request.
    #[track_caller]
    pub fn error(&self) -> Value {
        self.messages.last().unwrap_or_else(|| panic!("{}", self.text))["error"].clone()
    }
}

/// The messages in a text of server-sent events.
pub fn events(text: &str) -> Vec<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    data.filter_map(|data| serde_json::from_str(data.trim()).ok()).collect()
}
