//! Commands and terminals in a session.

use std::{convert::Infallible, time::Duration};

use axum::{
    Extension,
    extract::State,
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures_util::stream;
use helmdeck_sessions::{Caller, ExecEvent, ExecStream, Running, Session, Written};
use helmdeck_wire::{
    ErrorCode,
    exec::{Exec, ExecId, ExecList, MAX_WAIT_S, TerminalSize},
};
use http::{HeaderValue, request::Parts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::live::{accept, must_end, upgrade};
use crate::{
    App,
    error::{ApiError, ApiResult},
    query::{Named, Params},
    terminal,
    token::Claims,
    tool::{Call, NoInput, Outcome, Payload},
};

/// Keeps connections alive through proxies.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Maximum size of a client's message, such as pasted text.
const MAX_MESSAGE: usize = 1 << 20;

/// A command.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneExec {
    /// Id of the command, as returned when it was started.
    #[schemars(with = "String", extend("x-error" = "not_found"))]
    exec_id: ExecId,
}

/// How to show a command.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowExec {
    /// Id of the command, as returned when it was started.
    #[schemars(with = "String", extend("x-error" = "not_found"))]
    exec_id: ExecId,
    /// Seconds to wait until it ends, 0 to 60.
    #[serde(default)]
    #[schemars(range(min = 0, max = MAX_WAIT_S))]
    wait_s: u32,
}

/// How to open a terminal.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TerminalQuery {
    /// Columns, 1 to 1000; defaults to 80.
    #[schemars(range(min = 1, max = 1000))]
    cols: Option<u16>,
    /// Lines, 1 to 1000; defaults to 24.
    #[schemars(range(min = 1, max = 1000))]
    rows: Option<u16>,
    /// A line for `/bin/bash -c`; defaults to an interactive `bash -l`.
    #[schemars(length(max = 4096), regex(pattern = r"^[^\x00]*$"))]
    #[schemars(extend("x-expected" = "at most 4096 characters without NUL", "x-secret" = true))]
    command: Option<String>,
}

/// Runs a command.
pub async fn exec(call: Call, exec: Exec) -> ApiResult<Outcome> {
    let (session, stream) = (call.session()?, call.flag("stream"));
    if stream && exec.background {
        let message =
            "stream: not possible for a background command; use GET …/exec/{exec_id}?stream=true";
        let error = ApiError::new(ErrorCode::InvalidInput, message);
        return Err(error.of_field("stream", Vec::new()));
    }
    let background = exec.background;
    let mut running = session.exec(&call.caller, exec).await?;
    let Call { app, caller, patience, .. } = call;
    if stream {
        let (exec, output) = (running.id().clone(), running.stream().await?);
        let running = Some(running);
        return Ok(Feed { app, caller, session, exec, output, running, over: false }.events());
    }
    if !background {
        tokio::select! {
            state = running.ended() => return Outcome::json(&state?),
            // The client hears how to go on before it gives up.
            () = lose_patience(&app, patience) => {}
            // When the server stops, the next one takes over.
            () = app.closing.cancelled() => {}
        }
    }
    running.leave();
    Outcome::json(&running.state().await?)
}

/// Waits for as long as a client does that gives up.
async fn lose_patience(app: &App, patience: Option<Duration>) {
    match patience {
        Some(patience) => app.clock.sleep_until(app.clock.now() + patience).await,
        None => std::future::pending().await,
    }
}

/// The commands of one of the caller's sessions.
pub async fn list_execs(call: Call, _: NoInput) -> ApiResult<ExecList> {
    Ok(call.session()?.execs().await?)
}

/// The state of a command.
pub async fn show_exec(call: Call, wanted: ShowExec) -> ApiResult<Outcome> {
    let (session, exec) = (call.session()?, wanted.exec_id);
    if call.flag("stream") {
        let output = session.exec_stream(&exec).await?;
        let (Call { app, caller, .. }, running) = (call, None);
        return Ok(Feed { app, caller, session, exec, output, running, over: false }.events());
    }
    let wait = Duration::from_secs(u64::from(wanted.wait_s));
    Outcome::json(&session.show_exec(&exec, wait).await?)
}

/// Kills a command and everything it started.
pub async fn kill_exec(call: Call, one: OneExec) -> ApiResult<Outcome> {
    call.session()?.kill_exec(&call.caller, &one.exec_id).await?;
    Ok(Outcome::done())
}

/// An interactive terminal over a WebSocket.
pub async fn open_terminal(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(token): Extension<Claims>,
    Named(id): Named,
    Params(query): Params<TerminalQuery>,
    mut parts: Parts,
) -> ApiResult<Response> {
    let TerminalQuery { cols, rows, command } = query;
    let standard = TerminalSize::default();
    let (cols, rows) = (cols.unwrap_or(standard.cols), rows.unwrap_or(standard.rows));
    let size = TerminalSize { cols, rows };
    let command = command.filter(|line| !line.trim().is_empty());
    let session = app.sessions.get(&caller, &id)?;
    let upgrade = upgrade(&mut parts, &app).await?;
    let credentials = [caller.token.clone()];
    let opened = session.open_terminal(caller, size, command).await?;
    Ok(accept(upgrade.max_message_size(MAX_MESSAGE), async move |socket| {
        let expires = Some(token.info().expires_at);
        let ended = must_end(&app, session.ending(), &credentials, expires);
        app.live.track_future(terminal::relay(socket, opened, ended)).await;
    }))
}

/// A command's output for one client.
struct Feed {
    app: App,
    caller: Caller,
    session: Session,
    exec: ExecId,
    output: ExecStream,
    /// The command, if it ends when the client disconnects.
    running: Option<Running>,
    over: bool,
}

impl Feed {
    fn events(self) -> Outcome {
        let events = stream::unfold(self, async |mut feed| {
            let event = feed.next().await?;
            Some((Ok::<_, Infallible>(event), feed))
        });
        let events = Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE));
        let media_type = HeaderValue::from_static("text/event-stream");
        let body = events.into_response().into_body();
        Outcome::new(Payload::Stream { media_type, size: None, body })
    }

    async fn next(&mut self) -> Option<Event> {
        if self.over {
            return None;
        }
        let credentials = [self.caller.token.clone()];
        let told = tokio::select! {
            told = self.output.next() => told,
            () = self.app.closing.cancelled() => {
                // The next server takes over.
                self.running.iter_mut().for_each(Running::leave);
                return None;
            }
            () = self.app.revoked.any_of(&credentials) => return None,
        };
        Some(match told {
            Some(ExecEvent::Stdout(written)) => event("stdout", &Output::from(written)),
            Some(ExecEvent::Stderr(written)) => event("stderr", &Output::from(written)),
            Some(ExecEvent::Ended(state)) => {
                self.running.iter_mut().for_each(|running| running.is_over(&state));
                self.over = true;
                event("exit", &state)
            }
            None => {
                self.over = true;
                event("error", &broken(&self.session, &self.exec).await.body())
            }
        })
    }
}

/// Why the output of a running command ended.
async fn broken(session: &Session, exec: &ExecId) -> ApiError {
    match session.show_exec(exec, Duration::ZERO).await {
        Err(error) => error.into(),
        Ok(_) => {
            let message = "the output was not read for a minute: open the stream again";
            ApiError::new(ErrorCode::Timeout, message)
        }
    }
}

fn event(name: &str, data: &impl Serialize) -> Event {
    // Our own types always serialize.
    Event::default().event(name).json_data(data).unwrap_or_default()
}

/// Data of an output event.
#[derive(Serialize)]
struct Output {
    text: String,
    #[serde(skip_serializing_if = "is_zero")]
    left_out_bytes: u64,
}

impl From<Written> for Output {
    fn from(written: Written) -> Self {
        let Written { text, left_out } = written;
        let text = match left_out {
            0 => text,
            _ => format!("\n[… {left_out} bytes left out …]\n{text}"),
        };
        Self { text, left_out_bytes: left_out }
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
