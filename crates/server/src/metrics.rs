//! The server's metrics. Labels are operation ids and statuses, so their number is bounded.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use helmdeck_store::AuditStatus;
use http::StatusCode;
use metrics::{counter, gauge, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

use crate::ServerError;

const REQUESTS: &str = "helmdeck_requests_total";
const DURATION: &str = "helmdeck_request_duration_seconds";
const SESSIONS: &str = "helmdeck_sessions";
const AUDIT_LOST: &str = "helmdeck_audit_entries_lost_total";
const TLS_REFUSED: &str = "helmdeck_tls_certificates_refused_total";
const AUDIT_FAILING: &str = "helmdeck_audit_write_failing";
/// From a click to a cold start.
const BUCKETS: [f64; 12] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];

/// One recorder per process, shared by all apps.
static RECORDER: OnceLock<PrometheusHandle> = OnceLock::new();

/// A handle to the metrics.
#[derive(Clone)]
pub struct Metrics {
    handle: PrometheusHandle,
}

impl Metrics {
    /// Installs the recorder, unless the process already has one.
    pub fn start() -> Result<Self, ServerError> {
        if let Some(handle) = RECORDER.get() {
            return Ok(Self { handle: handle.clone() });
        }
        let recorder = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Full(DURATION.to_owned()), &BUCKETS)
            .map_err(|error| ServerError::Log(Box::new(error)))?
            .build_recorder();
        let handle = RECORDER.get_or_init(|| recorder.handle()).clone();
        // Fails only if another thread was faster, which is fine.
        let _ = metrics::set_global_recorder(recorder);
        metrics::describe_counter!(REQUESTS, "Requests answered.");
        metrics::describe_histogram!(DURATION, "Duration of requests in seconds.");
        metrics::describe_gauge!(SESSIONS, "Number of running sessions.");
        metrics::describe_counter!(AUDIT_LOST, "Entries of the audit log that were lost.");
        metrics::describe_gauge!(AUDIT_FAILING, "1 while the audit log cannot be written.");
        metrics::describe_counter!(TLS_REFUSED, "Replaced certificates that cannot be used.");
        Ok(Self { handle })
    }

    /// All metrics as text.
    pub fn render(&self, sessions: usize, audit: AuditStatus) -> String {
        gauge!(SESSIONS).set(sessions as f64);
        counter!(AUDIT_LOST).absolute(audit.lost);
        gauge!(AUDIT_FAILING).set(f64::from(u8::from(audit.failing)));
        self.handle.render()
    }

    /// Folds samples into buckets, so that they do not accumulate.
    pub fn tidy(&self) {
        self.handle.run_upkeep();
    }
}

/// Counts a certificate on disk that cannot be used.
pub fn certificate_refused() {
    counter!(TLS_REFUSED).increment(1);
}

/// Counts one request.
pub fn request(operation: &Arc<str>, status: StatusCode, took: Duration) {
    let status = status.as_str().to_owned();
    counter!(REQUESTS, "operation" => operation.clone(), "status" => status).increment(1);
    histogram!(DURATION, "operation" => operation.clone()).record(took);
}
