//! What a receiver gets: the body, and headers that identify and sign it.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use helmdeck_wire::{
    ErrorBody,
    job::{Job, JobState},
    webhook::Delivery,
};
use http::{HeaderMap, HeaderName, HeaderValue, header};
use ring::hmac::{self, HMAC_SHA256};
use serde_json::{Map, Value, json};

use crate::{PackError, PackResult, digest::hex};

/// The prefix of a secret that is base64, as Standard Webhooks writes them.
const STANDARD_SECRET: &str = "whsec_";
/// How a receiver sees us.
const USER_AGENT: &str = "helmdeck-webhook/1.0";

/// One attempt to deliver the end of a job.
pub struct Message {
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Message {
    /// The message for a job that has ended. `timestamp` is in seconds since 1970.
    pub fn new(
        delivery: &Delivery,
        job: &Job,
        secret: Option<&str>,
        timestamp: i64,
    ) -> PackResult<Self> {
        let body = serde_json::to_vec(&body(job)).map_err(|error| PackError::internal(&error))?;
        let attempt = (delivery.attempts + 1).to_string();
        let timestamp = timestamp.to_string();
        let (id, task) = (delivery.id.as_str(), job.job_id.task_id());
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
        let mut add = |name: &'static str, value: &str| {
            let value = HeaderValue::try_from(value);
            let value = value.map_err(|error| PackError::internal(&error))?;
            headers.insert(HeaderName::from_static(name), value);
            PackResult::Ok(())
        };
        add("x-helmdeck-event", event(job.state))?;
        add("x-helmdeck-job-id", job.job_id.as_str())?;
        add("x-helmdeck-task-id", &task)?;
        add("x-helmdeck-delivery-attempt", &attempt)?;
        add("webhook-id", id)?;
        add("webhook-timestamp", &timestamp)?;
        if let Some(secret) = secret {
            let plain = hmac::Key::new(HMAC_SHA256, secret.as_bytes());
            add("x-helmdeck-signature", &format!("sha256={}", hex(hmac::sign(&plain, &body))))?;
            let mut signed = hmac::Context::with_key(&signing_key(secret)?);
            signed.update(format!("{id}.{timestamp}.").as_bytes());
            signed.update(&body);
            let signature = BASE64_STANDARD.encode(signed.sign());
            add("webhook-signature", &format!("v1,{signature}"))?;
        }
        Ok(Self { headers, body: body.into() })
    }
}

/// The key of the Standard Webhooks signature: what follows `whsec_`, decoded, or else the bytes of
/// the secret.
pub fn signing_key(secret: &str) -> PackResult<hmac::Key> {
    let Some(encoded) = secret.strip_prefix(STANDARD_SECRET) else {
        return Ok(hmac::Key::new(HMAC_SHA256, secret.as_bytes()));
    };
    match BASE64_STANDARD.decode(encoded) {
        Ok(bytes) => Ok(hmac::Key::new(HMAC_SHA256, &bytes)),
        Err(_) => {
            let message = "webhook_secret: what follows whsec_ is not base64";
            Err(PackError::invalid("webhook_secret", message))
        }
    }
}

fn event(state: JobState) -> &'static str {
    match state {
        JobState::Completed => "pack.complete",
        JobState::Cancelled => "pack.cancelled",
        JobState::Failed | JobState::Working => "pack.failed",
    }
}

/// The report of a job. It is the same for every attempt.
fn body(job: &Job) -> Value {
    let fields = |job: &Job| match serde_json::to_value(job) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    let mut snapshot = fields(&Job { output: None, artifacts: Vec::new(), ..job.clone() });
    let mut body = Map::new();
    body.insert("event_type".to_owned(), event(job.state).into());
    body.insert("task_id".to_owned(), job.job_id.task_id().into());
    for name in ["job_id", "pack", "state", "started_at", "ended_at"] {
        if let Some(value) = snapshot.get(name) {
            body.insert(name.to_owned(), value.clone());
        }
    }
    match &job.error {
        Some(error) => body.insert("error".to_owned(), failure(error)),
        None => body.insert("result".to_owned(), success(job, fields(job))),
    };
    snapshot.remove("error");
    body.insert("snapshot".to_owned(), Value::Object(snapshot));
    Value::Object(body)
}

/// The reply of a tool, as MCP clients get it.
fn success(job: &Job, fields: Map<String, Value>) -> Value {
    let output = job.output.as_ref().map(Value::to_string).unwrap_or_default();
    json!({
        "content": [{ "type": "text", "text": output }],
        "structuredContent": fields,
        "isError": false,
    })
}

fn failure(error: &ErrorBody) -> Value {
    json!({
        "content": [{ "type": "text", "text": error.to_string() }],
        "structuredContent": error,
        "isError": true,
    })
}

#[cfg(test)]
mod tests {
    use helmdeck_wire::{
        ErrorCode,
        job::JobId,
        webhook::{DeliveryId, DeliveryState},
    };
    use time::OffsetDateTime;

    use super::*;

    fn job(state: JobState) -> Job {
        let error = ErrorBody::new(ErrorCode::HandlerFailed, "git failed");
        Job {
            job_id: JobId::new("job-1"),
            pack: "git.log".to_owned(),
            version: "v1".to_owned(),
            state,
            progress: 100,
            message: None,
            output: (state == JobState::Completed).then(|| json!({ "count": 1 })),
            artifacts: Vec::new(),
            error: (state == JobState::Failed).then_some(error),
            duration_ms: 5,
            cached: false,
            age_s: None,
            session_id: None,
            next_session_id: None,
            created_at: OffsetDateTime::UNIX_EPOCH,
            started_at: Some(OffsetDateTime::UNIX_EPOCH),
            ended_at: Some(OffsetDateTime::UNIX_EPOCH),
        }
    }

    fn delivery() -> Delivery {
        Delivery {
            id: DeliveryId::new("msg_p5jXN8AQM9LWM0D4loKWxJek"),
            job_id: JobId::new("job-1"),
            pack: "git.log".to_owned(),
            url: "http://a/".to_owned(),
            signed: true,
            state: DeliveryState::Pending,
            attempts: 1,
            last_status: None,
            last_error: None,
            next_attempt_at: None,
            created_at: OffsetDateTime::UNIX_EPOCH,
            delivered_at: None,
        }
    }

    #[test]
    fn the_body_has_the_result_or_the_error_as_a_tool_reply() {
        let done = body(&job(JobState::Completed));
        assert_eq!(
            (&done["event_type"], &done["task_id"]),
            (&json!("pack.complete"), &json!("pack_job-1"))
        );
        assert_eq!(done["result"]["structuredContent"]["output"]["count"], 1);
        assert_eq!(done["result"]["content"][0]["text"], "{\"count\":1}");
        assert_eq!((&done["result"]["isError"], done.get("error")), (&json!(false), None));
        assert!(done["snapshot"].get("output").is_none());
        let failed = body(&job(JobState::Failed));
        assert_eq!(failed["event_type"], "pack.failed");
        assert_eq!(failed["error"]["structuredContent"]["error"], "handler_failed");
        assert_eq!(failed["error"]["content"][0]["text"], "handler_failed: git failed");
        assert!(failed.get("result").is_none());
    }

    #[test]
    fn both_signatures_verify_and_an_unsigned_message_has_none() {
        let job = job(JobState::Completed);
        let message =
            Message::new(&delivery(), &job, Some("whsec_aHVudGVyMg=="), 1_700_000_000).unwrap();
        let header = |name: &str| message.headers.get(name).unwrap().to_str().unwrap();
        assert_eq!(header("x-helmdeck-delivery-attempt"), "2");
        assert_eq!(header("webhook-timestamp"), "1700000000");
        let text = format!("{}.1700000000.", delivery().id);
        let signed = [text.as_bytes(), &message.body].concat();
        let signature = header("webhook-signature").strip_prefix("v1,").unwrap();
        let signature = BASE64_STANDARD.decode(signature).unwrap();
        let key = hmac::Key::new(HMAC_SHA256, b"hunter2");
        hmac::verify(&key, &signed, &signature).unwrap();
        let plain = hmac::Key::new(HMAC_SHA256, b"whsec_aHVudGVyMg==");
        let plain = format!("sha256={}", hex(hmac::sign(&plain, &message.body)));
        assert_eq!(header("x-helmdeck-signature"), plain);
        let unsigned = Message::new(&delivery(), &job, None, 0).unwrap().headers;
        assert!(!unsigned.contains_key("webhook-signature"));
        assert!(!unsigned.contains_key("x-helmdeck-signature"));
    }

    #[test]
    fn signatures_are_those_of_other_implementations() {
        // Made by `openssl dgst -sha256 -hmac`, and by the Standard Webhooks library for Python.
        for (secret, signature) in [
            ("plain secret", "/flFcbNgBSzf0XQueaRxljo0UdwlymNnKfh0KiZ7mK4="),
            ("whsec_aHVudGVyMg==", "TjNeh/c6AE7+v8faziuuuJ4gkWPRX2wRtWVnnmeKojc="),
        ] {
            let signed = hmac::sign(&signing_key(secret).unwrap(), b"msg_1.1700000000.{}");
            assert_eq!(BASE64_STANDARD.encode(signed), signature);
        }
    }
}
