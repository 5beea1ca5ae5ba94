//! Calling a tool for an MCP client.

use helmdeck_packs::Pack;
use helmdeck_wire::{
    ErrorCode, SessionId,
    job::{Job, JobState},
};
use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolResponse, CallToolResult},
    service::RequestContext,
};
use serde_json::{Map, Value, json};

use super::{
    arguments,
    builtin::{self, Step},
    catalogue::{Catalogue, Entry, is_named},
    client::Client,
    current_session::created_session,
    progress, reply, tasks,
};
use crate::{
    error::{ApiError, ApiResult},
    tool::{Effect, Outcome, Payload, Tool, lacks},
};

/// Names the task of a reply, so that clients can ask for its result.
const RELATED_TASK: &str = "modelcontextprotocol.io/related-task";
/// The vendor with the strictest limits: no model scales down what fits its models.
const STRICTEST: &str = "anthropic";

/// Calls a tool by its MCP name, with progress, until it ends or the client cancels it.
pub async fn call(
    client: &Client,
    name: &str,
    args: Map<String, Value>,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    tokio::select! {
        result = dispatch(client, name, args) => result,
        // Dropping the call cancels it, down to the guest.
        () = context.ct.cancelled() => Err(cancelled()),
        () = progress::report(context, name) => Err(cancelled()),
    }
}

/// Calls a tool or a function of the door itself.
async fn dispatch(
    client: &Client,
    name: &str,
    args: Map<String, Value>,
) -> Result<CallToolResponse, ErrorData> {
    let (name, args) = match builtin::call(client, name, args) {
        Step::Answered(result) => return Ok(result.into()),
        Step::Tool(name, args) => (name, args),
    };
    let entry = Catalogue::of(&client.app).find(&name).cloned();
    let entry = match entry.ok_or_else(|| turned_off(client, &name)) {
        Ok(entry) => entry,
        Err(Some(refused)) => return Ok(reply::failure(&refused).into()),
        Err(None) => return Err(unknown(client, &name)),
    };
    let answered = match &entry.tool.pack {
        Some(pack) => pack_answer(client, &entry.tool, pack, args).await,
        None => answer(client, &entry, args).await.map(Into::into),
    };
    Ok(answered.unwrap_or_else(|error| reply::failure(&error).into()))
}

async fn answer(
    client: &Client,
    entry: &Entry,
    args: Map<String, Value>,
) -> ApiResult<CallToolResult> {
    let tool = &entry.tool;
    if !client.caller.may(tool.scope) {
        return Err(lacks(tool.scope));
    }
    let (mut args, named) = arguments::split(args);
    let session = match (tool.of_session, named) {
        (true, Some(session)) => Some(session),
        (true, None) => Some(client.session_for(tool).await?),
        (false, _) => None,
    };
    if let Some(session) = &session {
        args.insert("session_id".to_owned(), json!(session));
    }
    let uri = session.as_ref().and_then(|session| resource_uri(&tool.name, session, &args));
    let outcome = sized(client, tool, args).await.map_err(explain)?;
    let created = (tool.name == "session.create").then(|| created_session(&outcome)).flatten();
    let session = created.or(session);
    follow(client, &tool.name, session.as_ref()).await?;
    reply::success(client, session.as_ref(), uri, outcome).await
}

/// Runs a pack. It names its session itself.
async fn pack_answer(
    client: &Client,
    tool: &Tool,
    pack: &Pack,
    mut args: Map<String, Value>,
) -> ApiResult<CallToolResponse> {
    if !client.caller.may(tool.scope) {
        return Err(lacks(tool.scope));
    }
    // Models send `null` or an empty text for what they leave out.
    args.retain(|_, value| !value.is_null() && value != "");
    if client.takes_tasks && !pack.returns_handle {
        args.entry("wait_s").or_insert(json!(tasks::WAIT_S));
    }
    let outcome = tool.call(client.call(), args).await?;
    let job = match &outcome.payload {
        Payload::Json(bytes) => serde_json::from_slice::<Job>(bytes).ok(),
        _ => None,
    };
    let working = job.as_ref().filter(|job| job.state == JobState::Working);
    if let Some(job) = working.filter(|_| client.takes_tasks) {
        return Ok(tasks::created(job).into());
    }
    let task = working.map(|job| json!({ "taskId": job.job_id.task_id() }));
    let session = job.as_ref().and_then(|job| job.session_id.clone());
    let mut result = reply::success(client, session.as_ref(), None, outcome).await?;
    if let Some(task) = task {
        result.meta.get_or_insert_default().0.insert(RELATED_TASK.to_owned(), task);
    }
    Ok(result.into())
}

/// Calls a tool; pictures come in a size that model vendors accept, unless the caller chose one.
async fn sized(client: &Client, tool: &Tool, mut args: Map<String, Value>) -> ApiResult<Outcome> {
    let schema = tool.schema()?;
    let may_choose = |args: &Map<String, Value>, field: &str| {
        schema.field(field).is_some() && args.get(field).is_none_or(Value::is_null)
    };
    if may_choose(&args, "max_width") && may_choose(&args, "for") {
        args.insert("for".to_owned(), json!(STRICTEST));
    }
    let lossy = may_choose(&args, "format") && tool.nature.effect == Effect::ReadOnly;
    let outcome = tool.call(client.call(), args.clone()).await?;
    let too_large = matches!(&outcome.payload, Payload::Bytes { media_type, bytes }
        if bytes.len() > reply::MAX_PICTURE && media_type.as_bytes().starts_with(b"image/"));
    if lossy && too_large {
        args.insert("format".to_owned(), json!("jpeg"));
        return tool.call(client.call(), args).await;
    }
    Ok(outcome)
}

/// Where the content of a reply can be read again.
fn resource_uri(tool: &str, session: &SessionId, args: &Map<String, Value>) -> Option<String> {
    match tool {
        "file.read" => {
            let path = args.get("path")?.as_str()?;
            Some(format!("helmdeck://sessions/{session}/files/{}", path.trim_start_matches('/')))
        }
        "desktop.screenshot" => Some(format!("helmdeck://sessions/{session}/screenshot")),
        _ => None,
    }
}

/// Keeps the current session up to date.
async fn follow(client: &Client, tool: &str, session: Option<&SessionId>) -> ApiResult<()> {
    match tool {
        "session.create" => client.set_current_session(session).await,
        "session.end" if client.current_session().await?.as_ref() == session => {
            client.set_current_session(None).await
        }
        _ => Ok(()),
    }
}

/// Says what an MCP client does about an error, where HTTP clients do something else.
fn explain(error: ApiError) -> ApiError {
    if error.code != ErrorCode::NotDesktopMode {
        return error;
    }
    let message = "the session is headless and has no desktop: create a visible one with \
                   session-create {\"mode\": \"desktop\"}; it becomes the current session";
    ApiError { message: message.to_owned(), ..error }
}

/// The refusal of a pack that is off, which the catalogue does not have.
fn turned_off(client: &Client, name: &str) -> Option<ApiError> {
    let packs = client.app.packs.packs();
    let pack = packs.iter().find(|pack| is_named(&pack.name, name))?;
    pack.check_on().err().map(ApiError::from)
}

fn unknown(client: &Client, name: &str) -> ErrorData {
    let nearest = Catalogue::of(&client.app).nearest(name);
    let hint = nearest.map(|name| format!(" Did you mean {name}?")).unwrap_or_default();
    let message = format!("Unknown tool: {name}.{hint} tools-search finds tools by what they do.");
    ErrorData::invalid_params(message, None)
}

fn cancelled() -> ErrorData {
    ErrorData::internal_error("the call was cancelled", None)
}
