//! Jobs as tasks of the protocol's older revisions.
//!
//! 2025-11-25 defines `tasks/get`, `tasks/result`, `tasks/list` and `tasks/cancel`. Replies with a handle
//! name their task in `_meta`, and these methods answer for it. rmcp knows the methods of the later
//! extension only, which have the same names; so `tasks/get` and `tasks/cancel` of older clients are
//! renamed before rmcp reads them.

use std::time::Duration;

use bytes::Bytes;
use helmdeck_store::JobFilter;
use helmdeck_wire::{
    Scope,
    job::{Job, JobId, JobState},
};
use memchr::memmem;
use rmcp::{
    ErrorData, RoleServer,
    model::{CustomRequest, CustomResult, ErrorCode},
    service::RequestContext,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    client::Client,
    tasks::{self, POLL_MS, find, refusal},
};

/// The first revision with the extension.
pub const EXTENSION_SINCE: &str = "2026-07-28";
/// Names the task of a result.
const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
/// Marks a renamed method.
const PREFIX: &str = "helmdeck/";
const RENAMED: [&str; 2] = ["tasks/get", "tasks/cancel"];
/// How many tasks a page has.
const PAGE: u32 = 50;
/// How long one wait for a job is.
const WAIT: Duration = Duration::from_secs(45);
/// Pause before a job is looked at again.
const PAUSE: Duration = Duration::from_secs(1);

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    #[serde(default)]
    task_id: String,
    #[serde(default)]
    cursor: Option<String>,
}

/// Renames the methods that rmcp would take for those of the extension. `version` is the protocol
/// version of the request.
pub fn rename(version: Option<&str>, body: Bytes) -> Bytes {
    let newer = version.is_some_and(|version| version >= EXTENSION_SINCE);
    // Nearly no message has one.
    if newer || memmem::find(&body, b"tasks").is_none() {
        return body;
    }
    let Ok(mut message) = serde_json::from_slice::<Map<String, Value>>(&body) else { return body };
    match message.get_mut("method") {
        Some(Value::String(method)) if RENAMED.contains(&method.as_str()) => {
            *method = format!("{PREFIX}{method}");
        }
        _ => return body,
    }
    serde_json::to_vec(&message).map_or(body, Bytes::from)
}

/// Answers a method that rmcp does not know.
pub async fn answer(
    client: &Client,
    request: &CustomRequest,
    context: &RequestContext<RoleServer>,
) -> Result<CustomResult, ErrorData> {
    let method = request.method.strip_prefix(PREFIX).unwrap_or(&request.method);
    let newer = context.protocol_version().is_some_and(|it| it.as_str() >= EXTENSION_SINCE);
    let unknown = || ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method.to_owned(), None);
    if newer {
        return Err(unknown());
    }
    let params: Params = match request.params_as() {
        Ok(params) => params.unwrap_or_default(),
        Err(error) => return Err(ErrorData::invalid_params(error.to_string(), None)),
    };
    let id = params.task_id.as_str();
    let result = match method {
        "tasks/get" => {
            let job = find(client, Scope::SESSIONS_READ, id).await?;
            with_result(client, job).await
        }
        "tasks/result" => tokio::select! {
            result = result(client, id) => result?,
            () = context.ct.cancelled() => {
                return Err(ErrorData::internal_error("the request was cancelled", None));
            }
        },
        "tasks/list" => list(client, params.cursor).await?,
        "tasks/cancel" => {
            let job = find(client, Scope::SESSIONS_ACT, id).await?;
            if job.state != JobState::Working {
                let message = format!("the task is {}: it cannot be cancelled", job.state.as_str());
                return Err(ErrorData::invalid_params(message, None));
            }
            Value::Object(task(&tasks::cancel(client, id).await?))
        }
        _ => return Err(unknown()),
    };
    Ok(CustomResult::new(result))
}

/// A task, and the reply of its tool once it has ended, for clients that ask for nothing else.
async fn with_result(client: &Client, job: Job) -> Value {
    let mut task = task(&job);
    if job.state != JobState::Working {
        task.insert("result".to_owned(), json!(tasks::reply_of(client, job).await));
    }
    Value::Object(task)
}

/// Waits for the end of a task, and returns the reply of its tool.
async fn result(client: &Client, id: &str) -> Result<Value, ErrorData> {
    let mut job = find(client, Scope::SESSIONS_READ, id).await?;
    let engine = &client.app.packs;
    while job.state == JobState::Working {
        let waited = engine.wait(&client.caller, &job.job_id, WAIT).await;
        job = waited.map_err(|error| refusal(&error.into()))?;
        if job.state == JobState::Working {
            tokio::time::sleep(PAUSE).await;
        }
    }
    let task = json!({ "taskId": job.job_id.task_id() });
    let mut result = tasks::reply_of(client, job).await;
    result.meta.get_or_insert_default().0.insert(RELATED_TASK.to_owned(), task);
    Ok(json!(result))
}

async fn list(client: &Client, cursor: Option<String>) -> Result<Value, ErrorData> {
    let scope = Scope::SESSIONS_READ;
    if !client.caller.may(scope) {
        return Err(refusal(&crate::tool::lacks(scope)));
    }
    let filter = JobFilter { before: cursor.map(JobId::new), limit: PAGE, ..JobFilter::default() };
    let listed = client.app.packs.jobs(&client.caller, filter).await;
    let listed = listed.map_err(|error| refusal(&error.into()))?;
    let mut result = json!({ "tasks": listed.jobs.iter().map(task).collect::<Vec<_>>() });
    if let (Some(cursor), Value::Object(fields)) = (listed.next_cursor, &mut result) {
        fields.insert("nextCursor".to_owned(), json!(cursor));
    }
    Ok(result)
}

/// A task, with `progress` and `pollFrequency` for clients of the draft.
fn task(job: &Job) -> Map<String, Value> {
    let mut task = Map::new();
    let mut add = |name: &str, value: Value| task.insert(name.to_owned(), value);
    add("taskId", json!(job.job_id.task_id()));
    add("status", json!(job.state.as_str()));
    add("createdAt", json!(tasks::written(job.created_at)));
    add("lastUpdatedAt", json!(tasks::written(tasks::updated(job))));
    add("ttl", json!(tasks::ttl_ms(job)));
    add("pollInterval", json!(POLL_MS));
    add("pollFrequency", json!(POLL_MS));
    add("progress", json!(job.progress));
    if let Some(message) = tasks::status_message(job) {
        add("statusMessage", json!(message));
    }
    task
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed(version: Option<&str>, body: &'static str) -> String {
        let body = rename(version, Bytes::from_static(body.as_bytes()));
        String::from_utf8(body.to_vec()).unwrap()
    }

    #[test]
    fn only_methods_of_older_clients_that_rmcp_knows_are_renamed() {
        let get = r#"{"id":1,"jsonrpc":"2.0","method":"tasks/get","params":{"taskId":"a"}}"#;
        for version in [None, Some("2025-11-25")] {
            assert_eq!(renamed(version, get), get.replace("tasks/get", "helmdeck/tasks/get"));
        }
        assert_eq!(renamed(Some("2026-07-28"), get), get);
        let escaped = r#"{"method":"tasks\/cancel"}"#;
        assert_eq!(renamed(None, escaped), r#"{"method":"helmdeck/tasks/cancel"}"#);
        for other in [
            r#"{"method":"tasks/result"}"#,
            r#"{"method":"tools/call","params":{"name":"tasks/get"}}"#,
            r#"[{"method":"tasks/get"}]"#,
            "tasks/get",
        ] {
            assert_eq!(renamed(None, other), other);
        }
    }
}
