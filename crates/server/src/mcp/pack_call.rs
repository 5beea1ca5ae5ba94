//! Calling a pack for an MCP client.

use helmdeck_packs::{Pack, SessionNeed};
use helmdeck_schema::Schema;
use helmdeck_sessions::Caller;
use helmdeck_wire::{
    SessionId,
    job::{Job, JobState},
    session::Mode,
};
use rmcp::model::{CallToolResponse, CallToolResult};
use serde_json::{Map, Value, json};

use super::{
    catalogue::SESSION_ARGUMENT,
    client::Client,
    pictures,
    progress::News,
    reply::{self, Source},
    tasks,
};
use crate::{
    error::ApiResult,
    tool::{Outcome, Payload, Tool, lacks},
};

/// Names the task of a reply, so that clients can ask for its result.
const RELATED_TASK: &str = "modelcontextprotocol.io/related-task";
/// The arguments that say where a pack works.
const PLACES: [&str; 2] = [SESSION_ARGUMENT, "workspace"];

/// Runs a pack. `used` becomes the session that the call is for, as soon as that is known.
pub async fn answer(
    client: &Client,
    tool: &Tool,
    pack: &Pack,
    mut args: Map<String, Value>,
    news: &News,
    used: &mut Option<SessionId>,
) -> ApiResult<CallToolResponse> {
    if !client.caller.may(tool.scope) {
        return Err(lacks(tool.scope));
    }
    drop_left_out(tool.schema()?, &mut args);
    place(client, pack, &mut args, used).await?;
    if client.takes_tasks && !pack.returns_handle {
        args.entry("wait_s").or_insert(json!(tasks::WAIT_S));
    }
    let outcome = tool.call(client.call().reporting(news.job.clone()), args).await?;
    let job = job_of(&outcome);
    if let Some(job) = &job {
        adopt(client, job).await?;
    }
    let working = job.as_ref().filter(|job| job.state == JobState::Working);
    if let Some(job) = working.filter(|_| client.takes_tasks) {
        return Ok(tasks::created(job).into());
    }
    let task = working.map(|job| json!({ "taskId": job.job_id.task_id() }));
    let mut result = replied(client, job.as_ref(), outcome).await?;
    if let Some(task) = task {
        result.meta.get_or_insert_default().0.insert(RELATED_TASK.to_owned(), task);
    }
    Ok(result.into())
}

/// Drops what a model left out: it sends `null`, or an empty text where that has no meaning.
fn drop_left_out(schema: &Schema, args: &mut Map<String, Value>) {
    args.retain(|name, value| match value {
        Value::Null => false,
        Value::String(text) if text.is_empty() => {
            let has_meaning = schema.requires(name) || schema.allows(name, value);
            has_meaning && !PLACES.contains(&name.as_str())
        }
        _ => true,
    });
}

/// A job as a reply, with the pictures that it made.
pub async fn replied(
    client: &Client,
    job: Option<&Job>,
    outcome: Outcome,
) -> ApiResult<CallToolResult> {
    let session = job.and_then(|job| job.session_id.clone());
    let tool = job.map_or("", |job| job.pack.as_str());
    let from = Source { tool, session: session.as_ref(), uri: None };
    let mut result = reply::success(client, from, outcome).await?;
    if let Some(job) = job {
        result.content.extend(pictures::of_job(client, job).await);
    }
    Ok(result)
}

/// The job in an outcome.
pub fn job_of(outcome: &Outcome) -> Option<Job> {
    match &outcome.payload {
        Payload::Json(bytes) => serde_json::from_slice(bytes).ok(),
        _ => None,
    }
}

/// Names the client's current session in a call that names none, if the pack works in a session that
/// stays. Others have a session of their own for each call.
pub async fn place(
    client: &Client,
    pack: &Pack,
    args: &mut Map<String, Value>,
    used: &mut Option<SessionId>,
) -> ApiResult<()> {
    if let Some(Value::String(id)) = args.get(SESSION_ARGUMENT)
        && !id.is_empty()
    {
        *used = Some(SessionId::new(id));
        return Ok(());
    }
    let needs_desktop = match pack.needs.session {
        SessionNeed::Existing => false,
        SessionNeed::Keeps(mode) => mode == Mode::Desktop,
        SessionNeed::None | SessionNeed::OneShot(_) | SessionNeed::Private(_) => return Ok(()),
    };
    if args.contains_key("workspace") {
        return Ok(());
    }
    let Some(current) = client.current_session().await? else { return Ok(()) };
    let current = client.still_there(current).await?;
    let session = client.app.sessions.get(&client.caller, &current)?;
    if needs_desktop && session.mode() != Mode::Desktop {
        return Ok(());
    }
    args.insert(SESSION_ARGUMENT.to_owned(), json!(current));
    *used = Some(current);
    Ok(())
}

/// Makes the session that a pack started the current one, if there is none.
pub async fn adopt(client: &Client, job: &Job) -> ApiResult<()> {
    if job.state != JobState::Completed {
        return Ok(());
    }
    let Some(session) = &job.session_id else { return Ok(()) };
    // Results outlive sessions, and admins read results of others.
    let own = Caller { scopes: Vec::new(), ..client.caller.clone() };
    if !client.app.sessions.get(&own, session).is_ok_and(|session| session.is_alive()) {
        return Ok(());
    }
    let pack = client.app.packs.pack(&job.pack);
    let stays = pack.is_some_and(|pack| matches!(pack.needs.session, SessionNeed::Keeps(_)));
    if stays && client.current_session().await?.is_none() {
        client.set_current_session(Some(session)).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_text_is_left_out_only_where_it_has_no_meaning() {
        let text = |limit: Value| json!({ "type": ["string", "null"], "minLength": limit });
        let schema = json!({
            "type": "object", "required": ["path"],
            "properties": {
                "path": text(json!(1)), "replace": text(json!(0)), "branch": text(json!(1)),
                "_session_id": text(json!(0)), "workspace": text(json!(0)),
            },
        });
        let empty = json!({
            "path": "", "replace": "", "branch": "", "_session_id": "", "workspace": "",
            "search": null,
        });
        let mut args = empty.as_object().cloned().unwrap();
        drop_left_out(&Schema::new(schema).unwrap(), &mut args);
        // What a call must have stays, so that the refusal names it.
        assert_eq!(Value::Object(args), json!({ "path": "", "replace": "" }));
    }
}
