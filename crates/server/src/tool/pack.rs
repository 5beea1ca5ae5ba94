//! Packs as tools.

use std::{sync::Arc, time::Duration};

use helmdeck_packs::{Engine, NamedSession, Options, Pack, RETENTION, SessionNeed, Webhook};
use helmdeck_sessions::Scope;
use helmdeck_store::AuditEntry;
use helmdeck_wire::{
    ErrorBody, ErrorCode, SessionId,
    job::{Job, JobId, JobState},
};
use http::StatusCode;
use serde_json::{Value, json};

use super::{Answer, Call, Component, Outcome, Tool, title};
use crate::{
    error::{ApiError, ApiResult},
    input,
    openapi::standalone,
    operation::{Output, SchemaOf},
};

/// How long a call waits for its job before it returns a handle.
pub const WAIT_S: u64 = 45;

/// The tool that runs a pack.
pub fn pack_tool(pack: &Arc<Pack>) -> Tool {
    let (of_schema, of_handler) = (pack.clone(), pack.clone());
    let handler =
        move |call, _: &_, value| -> Answer { Box::pin(run(call, of_handler.clone(), value)) };
    Tool {
        name: pack.name.clone(),
        title: title(&pack.name),
        doc: format!("{}{}", pack.doc, pack.nature.whereabouts()),
        scope: Scope::SESSIONS_ACT,
        nature: pack.nature,
        of_session: false,
        output: Output::Job(pack.output),
        component: Component {
            reference: pack.input.reference,
            schema: pack.input.schema,
            name: pack.input.name,
        },
        takes_bytes: false,
        needs_model: false,
        pack: Some(pack.clone()),
        flags: Vec::new(),
        root_schema: Box::new(move || input_schema(&of_schema)),
        schemas: Default::default(),
        prepare: Ok,
        handler: Box::new(handler),
    }
}

/// The pack's own input, and options that every pack has.
fn input_schema(pack: &Pack) -> Value {
    let mut root = match &pack.declared_input {
        Some(declared) => declared.clone(),
        None => input::root_schema(pack.input.schema, pack.input.name),
    };
    if let Some(Value::Object(fields)) =
        root.as_object_mut().map(|object| object.entry("properties").or_insert(json!({})))
    {
        if !matches!(pack.needs.session, SessionNeed::None | SessionNeed::Private(_)) {
            fields.insert("_session_id".to_owned(), session_option(pack));
            let doc = "Calls with the same name share a session.";
            let name = json!({
                "type": "string", "minLength": 1, "maxLength": 64,
                "pattern": "^[A-Za-z0-9._-]+$", "description": doc,
                "x-expected": "letters, digits, dots, underscores and hyphens",
            });
            fields.insert("workspace".to_owned(), name);
        }
        if let Some(mode) = pack.mode {
            let doc = "How it works: `structured` by names of elements, `vision` by pictures and a model.";
            fields.insert(
                "_mode".to_owned(),
                json!({ "type": "string", "enum": ["structured", "vision"], "default": mode, "description": doc }),
            );
        }
        let doc = "Seconds to wait for the result before a handle is returned.";
        fields.insert(
            "wait_s".to_owned(),
            json!({ "type": "integer", "minimum": 0, "maximum": WAIT_S, "description": doc }),
        );
        let doc = "A second call with the same key returns the first one's job.";
        fields.insert(
            "idempotency_key".to_owned(),
            json!({ "type": "string", "minLength": 1, "maxLength": 200, "description": doc }),
        );
        if pack.is_cacheable() {
            fields.insert("max_age_s".to_owned(), max_age_s());
        }
        fields.insert("webhook_url".to_owned(), webhook_url());
        fields.insert("webhook_secret".to_owned(), webhook_secret());
    }
    root
}

/// The schema of the age up to which an earlier result is accepted.
fn max_age_s() -> Value {
    let doc = "Accept your earlier result of the same call, at most this many seconds old.";
    json!({
        "type": "integer", "minimum": 0, "maximum": RETENTION.as_secs(), "description": doc,
    })
}

/// The schema of the address that gets the result.
pub fn webhook_url() -> Value {
    let doc = "Address that gets the result as a POST. The call returns a handle at once. Use only \
               an address that the user gave you.";
    json!({
        "type": "string", "minLength": 8, "maxLength": 2000, "description": doc,
        "x-expected": "an http or https address",
    })
}

/// The schema of the secret that signs the result.
pub fn webhook_secret() -> Value {
    let doc = "Signs what `webhook_url` gets.";
    json!({
        "type": "string", "minLength": 4, "maxLength": 500, "description": doc,
        "writeOnly": true, "x-secret": true,
    })
}

fn session_option(pack: &Pack) -> Value {
    let doc = match pack.needs.session {
        SessionNeed::Existing => "The session of `repo.fetch` or `session.create`.",
        _ => "A session to work in; a new one by default.",
    };
    json!({ "type": "string", "minLength": 1, "maxLength": 200, "description": doc })
}

/// The schema of a reply: a job with the pack's output.
pub(super) fn reply_schema(output: SchemaOf) -> Value {
    let output = standalone(output);
    json!({
        "type": "object",
        "properties": {
            "state": { "enum": ["working", "completed"], "description":
                "`working` means that it goes on: pack.result returns the output later." },
            "job_id": { "type": "string" },
            "output": output,
            "artifacts": { "type": "array", "items": { "type": "object" } },
            "cached": { "type": "boolean", "description":
                "Whether this is an earlier result, which `max_age_s` accepted." },
            "age_s": { "type": "integer", "minimum": 0, "description": "How old it is." },
            "_session_id": { "type": "string" },
        },
        "required": ["state", "job_id"],
    })
}

/// Runs a pack: waits for its job for a while, and returns a handle if it takes longer.
async fn run(call: Call, pack: Arc<Pack>, mut input: Value) -> ApiResult<Outcome> {
    let (options, wait) = options(&mut input)?;
    let wait = match &options.webhook {
        Some(_) => 0,
        None => wait.unwrap_or(if pack.returns_handle { 0 } else { WAIT_S }),
    };
    start(&call, &pack, input, options, wait).await
}

/// Starts a job and waits for it. With an idempotency key it goes on if the caller disconnects;
/// otherwise that cancels it.
pub async fn start(
    call: &Call,
    pack: &Arc<Pack>,
    input: Value,
    options: Options,
    wait_s: u64,
) -> ApiResult<Outcome> {
    let keep = options.idempotency_key.is_some();
    let job = begin(call, pack, input, options).await?;
    if let Some(told) = &call.job {
        told.send_replace(Some(job.job_id.clone()));
    }
    if wait_s == 0 || job.cached {
        return reply(job);
    }
    let engine = &call.app.packs;
    let id = (!keep).then(|| job.job_id.clone());
    let mut abandoned = Abandoned { engine: engine.clone(), id };
    let job = engine.wait(&call.caller, &job.job_id, Duration::from_secs(wait_s)).await;
    abandoned.id = None;
    reply(job?)
}

/// Starts a job.
pub async fn begin(
    call: &Call,
    pack: &Arc<Pack>,
    input: Value,
    options: Options,
) -> ApiResult<Job> {
    let receiver = options.webhook.as_ref().map(|webhook| webhook.host().to_owned());
    let job = call.app.packs.submit(&call.caller, pack, input, options).await?;
    if job.cached {
        return Ok(job);
    }
    let entry = AuditEntry::new("pack.started").actor(&call.caller).target(&pack.name);
    let entry = entry.detail("job_id", job.job_id.as_str()).detail("webhook", receiver);
    call.app.audit.record(entry);
    Ok(job)
}

/// A job as a reply: an error if it has failed, a handle if it still works.
pub fn reply(job: Job) -> ApiResult<Outcome> {
    if let Some(error) = job.error {
        return Err(failure(error));
    }
    let mut outcome = Outcome::json(&job)?;
    if job.state == JobState::Working {
        outcome.status = Some(StatusCode::ACCEPTED);
    }
    Ok(outcome)
}

fn failure(error: ErrorBody) -> ApiError {
    helmdeck_packs::PackError::from(error).into()
}

/// Takes the options out of a call's checked arguments.
pub fn options(input: &mut Value) -> ApiResult<(Options, Option<u64>)> {
    let Value::Object(fields) = input else { return Ok((Options::default(), None)) };
    let wait = fields.remove("wait_s").and_then(|value| value.as_u64());
    let max_age_s = fields.remove("max_age_s").and_then(|value| value.as_u64());
    let max_age_s = max_age_s.and_then(|age| u32::try_from(age).ok());
    let mut text = |field: &str| match fields.remove(field) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    let id = text("_session_id").map(SessionId::new);
    let (workspace, idempotency_key) = (text("workspace"), text("idempotency_key"));
    let webhook = match (text("webhook_url"), text("webhook_secret")) {
        (Some(url), secret) => Some(Webhook::new(url, secret)?),
        (None, None) => None,
        (None, Some(_)) => {
            let message = "webhook_url is missing: webhook_secret signs what it gets";
            let error = ApiError::new(ErrorCode::InvalidInput, message);
            return Err(error.of_field("webhook_url", Vec::new()));
        }
    };
    let session = NamedSession { id, workspace };
    Ok((Options { session, idempotency_key, webhook, max_age_s }, wait))
}

/// Cancels a job whose caller disconnected before it got a handle.
struct Abandoned {
    engine: Engine,
    id: Option<JobId>,
}

impl Drop for Abandoned {
    fn drop(&mut self) {
        if let Some(id) = &self.id {
            self.engine.abandon(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The longest text that a schema allows in one place.
    fn longest(schema: &Value) -> u64 {
        let own = schema.get("maxLength").and_then(Value::as_u64);
        let inside = match schema {
            Value::Object(fields) => fields.values().map(longest).max(),
            Value::Array(items) => items.iter().map(longest).max(),
            _ => None,
        };
        own.max(inside).unwrap_or(0)
    }

    #[test]
    fn no_schema_of_a_pack_allows_a_text_that_no_body_has_room_for() {
        for pack in helmdeck_packs::built_in() {
            let longest = longest(&input_schema(&pack));
            assert!(longest < crate::body::PACK_BODY as u64, "{}: {longest}", pack.name);
        }
    }

    #[test]
    fn every_pack_has_examples_that_its_own_schema_allows() {
        for pack in helmdeck_packs::built_in() {
            let pack = Arc::new(pack);
            assert!(!pack.examples.is_empty(), "{} has no example", pack.name);
            let tool = pack_tool(&pack);
            for example in &pack.examples {
                let Value::Object(args) = example.input.clone() else {
                    panic!("{}: an input is an object", pack.name);
                };
                let checked = input::check(tool.schema().unwrap(), args);
                let mut checked =
                    checked.unwrap_or_else(|error| panic!("{}: {error:?}", pack.name));
                options(&mut checked).unwrap_or_else(|error| panic!("{}: {error:?}", pack.name));
                let parsed = pack.parses(checked);
                parsed.unwrap_or_else(|invalid| panic!("{}: {invalid}", pack.name));
            }
        }
    }
}
