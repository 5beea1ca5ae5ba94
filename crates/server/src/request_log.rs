//! Wraps every request: request id, span and metrics. The only place that logs failures.

use std::{any::Any, sync::Arc, time::Instant};

use axum::{
    extract::{MatchedPath, Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use helmdeck_telemetry::{ActiveSpan, Kind, SpanContext};
use helmdeck_wire::{ErrorBody, ErrorCode};
use http::{HeaderMap, HeaderName, HeaderValue, header};
use tracing::Instrument;

use crate::{
    App,
    error::{ApiError, status},
    metrics,
};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const EVENT_STREAM: &str = "text/event-stream";
/// Tells nginx whether to buffer a response.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
/// The span of the caller, of W3C Trace Context.
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const MAX_REQUEST_ID: usize = 128;

/// Wraps every request, including those that match no operation.
pub async fn pass(State(app): State<App>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    let operation = path.and_then(|path| app.operation_id(request.method(), path));
    let operation = operation.unwrap_or_else(|| "none".into());
    let id = request_id(request.headers());
    let span = tracing::info_span!(
        "request",
        request.id = id.to_str().unwrap_or_default(),
        operation = &*operation,
        caller = tracing::field::Empty
    );

    let mut work = traced(&app, &request, &operation);
    let mut response = work.scope(next.run(request).instrument(span.clone())).await;
    let answered = response.status();
    work.set("http.response.status_code", answered.as_u16());
    if answered.is_server_error() {
        work.fail(answered.as_str());
    }

    span.in_scope(|| {
        if let Some(error) = response.extensions_mut().remove::<Arc<ApiError>>() {
            log(&error);
            if error.code == ErrorCode::Internal {
                response = with_request_id(&error, &id);
            }
        }
        let took = started.elapsed();
        metrics::request(&operation, response.status(), took);
        let (status, duration_ms) = (response.status().as_u16(), took.as_millis() as u64);
        tracing::debug!(status, duration_ms, "Request answered");
    });
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, id);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == EVENT_STREAM) {
        // Proxies must neither buffer nor change events.
        headers.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
        let cache = HeaderValue::from_static("no-cache, no-transform");
        headers.insert(header::CACHE_CONTROL, cache);
    }
    response
}

/// The span of a request for OpenTelemetry. Paths contain ids and keys, so only the route is told.
fn traced(app: &App, request: &Request, operation: &str) -> ActiveSpan {
    let parent = request.headers().get(TRACEPARENT).and_then(|header| header.to_str().ok());
    let parent = parent.and_then(SpanContext::from_traceparent);
    let mut span = app.tracer.start(parent, || operation.to_owned(), Kind::Server);
    span.set("http.request.method", request.method().as_str());
    if let Some(route) = request.extensions().get::<MatchedPath>() {
        span.set("http.route", route.as_str());
    }
    span
}

/// The response to a request whose handler panicked.
pub fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let reason = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    ApiError::internal(format!("a handler panicked: {reason}")).into_response()
}

/// The client's id if it is safe to log, otherwise a new one.
fn request_id(headers: &HeaderMap) -> HeaderValue {
    let sane = |value: &&HeaderValue| {
        let bytes = value.as_bytes();
        (1..=MAX_REQUEST_ID).contains(&bytes.len())
            && bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"-_.:".contains(b))
    };
    headers.get(REQUEST_ID).filter(sane).cloned().unwrap_or_else(new_request_id)
}

fn new_request_id() -> HeaderValue {
    let mut bytes = [0; 8];
    // Without random bytes, the log line can still be found by its time.
    let _ = getrandom::fill(&mut bytes);
    let id = format!("req-{:016x}", u64::from_be_bytes(bytes));
    HeaderValue::try_from(id).unwrap_or(HeaderValue::from_static("req"))
}

/// Client errors are for the client, and server errors for the operator. Messages of client errors
/// may quote the request, so they are not logged.
fn log(error: &ApiError) {
    let status = status(error.code);
    // The page's site failed, not this server.
    let elsewhere = matches!(
        error.code,
        ErrorCode::NavigationFailed
            | ErrorCode::HostNotFound
            | ErrorCode::ConnectionRefused
            | ErrorCode::ProviderError
            | ErrorCode::NoModelKey
    );
    if !status.is_server_error() || elsewhere {
        tracing::debug!(error.code = error.code.as_str(), "Request refused");
        return;
    }
    let mut reason = String::new();
    let mut source: Option<&dyn std::error::Error> = error.source.as_deref().map(|s| s as _);
    while let Some(cause) = source {
        if !reason.is_empty() {
            reason.push_str(": ");
        }
        reason.push_str(&cause.to_string());
        source = cause.source();
    }
    if status == http::StatusCode::SERVICE_UNAVAILABLE {
        tracing::warn!(error.code = error.code.as_str(), reason, "Request refused");
    } else {
        tracing::error!(error.code = error.code.as_str(), reason, "Request failed");
    }
}

fn with_request_id(error: &ApiError, id: &HeaderValue) -> Response {
    let id = id.to_str().unwrap_or_default();
    let message = format!("{}; the server's log has the details under {id}", error.message);
    (status(error.code), axum::Json(ErrorBody::new(error.code, message))).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id_for(sent: &str) -> String {
        let headers = HeaderMap::from_iter([(REQUEST_ID, HeaderValue::try_from(sent).unwrap())]);
        request_id(&headers).to_str().unwrap().to_owned()
    }

    async fn body(response: Response) -> ErrorBody {
        let body = axum::body::to_bytes(response.into_body(), 1024).await.unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    #[tokio::test]
    async fn a_panic_tells_the_client_its_request_id_and_nothing_else() {
        let mut response = panicked(Box::new("secret detail".to_owned()));
        let error = response.extensions_mut().remove::<Arc<ApiError>>().unwrap();
        assert!(error.source.as_ref().unwrap().to_string().contains("secret detail"));
        assert!(!body(response).await.message.contains("secret"));

        let told = body(with_request_id(&error, &HeaderValue::from_static("req-7"))).await;
        assert_eq!(told.error, ErrorCode::Internal);
        assert!(told.message.contains("req-7") && !told.message.contains("secret"));
    }

    #[test]
    fn a_sane_request_id_is_kept_and_any_other_replaced() {
        assert_eq!(id_for("trace-1.2:3_x"), "trace-1.2:3_x");
        for bad in ["", "a b", "x\"y", &"x".repeat(129)] {
            assert!(id_for(bad).starts_with("req-"), "{bad:?}");
        }
        assert_ne!(id_for(""), id_for(""));
    }
}
