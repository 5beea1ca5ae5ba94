//! Spans as OTLP in JSON: the body of `POST /v1/traces`.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value as Json, json};

use crate::{Span, Value, context::hex};

/// The status code of OTLP for a span that failed.
const FAILED: u8 = 2;

/// An export request with these spans.
pub fn request(service: &str, version: &str, instance: &str, spans: &[Span]) -> Json {
    let resource = [
        ("service.name", service),
        ("service.version", version),
        ("service.instance.id", instance),
        ("telemetry.sdk.name", "helmdeck"),
        ("telemetry.sdk.language", "rust"),
        ("telemetry.sdk.version", version),
    ];
    let resource: Vec<_> =
        resource.into_iter().map(|(key, text)| attribute(key, &text.into())).collect();
    json!({
        "resourceSpans": [{
            "resource": { "attributes": resource },
            "scopeSpans": [{
                "scope": { "name": "helmdeck", "version": version },
                "spans": spans.iter().map(span).collect::<Vec<_>>(),
            }],
        }],
    })
}

fn span(span: &Span) -> Json {
    let mut attributes: Vec<_> =
        span.attributes.iter().map(|(key, value)| attribute(key, value)).collect();
    if let Some(code) = &span.error {
        attributes.push(attribute("error.type", &code.as_str().into()));
    }
    let status = match &span.error {
        Some(code) => json!({ "code": FAILED, "message": code }),
        None => json!({}),
    };
    let mut written = json!({
        "traceId": span.context.trace_id(),
        "spanId": span.context.span_id(),
        "name": span.name,
        "kind": span.kind as u8,
        "startTimeUnixNano": nanos(span.began),
        "endTimeUnixNano": nanos(span.ended),
        "attributes": attributes,
        "status": status,
    });
    if let (Some(parent), Some(fields)) = (span.parent, written.as_object_mut()) {
        fields.insert("parentSpanId".to_owned(), hex(&parent).into());
    }
    written
}

fn attribute(key: &str, value: &Value) -> Json {
    json!({ "key": key, "value": any(value) })
}

/// Integers of 64 bits are text in protobuf's JSON.
fn any(value: &Value) -> Json {
    match value {
        Value::Text(text) => json!({ "stringValue": text }),
        Value::Number(number) => json!({ "intValue": number.to_string() }),
        Value::Decimal(number) => json!({ "doubleValue": number }),
        Value::Flag(flag) => json!({ "boolValue": flag }),
        Value::List(list) => {
            let values: Vec<_> = list.iter().map(|it| json!({ "stringValue": it })).collect();
            json!({ "arrayValue": { "values": values } })
        }
    }
}

fn nanos(at: SystemTime) -> String {
    at.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().to_string()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Kind, SpanContext};

    #[test]
    fn a_span_is_written_as_the_protocol_says() {
        let began = UNIX_EPOCH + Duration::from_nanos(1_700_000_000_123_456_789);
        let done = Span {
            context: SpanContext { trace: [0xab; 16], span: [0x01; 8] },
            parent: Some([0x02; 8]),
            name: "chat gpt-5".to_owned(),
            kind: Kind::Client,
            began,
            ended: began + Duration::from_millis(5),
            attributes: vec![
                ("n", 7_u64.into()),
                ("f", 0.5.into()),
                ("b", true.into()),
                ("l", vec!["stop".to_owned()].into()),
            ],
            error: Some("timeout".to_owned()),
        };
        let body = request("helmdeck", "1.2.3", "i-1", &[done]);
        let resource = &body["resourceSpans"][0];
        let named = json!({ "key": "service.name", "value": { "stringValue": "helmdeck" } });
        assert_eq!(resource["resource"]["attributes"][0], named);
        let expected = json!({
            "traceId": "abababababababababababababababab", "spanId": "0101010101010101",
            "parentSpanId": "0202020202020202", "name": "chat gpt-5", "kind": 3,
            "startTimeUnixNano": "1700000000123456789", "endTimeUnixNano": "1700000000128456789",
            "attributes": [
                { "key": "n", "value": { "intValue": "7" } },
                { "key": "f", "value": { "doubleValue": 0.5 } },
                { "key": "b", "value": { "boolValue": true } },
                { "key": "l", "value": { "arrayValue": { "values": [{ "stringValue": "stop" }] } } },
                { "key": "error.type", "value": { "stringValue": "timeout" } },
            ],
            "status": { "code": 2, "message": "timeout" },
        });
        assert_eq!(resource["scopeSpans"][0]["spans"][0], expected);
    }
}
