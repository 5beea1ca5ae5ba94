//! Spans of work for OpenTelemetry.
//!
//! A [`Tracer`] starts spans. Dropping an [`ActiveSpan`] ends it and queues it for export; a full queue
//! drops the span and counts it, so that tracing never slows or fails the work itself. A span is the
//! parent of those that [`start`] inside [`ActiveSpan::scope`]. Without an exporter, nothing is recorded.
//!
//! [`otlp`] writes spans as OTLP. Spans contain names, counts and ids; never text of requests or answers.

mod context;
pub mod otlp;
mod span;
mod tracer;

pub use context::{Current, SpanContext, current, start};
pub use span::{Kind, Span, Value};
pub use tracer::{ActiveSpan, Tracer};
