//! An S3 service on the loopback, with one bucket in memory. It checks signatures and the rules of S3, and
//! fails when told to.

mod operations;
mod signature;

use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use futures_util::stream;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, StreamBody, combinators::BoxBody};
use hyper::{
    body::{Frame, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpListener, task::AbortHandle};

use operations::{Answer, Question, error};

/// Longer than any test.
const FOREVER: Duration = Duration::from_secs(3600);

/// A running service. Dropping it stops it.
pub struct FakeS3 {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    task: AbortHandle,
}

/// What goes wrong.
#[derive(Debug, Clone, Copy)]
pub enum Fault {
    /// An error with this status and code.
    Error(u16, &'static str),
    /// Status 200, and then an error with this code.
    LateError(&'static str),
    /// No answer.
    Stall,
    /// The first half of the answer, and the end of the connection.
    CutOff,
    /// The request is done, and its answer is lost.
    Lost,
    /// A redirect to this address.
    Redirect(SocketAddr),
}

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Bytes>,
    uploads: BTreeMap<String, Upload>,
    /// Faults, the words of their requests, and how often they happen.
    faults: Vec<(Vec<String>, Fault, usize)>,
    /// Method, path and query of every request.
    requests: Vec<String>,
    /// Most keys on a page.
    page: usize,
    created: usize,
}

/// An unfinished upload: its key, and its parts with their tags.
struct Upload {
    key: String,
    parts: BTreeMap<usize, (String, Bytes)>,
}

impl FakeS3 {
    /// The only bucket.
    pub const BUCKET: &'static str = "files";
    /// The id of the only key.
    pub const ACCESS_KEY: &'static str = "AKIDOFTESTS";
    /// Its secret.
    pub const SECRET_KEY: &'static str = "secret/of+tests";
    /// The region of the service.
    pub const REGION: &'static str = "eu-test-1";

    /// Starts a service with an empty bucket.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State { page: 1000, ..State::default() }));
        let shared = state.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let state = shared.clone();
                let service = service_fn(move |request| answer(state.clone(), request));
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { address, state, task: task.abort_handle() }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its address for settings.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Settings of a server that uses the bucket.
    pub fn environment(&self) -> Vec<(String, String)> {
        let settings = [
            ("HELMDECK_S3_ENDPOINT", self.endpoint()),
            ("HELMDECK_S3_BUCKET", Self::BUCKET.to_owned()),
            ("HELMDECK_S3_REGION", Self::REGION.to_owned()),
            ("HELMDECK_S3_ACCESS_KEY", Self::ACCESS_KEY.to_owned()),
            ("HELMDECK_S3_SECRET_KEY", Self::SECRET_KEY.to_owned()),
        ];
        settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The next `times` requests whose method, path or query contain all words fail like this.
    pub fn fail(&self, words: &[&str], fault: Fault, times: usize) {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        self.state().faults.push((words, fault, times));
    }

    /// Ends all faults.
    pub fn mend(&self) {
        self.state().faults.clear();
    }

    /// Limits the keys on a page.
    pub fn limit_pages(&self, keys: usize) {
        self.state().page = keys;
    }

    /// Keys of all objects.
    pub fn keys(&self) -> Vec<String> {
        self.state().objects.keys().cloned().collect()
    }

    /// An object.
    pub fn object(&self, key: &str) -> Option<Bytes> {
        self.state().objects.get(key).cloned()
    }

    /// Stores an object.
    pub fn put(&self, key: &str, content: impl Into<Bytes>) {
        self.state().objects.insert(key.to_owned(), content.into());
    }

    /// The number of unfinished uploads.
    pub fn uploads(&self) -> usize {
        self.state().uploads.len()
    }

    /// How many requests contained all words in method, path or query.
    pub fn count(&self, words: &[&str]) -> usize {
        let requests = &self.state().requests;
        requests.iter().filter(|line| words.iter().all(|word| line.contains(word))).count()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl Drop for FakeS3 {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    /// The fault of a request, if it has one.
    fn fault(&mut self, line: &str) -> Option<Fault> {
        let (_, fault, left) = self.faults.iter_mut().find(|(words, _, left)| {
            *left > 0 && words.iter().all(|word| line.contains(word.as_str()))
        })?;
        *left -= 1;
        Some(*fault)
    }
}

type Body = BoxBody<Bytes, io::Error>;

fn whole(body: Bytes) -> Body {
    Full::new(body).map_err(|never| match never {}).boxed()
}

/// Half of a body, and a broken connection.
fn half(body: &Bytes) -> Body {
    let half = Ok(Frame::data(body.slice(..body.len() / 2)));
    StreamBody::new(stream::iter([half, Err(io::ErrorKind::ConnectionReset.into())])).boxed()
}

async fn answer(
    state: Arc<Mutex<State>>,
    request: Request<Incoming>,
) -> io::Result<Response<Body>> {
    let (head, body) = request.into_parts();
    let line = format!("{} {}", head.method, head.uri);
    let fault = {
        let mut state = lock(&state);
        state.requests.push(line.clone());
        state.fault(&line)
    };
    if let Some(Fault::Stall) = fault {
        tokio::time::sleep(FOREVER).await;
    }
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let done = || match signature::check(&head, &body) {
        Ok(()) => Question::new(&head, body).answer(&mut lock(&state)),
        Err(code) => error(403, code),
    };
    let Answer { status, headers, body } = match fault {
        Some(Fault::Error(status, code)) => error(status, code),
        Some(Fault::LateError(code)) => error(200, code),
        Some(Fault::Redirect(to)) => {
            let location = ("location".to_owned(), format!("http://{to}{}", head.uri));
            Answer { headers: vec![location], ..error(307, "TemporaryRedirect") }
        }
        Some(Fault::Lost) => {
            done();
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        _ => done(),
    };
    let mut response = Response::builder().status(StatusCode::from_u16(status).unwrap());
    for (name, value) in headers {
        response = response.header(name, value);
    }
    let body = if head.method == http::Method::HEAD { Bytes::new() } else { body };
    let response = match fault {
        Some(Fault::CutOff) => response.header("content-length", body.len()).body(half(&body)),
        _ => response.body(whole(body)),
    };
    Ok(response.unwrap())
}
