//! Commands of a fake guest: each ends at once, with its words as output.

use axum::{Json, extract::Query};
use helmdeck_wire::{
    ErrorBody, ErrorCode,
    exec::{Exec, ExecList, ExecState},
    guest::OneExec,
};
use http::StatusCode;
use serde_json::{Value, json};

/// The id of every command.
const ID: &str = "exec-fake";

type Refusal = (StatusCode, Json<ErrorBody>);

/// Starts a command, which ends immediately.
pub async fn start(Json(_): Json<Exec>) -> Json<Value> {
    Json(json!({ "id": ID }))
}

/// No command is kept.
pub async fn list() -> Json<ExecList> {
    Json(ExecList { execs: Vec::new() })
}

/// How the command ended.
pub async fn show(Query(one): Query<OneExec>) -> Result<Json<ExecState>, Refusal> {
    known(&one)?;
    Ok(Json(ExecState {
        exec_id: one.id,
        running: false,
        exit_code: Some(0),
        signal: None,
        stdout: Some("done\n".to_owned()),
        stderr: Some(String::new()),
        stdout_truncated: false,
        stderr_truncated: false,
        duration_ms: 1,
        timed_out: false,
        error: None,
    }))
}

/// Kills a command that has already ended.
pub async fn kill(Json(one): Json<OneExec>) -> Result<(), Refusal> {
    known(&one)
}

fn known(one: &OneExec) -> Result<(), Refusal> {
    if one.id.as_str() == ID {
        return Ok(());
    }
    let message = "the command does not exist, or it ended too long ago";
    Err((StatusCode::NOT_FOUND, Json(ErrorBody::new(ErrorCode::NotFound, message))))
}
