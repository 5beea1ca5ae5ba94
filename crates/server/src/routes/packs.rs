//! Packs: listing, showing and running them.

use std::sync::Arc;

use axum::{
    extract::{Path, Request, State},
    response::Response,
};
use helmdeck_packs::{Example, ModelNeed, Pack, Routing, SessionNeed};
use helmdeck_sessions::Scope;
use helmdeck_wire::{
    ErrorCode,
    job::{Job, JobState},
    nature::Style,
    session::Mode,
};
use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    jobs::{OneJob, renamed},
    tools::call_named,
};
use crate::{
    App,
    error::{ApiError, ApiResult},
    tool::{Call, Nature, Outcome, SharedSchema, Tool, json_tool, pack::reply, tool},
};

/// Which packs to list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PackQuery {
    /// Only packs whose name, description or keywords contain all of these words.
    #[schemars(length(max = 200))]
    search: Option<String>,
}

/// A pack by name.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PackName {
    /// Name of the pack, such as `repo.fetch`.
    #[schemars(length(min = 1, max = 64), extend("x-error" = "unknown_pack"))]
    name: String,
}

/// All packs.
#[derive(Serialize, JsonSchema)]
pub struct PackList {
    /// The best matches first, else by name.
    packs: Vec<PackInfo>,
    /// How many.
    count: usize,
}

/// A pack.
#[derive(Serialize, JsonSchema)]
pub struct PackInfo {
    /// Name, such as `repo.fetch`.
    name: String,
    /// What it does.
    description: String,
    /// Its versions.
    versions: Vec<String>,
    /// The newest version, which runs by default.
    latest: String,
    /// Whether a call returns a handle at once.
    #[serde(rename = "async")]
    returns_handle: bool,
    /// The session that it works in: `none`, `one_shot`, `keeps` or `existing`.
    session: &'static str,
    /// The mode of a session that is created for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<Mode>,
    /// Programs that it needs in the session.
    programs: Vec<&'static str>,
    /// Why it cannot run, and what to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    unavailable: Option<String>,
    /// What it lacks for part of its work, and what to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    limited: Option<String>,
    /// The credential that it needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    credential: Option<&'static str>,
    /// Whether it needs a model, at least if it works by pictures.
    needs_model: bool,
    /// How it works unless a call has `_mode`: `structured` or `vision`. Absent if it has one way.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    action_mode: Option<Style>,
    /// Properties of a call.
    #[schemars(with = "Map<String, Value>")]
    nature: Nature,
    /// What agents choose it by: `accepts`, `produces`, `intent_keywords`, `typical_use`,
    /// `limitations`.
    #[schemars(with = "Map<String, Value>")]
    routing: Routing,
    /// Calls that show how it is used.
    examples: Vec<Example>,
    /// JSON Schema of the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    input_schema: Option<SharedSchema>,
    /// JSON Schema of the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    output_schema: Option<SharedSchema>,
}

impl PackInfo {
    fn of(pack: &Pack) -> Self {
        let version = format!("v{}", pack.version);
        let (session, mode) = match pack.needs.session {
            SessionNeed::None => ("none", None),
            SessionNeed::OneShot(mode) | SessionNeed::Private(mode) => ("one_shot", Some(mode)),
            SessionNeed::Keeps(mode) => ("keeps", Some(mode)),
            SessionNeed::Existing => ("existing", None),
        };
        Self {
            name: pack.name.clone(),
            description: pack.doc.clone(),
            versions: vec![version.clone()],
            latest: version,
            returns_handle: pack.returns_handle,
            session,
            mode,
            programs: pack.needs.programs.to_vec(),
            unavailable: pack.unavailable(),
            limited: pack.limited(),
            credential: pack.needs.credential,
            needs_model: pack.needs.model != ModelNeed::None,
            action_mode: pack.mode,
            nature: pack.nature,
            routing: pack.routing,
            examples: pack.examples.clone(),
            input_schema: None,
            output_schema: None,
        }
    }

    /// Says that there is no model, if it needs one.
    fn without_models(mut self, missing: Option<&String>) -> Self {
        if self.needs_model && self.unavailable.is_none() {
            self.unavailable = missing.cloned();
        }
        self
    }

    fn whole(app: &App, pack: &Pack) -> ApiResult<Self> {
        let tool = app.tool(&pack.name);
        let input_schema = tool.as_ref().map(|tool| tool.documented_schema()).transpose()?;
        let output_schema = tool.and_then(|tool| tool.output_schema());
        Ok(Self { input_schema, output_schema, ..Self::of(pack) })
    }
}

fn unknown(app: &App, name: &str) -> ApiError {
    let packs = app.packs.packs();
    let names = packs.iter().map(|pack| pack.name.as_str());
    let scored = names.map(|known| (strsim::jaro_winkler(known, name), known));
    let nearest = scored.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(score, _)| *score > 0.8);
    let hint = match nearest {
        Some((_, near)) => format!("; did you mean {near}? GET /api/v1/packs lists all packs"),
        None => ": GET /api/v1/packs lists all packs".to_owned(),
    };
    let message = format!("the pack {name:?} does not exist{hint}");
    ApiError::new(ErrorCode::UnknownPack, message)
}

/// The pack with this name.
pub fn find(app: &App, name: &str) -> ApiResult<Arc<Pack>> {
    app.packs.pack(name).ok_or_else(|| unknown(app, name))
}

/// Lists packs.
pub async fn list_packs(call: Call, query: PackQuery) -> ApiResult<PackList> {
    let search = query.search.unwrap_or_default().to_lowercase();
    let words: Vec<_> = search.split_whitespace().collect();
    let wanted = |pack: &&Arc<Pack>| {
        let keywords = pack.routing.intent_keywords.join(" ");
        let text = format!("{} {} {keywords}", pack.name, pack.doc).to_lowercase();
        words.iter().all(|word| text.contains(word))
    };
    let all = call.app.packs.packs();
    let mut packs: Vec<_> = all.iter().filter(wanted).collect();
    // Those whose names or keywords match come first.
    let matches = |pack: &Pack| {
        let is_key = |word: &&&str| {
            pack.name.contains(**word) || pack.routing.intent_keywords.contains(*word)
        };
        words.iter().filter(is_key).count()
    };
    packs.sort_by_key(|pack| std::cmp::Reverse(matches(pack)));
    let missing = call.app.packs.missing_model(&call.caller).await?;
    let info = |pack: &Arc<Pack>| PackInfo::of(pack).without_models(missing.as_ref());
    let packs: Vec<_> = packs.into_iter().map(info).collect();
    Ok(PackList { count: packs.len(), packs })
}

/// Shows a pack.
pub async fn show_pack(call: Call, wanted: PackName) -> ApiResult<PackInfo> {
    let info = PackInfo::whole(&call.app, &*find(&call.app, &wanted.name)?)?;
    let missing = match info.needs_model {
        true => call.app.packs.missing_model(&call.caller).await?,
        false => None,
    };
    Ok(info.without_models(missing.as_ref()))
}

/// Shows a version of a pack.
pub async fn show_version(
    State(app): State<App>,
    Path((name, version)): Path<(String, String)>,
) -> ApiResult<axum::Json<PackInfo>> {
    let pack = of_version(&app, &name, &version)?;
    Ok(axum::Json(PackInfo::whole(&app, &pack)?))
}

fn of_version(app: &App, name: &str, version: &str) -> ApiResult<Arc<Pack>> {
    let pack = find(app, name)?;
    let newest = format!("v{}", pack.version);
    if version == newest || version == "latest" {
        return Ok(pack);
    }
    let message = format!("{name} has no version {version:?}; it has {newest}");
    Err(ApiError::new(ErrorCode::UnknownPack, message))
}

/// Runs a pack.
pub async fn run_pack(
    State(app): State<App>,
    Path(name): Path<String>,
    request: Request,
) -> ApiResult<Response> {
    find(&app, &name)?.check_on()?;
    call_named(app, &name, request).await
}

/// Runs a version of a pack.
pub async fn run_version(
    State(app): State<App>,
    Path((name, version)): Path<(String, String)>,
    request: Request,
) -> ApiResult<Response> {
    of_version(&app, &name, &version)?.check_on()?;
    call_named(app, &name, request).await
}

/// A pack to start.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StartPack {
    /// Name of the pack, such as `repo.fetch`.
    #[schemars(length(min = 1, max = 64), extend("x-error" = "unknown_pack"))]
    pack: String,
    /// Its input, with `_session_id` or `workspace` if it takes one.
    #[serde(default)]
    input: Map<String, Value>,
    /// Address that gets the result as a POST.
    #[serde(default)]
    #[schemars(length(min = 8, max = 2000))]
    webhook_url: Option<String>,
    /// Signs what `webhook_url` gets.
    #[serde(default)]
    #[schemars(length(min = 4, max = 500), extend("x-secret" = true, "writeOnly" = true))]
    webhook_secret: Option<String>,
}

/// Tools of agents for long jobs. HTTP clients use `/api/v1/jobs`.
pub fn tools() -> Vec<Arc<Tool>> {
    let plain = Nature::default();
    let tools = [
        tool("pack.start", start_pack)
            .doc(
                "Start a pack and return at once, with a `job_id`. Use pack.status to see its progress \
                 and pack.result to get its output. For packs that take minutes.",
            )
            .scope(Scope::SESSIONS_ACT)
            .nature(Nature { open_world: true, ..plain })
            .returns::<Job>(),
        json_tool("pack.status", status)
            .doc("Show the state and the progress of a job: working, completed, failed or cancelled.")
            .scope(Scope::SESSIONS_READ)
            .nature(plain.reads())
            .prepare(renamed, |generator| generator.subschema_for::<OneJob>()),
        tool("pack.result", result)
            .doc(
                "Get the output of a job. Fails with not_ready while it works, and with its error if it \
                 failed. Can be called more than once, for 24 hours.",
            )
            .scope(Scope::SESSIONS_READ)
            .nature(plain.reads())
            .prepare(renamed, |generator| generator.subschema_for::<OneJob>())
            .returns::<Job>(),
    ];
    tools.into_iter().map(Arc::new).collect()
}

async fn start_pack(call: Call, wanted: StartPack) -> ApiResult<Outcome> {
    let mut args = wanted.input;
    for (field, value) in
        [("webhook_url", wanted.webhook_url), ("webhook_secret", wanted.webhook_secret)]
    {
        if let Some(value) = value {
            args.insert(field.to_owned(), value.into());
        }
    }
    start_named(call, &wanted.pack, args).await
}

/// Starts a pack and returns at once.
pub async fn start_named(
    call: Call,
    name: &str,
    mut args: Map<String, Value>,
) -> ApiResult<Outcome> {
    let pack = find(&call.app, name)?;
    pack.check_on()?;
    let tool = call.app.tool(&pack.name).ok_or_else(|| unknown(&call.app, name))?;
    args.insert("wait_s".to_owned(), 0.into());
    let mut outcome = tool.call(call, args).await?;
    outcome.status = Some(StatusCode::ACCEPTED);
    Ok(outcome)
}

async fn status(call: Call, wanted: OneJob) -> ApiResult<Job> {
    let job = call.app.packs.job(&call.caller, &wanted.job_id).await?;
    // The output is in the result.
    Ok(Job { output: None, ..job })
}

async fn result(call: Call, wanted: OneJob) -> ApiResult<Outcome> {
    let job = call.app.packs.job(&call.caller, &wanted.job_id).await?;
    if job.state == JobState::Working {
        let message = format!("job {} is still working: {}%", job.job_id, job.progress);
        let error = ApiError::new(ErrorCode::NotReady, message);
        return Err(ApiError { retryable: Some(true), ..error.retry_after(5) });
    }
    reply(job)
}
