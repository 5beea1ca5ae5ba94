//! `desktop.run_app_and_screenshot`: starts a program on the desktop and takes a picture.

use std::time::Duration;

use bytes::Bytes;
use helmdeck_wire::{
    Action as _, ErrorCode,
    exec::{CommandLine, Exec, ExecState, MAX_TIMEOUT_S},
    nature::{Nature, Substrate, Surface},
    observe::Settle,
    screen::{Format, Screenshot},
    session::Mode,
    window::{ListWindows, Window},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::{Instant, sleep_until};

use crate::{Context, Pack, PackError, PackResult, Routing, SessionNeed, context::command};

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
    /// Milliseconds to wait at most until it has opened a window and the screen is quiet.
    #[serde(default = "wait")]
    #[schemars(range(max = 60_000))]
    wait_ms: u32,
}

fn wait() -> u32 {
    5000
}

/// How often windows are listed while one is awaited.
const LIST: Duration = Duration::from_millis(100);
/// How long a window that has just opened may take to be drawn.
const DRAWN: Duration = Duration::from_secs(1);
/// Milliseconds without a change after which the screen counts as quiet, and the longest wait.
const QUIET: u32 = 300;
const MOST: u32 = 60_000;

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
            "Start a program on the VISIBLE desktop of a session, wait for its window, and take a picture. The session and the \
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
    let before: Vec<_> = windows(&context).await?.into_iter().map(|window| window.id).collect();
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
    let deadline = Instant::now() + Duration::from_millis(u64::from(input.wait_ms));
    let state = loop {
        let state = running.state().await?;
        let opened = windows(&context).await?.iter().any(|window| !before.contains(&window.id));
        // One that ends without an error may have handed over to another.
        if opened || has_failed(&state) || Instant::now() >= deadline {
            break state;
        }
        sleep_until((Instant::now() + LIST).min(deadline)).await;
    };
    // From here on it belongs to the session.
    running.leave();
    if has_failed(&state) {
        return Err(context.failed(&input.command, &state));
    }
    context.progress(0.8, "taking a picture");
    let mut picture = json!({ "format": Format::Png });
    if input.wait_ms > 0 {
        let left = deadline.saturating_duration_since(Instant::now()).max(DRAWN);
        let settle =
            Settle { quiet_ms: QUIET, timeout_ms: left.as_millis().try_into().unwrap_or(MOST) };
        picture = json!({ "format": Format::Png, "settle": settle });
    }
    let picture = Screenshot::call(picture)
        .map_err(|invalid| PackError::invalid(&invalid.field, invalid.reason.clone()))?;
    let picture: Bytes = session.act(&context.caller, &picture).await?.body;
    let windows = windows(&context).await?;
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

async fn windows(context: &Context) -> PackResult<Vec<Window>> {
    Ok(context.act(&ListWindows {}).await?.windows)
}

/// Whether the program ended with an error. One that hands over to another ends with 0.
fn has_failed(state: &ExecState) -> bool {
    !state.running && state.exit_code != Some(0)
}
