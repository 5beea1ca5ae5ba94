//! From the outcome of a tool to the reply of an MCP call.

use axum::body::Body;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use helmdeck_wire::{SessionId, error::with_causes, screen::header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use rmcp::model::{CallToolResult, ContentBlock, Resource};
use serde_json::{Map, Value, json};

use super::client::Client;
use crate::{
    error::{ApiError, ApiResult},
    tool::{Outcome, Payload},
};

/// The most bytes of a picture in a reply. Larger ones are linked: vendors refuse them.
pub const MAX_PICTURE: usize = 3 << 20;
/// The most bytes of a file in a reply.
const MAX_FILE: usize = 8 << 20;

/// The reply to a call that succeeded.
pub async fn success(
    client: &Client,
    session: Option<&SessionId>,
    uri: Option<String>,
    outcome: Outcome,
) -> ApiResult<CallToolResult> {
    let facts = facts(&outcome);
    let mut result = match outcome.payload {
        Payload::Json(bytes) => json_reply(client, session, &bytes)?,
        Payload::Nothing => json_reply(client, session, b"{}")?,
        Payload::Bytes { media_type, bytes } => {
            bytes_reply(client, media_type.to_str().unwrap_or_default(), &bytes, uri, facts)
        }
        Payload::Stream { media_type, body, .. } => {
            let media_type = media_type.to_str().unwrap_or_default().to_owned();
            match read(body).await? {
                Some(bytes) => bytes_reply(client, &media_type, &bytes, uri, facts),
                None => linked(&media_type, uri, facts, "The file is too large for a reply."),
            }
        }
    };
    if let Some(session) = session
        && result.structured_content.is_none()
    {
        let line = format!("Session {session}. Watch it at {}", client.address().session(session));
        result.content.push(ContentBlock::text(line));
    }
    Ok(result)
}

/// The reply to a call that failed: the error of the HTTP API, for models to read.
pub fn failure(error: &ApiError) -> CallToolResult {
    if let Some(source) = &error.source {
        tracing::warn!(code = %error.code, cause = with_causes(source.as_ref()), "MCP call failed");
    }
    let body = error.body();
    let value = serde_json::to_value(&body).unwrap_or_default();
    let mut text = format!("{}: {}", error.code, body.message);
    if let Some(hint) = &body.hint {
        text = format!("{text}. {hint}");
    }
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    result.structured_content = Some(value);
    result
}

/// A JSON reply, with the session and where to watch it, and long texts cut.
fn json_reply(
    client: &Client,
    session: Option<&SessionId>,
    bytes: &[u8],
) -> ApiResult<CallToolResult> {
    let value = serde_json::from_slice(bytes).map_err(ApiError::internal)?;
    let mut object = match value {
        Value::Object(object) => object,
        other => Map::from_iter([("result".to_owned(), other)]),
    };
    if let Some(session) = session {
        object.insert("_session_id".to_owned(), json!(session));
        object.insert("_live_view".to_owned(), json!(client.address().session(session)));
    }
    let mut value = Value::Object(object);
    let texts = &client.app.mcp.texts;
    let more = texts.bound_value(&client.caller.subject, &mut value);
    if let Some(object) = value.as_object_mut().filter(|_| !more.is_empty()) {
        object.insert("_more".to_owned(), Value::Array(more));
    }
    let text = texts.bound(&client.caller.subject, value.to_string());
    let mut content = vec![ContentBlock::text(text.text)];
    if let Some(cursor) = text.cursor {
        content.push(more_line(&cursor, text.total_chars));
    }
    let mut result = CallToolResult::success(content);
    result.structured_content = Some(value);
    Ok(result)
}

fn bytes_reply(
    client: &Client,
    media_type: &str,
    bytes: &Bytes,
    uri: Option<String>,
    facts: String,
) -> CallToolResult {
    if media_type.starts_with("image/") {
        if bytes.len() > MAX_PICTURE {
            let why = "The picture is too large for a reply; ask for \"format\": \"jpeg\".";
            return linked(media_type, uri, facts, why);
        }
        let picture = ContentBlock::image(BASE64_STANDARD.encode(bytes), media_type);
        let mut content = vec![picture];
        if !facts.is_empty() {
            content.push(ContentBlock::text(facts));
        }
        return CallToolResult::success(content);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => {
            let piece = client.app.mcp.texts.bound(&client.caller.subject, text.to_owned());
            let mut content = vec![ContentBlock::text(piece.text)];
            if let Some(cursor) = piece.cursor {
                content.push(more_line(&cursor, piece.total_chars));
            }
            CallToolResult::success(content)
        }
        _ => linked(media_type, uri, facts, "The content is not text."),
    }
}

pub fn more_line(cursor: &str, total: usize) -> ContentBlock {
    let line =
        format!("[{total} characters in all. Read on with text-read {{\"cursor\": \"{cursor}\"}}]");
    ContentBlock::text(line)
}

/// A link to content that does not belong into a reply.
fn linked(media_type: &str, uri: Option<String>, facts: String, why: &str) -> CallToolResult {
    let mut content = vec![ContentBlock::text(format!("{why} {facts}"))];
    if let Some(uri) = uri {
        let name = uri.rsplit('/').next().unwrap_or("content").to_owned();
        content
            .push(ContentBlock::ResourceLink(Resource::new(uri, name).with_mime_type(media_type)));
    }
    CallToolResult::success(content)
}

/// The facts of a picture, which HTTP clients get as headers.
fn facts(outcome: &Outcome) -> String {
    let fact = |name: &str| outcome.headers.get(name).and_then(|value| value.to_str().ok());
    let mut facts = Vec::new();
    if let Some(size) = fact(header::SIZE) {
        facts.push(format!("{size} pixels."));
    }
    if let Some(origin) = fact(header::ORIGIN).filter(|origin| *origin != "0,0") {
        facts.push(format!("The top left corner is at {origin} of the screen."));
    }
    if let Some(scale) = fact(header::SCALE).filter(|scale| *scale != "1") {
        facts.push(format!("Divide coordinates by {scale} to get those of the screen."));
    }
    if let Some(marks) = fact(header::MARKS) {
        facts.push(format!("The marks, from number 1, are on: {marks}"));
    }
    facts.join(" ")
}

/// All bytes of a body, unless they are too many.
async fn read(body: Body) -> ApiResult<Option<Bytes>> {
    match Limited::new(body, MAX_FILE).collect().await {
        Ok(bytes) => Ok(Some(bytes.to_bytes())),
        Err(error) if error.is::<LengthLimitError>() => Ok(None),
        Err(error) => Err(ApiError::internal(error)),
    }
}
