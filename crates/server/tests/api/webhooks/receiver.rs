//! A receiver of webhooks on the loopback.

use std::{
    collections::VecDeque,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use axum::{Router, body::Bytes, extract::State, response::IntoResponse};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use helmdeck_testkit::eventually;
use http::{HeaderMap, StatusCode, header};
use parking_lot::Mutex;
use ring::hmac::{self, HMAC_SHA256};
use serde_json::Value;
use tokio::{net::TcpListener, task::AbortHandle};

const SOON: Duration = Duration::from_secs(20);

/// Answers with given statuses, then with 204. Stops when dropped.
pub struct Receiver {
    pub address: SocketAddr,
    got: Arc<Mutex<Kept>>,
    task: AbortHandle,
}

#[derive(Default)]
struct Kept {
    messages: Vec<Message>,
    statuses: VecDeque<u16>,
    is_silent: bool,
}

/// A message that arrived.
#[derive(Clone)]
pub struct Message {
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Receiver {
    pub async fn start(statuses: &[u16]) -> Self {
        Self::serve(Kept { statuses: statuses.iter().copied().collect(), ..Kept::default() }).await
    }

    /// A receiver that never answers.
    pub async fn silent() -> Self {
        Self::serve(Kept { is_silent: true, ..Kept::default() }).await
    }

    async fn serve(kept: Kept) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let got = Arc::new(Mutex::new(kept));
        let router = Router::new().fallback(receive).with_state(got.clone());
        let task = tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, got, task: task.abort_handle() }
    }

    pub fn url(&self) -> String {
        format!("http://{}/done", self.address)
    }

    pub fn count(&self) -> usize {
        self.got.lock().messages.len()
    }

    /// Waits for a message, counted from 0.
    pub async fn message(&self, index: usize) -> Message {
        let arrived = async || self.got.lock().messages.get(index).cloned();
        eventually(SOON, arrived).await.expect("it arrives")
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn receive(
    State(got): State<Arc<Mutex<Kept>>>,
    headers: HeaderMap,
    body: Bytes,
) -> impl IntoResponse {
    let (status, is_silent) = {
        let mut got = got.lock();
        got.messages.push(Message { headers, body });
        (got.statuses.pop_front().unwrap_or(204), got.is_silent)
    };
    if is_silent {
        std::future::pending::<()>().await;
    }
    let status = StatusCode::from_u16(status).unwrap();
    (status, [(header::LOCATION, "/elsewhere")])
}

impl Message {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Whether the Standard Webhooks signature is right for this key.
    pub fn is_signed_by(&self, key: &[u8]) -> bool {
        let (id, timestamp) = (self.header("webhook-id"), self.header("webhook-timestamp"));
        let signed = [format!("{id}.{timestamp}.").as_bytes(), &self.body].concat();
        let signature = self.header("webhook-signature").strip_prefix("v1,").unwrap_or_default();
        let signature = BASE64_STANDARD.decode(signature).unwrap();
        let key = hmac::Key::new(HMAC_SHA256, key);
        hmac::verify(&key, &signed, &signature).is_ok()
    }

    /// The signature of the body alone.
    pub fn plain_signature(&self, secret: &str) -> String {
        let key = hmac::Key::new(HMAC_SHA256, secret.as_bytes());
        let digest = hmac::sign(&key, &self.body);
        let hex: String = digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        format!("sha256={hex}")
    }
}
