//! Sends spans to an OpenTelemetry collector, as OTLP over HTTP.
//!
//! A collector that fails costs spans, never requests: they wait in a bounded queue, and are dropped
//! when it is full.

use std::time::{Duration, Instant};

use helmdeck_packs::{HttpClient, HttpRequest};
use helmdeck_telemetry::{Span, Tracer, otlp};
use http::{HeaderMap, HeaderValue, Method, header};
use tokio::{sync::mpsc, time::sleep};
use tokio_util::sync::CancellationToken;

use crate::{ServerError, config::TraceSettings, password::random_hex};

/// Spans that wait for the collector.
const WAITING: usize = 4096;
/// Spans of one request.
const BATCH: usize = 512;
/// How long a batch is collected.
const COLLECT: Duration = Duration::from_secs(1);
/// How long the collector may take.
const ANSWER: Duration = Duration::from_secs(10);
/// How long it may take when the server stops.
const LAST_ANSWER: Duration = Duration::from_secs(2);
/// Pauses before a batch is sent again. Then it is dropped.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(5)];
/// How often a failing collector is logged.
const WARN_EVERY: Duration = Duration::from_secs(60);
/// How much of an answer is read. Only its status matters.
const MAX_ANSWER: usize = 4096;
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Sends spans.
pub struct SpanExport {
    url: String,
    headers: HeaderMap,
    /// Tells servers apart.
    instance: String,
    http: HttpClient,
    spans: mpsc::Receiver<Span>,
    tracer: Tracer,
    /// When a failure was logged, and the spans that were lost since the start.
    warned: Option<Instant>,
    lost: u64,
}

/// Why a batch was not accepted.
enum Failure {
    /// It may be accepted later.
    Later(String),
    /// It is never accepted.
    Never(String),
}

/// A tracer, and what sends its spans. Without a collector, nothing is recorded.
pub fn start(settings: &TraceSettings) -> Result<(Tracer, Option<SpanExport>), ServerError> {
    let Some(endpoint) = &settings.endpoint else { return Ok((Tracer::default(), None)) };
    let (tracer, spans) = Tracer::new(WAITING);
    let mut headers = settings.headers();
    headers.insert(header::CONTENT_TYPE, JSON);
    let export = SpanExport {
        url: format!("{}/v1/traces", endpoint.trim_end_matches('/')),
        headers,
        instance: random_hex().unwrap_or_default(),
        http: HttpClient::for_services().map_err(ServerError::HttpClient)?,
        spans,
        tracer: tracer.clone(),
        warned: None,
        lost: 0,
    };
    Ok((tracer, Some(export)))
}

impl SpanExport {
    /// Sends spans until `closing`, and then those that wait.
    pub async fn run(mut self, closing: CancellationToken) {
        let mut batch = Vec::new();
        while let Some(Some(span)) = closing.run_until_cancelled(self.spans.recv()).await {
            batch.push(span);
            let _ = closing.run_until_cancelled(sleep(COLLECT)).await;
            self.fill(&mut batch);
            let _ = closing.run_until_cancelled(self.deliver(&mut batch)).await;
        }
        self.fill(&mut batch);
        if !batch.is_empty() {
            // The server stops; there is no later.
            let _ = self.send(&batch, LAST_ANSWER).await;
        }
    }

    fn fill(&mut self, batch: &mut Vec<Span>) {
        while batch.len() < BATCH
            && let Ok(span) = self.spans.try_recv()
        {
            batch.push(span);
        }
    }

    /// Sends a batch, and again if that may help. It is empty afterwards.
    async fn deliver(&mut self, batch: &mut Vec<Span>) {
        let mut pauses = PAUSES.iter();
        let reason = loop {
            match self.send(batch, ANSWER).await {
                Ok(()) => {
                    batch.clear();
                    return;
                }
                Err(Failure::Never(reason)) => break reason,
                Err(Failure::Later(reason)) => match pauses.next() {
                    Some(pause) => sleep(*pause).await,
                    None => break reason,
                },
            }
        };
        self.lost += batch.len() as u64;
        batch.clear();
        if self.warned.is_none_or(|at| at.elapsed() > WARN_EVERY) {
            self.warned = Some(Instant::now());
            let (url, lost) = (&self.url, self.lost + self.tracer.dropped());
            tracing::warn!(url, reason, lost, "The collector does not accept spans");
        }
    }

    async fn send(&self, batch: &[Span], limit: Duration) -> Result<(), Failure> {
        let version = env!("CARGO_PKG_VERSION");
        let body = otlp::request("helmdeck", version, &self.instance, batch).to_string();
        let request = HttpRequest {
            method: Method::POST,
            url: self.url.clone(),
            headers: self.headers.clone(),
            body: body.into(),
            max_bytes: MAX_ANSWER,
            timeout: limit,
        };
        let answer = self.http.send_once(request).await;
        let status = answer.map_err(|error| Failure::Later(error.body().message.clone()))?.status;
        let reason = || format!("it answers with status {}", status.as_u16());
        match status.as_u16() {
            200..300 => Ok(()),
            429 | 502..=504 => Err(Failure::Later(reason())),
            _ => Err(Failure::Never(reason())),
        }
    }
}
