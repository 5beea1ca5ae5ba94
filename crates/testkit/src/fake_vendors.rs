//! Providers of models on the loopback. They enforce what the vendors document, answer by simple rules,
//! and fail when told to.

mod anthropic;
mod chat;
mod gemini;
mod model;
mod responses;

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, StreamBody, combinators::BoxBody};
use hyper::{
    body::{Frame, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::AbortHandle};

/// Longer than any test.
const FOREVER: Duration = Duration::from_secs(3600);

/// Running providers. Dropping them stops them.
pub struct FakeVendors {
    address: SocketAddr,
    state: Arc<State>,
    task: AbortHandle,
}

/// What goes wrong with a call.
#[derive(Debug, Clone, Copy)]
pub enum VendorFault {
    /// An error with this status in the vendor's shape, and how long to wait.
    Status(u16, Option<&'static str>),
    /// No answer.
    Stall,
    /// The first events, and then silence.
    StallInStream,
    /// The first events, and the end of the connection.
    CutInStream,
    /// The first events, and an error.
    ErrorInStream,
    /// An error as the first event.
    ErrorAsStream,
    /// Something that is not JSON.
    Garbage,
    /// An answer without choices.
    Empty,
}

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct VendorRequest {
    /// The provider.
    pub vendor: String,
    /// Path and query below its address.
    pub path: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, as it was sent.
    pub body: Bytes,
}

#[derive(Default)]
struct State {
    /// Nothing stands for calls that do not fail.
    faults: Mutex<Vec<(String, Option<VendorFault>, usize)>>,
    requests: Mutex<Vec<VendorRequest>>,
    /// Fields of the next answers, by provider.
    words: Mutex<Vec<(String, Value)>>,
    /// Answers that the client did not wait for.
    abandoned: AtomicUsize,
}

/// An answer, whole or in events.
enum Answer {
    Whole(u16, Value),
    Events(Vec<String>),
}

/// A refusal: status and body.
type Refusal = (u16, Value);

/// Every provider, and where it is below the address.
const VENDORS: [(&str, &str); 9] = [
    ("anthropic", "v1"),
    ("openai", "v1"),
    ("gemini", "v1beta"),
    ("openrouter", "v1"),
    ("deepseek", "v1"),
    ("groq", "v1"),
    ("mistral", "v1"),
    ("fireworks", "v1"),
    ("ollama", "v1"),
];

impl FakeVendors {
    /// The key that they accept.
    pub const KEY: &'static str = "sk-of-tests-0123456789";
    /// Tokens that every answer counts: input, cached input and output.
    pub const USAGE: (u64, u64, u64) = (100, 40, 20);

    /// Starts them.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State::default());
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

    /// The address of a provider.
    pub fn url(&self, vendor: &str) -> String {
        let version = VENDORS.iter().find(|(name, _)| *name == vendor).map_or("v1", |(_, it)| it);
        format!("http://{}/{vendor}/{version}", self.address)
    }

    /// Settings of a server that uses them, without keys.
    pub fn addresses(&self) -> Vec<(String, String)> {
        let setting = |(name, _): &(&str, &str)| {
            (format!("HELMDECK_{}_BASE_URL", name.to_ascii_uppercase()), self.url(name))
        };
        VENDORS.iter().map(setting).collect()
    }

    /// Settings of a server that uses them, with keys for these.
    pub fn environment(&self, keys: &[&str]) -> Vec<(String, String)> {
        let key = |name: &&str| {
            (format!("HELMDECK_{}_API_KEY", name.to_ascii_uppercase()), Self::KEY.to_owned())
        };
        self.addresses().into_iter().chain(keys.iter().map(key)).collect()
    }

    /// The next `times` calls of a provider fail like this.
    pub fn fail(&self, vendor: &str, fault: VendorFault, times: usize) {
        lock(&self.state.faults).push((vendor.to_owned(), Some(fault), times));
    }

    /// The same after `calls` more that do not fail.
    pub fn fail_after(&self, vendor: &str, calls: usize, fault: VendorFault, times: usize) {
        lock(&self.state.faults).push((vendor.to_owned(), None, calls));
        self.fail(vendor, fault, times);
    }

    /// The next valid call of a provider is answered with these fields, after those said before.
    pub fn say(&self, vendor: &str, fields: Value) {
        lock(&self.state.words).push((vendor.to_owned(), fields));
    }

    /// Every call of a model so far.
    pub fn requests(&self) -> Vec<VendorRequest> {
        lock(&self.state.requests).clone()
    }

    /// The last call of a provider's model.
    pub fn last(&self, vendor: &str) -> VendorRequest {
        let requests = self.requests();
        requests.into_iter().rfind(|request| request.vendor == vendor).expect("a request")
    }

    /// How many calls a provider got.
    pub fn count(&self, vendor: &str) -> usize {
        self.requests().iter().filter(|request| request.vendor == vendor).count()
    }

    /// How many streams the client closed before their end.
    pub fn abandoned(&self) -> usize {
        self.state.abandoned.load(Ordering::SeqCst)
    }
}

impl VendorRequest {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

impl Drop for FakeVendors {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    /// The answer with what a test set.
    fn said(&self, vendor: &str, answer: Answer) -> Answer {
        let mut words = lock(&self.words);
        let next = words.iter().position(|(name, _)| name == vendor);
        match (answer, next) {
            (Answer::Whole(200, mut body), Some(at)) => {
                let (_, fields) = words.remove(at);
                for (name, value) in fields.as_object().expect("an object") {
                    body[name] = value.clone();
                }
                Answer::Whole(200, body)
            }
            (answer, _) => answer,
        }
    }

    fn fault(&self, vendor: &str) -> Option<VendorFault> {
        let mut faults = lock(&self.faults);
        let (_, fault, left) =
            faults.iter_mut().find(|(name, _, left)| name == vendor && *left > 0)?;
        *left -= 1;
        *fault
    }
}

type Body = BoxBody<Bytes, io::Error>;

fn whole(status: u16, body: impl Into<Bytes>) -> Response<Body> {
    let body = Full::new(body.into()).map_err(|never| match never {}).boxed();
    let response = Response::builder().status(StatusCode::from_u16(status).unwrap());
    response.header("content-type", "application/json").body(body).unwrap()
}

async fn answer(state: Arc<State>, request: Request<Incoming>) -> io::Result<Response<Body>> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let path = head.uri.path_and_query().map_or("", |it| it.as_str()).to_owned();
    let mut parts = path.splitn(4, '/').skip(1);
    let (vendor, _, path) = (
        parts.next().unwrap_or_default().to_owned(),
        parts.next(),
        format!("/{}", parts.next().unwrap_or_default()),
    );
    if let Err((status, body)) = authorized(&vendor, &head.headers) {
        return Ok(whole(status, body.to_string()));
    }
    if head.method == http::Method::GET {
        return Ok(whole(200, models(&vendor).to_string()));
    }
    let (call, headers) = (body.clone(), head.headers);
    let request = VendorRequest { vendor: vendor.clone(), path: path.clone(), headers, body };
    let version = request.headers.get("anthropic-version").is_some();
    lock(&state.requests).push(request);
    let fault = state.fault(&vendor);
    match fault {
        Some(VendorFault::Stall) => tokio::time::sleep(FOREVER).await,
        Some(VendorFault::Status(status, wait)) => {
            let mut response = whole(status, refusal(&vendor, status).to_string());
            if let Some(wait) = wait {
                response.headers_mut().insert("retry-after", wait.parse().unwrap());
            }
            return Ok(response);
        }
        Some(VendorFault::Garbage) => return Ok(whole(200, "<h1>Bad gateway</h1>")),
        Some(VendorFault::Empty) => return Ok(whole(200, "{\"choices\":[],\"candidates\":[]}")),
        _ => {}
    }
    let Ok(asked) = serde_json::from_slice::<Value>(&call) else {
        return Ok(whole(400, refusal(&vendor, 400).to_string()));
    };
    // Clients that cannot set a fault ask for this.
    if asked["model"].as_str().is_some_and(|model| model.contains("stalls")) {
        tokio::time::sleep(FOREVER).await;
    }
    let answered = match path.split(['?', ':']).next().unwrap_or_default() {
        "/chat/completions" => chat::answer(&vendor, &asked),
        "/responses" => responses::answer(&vendor, &asked),
        "/messages" => anthropic::answer(&vendor, &asked, version),
        "/messages/count_tokens" => Ok(Answer::Whole(200, json!({ "input_tokens": 17 }))),
        "/embeddings" => Ok(Answer::Whole(200, chat::embeddings(&asked))),
        _ if path.ends_with(":batchEmbedContents") => {
            Ok(Answer::Whole(200, gemini::embeddings(&asked)))
        }
        other if other.starts_with("/models/") => gemini::answer(&path, &asked),
        _ => Err((404, refusal(&vendor, 404))),
    };
    let answered = answered.map(|answer| state.said(&vendor, answer));
    Ok(match answered {
        Err((status, body)) | Ok(Answer::Whole(status, body)) => whole(status, body.to_string()),
        Ok(Answer::Events(events)) => streamed(state, &vendor, events, fault),
    })
}

/// Counts itself if it is dropped before the end of its stream.
struct Watch {
    state: Arc<State>,
    ended: bool,
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.ended {
            self.state.abandoned.fetch_add(1, Ordering::SeqCst);
        }
    }
}

fn streamed(
    state: Arc<State>,
    vendor: &str,
    mut events: Vec<String>,
    fault: Option<VendorFault>,
) -> Response<Body> {
    match fault {
        Some(VendorFault::ErrorAsStream) => events = vec![error_event(vendor)],
        Some(VendorFault::ErrorInStream) => {
            events.truncate(3);
            events.push(error_event(vendor));
        }
        Some(VendorFault::StallInStream | VendorFault::CutInStream) => events.truncate(3),
        _ => {}
    }
    let watch = Watch { state, ended: false };
    let next = move |(mut watch, mut events): (Watch, std::vec::IntoIter<String>)| async move {
        // So that events arrive one by one.
        tokio::time::sleep(Duration::from_millis(1)).await;
        match (events.next(), fault) {
            (Some(event), _) => Some((Ok(Frame::data(Bytes::from(event))), (watch, events))),
            (None, Some(VendorFault::StallInStream)) => {
                tokio::time::sleep(FOREVER).await;
                None
            }
            (None, Some(VendorFault::CutInStream)) => {
                watch.ended = true;
                Some((Err(io::ErrorKind::ConnectionReset.into()), (watch, events)))
            }
            (None, _) => {
                watch.ended = true;
                drop(watch);
                None
            }
        }
    };
    let body = stream::unfold((watch, events.into_iter()), next).boxed();
    let body = BodyExt::boxed(StreamBody::new(SyncStream(Mutex::new(body))));
    Response::builder().header("content-type", "text/event-stream").body(body).unwrap()
}

/// A stream that can be shared, as bodies have to be.
struct SyncStream(Mutex<stream::BoxStream<'static, io::Result<Frame<Bytes>>>>);

impl stream::Stream for SyncStream {
    type Item = io::Result<Frame<Bytes>>;

    fn poll_next(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        lock(&self.0).poll_next_unpin(context)
    }
}

/// The key in the header that each vendor documents.
fn authorized(vendor: &str, headers: &HeaderMap) -> Result<(), Refusal> {
    let header = |name: &str| headers.get(name).and_then(|it| it.to_str().ok()).unwrap_or_default();
    let key = match vendor {
        "ollama" => return Ok(()),
        "anthropic" => header("x-api-key"),
        "gemini" => header("x-goog-api-key"),
        _ => header("authorization").strip_prefix("Bearer ").unwrap_or_default(),
    };
    match key == FakeVendors::KEY {
        true => Ok(()),
        false => Err((401, refusal(vendor, 401))),
    }
}

fn models(vendor: &str) -> Value {
    match vendor {
        "gemini" => json!({ "models": [
            { "name": "models/gemini-2.5-flash", "supportedGenerationMethods": ["generateContent"] },
            { "name": "models/gemini-3.5-flash", "supportedGenerationMethods": ["generateContent"] },
        ] }),
        "anthropic" => json!({
            "data": [{ "type": "model", "id": "claude-haiku-4-5" }], "has_more": false,
        }),
        "openrouter" => json!({ "data": [
            { "id": "openrouter/auto", "pricing": { "prompt": "-1", "completion": "-1" } },
            { "id": "vendor/unlisted", "pricing": { "prompt": "0.000002", "completion": "0.000004" } },
        ] }),
        _ => json!({ "object": "list", "data": [
            { "id": "gpt-4o-mini", "object": "model", "owned_by": vendor },
            { "id": "unpriced", "object": "model", "owned_by": vendor },
        ] }),
    }
}

/// An error in the vendor's shape.
fn refusal(vendor: &str, status: u16) -> Value {
    let kind = match status {
        401 => "authentication_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        400..500 => "invalid_request_error",
        _ => "api_error",
    };
    error(vendor, kind, &format!("{vendor} says {status}"))
}

fn error(vendor: &str, kind: &str, message: &str) -> Value {
    match vendor {
        "anthropic" => json!({ "type": "error", "error": { "type": kind, "message": message } }),
        "gemini" => json!({ "error": { "code": 400, "message": message, "status": kind } }),
        _ => json!({ "error": { "message": message, "type": kind, "param": null, "code": null } }),
    }
}

fn error_event(vendor: &str) -> String {
    let error = error(vendor, "overloaded_error", "Overloaded");
    match vendor {
        "anthropic" => format!("event: error\ndata: {error}\n\n"),
        _ => format!("data: {error}\n\n"),
    }
}

/// A refusal of a request.
fn refuse(vendor: &str, message: impl AsRef<str>) -> Refusal {
    (400, error(vendor, "invalid_request_error", message.as_ref()))
}

/// The text of an event.
fn event(name: Option<&str>, data: &Value) -> String {
    match name {
        Some(name) => format!("event: {name}\ndata: {data}\n\n"),
        None => format!("data: {data}\n\n"),
    }
}
