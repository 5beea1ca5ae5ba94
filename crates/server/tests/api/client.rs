//! A server for one test, and a client that talks to it over TCP.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use helmdeck_runtime::Runtime;
use helmdeck_server::{Config, admin::NewAdmin};
use helmdeck_testkit::fake::FakeServer;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpSocket;

use crate::nowhere::Nowhere;

pub use helmdeck_testkit::fake::SECRET;

/// Longer than any test.
const TOKEN_LIFE: Duration = Duration::from_secs(60);

/// A running server; dropping it stops it.
pub struct TestServer {
    pub addr: SocketAddr,
    pub new_admin: Option<NewAdmin>,
    pub config: Config,
    server: FakeServer,
}

/// A response.
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl TestServer {
    pub async fn start() -> Self {
        Self::start_with(&[], Nowhere::default()).await
    }

    pub async fn start_with(env: &[(&str, &str)], runtime: impl Runtime) -> Self {
        let server = FakeServer::start_with_runtime(env, Arc::new(runtime)).await;
        let (addr, config) = (server.address, server.config.clone());
        Self { addr, new_admin: server.new_admin.clone(), config, server }
    }

    /// An agent's token with these scopes.
    pub fn token(&self, scopes: &[&str]) -> String {
        self.token_of("agent", scopes)
    }

    /// A person's token with these scopes.
    pub fn person(&self, scopes: &[&str]) -> String {
        self.server.person_token("ann", &scopes.join(","))
    }

    /// An agent's token of this subject with these scopes.
    pub fn token_of(&self, subject: &str, scopes: &[&str]) -> String {
        self.server.token(subject, &scopes.join(","))
    }

    /// A listed token, and its id.
    pub async fn listed(&self, subject: &str, human: bool, scopes: &[&str]) -> (String, String) {
        self.server.listed_token(subject, human, &scopes.join(","), TOKEN_LIFE).await
    }

    pub async fn get(&self, path: &str, token: &str) -> Answer {
        self.send(self.request(Method::GET, path, token), "").await
    }

    pub async fn post(&self, path: &str, token: &str, body: impl ToString) -> Answer {
        self.send(self.request(Method::POST, path, token), &body.to_string()).await
    }

    pub async fn delete(&self, path: &str, token: &str) -> Answer {
        self.send(self.request(Method::DELETE, path, token), "").await
    }

    /// A request builder. An empty token sends none.
    pub fn request(&self, method: Method, path: &str, token: &str) -> http::request::Builder {
        let request = Request::builder().method(method).uri(path).header("host", "test");
        if token.is_empty() {
            return request;
        }
        request.header("authorization", format!("Bearer {token}"))
    }

    pub async fn send(&self, request: http::request::Builder, body: &str) -> Answer {
        self.send_from([127, 0, 0, 1], request, body).await
    }

    /// Sends from this address of the machine.
    pub async fn send_from(
        &self,
        from: [u8; 4],
        request: http::request::Builder,
        body: &str,
    ) -> Answer {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::from((from, 0))).unwrap();
        let stream = socket.connect(self.addr).await.unwrap();
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        let request = request.body(Full::new(Bytes::from(body.to_owned()))).unwrap();
        let (parts, body) = sender.send_request(request).await.unwrap().into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer { status: parts.status, headers: parts.headers, body }
    }

    /// Stops the server and waits until it is gone.
    pub async fn stop(mut self) {
        self.server.stop().await;
    }
}

impl Answer {
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Asserts an error and returns its message.
    #[track_caller]
    pub fn assert_error(&self, status: u16, code: &str) -> String {
        let body = self.json();
        assert_eq!((self.status.as_u16(), &body["error"]), (status, &code.into()), "{body}");
        assert_eq!(self.header("content-type"), "application/json");
        body["message"].as_str().unwrap().to_owned()
    }
}
