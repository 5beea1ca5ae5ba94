//! A server for one test, and a client that talks to it over TCP.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use helmdeck_server::{
    Config, Instance, Shutdown, Started,
    admin::NewAdmin,
    run,
    token::{Claims, Grant, Signer},
};
use helmdeck_store::Store;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tempfile::TempDir;
use tokio::{net::TcpSocket, sync::oneshot, task::JoinHandle};

use crate::nowhere::Nowhere;

/// A running server; dropping it stops it.
pub struct TestServer {
    pub addr: SocketAddr,
    pub new_admin: Option<NewAdmin>,
    pub config: Config,
    signer: Signer,
    stop: Option<oneshot::Sender<()>>,
    task: Option<JoinHandle<()>>,
    _dir: TempDir,
}

/// What came back.
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl TestServer {
    pub async fn start() -> Self {
        Self::start_with(&[], Nowhere::default()).await
    }

    pub async fn start_with(env: &[(&str, &str)], runtime: Nowhere) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let ours = [
            ("HELMDECK_DATA_DIR", dir.path().to_str().unwrap()),
            ("HELMDECK_ADDR", "127.0.0.1:0"),
            ("HELMDECK_JWT_SECRET", SECRET),
        ];
        let env = env.iter().chain(&ours).map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        let config = Config::load(None, env).unwrap();
        let signer = Signer::load(&config).unwrap();
        let instance = Instance::open(config.clone()).await.unwrap();
        let (stop, stopped) = oneshot::channel();
        let (started, starting) = oneshot::channel::<Started>();
        let task = tokio::spawn(async move {
            let announce = |it| drop(started.send(it));
            let shutdown = async {
                drop(stopped.await);
                Shutdown::EndSessions
            };
            run(instance, Arc::new(runtime), announce, shutdown).await.unwrap();
        });
        let Started { addr, new_admin } = starting.await.unwrap();
        let (stop, task) = (Some(stop), Some(task));
        Self { addr, new_admin, config, signer, stop, task, _dir: dir }
    }

    /// An agent's token with these scopes.
    pub fn token(&self, scopes: &[&str]) -> String {
        self.mint("agent", false, scopes).0
    }

    /// A person's token with these scopes.
    pub fn person(&self, scopes: &[&str]) -> String {
        self.mint("ann", true, scopes).0
    }

    /// An agent's token of this subject with these scopes.
    pub fn token_of(&self, subject: &str, scopes: &[&str]) -> String {
        self.mint(subject, false, scopes).0
    }

    /// A token that is listed, and its id.
    pub async fn listed(&self, subject: &str, human: bool, scopes: &[&str]) -> (String, String) {
        let (token, claims) = self.mint(subject, human, scopes);
        let info = claims.info();
        let store = Store::open(&self.config.data_dir).await.unwrap();
        store.add_token(&info, info.created_at).await.unwrap();
        (token, info.id)
    }

    fn mint(&self, subject: &str, human: bool, scopes: &[&str]) -> (String, Claims) {
        let scopes: Vec<_> = scopes.iter().map(|scope| (*scope).to_owned()).collect();
        let (label, ttl) = (None, Duration::from_secs(60));
        self.signer.mint(&Grant { subject, label, human, scopes: &scopes, ttl }).unwrap()
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

    /// A request to be changed before it is sent; no token if it is empty.
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
        drop(self.stop.take());
        self.task.take().unwrap().await.unwrap();
    }
}

/// Signs the tokens of test servers.
pub const SECRET: &str = "a secret of tests, long enough for HS256";

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

    /// Asserts a failure and returns its message.
    #[track_caller]
    pub fn assert_error(&self, status: u16, code: &str) -> String {
        let body = self.json();
        assert_eq!((self.status.as_u16(), &body["error"]), (status, &code.into()), "{body}");
        assert_eq!(self.header("content-type"), "application/json");
        body["message"].as_str().unwrap().to_owned()
    }
}
