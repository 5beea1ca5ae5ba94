//! From the outcome of a tool to the reply of an MCP call.

use axum::body::Body;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use helmdeck_wire::{ErrorBody, SessionId, error::with_causes, screen::header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use rmcp::model::{CallToolResult, ContentBlock, Resource};
use serde_json::{Map, Value, json};

use super::{client::Client, pictures, uri};
use crate::{
    error::{ApiError, ApiResult},
    tool::{Outcome, Payload},
};

/// The most bytes of a picture in a reply. Larger ones are linked: vendors refuse them.
pub const MAX_PICTURE: usize = 3 << 20;
/// The most bytes of a file in a reply.
const MAX_FILE: usize = 8 << 20;
/// The field of `_meta` with the error of a failed call. As structured content, it would not match the
/// output schema of the tool, and clients that check this would throw away the reply.
const ERROR: &str = "error";
/// Fields of an error that its text says in words, or twice.
const TOLD: [&str; 4] = ["error", "message", "hint", "retry_after"];

/// What answered.
pub struct Source<'a> {
    pub tool: &'a str,
    /// The session that it worked in.
    pub session: Option<&'a SessionId>,
    /// Where its content can be read again.
    pub uri: Option<String>,
}

/// The reply to a call that succeeded.
pub async fn success(
    client: &Client,
    from: Source<'_>,
    outcome: Outcome,
) -> ApiResult<CallToolResult> {
    let (session, facts) = (from.session, facts(&outcome));
    let mut result = match outcome.payload {
        Payload::Json(bytes) => json_reply(client, session, &bytes)?,
        Payload::Nothing => json_reply(client, session, b"{}")?,
        Payload::Bytes { media_type, bytes } => {
            let media_type = media_type.to_str().unwrap_or_default();
            bytes_reply(client, from, media_type, bytes, facts).await?
        }
        Payload::Stream { media_type, body, .. } => {
            let media_type = media_type.to_str().unwrap_or_default();
            match read(body).await? {
                Some(bytes) => bytes_reply(client, from, media_type, bytes, facts).await?,
                None => too_large(client, from.uri.as_deref()),
            }
        }
    };
    if let Some(session) = session
        && result.structured_content.is_none()
    {
        result.content.push(watch_line(client, session));
    }
    Ok(result)
}

/// The reply to a call that failed in a session: what the user can look at, too.
pub fn failure_in(
    client: &Client,
    session: Option<&SessionId>,
    error: &ApiError,
) -> CallToolResult {
    let mut result = failure(error);
    // Not of a session that is gone, or another caller's.
    let is_own = |id: &&SessionId| client.app.sessions.get(&client.caller, id).is_ok();
    if let Some(session) = session.filter(is_own) {
        let error = result.meta.as_mut().and_then(|meta| meta.0.get_mut(ERROR));
        if let Some(Value::Object(fields)) = error {
            add_session(client, session, fields);
        }
        result.content.push(watch_line(client, session));
    }
    result
}

fn watch_line(client: &Client, session: &SessionId) -> ContentBlock {
    let address = client.address().session(session);
    ContentBlock::text(format!("Session {session}. Watch it at {address}"))
}

fn add_session(client: &Client, session: &SessionId, fields: &mut Map<String, Value>) {
    fields.insert("_session_id".to_owned(), json!(session));
    fields.insert("_live_view".to_owned(), json!(client.address().session(session)));
}

/// The reply to a call that failed: the error of the HTTP API, for models to read.
pub fn failure(error: &ApiError) -> CallToolResult {
    if let Some(source) = &error.source {
        tracing::warn!(code = %error.code, cause = with_causes(source.as_ref()), "MCP call failed");
    }
    let body = error.body();
    let value = serde_json::to_value(&body).unwrap_or_default();
    let mut result = CallToolResult::error(vec![ContentBlock::text(told(&body, &value))]);
    result.meta.get_or_insert_default().0.insert(ERROR.to_owned(), value);
    result
}

/// Everything that an error says: models see only the text of most clients.
fn told(body: &ErrorBody, value: &Value) -> String {
    let mut text = format!("{}: {}", body.error, body.message);
    if let Some(hint) = &body.hint {
        text = format!("{text}. {hint}");
    }
    let fields = value.as_object().into_iter().flatten();
    let rest = fields
        .filter(|(name, value)| !TOLD.contains(&name.as_str()) && **value != Value::Bool(false));
    let rest: Map<_, _> = rest.map(|(name, value)| (name.clone(), value.clone())).collect();
    if rest.is_empty() { text } else { format!("{text}\n{}", Value::Object(rest)) }
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
        add_session(client, session, &mut object);
    }
    Ok(of_object(client, object))
}

/// A reply with an object, whose long texts and lists are cut.
pub fn of_object(client: &Client, mut object: Map<String, Value>) -> CallToolResult {
    let picture = pictures::take(&mut object);
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
    content.extend(picture);
    let mut result = CallToolResult::success(content);
    result.structured_content = Some(value);
    result
}

async fn bytes_reply(
    client: &Client,
    from: Source<'_>,
    media_type: &str,
    bytes: Bytes,
    facts: String,
) -> ApiResult<CallToolResult> {
    if media_type.starts_with("image/") {
        if bytes.len() > MAX_PICTURE {
            let why = "The picture is too large for a reply.";
            return linked(client, from, media_type, bytes, format!("{why} {facts}")).await;
        }
        let picture = ContentBlock::image(BASE64_STANDARD.encode(bytes), media_type);
        let mut content = vec![picture];
        if !facts.is_empty() {
            content.push(ContentBlock::text(facts));
        }
        return Ok(CallToolResult::success(content));
    }
    match std::str::from_utf8(&bytes) {
        Ok(text) if !text.contains('\0') && !is_document(media_type) => {
            let piece = client.app.mcp.texts.bound(&client.caller.subject, text.to_owned());
            let mut content = vec![ContentBlock::text(piece.text)];
            if let Some(cursor) = piece.cursor {
                content.push(more_line(&cursor, piece.total_chars));
            }
            Ok(CallToolResult::success(content))
        }
        _ => {
            let line = format!("The content is not text. {facts}");
            linked(client, from, media_type, bytes, line).await
        }
    }
}

/// Whether this is a type of files that are no text, even if their bytes are.
fn is_document(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    ["application/gzip", "application/pdf", "application/zip"].contains(&essence)
        || ["audio/", "video/"].iter().any(|kind| essence.starts_with(kind))
}

pub fn more_line(cursor: &str, total: usize) -> ContentBlock {
    let line =
        format!("[{total} characters in all. Read on with text-read {{\"cursor\": \"{cursor}\"}}]");
    ContentBlock::text(line)
}

/// A link to content that does not belong into a reply. What has no address yet becomes an artifact.
async fn linked(
    client: &Client,
    from: Source<'_>,
    media_type: &str,
    bytes: Bytes,
    line: String,
) -> ApiResult<CallToolResult> {
    let line = line.trim_end();
    let Some(uri) = from.uri else {
        let kept = pictures::keep(client, from.tool, media_type, bytes).await?;
        let line = format!("{line} It is the artifact {}.", kept.key);
        let content = vec![ContentBlock::text(line), pictures::link(&kept)];
        return Ok(CallToolResult::success(content));
    };
    let name = uri::decoded(uri.rsplit('/').next().unwrap_or_default());
    let link = Resource::new(uri, name).with_mime_type(media_type).with_size(bytes.len() as u64);
    let content = vec![ContentBlock::text(line), ContentBlock::ResourceLink(link)];
    Ok(CallToolResult::success(content))
}

/// Says where a file is that is too large for replies and resources.
fn too_large(client: &Client, uri: Option<&str>) -> CallToolResult {
    let line = format!("The file is larger than {} MB", MAX_FILE >> 20);
    let line = match uri.and_then(uri::http_path) {
        Some(path) => format!("{line}: download it from {}", client.address().url(&path)),
        None => format!("{line}: download it over HTTP"),
    };
    CallToolResult::success(vec![ContentBlock::text(line)])
}

/// The facts of a picture, which HTTP clients get as headers.
fn facts(outcome: &Outcome) -> String {
    let fact = |name: &str| outcome.headers.get(name).and_then(|value| value.to_str().ok());
    let mut facts = Vec::new();
    if let Some(id) = fact(header::ID) {
        let line =
            "pass it as `shot` with coordinates of this picture, or to compare the screen with it.";
        facts.push(format!("Its id is {id}: {line}"));
    }
    if fact(header::SETTLED) == Some("false") {
        facts.push("The screen did not become quiet in time.".to_owned());
    }
    if let Some(size) = fact(header::SIZE) {
        facts.push(format!("{size} pixels."));
    }
    if let Some(origin) = fact(header::ORIGIN).filter(|origin| *origin != "0,0") {
        facts.push(format!("The top left corner is at {origin} of the screen."));
    }
    if let Some(scale) = fact(header::SCALE).filter(|scale| *scale != "1") {
        let without = if fact(header::ID).is_some() { "Without `shot`, divide" } else { "Divide" };
        facts.push(format!("{without} coordinates by {scale} to get those of the screen."));
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

#[cfg(test)]
mod tests {
    use helmdeck_wire::ErrorCode;

    use super::*;

    #[test]
    fn an_error_is_told_in_its_text_and_is_no_structured_content() {
        let error = ApiError {
            hint: Some("use y".to_owned()),
            retry_after: Some(5),
            ..ApiError::new(ErrorCode::InvalidInput, "x is unknown")
                .of_field("x", vec!["y".to_owned(), "z".to_owned()])
        };
        let reply = serde_json::to_value(failure(&error)).unwrap();
        assert_eq!(reply.get("isError"), Some(&json!(true)));
        assert_eq!(reply.get("structuredContent"), None);
        let text = reply.pointer("/content/0/text").and_then(Value::as_str).unwrap();
        let (words, rest) = text.split_once('\n').unwrap();
        assert_eq!(words, "invalid_input: x is unknown. use y");
        let rest: Value = serde_json::from_str(rest).unwrap();
        let body = reply.pointer("/_meta/error").and_then(Value::as_object).unwrap();
        assert_eq!(rest.get("allowed"), Some(&json!(["y", "z"])));
        assert_eq!(rest.get("retry_after_s"), Some(&json!(5)));
        for (name, value) in body {
            let is_told = TOLD.contains(&name.as_str()) || rest.get(name) == Some(value);
            assert!(is_told || *value == json!(false), "{name}: {text}");
        }
    }
}
