//! A caller with a token.

use std::net::SocketAddr;

use bytes::Bytes;
use http::{HeaderMap, Method, Request};
use http_body_util::{BodyExt, Full};
use hyper::{
    body::Incoming,
    client::conn::http1::{SendRequest, handshake},
};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{io::AsyncWriteExt, sync::Mutex};

use crate::dial::{Trusted, dial};

/// A caller that speaks HTTP over one persistent connection.
pub struct Client {
    address: SocketAddr,
    token: Option<String>,
    trusted: Option<Trusted>,
    connection: Mutex<Option<SendRequest<Full<Bytes>>>>,
}

/// A response of the server.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
}

/// A response that goes on. Dropping it closes its connection.
pub struct OpenStream {
    _body: Incoming,
    _connection: SendRequest<Full<Bytes>>,
}

impl Client {
    /// A caller with or without a token.
    pub fn new(address: SocketAddr, token: Option<String>) -> Self {
        Self { address, token, trusted: None, connection: Mutex::default() }
    }

    /// The same for a server that speaks TLS, if certificates to trust are given.
    pub fn trusting(self, trusted: Option<Trusted>) -> Self {
        Self { trusted, ..self }
    }

    /// `GET path`.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, &[], Bytes::new()).await
    }

    /// `DELETE path`.
    pub async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, &[], Bytes::new()).await
    }

    /// `POST path` with a JSON body.
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::POST, path, &[], body.to_string().into()).await
    }

    /// Any request.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Answer {
        let mut connection = self.take().await;
        let request = self.request(method, path, headers, body);
        let response = connection.send_request(request).await.expect("the server answers");
        let (head, body) = response.into_parts();
        let body = body.collect().await.expect("a whole body").to_bytes();
        *self.connection.lock().await = Some(connection);
        Answer { status: head.status.as_u16(), headers: head.headers, body }
    }

    /// Sends any request and waits only for the head of the response. The body is that of an error,
    /// or empty. For endless responses, such as events.
    pub async fn begin(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Answer {
        self.open(method, path, headers, body).await.0
    }

    /// The same, with the rest of a successful response. Without it, the connection is closed.
    pub async fn open(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> (Answer, Option<OpenStream>) {
        let mut connection = self.take().await;
        let request = self.request(method, path, headers, body);
        let response = connection.send_request(request).await.expect("the server answers");
        let (head, body) = response.into_parts();
        let (body, stream) = match head.status.is_success() {
            true => (Bytes::new(), Some(OpenStream { _body: body, _connection: connection })),
            false => (body.collect().await.expect("a whole body").to_bytes(), None),
        };
        (Answer { status: head.status.as_u16(), headers: head.headers, body }, stream)
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Request<Full<Bytes>> {
        let mut request =
            Request::builder().method(method).uri(path).header("host", self.address.to_string());
        if !headers.iter().any(|(name, _)| *name == "content-type") {
            request = request.header("content-type", "application/json");
        }
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(Full::new(body)).unwrap()
    }

    /// `POST path` with a JSON body from a client that disconnects after `then`, with or without a
    /// response.
    pub async fn abandon(&self, path: &str, body: &Value, then: impl Future<Output = ()>) {
        let mut stream = dial(self.address, self.trusted.as_ref()).await;
        let (body, token) = (body.to_string(), self.token.clone().unwrap_or_default());
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\n\
             content-length: {}\r\n\r\n{body}",
            self.address,
            body.len(),
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        then.await;
    }

    async fn take(&self) -> SendRequest<Full<Bytes>> {
        if let Some(mut kept) = self.connection.lock().await.take()
            && kept.ready().await.is_ok()
        {
            return kept;
        }
        let stream = dial(self.address, self.trusted.as_ref()).await;
        let (sender, connection) = handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        sender
    }
}

impl Answer {
    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|e| panic!("{e}: {:?}", String::from_utf8_lossy(&self.body)))
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// A header's value, or empty.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Checks the status and returns the response.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text());
        self
    }

    /// Checks the error's status and code, and returns its message.
    #[track_caller]
    pub fn expect_error(self, status: u16, code: &str) -> String {
        let body = self.expect(status).json();
        assert_eq!(body["error"], code, "{body}");
        body["message"].as_str().expect("a message").to_owned()
    }
}
