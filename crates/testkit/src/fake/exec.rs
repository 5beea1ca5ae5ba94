//! Commands of a fake guest: each ends at once, except `sleep`, which runs until it is killed. Tests
//! can set how programs end.

use std::{io, time::Duration};

use axum::{
    Json,
    extract::{Query, State},
};
use helmdeck_link::exec::{Message, Piece, send};
use helmdeck_wire::{
    ErrorBody, ErrorCode,
    exec::{Exec, ExecId, ExecList, ExecState},
    guest::OneExec,
};
use http::StatusCode;
use serde_json::{Value, json};
use tokio::io::AsyncWrite;

use super::guest::{FakeGuest, Outcome};

/// The id of every command.
const ID: &str = "exec-fake";
/// The id of `sleep`.
const SLEEP: &str = "exec-sleep";
/// Ids of commands whose results a test set begin with this.
const SET: &str = "exec-set-";
/// How long a request for the state of `sleep` waits.
const NAP: Duration = Duration::from_millis(50);
/// Output of every command.
const OUTPUT: &str = "done\n";

/// An error response of a guest.
pub type Refusal = (StatusCode, Json<ErrorBody>);

/// Starts a command: held or refused as a test set it for `exec`.
pub async fn start(
    State(guest): State<FakeGuest>,
    Json(exec): Json<Exec>,
) -> Result<Json<Value>, Refusal> {
    guest.decide("exec").await.map_err(|refusal| (StatusCode::BAD_REQUEST, Json(refusal)))?;
    let (program, args) = exec.command.clone().words();
    let line = format!("{program} {}", args.join(" "));
    let mut state = guest.shared.state.lock();
    let set = state.programs.iter().rposition(|(part, _)| line.contains(part.as_str()));
    state.started.push(exec);
    Ok(Json(json!({ "id": match set {
        Some(number) => format!("{SET}{number}"),
        None if program == "sleep" => SLEEP.to_owned(),
        None => ID.to_owned(),
    } })))
}

/// No command is kept.
pub async fn list() -> Json<ExecList> {
    Json(ExecList { execs: Vec::new() })
}

/// How the command ended.
pub async fn show(
    State(guest): State<FakeGuest>,
    Query(one): Query<OneExec>,
) -> Result<Json<ExecState>, Refusal> {
    if let Some(Outcome { exit_code, stdout, stderr }) = set(&guest, &one.id) {
        let (stdout, stderr, exit_code) = (Some(stdout), Some(stderr), Some(exit_code));
        return Ok(Json(ExecState { exit_code, stdout, stderr, ..ended(one.id) }));
    }
    known(&one.id)?;
    let running = one.id.as_str() == SLEEP;
    if running {
        tokio::time::sleep(NAP).await;
    }
    Ok(Json(ExecState { running, ..ended(one.id) }))
}

/// Sends the output of the command and its result.
pub async fn output(
    guest: &FakeGuest,
    to: &mut (impl AsyncWrite + Unpin),
    id: ExecId,
) -> io::Result<()> {
    let usual = || Outcome { exit_code: 0, stdout: OUTPUT.to_owned(), stderr: String::new() };
    let Outcome { exit_code, stdout, stderr } = set(guest, &id).unwrap_or_else(usual);
    let written = |text: String| Piece { left_out: 0, bytes: text.into() };
    send(to, Message::Stdout(written(stdout))).await?;
    if !stderr.is_empty() {
        send(to, Message::Stderr(written(stderr))).await?;
    }
    let exit_code = Some(exit_code);
    let state = ExecState { exit_code, stdout: None, stderr: None, ..ended(id) };
    send(to, Message::Ended(state)).await
}

/// The result that a test set.
pub fn set(guest: &FakeGuest, id: &ExecId) -> Option<Outcome> {
    let number: usize = id.as_str().strip_prefix(SET)?.parse().ok()?;
    guest.shared.state.lock().programs.get(number).map(|(_, outcome)| outcome.clone())
}

fn ended(exec_id: ExecId) -> ExecState {
    ExecState {
        exec_id,
        running: false,
        exit_code: Some(0),
        signal: None,
        stdout: Some(OUTPUT.to_owned()),
        stderr: Some(String::new()),
        stdout_truncated: false,
        stderr_truncated: false,
        duration_ms: 1,
        timed_out: false,
        error: None,
    }
}

/// Kills a command: held as a test set it for `kill_exec`.
pub async fn kill(State(guest): State<FakeGuest>, Json(one): Json<OneExec>) -> Result<(), Refusal> {
    guest.decide("kill_exec").await.map_err(|refusal| (StatusCode::BAD_REQUEST, Json(refusal)))?;
    known(&one.id)
}

/// Refuses other commands.
pub fn known(id: &ExecId) -> Result<(), Refusal> {
    if [ID, SLEEP].contains(&id.as_str()) {
        return Ok(());
    }
    let message = "the command does not exist, or it ended too long ago";
    Err((StatusCode::NOT_FOUND, Json(ErrorBody::new(ErrorCode::NotFound, message))))
}
