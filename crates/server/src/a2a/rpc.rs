//! The JSON-RPC endpoint.

use std::time::Duration;

use axum::{
    Json,
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use helmdeck_packs::{Options, Pack, SessionNeed};
use helmdeck_sessions::Caller;
use helmdeck_wire::{
    Scope, SessionId,
    job::{Job, JobId, JobState},
};
use http::request::Parts;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{
    error::{Failure, RpcError},
    message::{SendParams, SkillCall},
    stream::Followed,
    task::{TaskView, context_of},
    version::{Method, Version},
};
use crate::{
    App, body,
    error::{ApiError, ApiResult},
    input,
    public::Address,
    query,
    routes::packs::find,
    token::Claims,
    tool::{
        Call, lacks,
        pack::{WAIT_S, begin, options},
    },
};

/// Where a client names the version of the protocol.
const VERSION: &str = "a2a-version";
/// The longest name of a context.
const MAX_CONTEXT: usize = 64;

/// A request of JSON-RPC.
#[derive(Deserialize)]
struct RpcRequest {
    jsonrpc: String,
    #[serde(default)]
    id: Value,
    method: String,
    #[serde(default)]
    params: Value,
}

/// What a request gets.
enum Answer {
    Result(Value),
    Stream(Box<Followed>),
}

/// A task by id.
#[derive(Deserialize)]
struct OneTask {
    id: String,
}

/// Answers a request.
pub async fn serve(State(app): State<App>, request: Request) -> ApiResult<Response> {
    let (parts, content) = request.into_parts();
    let call = call(&app, &parts)?;
    let bytes = body::read(content, app.max_pack_body_bytes()).await?;
    let (id, answer) = match parse(&bytes) {
        Ok(request) => (request.id.clone(), answer(call, &parts, request).await),
        Err(error) => (Value::Null, Err(error.into())),
    };
    let mut reply = json!({ "jsonrpc": "2.0", "id": id });
    let (name, value) = match answer {
        Ok(Answer::Result(result)) => ("result", result),
        Ok(Answer::Stream(followed)) => return Ok(followed.response()),
        Err(Failure::Rpc(error)) => ("error", error.body()),
        Err(Failure::Http(error)) => return Err(error),
    };
    if let Value::Object(fields) = &mut reply {
        fields.insert(name.to_owned(), value);
    }
    Ok(Json(reply).into_response())
}

/// The call of the request's caller.
fn call(app: &App, parts: &Parts) -> ApiResult<Call> {
    let caller = parts.extensions.get::<Caller>().cloned();
    let claims = parts.extensions.get::<Claims>().cloned();
    let unknown = || ApiError::internal("the request has no caller");
    let (caller, claims) = caller.zip(claims).ok_or_else(unknown)?;
    Ok(Call::new(app.clone(), caller, claims, Address::of(app, &parts.headers)))
}

fn parse(bytes: &[u8]) -> Result<RpcRequest, RpcError> {
    let value: Value =
        serde_json::from_slice(bytes).map_err(|error| RpcError::not_json(error.to_string()))?;
    let request = serde_json::from_value::<RpcRequest>(value);
    let request = request.map_err(|error| RpcError::not_a_request(error.to_string()))?;
    if request.jsonrpc != "2.0" {
        return Err(RpcError::not_a_request("jsonrpc: expected \"2.0\""));
    }
    Ok(request)
}

async fn answer(call: Call, parts: &Parts, request: RpcRequest) -> Result<Answer, Failure> {
    let header = parts.headers.get(VERSION).and_then(|value| value.to_str().ok());
    let in_query = query::pairs(parts.uri.query().unwrap_or_default());
    let in_query = in_query.iter().find(|(name, _)| name.eq_ignore_ascii_case(VERSION));
    let asked = header.or(in_query.map(|(_, value)| value.as_str()));
    if let Some(asked) = asked.filter(|asked| !asked.is_empty() && !Version::is_known(asked)) {
        return Err(RpcError::version(asked).into());
    }
    let Some((method, version)) = Method::named(&request.method) else {
        return Err(RpcError::unknown_method(&request.method).into());
    };
    let RpcRequest { id, params, .. } = request;
    let job = match method {
        Method::Send => {
            let job = send(&call, params, WAIT_S).await?;
            return Ok(Answer::Result(view(version, &job, &call).begun()));
        }
        Method::Get => own_job(&call, Scope::SESSIONS_READ, params).await?,
        Method::Cancel => cancel(&call, params).await?,
        Method::Stream => {
            let job = send(&call, params, 0).await?;
            return Ok(Answer::Stream(Box::new(job.followed(call, version, id))));
        }
        Method::Subscribe => {
            let job = own_job(&call, Scope::SESSIONS_READ, params).await?;
            if job.job.state != JobState::Working {
                let message = format!("the task is {}: get it instead", job.job.state.as_str());
                return Err(RpcError::unsupported(message).into());
            }
            return Ok(Answer::Stream(Box::new(job.followed(call, version, id))));
        }
        Method::List => {
            let message = "tasks are listed by GET /api/v1/jobs";
            return Err(RpcError::unsupported(message).into());
        }
        Method::Push => return Err(RpcError::no_push().into()),
        Method::ExtendedCard => return Err(RpcError::no_extended_card().into()),
    };
    Ok(Answer::Result(view(version, &job, &call).task()))
}

/// A job and the context that it belongs to.
struct JobInContext {
    job: Job,
    context: String,
}

impl JobInContext {
    async fn find(call: &Call, job: Job) -> ApiResult<Self> {
        let (_, input) = call.app.packs.input(&call.caller, &job.job_id).await?;
        let context = context_of(&job, &input);
        Ok(Self { job, context })
    }

    fn followed(self, call: Call, version: Version, id: Value) -> Followed {
        let Self { job, context } = self;
        Followed { call, version, id, context, job }
    }
}

fn view<'a>(version: Version, job: &'a JobInContext, call: &'a Call) -> TaskView<'a> {
    TaskView { version, job: &job.job, context: &job.context, address: &call.address }
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, RpcError> {
    let parsed = helmdeck_wire::parse::parse(params);
    parsed.map_err(|invalid| RpcError::invalid(&invalid.field, invalid.to_string()))
}

/// Runs a skill, and waits for it for at most this long.
async fn send(call: &Call, params: Value, wait_s: u64) -> Result<JobInContext, Failure> {
    let SkillCall { skill, input, context, at_once } = read::<SendParams>(params)?.skill_call()?;
    let pack = find(&call.app, &skill)?;
    pack.check_on().map_err(ApiError::from)?;
    let tool = call.app.tool(&pack.name).ok_or_else(|| ApiError::internal("a pack has no tool"))?;
    if !call.caller.may(tool.scope) {
        return Err(lacks(tool.scope).into());
    }
    let mut input = input::check(tool.schema()?, input)?;
    let (mut options, wait) = options(&mut input)?;
    set_context(&mut options, &pack, context)?;
    let at_once = at_once || pack.returns_handle || options.webhook.is_some();
    let wait = if at_once { 0 } else { wait.unwrap_or(wait_s).min(wait_s) };
    // A client that disconnects finds the task again.
    let mut job = begin(call, &pack, input, options).await?;
    if wait > 0 {
        let waited = call.app.packs.wait(&call.caller, &job.job_id, Duration::from_secs(wait));
        job = waited.await.map_err(ApiError::from)?;
    }
    Ok(JobInContext::find(call, job).await?)
}

/// Cancels a task.
async fn cancel(call: &Call, params: Value) -> Result<JobInContext, Failure> {
    let JobInContext { job, context } = own_job(call, Scope::SESSIONS_ACT, params).await?;
    if job.state != JobState::Working {
        let message = format!("the task is {}", job.state.as_str());
        return Err(RpcError::not_cancelable(message).into());
    }
    let job = call.app.packs.cancel(&call.caller, &job.job_id).await.map_err(ApiError::from)?;
    Ok(JobInContext { job, context })
}

/// Tasks of one context share a session: the context is the workspace, or a session by its id. A pack
/// that keeps its session gets a context for it.
fn set_context(options: &mut Options, pack: &Pack, context: Option<String>) -> Result<(), Failure> {
    let session = &mut options.session;
    if session.id.is_some() || session.workspace.is_some() {
        return Ok(());
    }
    let keeps = matches!(pack.needs.session, SessionNeed::Keeps(_));
    match context {
        Some(id) if id.starts_with("sess-") => session.id = Some(SessionId::new(id)),
        Some(name) => {
            let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            if name.len() > MAX_CONTEXT || !name.chars().all(plain) {
                let message = "contextId: expected at most 64 letters, digits, dots, underscores and \
                               hyphens";
                return Err(RpcError::invalid("message.contextId", message).into());
            }
            session.workspace = Some(name);
        }
        None if keeps => session.workspace = Some(new_context()?),
        None => {}
    }
    Ok(())
}

fn new_context() -> ApiResult<String> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(ApiError::internal)?;
    Ok(format!("ctx-{:016x}", u64::from_be_bytes(bytes)))
}

/// A job of the caller.
async fn own_job(call: &Call, scope: Scope, params: Value) -> Result<JobInContext, Failure> {
    let OneTask { id } = read(params)?;
    if !call.caller.may(scope) {
        return Err(lacks(scope).into());
    }
    let job = call.app.packs.job(&call.caller, &JobId::new(id)).await.map_err(ApiError::from)?;
    Ok(JobInContext::find(call, job).await?)
}
