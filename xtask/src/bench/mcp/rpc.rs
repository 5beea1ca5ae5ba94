//! An MCP client as thin as possible, so that the server is measured and not a client.

use helmdeck_testkit::{Answer, Client, OpenStream};
use http::Method;
use serde_json::{Value, json};

/// The two generations of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// Until 2025-11-25.
    WithSession,
    /// From 2026-07-28 on.
    Stateless,
}

/// A connection to `/mcp`.
pub struct Mcp {
    client: Client,
    path: String,
    /// Headers of every request.
    headers: Vec<(&'static str, String)>,
    era: Era,
    /// The stream on which the server tells of changes.
    stream: Option<OpenStream>,
}

impl Mcp {
    /// Connects with a profile.
    pub async fn open(client: Client, profile: &str, era: Era) -> Self {
        let version = if era == Era::Stateless { "2026-07-28" } else { "2025-11-25" };
        let headers = vec![
            ("accept", "application/json, text/event-stream".to_owned()),
            ("mcp-protocol-version", version.to_owned()),
        ];
        let path = format!("/mcp?profile={profile}");
        let mut it = Self { client, path, headers, era, stream: None };
        if era == Era::WithSession {
            let hello = json!({
                "protocolVersion": version, "capabilities": {},
                "clientInfo": { "name": "bench", "version": "1" },
            });
            let answer = it.post(&message(1, "initialize", hello), &[]).await;
            let session = answer.headers.get("mcp-session-id").and_then(|id| id.to_str().ok());
            it.headers.push(("mcp-session-id", session.unwrap_or_default().to_owned()));
            let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            it.post(&initialized, &[]).await.expect(202);
        }
        it
    }

    /// Calls a tool, which must succeed.
    pub async fn call(&self, tool: &str, args: Value) -> Value {
        let result = self.request("tools/call", json!({ "name": tool, "arguments": args })).await;
        assert!(result.get("isError") != Some(&json!(true)), "{tool}: {result}");
        result
    }

    /// The result of a request, which must succeed.
    pub async fn request(&self, method: &str, params: Value) -> Value {
        let answer = self.send(method, params).await;
        let text = answer.expect(200).text();
        // One message, alone or as the last event of a stream.
        let last = text.lines().filter_map(|line| line.strip_prefix("data: {")).next_back();
        let text = last.map_or(text.clone(), |rest| format!("{{{rest}"));
        let answer: Value = serde_json::from_str(&text).unwrap_or_default();
        let result = answer.get("result").cloned();
        assert!(result.is_some(), "{method}: {text}");
        result.unwrap_or_default()
    }

    async fn send(&self, method: &str, mut params: Value) -> Answer {
        let name = params.get("name").and_then(Value::as_str).map(str::to_owned);
        self.add_meta(&mut params);
        let message = message(2, method, params);
        match (self.era, &name) {
            (Era::WithSession, _) => self.post(&message, &[]).await,
            (Era::Stateless, None) => self.post(&message, &[("mcp-method", method)]).await,
            (Era::Stateless, Some(name)) => {
                self.post(&message, &[("mcp-method", method), ("mcp-name", name)]).await
            }
        }
    }

    /// What every request says about the client, in the generation without sessions.
    fn add_meta(&self, params: &mut Value) {
        if let Some(params) = params.as_object_mut().filter(|_| self.era == Era::Stateless) {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            params.insert("_meta".to_owned(), meta);
        }
    }

    /// Opens the stream on which the server tells of changes, and keeps it open.
    pub async fn listen(&mut self) {
        let headers = self.headers.iter().map(|(name, value)| (*name, value.as_str()));
        let headers: Vec<_> = headers.collect();
        let (answer, stream) = match self.era {
            Era::WithSession => {
                self.client.open(Method::GET, &self.path, &headers, Vec::new().into()).await
            }
            Era::Stateless => {
                let mut params = json!({ "notifications": { "resourcesListChanged": true } });
                self.add_meta(&mut params);
                let body = message(3, "subscriptions/listen", params).to_string();
                let method = [("mcp-method", "subscriptions/listen")];
                let headers: Vec<_> = headers.into_iter().chain(method).collect();
                self.client.open(Method::POST, &self.path, &headers, body.into()).await
            }
        };
        answer.expect(200);
        self.stream = stream;
    }

    /// Ends the session.
    pub async fn close(&self) {
        if self.era == Era::WithSession {
            let headers: Vec<_> =
                self.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let delete = Method::DELETE;
            self.client.send(delete, &self.path, &headers, Vec::new().into()).await.expect(204);
        }
    }

    async fn post(&self, body: &Value, more: &[(&str, &str)]) -> Answer {
        let own = self.headers.iter().map(|(name, value)| (*name, value.as_str()));
        let headers: Vec<_> = own.chain(more.iter().copied()).collect();
        let post = Method::POST;
        self.client.send(post, &self.path, &headers, body.to_string().into()).await
    }
}

fn message(id: u32, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}
