//! Listing tools, and calling one by name.

use axum::{
    extract::{Path, Request, State},
    response::Response,
};
use helmdeck_sessions::Caller;
use helmdeck_wire::ErrorCode;
use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    App, body,
    error::{ApiError, ApiResult},
    public::Address,
    token::Claims,
    tool::{Call, Nature, SharedSchema, Tool, http::response},
};

/// Which tools to list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolQuery {
    /// Only tools whose name or description contains all of these words.
    #[schemars(length(max = 200))]
    search: Option<String>,
    /// Only the tool with this name.
    #[schemars(length(max = 64))]
    name: Option<String>,
    /// Whether to include schemas; true by default.
    #[serde(default = "yes")]
    schemas: bool,
}

fn yes() -> bool {
    true
}

/// Tools that the caller may call.
#[derive(Serialize, JsonSchema)]
pub struct ToolList {
    /// In the order of the table.
    tools: Vec<ToolInfo>,
}

/// One tool.
#[derive(Serialize, JsonSchema)]
struct ToolInfo {
    /// Name for `/api/v1/tools/{name}` and `helmdeck call`.
    name: String,
    /// Short title.
    title: String,
    /// What it does.
    description: String,
    /// Required scope.
    scope: &'static str,
    /// Properties of a call: `effect`, `idempotent`, `destructive`, `open_world`, `style`,
    /// `substrate`, `surface`, `default_mode`.
    #[schemars(with = "Map<String, Value>")]
    nature: Nature,
    /// JSON Schema of the arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    input_schema: Option<SharedSchema>,
    /// JSON Schema of the reply; absent if it is not JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    output_schema: Option<SharedSchema>,
}

impl ToolInfo {
    fn of(tool: &Tool, schemas: bool) -> ApiResult<Self> {
        let input_schema = if schemas { Some(tool.documented_schema()?) } else { None };
        Ok(Self {
            name: tool.name.clone(),
            title: tool.title.clone(),
            description: tool.doc.clone(),
            scope: tool.scope.as_str(),
            nature: tool.nature,
            input_schema,
            output_schema: schemas.then(|| tool.output_schema()).flatten(),
        })
    }
}

/// Lists the tools that the caller may call.
pub async fn list(call: Call, query: ToolQuery) -> ApiResult<ToolList> {
    let search = query.search.unwrap_or_default().to_lowercase();
    let words: Vec<_> = search.split_whitespace().collect();
    let wanted = |tool: &Tool| {
        let text = format!("{} {}", tool.name, tool.doc).to_lowercase();
        query.name.as_ref().is_none_or(|name| *name == tool.name)
            && words.iter().all(|word| text.contains(word))
    };
    let tools = call.app.tools();
    let found = tools.iter().filter(|tool| call.caller.may(tool.scope) && wanted(tool));
    let mut found: Vec<_> = found.collect();
    // Names before descriptions.
    found.sort_by_key(|tool| !words.iter().all(|word| tool.name.contains(word)));
    let found = found.into_iter().map(|tool| ToolInfo::of(tool, query.schemas));
    Ok(ToolList { tools: found.collect::<ApiResult<_>>()? })
}

/// Calls a tool by name, with its arguments as a JSON object.
pub async fn call(
    State(app): State<App>,
    Path(name): Path<String>,
    request: Request,
) -> ApiResult<Response> {
    call_named(app, &name, request).await
}

/// Calls a tool with the body of a request.
pub async fn call_named(app: App, name: &str, request: Request) -> ApiResult<Response> {
    let (parts, body) = request.into_parts();
    let caller = parts.extensions.get::<Caller>().cloned();
    let claims = parts.extensions.get::<Claims>().cloned();
    let unknown = || ApiError::internal("the request has no caller");
    let (caller, claims) = caller.zip(claims).ok_or_else(unknown)?;
    let pack = app.packs.pack(name);
    if let Some(pack) = &pack {
        pack.check_on()?;
    }
    let tool =
        app.tool(pack.as_ref().map_or(name, |pack| pack.name.as_str())).ok_or_else(|| {
            let message =
                format!("the tool {name:?} does not exist: GET /api/v1/tools lists all tools");
            ApiError::new(ErrorCode::NotFound, message)
        })?;
    let bytes = body::read_call(body, &app, &tool).await?;
    let empty = bytes.trim_ascii().is_empty();
    let args = if empty { Map::new() } else { body::object(&bytes)? };
    let address = Address::of(&app, &parts.headers);
    let outcome = tool.call_as(Call::new(app.clone(), caller, claims, address), args).await?;
    Ok(response(outcome, StatusCode::OK))
}
