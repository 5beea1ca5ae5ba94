//! The agent card: who this server is, and its skills with their schemas.

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use helmdeck_packs::Pack;
use http::{HeaderMap, HeaderValue, header};
use serde_json::{Value, json};

use super::{PATH, version::Version};
use crate::{App, Tool, public::Address};

/// How long clients may keep the card.
const CACHE: HeaderValue = HeaderValue::from_static("public, max-age=300");
/// The media type of messages and results.
const JSON: &str = "application/json";

/// The agent card, with the fields of version 1.0 and of 0.3.
pub async fn card(State(app): State<App>, headers: HeaderMap) -> Response {
    let address = Address::of(&app, &headers);
    let url = address.url(PATH);
    let interface = |version: Version| json!({ "url": url, "protocolBinding": "JSONRPC", "protocolVersion": version.name() });
    let card = json!({
        "name": "helmdeck",
        "description": "A browser, a Linux desktop and typed tools for agents, which people can watch.",
        "version": env!("CARGO_PKG_VERSION"),
        "documentationUrl": address.url("/docs"),
        "supportedInterfaces": [interface(Version::V1), interface(Version::V03)],
        "capabilities": { "streaming": true, "pushNotifications": false, "extendedAgentCard": false },
        "defaultInputModes": [JSON],
        "defaultOutputModes": [JSON],
        "securitySchemes": { "bearer": {
            "httpAuthSecurityScheme": { "scheme": "Bearer", "bearerFormat": "JWT" },
            "type": "http", "scheme": "bearer", "bearerFormat": "JWT",
        }},
        "securityRequirements": [{ "schemes": { "bearer": { "list": [] } } }],
        "skills": skills(&app),
        // What version 0.3 reads.
        "protocolVersion": "0.3.0",
        "url": url,
        "preferredTransport": "JSONRPC",
        "security": [{ "bearer": [] }],
    });
    ([(header::CACHE_CONTROL, CACHE)], Json(card)).into_response()
}

fn skills(app: &App) -> Vec<Value> {
    let packs = app.packs.packs();
    packs.iter().filter_map(|pack| Some(skill(&*app.tool(&pack.name)?, pack))).collect()
}

/// A pack as a skill. The schemas are fields beyond the specification.
fn skill(tool: &Tool, pack: &Pack) -> Value {
    let reply = tool.output_schema();
    let output = reply.as_ref().and_then(|reply| reply.pointer("/properties/output"));
    let tags: Vec<_> = pack.routing.intent_keywords.iter().chain(pack.routing.produces).collect();
    json!({
        "id": pack.name,
        "name": tool.title,
        "description": pack.doc,
        "tags": tags,
        "examples": [pack.routing.typical_use],
        "inputModes": [JSON],
        "outputModes": [JSON],
        "inputSchema": tool.documented_schema().ok(),
        "outputSchema": output,
    })
}
