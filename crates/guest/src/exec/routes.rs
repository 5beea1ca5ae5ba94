//! The guest's routes for commands and terminals.

use std::time::Duration;

use axum::{
    Router,
    extract::{Query, Request, State},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use helmdeck_link::route;
use helmdeck_wire::{
    exec::{Exec, ExecList, ExecState, TerminalSize},
    guest::{ExecOutput, ExecStarted, OneExec, OpenTerminal},
};
use http::{
    StatusCode,
    header::{CONNECTION, UPGRADE},
};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;

use super::{stream::send_output, terminal};
use crate::{begin::Guest, error::GuestError, json::Json};

/// The routes, for the guest's router.
pub fn routes() -> Router<Guest> {
    Router::new()
        .route(route::EXECS, get(list).post(start))
        .route(route::EXEC, get(show))
        .route(route::KILL_EXEC, post(kill))
        .route(route::EXEC_OUTPUT, get(output))
        .route(route::TERMINAL, get(open_terminal))
}

/// Runs to completion when the server disconnects: otherwise the command would be unknown.
async fn start(
    State(guest): State<Guest>,
    Json(exec): Json<Exec>,
) -> Result<Json<ExecStarted>, GuestError> {
    let starting = helmdeck_task::spawn(async move { guest.start_exec(exec).await });
    let id = starting.await.unwrap_or(Err(GuestError::Ended("the command")))?;
    Ok(Json(ExecStarted { id }))
}

async fn list(State(guest): State<Guest>) -> Result<Json<ExecList>, GuestError> {
    guest.session()?;
    Ok(Json(guest.execs.list()))
}

async fn show(
    State(guest): State<Guest>,
    Query(wanted): Query<OneExec>,
) -> Result<Json<ExecState>, GuestError> {
    guest.session()?;
    Ok(Json(guest.exec(&wanted.id, Duration::from_millis(wanted.wait_ms)).await?))
}

/// Runs to completion when the server disconnects, too.
async fn kill(State(guest): State<Guest>, Json(wanted): Json<OneExec>) -> Result<(), GuestError> {
    guest.session()?;
    let killing = helmdeck_task::spawn(async move { guest.kill_exec(&wanted.id).await });
    killing.await.unwrap_or(Err(GuestError::Ended("the command")))
}

async fn output(
    State(guest): State<Guest>,
    Query(wanted): Query<ExecOutput>,
    mut request: Request,
) -> Result<Response, GuestError> {
    guest.session()?;
    let upgrade = hyper::upgrade::on(&mut request);
    let command = guest.execs.get(&wanted.id)?;
    helmdeck_task::spawn(async move {
        if let Ok(upgraded) = upgrade.await {
            send_output(command, wanted, TokioIo::new(upgraded)).await;
        }
    });
    Ok(switching())
}

async fn open_terminal(
    State(guest): State<Guest>,
    Query(wanted): Query<OpenTerminal>,
    mut request: Request,
) -> Result<Response, GuestError> {
    let upgrade = hyper::upgrade::on(&mut request);
    let opening = helmdeck_task::spawn(serve_terminal(guest, wanted, upgrade));
    opening.await.unwrap_or(Err(GuestError::Ended("the terminal")))?;
    Ok(switching())
}

/// Opens a terminal that ends with its connection, even if the connection never opens.
async fn serve_terminal(
    guest: Guest,
    wanted: OpenTerminal,
    upgrade: OnUpgrade,
) -> Result<(), GuestError> {
    let size = TerminalSize { cols: wanted.cols, rows: wanted.rows };
    let size = if size.is_allowed() { size } else { TerminalSize::default() };
    let wanted = OpenTerminal { cols: size.cols, rows: size.rows, ..wanted };
    let opened = guest.open_terminal(wanted).await?;
    helmdeck_task::spawn(async move {
        match upgrade.await {
            Ok(upgraded) => terminal::serve(opened, TokioIo::new(upgraded)).await,
            Err(_) => opened.hang_up().await,
        }
    });
    Ok(())
}

fn switching() -> Response {
    let headers = [(CONNECTION, "upgrade"), (UPGRADE, route::EXEC_PROTOCOL)];
    (StatusCode::SWITCHING_PROTOCOLS, headers).into_response()
}
