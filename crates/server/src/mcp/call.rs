//! Calling a tool for an MCP client.

use helmdeck_wire::{ErrorCode, SessionId};
use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolResponse, CallToolResult, ContentBlock},
    service::RequestContext,
};
use serde_json::{Map, Value, json};

use super::{
    arguments,
    builtin::{self, Step},
    catalogue::{Catalogue, Entry, SESSION_ARGUMENT, is_named, mcp_name, takes_session},
    client::Client,
    current_session::created_session,
    pack_call, pictures,
    progress::{self, News},
    reply::{self, Source},
    uri,
};
use crate::{
    error::{ApiError, ApiResult},
    tool::{Tool, lacks, pack::WAIT_S},
};

/// Tools that answer with a job.
const JOB_TOOLS: [&str; 2] = ["pack.start", "pack.result"];

/// Calls a tool by its MCP name, with progress, until it ends or the client cancels it.
pub async fn call(
    client: &Client,
    name: &str,
    args: Map<String, Value>,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let news = News::default();
    tokio::select! {
        result = dispatch(client, name, args, &news) => result,
        // Dropping the call cancels it, down to the guest.
        () = context.ct.cancelled() => Err(cancelled()),
        () = progress::report(client, context, name, &news) => Err(cancelled()),
    }
}

/// Calls a tool or a function of the door itself.
async fn dispatch(
    client: &Client,
    name: &str,
    args: Map<String, Value>,
    news: &News,
) -> Result<CallToolResponse, ErrorData> {
    let (name, args) = match builtin::call(client, name, args).await {
        Step::Answered(result) => return Ok(result.into()),
        Step::Tool(name, args) => (name, args),
    };
    let entry = Catalogue::of(&client.app).find(&name).cloned();
    let entry = match entry.ok_or_else(|| turned_off(client, &name)) {
        Ok(entry) => entry,
        Err(Some(refused)) => return Ok(reply::failure(&refused).into()),
        Err(None) => return Err(unknown(client, &name)),
    };
    let mut used = None;
    let answered = match &entry.tool.pack {
        Some(pack) => pack_call::answer(client, &entry.tool, pack, args, news, &mut used).await,
        None => answer(client, &entry, args, &mut used).await.map(Into::into),
    };
    Ok(answered.unwrap_or_else(|error| reply::failure_in(client, used.as_ref(), &error).into()))
}

/// Calls a tool that is no pack. `used` becomes the session that the call is for, as soon as that is
/// known.
async fn answer(
    client: &Client,
    entry: &Entry,
    args: Map<String, Value>,
    used: &mut Option<SessionId>,
) -> ApiResult<CallToolResult> {
    let tool = &entry.tool;
    if !client.caller.may(tool.scope) {
        return Err(lacks(tool.scope));
    }
    let (mut args, named) = arguments::split(args);
    let session = session_of(client, tool, named, &mut args).await?;
    used.clone_from(&session);
    if let Some(session) = &session {
        args.insert("session_id".to_owned(), json!(session));
    }
    if tool.name == "pack.start" {
        place_started(client, &mut args, used).await?;
    }
    let uri = session.as_ref().and_then(|session| resource_uri(&tool.name, session, &args));
    let outcome = pictures::call(client, tool, args).await.map_err(explain)?;
    let created = (tool.name == "session.create").then(|| created_session(&outcome)).flatten();
    let session = created.or(session);
    follow(client, &tool.name, session.as_ref()).await?;
    if JOB_TOOLS.contains(&tool.name.as_str())
        && let Some(job) = pack_call::job_of(&outcome)
    {
        pack_call::adopt(client, &job).await?;
        return pack_call::replied(client, Some(&job), outcome).await;
    }
    let from = Source { tool: &tool.name, session: session.as_ref(), uri };
    let mut result = reply::success(client, from, outcome).await?;
    result.content.extend(still_running(&tool.name, &result).map(ContentBlock::text));
    Ok(result)
}

/// How to go on with a command that has not ended.
fn still_running(tool: &str, result: &CallToolResult) -> Option<String> {
    let state = result.structured_content.as_ref()?;
    let is_running = tool == "session.exec" && state.get("running")? == true;
    let id = is_running.then(|| state.get("exec_id")?.as_str())??;
    let wait = json!({ "exec_id": id, "wait_s": WAIT_S });
    Some(format!(
        "The command still runs. session-show_exec {wait} waits for it and returns its output; \
         session-kill_exec ends it."
    ))
}

/// The session that a call is for: the named or the current one.
async fn session_of(
    client: &Client,
    tool: &Tool,
    named: Option<SessionId>,
    args: &mut Map<String, Value>,
) -> ApiResult<Option<SessionId>> {
    match named {
        None if tool.of_session => client.session_for(tool).await.map(Some),
        None if takes_session(tool) => match client.current_session().await? {
            Some(current) => client.still_there(current).await.map(Some),
            None => Ok(None),
        },
        Some(session) if takes_session(tool) => Ok(Some(session)),
        // A pack that is started takes it with its input.
        Some(session) if tool.name == "pack.start" => {
            if let Value::Object(input) = args.entry("input").or_insert_with(|| json!({})) {
                input.entry(SESSION_ARGUMENT).or_insert(json!(session));
            }
            Ok(None)
        }
        Some(_) => {
            let name = mcp_name(&tool.name);
            let message =
                format!("{SESSION_ARGUMENT}: {name} is not for one session; leave it out");
            let error = ApiError::new(ErrorCode::InvalidInput, message);
            Err(error.of_field(SESSION_ARGUMENT, Vec::new()))
        }
        None => Ok(None),
    }
}

/// Names the current session in the input of the pack that `pack.start` starts.
async fn place_started(
    client: &Client,
    args: &mut Map<String, Value>,
    used: &mut Option<SessionId>,
) -> ApiResult<()> {
    let name = args.get("pack").and_then(Value::as_str).unwrap_or_default();
    let packs = client.app.packs.packs();
    let Some(pack) = packs.iter().find(|pack| is_named(&pack.name, name)).cloned() else {
        return Ok(());
    };
    match args.entry("input").or_insert_with(|| json!({})) {
        Value::Object(input) => pack_call::place(client, &pack, input, used).await,
        // The tool says what is wrong with it.
        _ => Ok(()),
    }
}

/// Where the content of a reply can be read again.
fn resource_uri(tool: &str, session: &SessionId, args: &Map<String, Value>) -> Option<String> {
    match tool {
        "file.read" => {
            let path = args.get("path")?.as_str()?;
            Some(uri::file(session, path))
        }
        "desktop.screenshot" => Some(uri::screenshot(session)),
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
