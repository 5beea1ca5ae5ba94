//! What MCP clients can read without calling a tool.

use ::http::{HeaderValue, StatusCode};
use axum::body::Body;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use helmdeck_wire::{ErrorCode, Scope, SessionId, artifact::ArtifactKey, session::Mode};
use http_body_util::{BodyExt, Limited};
use rmcp::{
    ErrorData,
    model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate},
};
use serde_json::{Map, Value, json};

use super::{
    catalogue::{Catalogue, mcp_name},
    client::Client,
    context_budgets, pictures, routing_guide,
    uri::{self, SCHEME},
};
use crate::{
    error::{ApiError, ApiResult},
    media_type,
    tool::{Outcome, Payload, lacks},
};

/// The most bytes of a resource.
const MAX_BYTES: usize = 8 << 20;

/// A resource with a fixed address.
struct Fixed {
    name: &'static str,
    title: &'static str,
    doc: &'static str,
    /// Why it is empty, if this server has nothing to put there.
    empty: Option<&'static str>,
}

const FIXED: [Fixed; 10] = [
    Fixed {
        name: "packs",
        title: "Tools",
        doc: "Every tool of this server, whether your token may call it, and why not.",
        empty: None,
    },
    Fixed {
        name: "sessions",
        title: "Sessions",
        doc: "Your sessions, with mode, status and live view.",
        empty: None,
    },
    Fixed {
        name: "routing-guide",
        title: "Routing guide",
        doc: "Which tool to use for what, and who can see it work.",
        empty: None,
    },
    Fixed {
        name: "models",
        title: "Models",
        doc: "Models that you can call at /v1, with prices and context windows.",
        empty: None,
    },
    Fixed {
        name: "image-models",
        title: "Image models",
        doc: "Models that create pictures.",
        empty: Some("No image model is configured."),
    },
    Fixed {
        name: "voices",
        title: "Voices",
        doc: "Voices for speech.",
        empty: Some("No speech engine is configured."),
    },
    Fixed {
        name: "my-defaults",
        title: "My defaults",
        doc: "Default arguments that you have set.",
        empty: Some("This server stores no defaults; pass all arguments with each call."),
    },
    Fixed {
        name: "my-memory",
        title: "My memory",
        doc: "Facts that you have asked the server to remember.",
        empty: Some("This server stores no memories."),
    },
    Fixed {
        name: "my-plans",
        title: "My plans",
        doc: "Plans that you have stored.",
        empty: Some("This server stores no plans."),
    },
    Fixed {
        name: "context-budgets",
        title: "Context budgets",
        doc: "How much each profile costs of a model's context, and how much models have.",
        empty: None,
    },
];

/// What the client can read now.
pub async fn list(client: &Client) -> Vec<Resource> {
    let fixed = FIXED.iter().map(|fixed| {
        Resource::new(format!("{SCHEME}{}", fixed.name), fixed.name)
            .with_title(fixed.title)
            .with_description(fixed.doc)
            .with_mime_type(media_type(fixed.name))
    });
    let mut resources: Vec<_> = fixed.collect();
    for session in client.app.sessions.describe_all(&client.caller).await {
        let id = session.id;
        let resource = Resource::new(format!("{SCHEME}sessions/{id}/screenshot"), format!("{id}"))
            .with_title(format!("Screenshot of {}", session.spec.label.trim()))
            .with_description("The session's screen now. Subscribe to hear when it changes.")
            .with_mime_type("image/png");
        resources.push(resource);
    }
    resources
}

/// Addresses with parameters.
pub fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{SCHEME}packs/{{name}}"), "pack")
            .with_description("A tool with the whole schemas of its input and output.")
            .with_mime_type("application/json"),
        ResourceTemplate::new(format!("{SCHEME}sessions/{{id}}"), "session")
            .with_description("A session.")
            .with_mime_type("application/json"),
        ResourceTemplate::new(format!("{SCHEME}sessions/{{id}}/screenshot"), "screenshot")
            .with_description("The session's screen now.")
            .with_mime_type("image/png"),
        ResourceTemplate::new(format!("{SCHEME}sessions/{{id}}/files/{{+path}}"), "file")
            .with_description("A file of the session's home."),
        ResourceTemplate::new(format!("{SCHEME}artifacts/{{+key}}"), "artifact")
            .with_description("A file that a pack made, or that you uploaded."),
    ]
}

fn media_type(name: &str) -> &'static str {
    if name == "routing-guide" { "text/markdown" } else { "application/json" }
}

/// The content of a resource.
pub async fn read(client: &Client, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    match content(client, uri).await {
        Ok(Some(content)) => Ok(ReadResourceResult::new(vec![content])),
        Ok(None) => {
            let message = format!("there is no resource {uri}: resources/list names them");
            Err(ErrorData::resource_not_found(message, Some(json!({ "uri": uri }))))
        }
        Err(error) => {
            let data = serde_json::to_value(error.body()).ok();
            let message = format!("{}: {}", error.code, error.message);
            Err(match crate::error::status(error.code) {
                StatusCode::NOT_FOUND => ErrorData::resource_not_found(message, data),
                status if status.is_server_error() => ErrorData::internal_error(message, data),
                _ => ErrorData::invalid_params(message, data),
            })
        }
    }
}

async fn content(client: &Client, uri: &str) -> ApiResult<Option<ResourceContents>> {
    let Some(path) = uri.strip_prefix(SCHEME) else { return Ok(None) };
    let mut parts = path.splitn(4, '/');
    let value = match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some("sessions"), Some(id), None, None) => {
            let outcome = call(client, "session.show", id, Map::new()).await?;
            return contents(uri, outcome).await.map(Some);
        }
        (Some("sessions"), Some(id), Some("screenshot"), None) => {
            let session = client.app.sessions.get(&client.caller, &SessionId::new(id))?;
            let tool = match session.mode() {
                Mode::Desktop => "desktop.screenshot",
                Mode::Headless => "browser.screenshot",
            };
            let outcome = call(client, tool, id, Map::new()).await?;
            return contents(uri, outcome).await.map(Some);
        }
        (Some("sessions"), Some(id), Some("files"), Some(file)) => {
            let args = Map::from_iter([("path".to_owned(), json!(uri::decoded(file)))]);
            let outcome = call(client, "file.read", id, args).await?;
            return contents(uri, outcome).await.map(Some);
        }
        (Some("artifacts"), Some(namespace), Some(name), None) => {
            let key = format!("{}/{}", uri::decoded(namespace), uri::decoded(name));
            return artifact(client, uri, &key).await;
        }
        (Some("packs"), None, ..) => packs(&client.clone().with_models().await),
        (Some("packs"), Some(name), None, None) => {
            match pack(&client.clone().with_models().await, name)? {
                Some(pack) => pack,
                None => return Ok(None),
            }
        }
        (Some("sessions"), None, ..) => {
            json!({ "sessions": client.app.sessions.describe_all(&client.caller).await })
        }
        (Some("models"), None, ..) => models(client).await?,
        (Some("context-budgets"), None, ..) => {
            context_budgets::budgets(&client.clone().with_models().await)
        }
        (Some("routing-guide"), None, ..) => {
            let text = routing_guide::markdown(&client.clone().with_models().await);
            return Ok(Some(ResourceContents::text(text, uri).with_mime_type("text/markdown")));
        }
        (Some(name), None, ..) => {
            let Some(fixed) = FIXED.iter().find(|fixed| fixed.name == name) else {
                return Ok(None);
            };
            json!({ "items": [], "note": fixed.empty })
        }
        _ => return Ok(None),
    };
    let text = ResourceContents::text(value.to_string(), uri);
    Ok(Some(text.with_mime_type("application/json")))
}

/// The content of an artifact.
async fn artifact(client: &Client, uri: &str, key: &str) -> ApiResult<Option<ResourceContents>> {
    if !client.caller.may(Scope::ARTIFACTS_READ) {
        return Err(lacks(Scope::ARTIFACTS_READ));
    }
    let Some(key) = ArtifactKey::parse(key) else { return Ok(None) };
    let found = client.app.artifacts.show(&client.caller, &key).await?;
    if usize::try_from(found.size).is_ok_and(|size| size > MAX_BYTES) {
        let url = client.address().url(&found.url);
        let message = format!("it is larger than {MAX_BYTES} bytes: download it from {url}");
        return Err(ApiError::new(ErrorCode::InvalidInput, message));
    }
    let media_type = HeaderValue::from_str(&found.content_type);
    let bytes = pictures::read(client, key.as_str()).await?;
    let media_type = media_type.unwrap_or(HeaderValue::from_static(media_type::UNKNOWN));
    let outcome = Outcome::new(Payload::Bytes { media_type, bytes });
    contents(uri, outcome).await.map(Some)
}

/// The models that the client can call, and what to do if there is none.
async fn models(client: &Client) -> ApiResult<Value> {
    if !client.caller.may(Scope::MODELS_USE) {
        let note = format!("your token lacks the scope {}", Scope::MODELS_USE);
        return Ok(json!({ "models": [], "note": note }));
    }
    let list = client.app.models.models(&client.caller).await?;
    serde_json::to_value(list).map_err(ApiError::internal)
}

/// Every tool, and for those that the client cannot call the reason.
fn packs(client: &Client) -> Value {
    let catalogue = Catalogue::of(&client.app);
    let tools = catalogue.all().map(|entry| {
        let (tool, reason) = (&entry.tool, entry.unavailable(client));
        let available = reason.is_none();
        json!({
            "name": mcp_name(&tool.name), "title": tool.title, "available": available,
            "reason": reason, "listed": available && client.profile.lists(tool),
            "surface": tool.nature.surface, "style": tool.nature.style,
        })
    });
    let all = client.app.packs.packs();
    let off = all.iter().filter_map(|pack| {
        let reason = pack.off.as_ref()?;
        Some(json!({
            "name": mcp_name(&pack.name), "available": false, "reason": reason, "listed": false,
            "surface": pack.nature.surface, "style": pack.nature.style,
        }))
    });
    json!({ "packs": tools.chain(off).collect::<Vec<_>>() })
}

/// A tool with its whole schemas.
fn pack(client: &Client, name: &str) -> ApiResult<Option<Value>> {
    let Some(entry) = Catalogue::of(&client.app).find(name).cloned() else { return Ok(None) };
    let (tool, reason) = (&entry.tool, entry.unavailable(client));
    Ok(Some(json!({
        "name": mcp_name(&tool.name), "title": tool.title, "description": tool.doc,
        "available": reason.is_none(), "reason": reason, "nature": tool.nature,
        "inputSchema": tool.documented_schema()?, "outputSchema": tool.output_schema(),
        "examples": tool.pack.as_ref().map(|pack| &pack.examples),
    })))
}

async fn call(
    client: &Client,
    name: &str,
    session: &str,
    mut args: Map<String, Value>,
) -> ApiResult<Outcome> {
    let tool = client.app.tool(name).ok_or_else(|| ApiError::internal("no such tool"))?;
    args.insert("session_id".to_owned(), json!(session));
    tool.call_as(client.call(), args).await
}

async fn contents(uri: &str, outcome: Outcome) -> ApiResult<ResourceContents> {
    let (media_type, body) = match outcome.payload {
        Payload::Json(bytes) => ("application/json".to_owned(), Body::from(bytes)),
        Payload::Bytes { media_type, bytes } => {
            (media_type.to_str().unwrap_or_default().to_owned(), Body::from(bytes))
        }
        Payload::Stream { media_type, body, .. } => {
            (media_type.to_str().unwrap_or_default().to_owned(), body)
        }
        Payload::Nothing => ("text/plain".to_owned(), Body::empty()),
    };
    let bytes = Limited::new(body, MAX_BYTES).collect().await.map_err(|_| {
        let message = format!("it is larger than {MAX_BYTES} bytes: read it over HTTP");
        ApiError::new(ErrorCode::InvalidInput, message)
    })?;
    let bytes = bytes.to_bytes();
    let is_text = !media_type.starts_with("image/") && !bytes.contains(&0);
    let contents = match std::str::from_utf8(&bytes) {
        Ok(text) if is_text => ResourceContents::text(text, uri),
        _ => ResourceContents::blob(BASE64_STANDARD.encode(&bytes), uri),
    };
    Ok(contents.with_mime_type(media_type))
}

/// Refuses addresses that the client cannot read.
pub fn readable(client: &Client, uri: &str) -> Result<(), ErrorData> {
    let missing = || {
        let message = format!("there is no resource {uri}: resources/list names them");
        ErrorData::resource_not_found(message, Some(json!({ "uri": uri })))
    };
    let path = uri.strip_prefix(SCHEME).ok_or_else(missing)?;
    if FIXED.iter().any(|fixed| fixed.name == path) {
        return Ok(());
    }
    let tool = path.strip_prefix("packs/");
    if tool.is_some_and(|name| Catalogue::of(&client.app).find(name).is_some()) {
        return Ok(());
    }
    let id = path.strip_prefix("sessions/").and_then(|rest| rest.split('/').next());
    let session = id.map(|id| client.app.sessions.get(&client.caller, &SessionId::new(id)));
    match session {
        Some(Ok(_)) => Ok(()),
        _ => Err(missing()),
    }
}
