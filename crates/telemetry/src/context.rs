//! Which span is current, and how it crosses process boundaries.

use std::fmt::Write;

use crate::{ActiveSpan, Kind, Tracer};

tokio::task_local! {
    pub(crate) static CURRENT: Current;
}

/// The span that a task works for, and what records it.
#[derive(Debug, Clone, Default)]
pub struct Current {
    pub(crate) tracer: Tracer,
    pub(crate) context: Option<SpanContext>,
}

/// Identifies a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpanContext {
    /// The trace, of 16 bytes.
    pub trace: [u8; 16],
    /// The span, of 8 bytes.
    pub span: [u8; 8],
}

/// The span that the current task works for. Without one, it records nothing.
pub fn current() -> Current {
    CURRENT.try_with(Clone::clone).unwrap_or_default()
}

/// Starts a span inside that of the current task.
pub fn start(name: impl FnOnce() -> String, kind: Kind) -> ActiveSpan {
    current().start(name, kind)
}

impl Current {
    /// Starts a span inside this one.
    pub fn start(&self, name: impl FnOnce() -> String, kind: Kind) -> ActiveSpan {
        self.tracer.start(self.context, name, kind)
    }

    /// Runs work whose spans are parts of this one: for tasks that outlive the one that started them.
    pub async fn scope<T>(self, work: impl Future<Output = T>) -> T {
        CURRENT.scope(self, work).await
    }
}

impl SpanContext {
    /// Reads the header `traceparent` of W3C Trace Context. `None` if it is not valid.
    pub fn from_traceparent(header: &str) -> Option<Self> {
        let mut parts = header.split('-');
        let version = parts.next()?;
        let (trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?);
        let known = version.len() == 2 && version != "ff" && flags.len() == 2;
        // Later versions may append fields.
        if !known || (version == "00" && parts.next().is_some()) {
            return None;
        }
        bytes::<1>(version)?;
        bytes::<1>(flags)?;
        let context = Self { trace: bytes(trace)?, span: bytes(span)? };
        let valid = context.trace != [0; 16] && context.span != [0; 8];
        valid.then_some(context)
    }

    /// The trace as text.
    pub fn trace_id(&self) -> String {
        hex(&self.trace)
    }

    /// The span as text.
    pub fn span_id(&self) -> String {
        hex(&self.span)
    }
}

/// Lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let plain = text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    if text.len() != N * 2 || !plain {
        return None;
    }
    let mut found = [0; N];
    for (at, byte) in found.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(at * 2..at * 2 + 2)?, 16).ok()?;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_is_read_and_a_wrong_one_is_ignored() {
        let (trace, span) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        let read = SpanContext::from_traceparent(&format!("00-{trace}-{span}-01")).unwrap();
        assert_eq!((read.trace_id().as_str(), read.span_id().as_str()), (trace, span));
        assert!(SpanContext::from_traceparent(&format!("01-{trace}-{span}-01-more")).is_some());
        let zeros = "0".repeat(32);
        for bad in [
            String::new(),
            "hello".to_owned(),
            format!("00-{trace}-{span}"),
            format!("00-{trace}-{span}-01-more"),
            format!("ff-{trace}-{span}-01"),
            format!("00-{zeros}-{span}-01"),
            format!("00-{trace}-0000000000000000-01"),
            format!("00-{}-{span}-01", trace.to_uppercase()),
            format!("00-{trace}é-{span}-01"),
        ] {
            assert_eq!(SpanContext::from_traceparent(&bad), None, "{bad}");
        }
    }
}
