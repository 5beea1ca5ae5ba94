//! What the server logs of calls of models: neither prompts nor pictures nor answers.

use axum::{Json, Router, http::StatusCode};
use helmdeck_testkit::{Desk, fake::FakeServer};
use serde_json::{Value, json};

use super::{CHAT, MESSAGES, chat};
use crate::{log_capture::Log, outside::ask};

const PROMPT: &str = "a prompt that nobody else reads";
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAUA";

/// A provider whose errors quote what it was asked. The model says which status it answers.
async fn quoting() -> String {
    let answer = |asked: String| async move {
        let body: Value = serde_json::from_str(&asked).unwrap_or_default();
        let model = body["model"].as_str().unwrap_or_default();
        let status = model.parse().ok().and_then(|it| StatusCode::from_u16(it).ok());
        let error =
            json!({ "error": { "message": format!("bad prompt: {asked}"), "type": "odd" } });
        (status.unwrap_or(StatusCode::OK), Json(error))
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().fallback(answer);
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}/v1")
}

#[tokio::test]
async fn no_log_line_has_a_prompt_or_a_picture_even_if_an_error_of_the_provider_quotes_it() {
    let log = Log::begin();
    let providers = format!("quoting={}", quoting().await);
    let server = FakeServer::start_with(&[("HELMDECK_MODEL_PROVIDERS", providers.as_str())]).await;
    let client = server.client("ann", "sessions:*,models:use");
    let url = format!("data:image/png;base64,{PICTURE}");
    for status in ["400", "401", "500", "200"] {
        let mut body = chat(&format!("quoting/{status}"), PROMPT);
        body["messages"][0]["content"] = json!([
            { "type": "text", "text": PROMPT },
            { "type": "image_url", "image_url": { "url": url } },
        ]);
        let answer = client.post(CHAT, &body).await;
        assert!(answer.status >= 400, "{status}: {}", answer.text());
        assert!(status == "200" || answer.text().contains(PROMPT), "{}", answer.text());
        client.post(MESSAGES, &chat(&format!("quoting/{status}"), PROMPT)).await;
        body["stream"] = json!(true);
        client.post(CHAT, &body).await;
    }
    let desk = Desk::desktop(&client).await;
    let input = json!({ "goal": PROMPT, "model": "quoting/500", "_session_id": desk.id });
    ask(&client, "vision.click_anywhere", &input).await;
    let logged = log.text();
    assert!(logged.contains("Request refused") && logged.contains("Request failed"), "{logged}");
    for text in [PROMPT, PICTURE, "bad prompt"] {
        let line = logged.lines().find(|line| line.contains(text)).unwrap_or_default();
        assert!(!logged.contains(text), "{line}");
    }
}
