//! `email.send`, against a fake of Resend that enforces its rules.

use std::sync::{Arc, Mutex};

use axum::{
    Json, Router,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use helmdeck_testkit::{Client, fake::FakeServer};
use serde_json::{Value, json};

use crate::outside::{Outside, ask, credential, expect_nowhere, output};

const KEY: &str = "re_0123456789SECRET";
/// A key that may only send.
const SENDING: &str = "re_sending_only_SECRET";

fn refusal(status: StatusCode, name: &str, message: &str) -> Response {
    let body = json!({ "statusCode": status.as_u16(), "name": name, "message": message });
    (status, Json(body)).into_response()
}

/// The key, if it is valid.
fn key(headers: &HeaderMap) -> Result<String, Response> {
    let sent = headers.get("authorization").map(|it| it.to_str().unwrap());
    match sent.and_then(|it| it.strip_prefix("Bearer ")) {
        Some(key) if [KEY, SENDING].contains(&key) => Ok(key.to_owned()),
        _ => Err(refusal(StatusCode::FORBIDDEN, "invalid_api_key", "API key is invalid")),
    }
}

/// A Resend account with one verified domain, and the messages that it sent.
async fn resend() -> (Outside, Arc<Mutex<Vec<Value>>>) {
    let sent = Arc::new(Mutex::new(Vec::new()));
    let kept = sent.clone();
    let domains = async |headers: HeaderMap| match key(&headers) {
        Ok(key) if key == KEY => {
            let waiting = json!({ "name": "new.example", "status": "pending" });
            let verified = json!({ "name": "mail.example", "status": "verified" });
            Json(json!({ "data": [waiting, verified] })).into_response()
        }
        Ok(_) => refusal(
            StatusCode::UNAUTHORIZED,
            "restricted_api_key",
            "This API key is restricted to only send emails",
        ),
        Err(refused) => refused,
    };
    let emails = async move |headers: HeaderMap, Json(mail): Json<Value>| {
        if let Err(refused) = key(&headers) {
            return refused;
        }
        assert!(headers["idempotency-key"].to_str().unwrap().starts_with("job-"));
        let from = mail["from"].as_str().unwrap_or_default();
        if !from.ends_with("@mail.example") && !from.ends_with("@mail.example>") {
            let message = "The domain is not verified";
            return refusal(StatusCode::FORBIDDEN, "validation_error", message);
        }
        if mail["to"] == "busy@example.com" {
            let body = json!({ "name": "rate_limit_exceeded", "message": "Too many requests" });
            let wait = [("retry-after", "2")];
            return (StatusCode::TOO_MANY_REQUESTS, wait, Json(body)).into_response();
        }
        assert!(mail.as_object().unwrap().values().all(|value| !value.is_null()), "{mail}");
        kept.lock().unwrap().push(mail);
        Json(json!({ "id": "49a3999c" })).into_response()
    };
    let routes = Router::new().route("/domains", get(domains)).route("/emails", post(emails));
    (Outside::start(|_| routes).await, sent)
}

async fn start(resend: &Outside, value: &str) -> (FakeServer, Client) {
    let server = FakeServer::start_with(&[("HELMDECK_RESEND_API_URL", &resend.url(""))]).await;
    let ann = server.client("ann", "sessions:*,vault:*");
    credential(&ann, "resend-api-key", &resend.host, value).await;
    (server, ann)
}

#[tokio::test]
async fn a_mail_is_sent_from_a_verified_domain() {
    let (resend, sent) = resend().await;
    let (server, ann) = start(&resend, KEY).await;
    let mail = json!({ "to": "ann@example.com", "subject": "Hello", "html": "<p>Hi</p>" });
    let said = output(&ann, "email.send", &mail).await;
    let from = json!("helmdeck@mail.example");
    assert_eq!((&said["message_id"], &said["from"]), (&json!("49a3999c"), &from));
    let mail = json!({
        "to": ["a@example.com", "b@example.com"], "subject": "Hello", "text": "Hi",
        "from": "Ann <ann@mail.example>", "cc": "c@example.com", "reply_to": "d@example.com",
    });
    output(&ann, "email.send", &mail).await;
    let sent = sent.lock().unwrap().clone();
    assert_eq!((&sent[0]["from"], &sent[0]["to"]), (&from, &json!("ann@example.com")));
    assert_eq!((&sent[1]["to"], &sent[1]["cc"]), (&mail["to"], &mail["cc"]));
    expect_nowhere(&server, KEY).await;
}

#[tokio::test]
async fn a_key_that_may_only_send_needs_a_sender() {
    let (resend, sent) = resend().await;
    let (_server, ann) = start(&resend, SENDING).await;
    let mut mail = json!({ "to": "ann@example.com", "subject": "Hello", "text": "Hi" });
    let refused = ask(&ann, "email.send", &mail).await;
    assert_eq!(refused.json()["field"], "from");
    mail["from"] = json!("ann@mail.example");
    output(&ann, "email.send", &mail).await;
    assert_eq!(sent.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn wrong_mails_and_keys_are_refused_and_limits_say_when_to_come_back() {
    let (resend, sent) = resend().await;
    let (_server, ann) = start(&resend, KEY).await;
    let mail = json!({ "to": "ann@example.com", "subject": "Hello", "text": "Hi" });
    for (name, value, field) in [
        ("to", json!("ann"), "to"),
        ("to", json!([]), "to"),
        ("subject", json!("a\nBcc: b@example.com"), "subject"),
        ("text", Value::Null, "html"),
        ("from", json!("ann"), "from"),
        ("from", json!("ann@new.example"), "from"),
        ("from", json!("ann@other.example"), "from"),
    ] {
        let mut mail = mail.clone();
        mail[name] = value;
        let refused = ask(&ann, "email.send", &mail).await;
        assert_eq!(refused.json()["field"], field, "{mail}");
        refused.expect_error(400, "invalid_input");
    }
    let empty = json!({ "to": "ann@example.com", "subject": "Hello" });
    ask(&ann, "email.send", &empty).await.expect_error(400, "invalid_input");
    let busy = json!({ "to": "busy@example.com", "subject": "Hello", "text": "Hi" });
    let refused = ask(&ann, "email.send", &busy).await;
    assert_eq!(refused.json()["retry_after"], 2);
    refused.expect_error(429, "quota_exceeded");
    assert!(sent.lock().unwrap().is_empty());

    let (_server, bob) = start(&resend, "re_wrong").await;
    let refused = ask(&bob, "email.send", &mail).await;
    refused.expect_error(400, "credential_invalid");
}
