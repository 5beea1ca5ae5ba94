//! What a pack works with.

use std::{path::PathBuf, sync::Arc};

use helmdeck_runtime::Runtime;
use helmdeck_sessions::{Caller, Session};
use helmdeck_wire::{
    Action, ErrorCode,
    exec::{CommandLine, Exec, ExecState},
    job::JobId,
    nature::Style,
};
use parking_lot::Mutex;
use serde::de::DeserializeOwned;

use crate::{
    Endpoint, Endpoints, HttpClient, JobArtifacts, Models, OwnApi, PackError, PackResult,
    RunRegistry, Secrets,
    engine::Progress,
    leftovers::Leftovers,
    toolset::{Toolset, not_installed},
};

/// What a pack works with. Cancelling a job drops its pack, and with it everything under way.
pub struct Context {
    /// Who called it.
    pub caller: Caller,
    /// The job.
    pub job: JobId,
    /// Requests to web servers, which the egress policy allows.
    pub http: HttpClient,
    /// Files of the caller.
    pub artifacts: JobArtifacts,
    /// Credentials of the caller.
    pub secrets: Secrets,
    /// Models, with the budget of the caller.
    pub models: Models,
    /// Whether it works by names or by pictures: what the call asks for, or the pack's default.
    pub mode: Style,
    /// Addresses of services.
    pub endpoints: Arc<Endpoints>,
    /// The server's own API.
    pub own_api: Option<Arc<dyn OwnApi>>,
    pub(crate) services_http: HttpClient,
    pub(crate) runtime: Arc<dyn Runtime>,
    pub(crate) known_hosts: Option<PathBuf>,
    pub(crate) runs: Arc<dyn RunRegistry>,
    pub(crate) session: Option<Session>,
    pub(crate) progress: Arc<Mutex<Progress>>,
    /// What is removed from the session when the job ends.
    pub(crate) leftovers: Leftovers,
}

impl Context {
    /// The session that it works in.
    pub fn session(&self) -> PackResult<&Session> {
        let missing = || PackError::new(ErrorCode::Internal, "the pack has no session");
        self.session.as_ref().ok_or_else(missing)
    }

    /// The client for a service: one that the operator chose may be in a private network.
    pub fn client_of(&self, endpoint: &Endpoint) -> &HttpClient {
        if endpoint.is_configured { &self.services_http } else { &self.http }
    }

    /// Reports how much is done, from 0 to 1, and what comes next.
    pub fn progress(&self, fraction: f64, message: impl Into<String>) {
        self.progress.lock().set(fraction, message.into());
    }

    /// Performs an action in the session.
    pub async fn act<A: Action>(&self, action: &A) -> PackResult<A::Reply>
    where
        A::Reply: DeserializeOwned,
    {
        Ok(self.session()?.call(&self.caller, action).await?)
    }

    /// Runs a program in the session, in this directory. Succeeds whatever its exit code is.
    pub async fn exec(&self, exec: Exec) -> PackResult<ExecState> {
        let name = exec.command.name().to_owned();
        let timeout_s = exec.timeout_s;
        let started = self.session()?.exec(&self.caller, exec).await;
        let mut running = started.map_err(|error| match PackError::from(error) {
            error if error.code() == ErrorCode::CommandNotFound && Toolset::of(&name).is_some() => {
                not_installed(&name)
            }
            error => error,
        })?;
        let state = running.ended().await?;
        if state.timed_out {
            let message = format!("{name} did not end within {timeout_s} s and was killed");
            return Err(PackError::new(ErrorCode::Timeout, message));
        }
        if let Some(error) = state.error {
            let body = helmdeck_wire::ErrorBody { error: ErrorCode::ResourceExhausted, ..error };
            return Err(body.into());
        }
        Ok(state)
    }

    /// Explains an error about a path that this session does not have. It may be in another one.
    pub(crate) fn elsewhere(&self, field: &str, path: &str, error: PackError) -> PackError {
        let text = error.to_string();
        let is_missing = ["cannot be entered", "No such file"].iter().any(|it| text.contains(it));
        let Some(session) = self.session.as_ref().filter(|_| is_missing) else { return error };
        let message = format!(
            "{field}: {path} does not exist in session {}: files of earlier calls are only in the \
             session that these calls returned; pass its `_session_id`",
            session.id()
        );
        PackError::invalid(field, message)
    }

    /// Runs a program in the session and returns its standard output. Fails if it fails.
    pub async fn output(&self, exec: Exec) -> PackResult<String> {
        let name = exec.command.name().to_owned();
        let state = self.exec(exec).await?;
        match state.exit_code {
            Some(0) => Ok(state.stdout.unwrap_or_default()),
            _ => Err(self.failed(&name, &state)),
        }
    }

    /// The error for a failed program.
    pub(crate) fn failed(&self, name: &str, state: &ExecState) -> PackError {
        let status = match (state.exit_code, &state.signal) {
            (Some(code), _) => format!("exit {code}"),
            (None, Some(signal)) => signal.clone(),
            (None, None) => "no exit code".to_owned(),
        };
        let quote = match state.stderr.as_deref().map(str::trim) {
            Some(stderr) if !stderr.is_empty() => stderr,
            _ => state.stdout.as_deref().unwrap_or_default(),
        };
        PackError::program(name, &status, quote, &self.secrets.redactor())
    }
}

/// A program with arguments.
pub(crate) fn command<'a>(words: impl IntoIterator<Item = &'a str>) -> Exec {
    Exec {
        command: CommandLine::Program(words.into_iter().map(str::to_owned).collect()),
        cwd: None,
        env: Default::default(),
        stdin: None,
        timeout_s: helmdeck_wire::exec::DEFAULT_TIMEOUT_S,
        max_output_bytes: helmdeck_wire::exec::MAX_OUTPUT_BYTES,
        background: false,
    }
}
