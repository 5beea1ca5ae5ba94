//! `desktop.run_app_and_screenshot`: starts a program on the desktop and takes a picture.

use std::time::Duration;

use bytes::Bytes;
use helmdeck_wire::{
    ActionCall, ErrorCode,
    exec::{CommandLine, Exec, ExecState, MAX_TIMEOUT_S},
    nature::{Nature, Substrate, Surface},
    screen::{Format, Screenshot},
    session::Mode,
    window::ListWindows,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Context, Pack, PackError, PackResult, Routing, SessionNeed,
    context::{command, failed},
};

/// Start a program on the desktop and take a picture.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DesktopRunAppAndScreenshot")]
struct Input {
    /// The program, such as `xterm`.
    #[schemars(length(min = 1, max = 4096), regex(pattern = r"^[^\x00]+$"))]
    command: String,
    /// Its arguments.
    #[serde(default)]
    #[schemars(length(max = 900), inner(length(max = 100_000)))]
    args: Vec<String>,
    /// Milliseconds to wait before the picture is taken.
    #[serde(default = "wait")]
    #[schemars(range(max = 60_000))]
    wait_ms: u32,
}

fn wait() -> u32 {
    1500
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DesktopRunAppAndScreenshotOutput")]
struct Output {
    /// The picture, as an artifact.
    artifact_key: String,
    /// Its size in bytes.
    size: u64,
    /// The program.
    command: String,
    /// Whether the program still runs.
    running: bool,
    /// Exit code of a program that has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// Id of the running program, for `session.exec_show` and `session.exec_kill`.
    exec_id: String,
    /// Titles of the windows on the desktop.
    windows: Vec<String>,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("desktop.run_app_and_screenshot", run)
        .doc(
            "Start a program on the VISIBLE desktop of a session, wait, and take a picture. The session and the \
             program stay, so that the next calls can use them: pass `_session_id`.",
        )
        .nature(Nature {
            substrate: Substrate::Desktop,
            surface: Surface::Visible,
            default_mode: Some(Mode::Desktop),
            open_world: true,
            ..Nature::default()
        })
        .session(SessionNeed::Keeps(Mode::Desktop))
        .timeout_s(180)
        .example(
            "A terminal",
            serde_json::json!({ "command": "xterm", "args": ["-e", "top"] }),
        )
        .routing(Routing {
            accepts: &["command"],
            produces: &["picture", "session"],
            intent_keywords: &["desktop", "app", "launch", "start", "window", "screenshot", "gui"],
            typical_use: "Start a graphical program and see what it shows.",
            limitations: &["Programs must be installed on the server."],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    let words = [&input.command].into_iter().chain(&input.args).cloned().collect();
    let exec = Exec {
        command: CommandLine::Program(words),
        timeout_s: MAX_TIMEOUT_S,
        max_output_bytes: 64 << 10,
        background: true,
        ..command([])
    };
    context.progress(0.2, format!("starting {}", input.command));
    let session = context.session()?;
    let mut running = session.exec(&context.caller, exec).await.map_err(|error| {
        let error = PackError::from(error);
        match error.code() {
            ErrorCode::CommandNotFound | ErrorCode::CommandFailed => {
                PackError::invalid("command", error.to_string())
            }
            _ => error,
        }
    })?;
    context.progress(0.4, "waiting for it");
    tokio::time::sleep(Duration::from_millis(u64::from(input.wait_ms))).await;
    let state = running.state().await?;
    // From here on it belongs to the session.
    running.leave();
    if has_failed(&state) {
        return Err(failed(&input.command, &state));
    }
    context.progress(0.8, "taking a picture");
    let picture = Screenshot { format: Some(Format::Png), ..Screenshot::default() };
    let picture: Bytes = session.act(&context.caller, &ActionCall::new(&picture)).await?.body;
    let windows = context.act(&ListWindows {}).await?.windows;
    let artifact = context.artifacts.put("screen.png", "image/png", picture).await?;
    Ok(Output {
        artifact_key: artifact.key,
        size: artifact.size,
        command: input.command,
        running: state.running,
        exit_code: state.exit_code,
        exec_id: running.id().to_string(),
        windows: windows.into_iter().map(|window| window.name).collect(),
    })
}

/// Whether the program ended with an error. One that hands over to another ends with 0.
fn has_failed(state: &ExecState) -> bool {
    !state.running && state.exit_code != Some(0)
}
