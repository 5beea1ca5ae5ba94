//! `desktop.legacy_app_action`: one piece of work in a program that has no API.

use std::time::Duration;

use helmdeck_vision::{Goal, eyes::Success};
use helmdeck_wire::{
    ErrorCode,
    exec::{CommandLine, Exec, MAX_TIMEOUT_S},
    nature::{Nature, Style, Substrate, Surface},
    session::Mode,
    window::ListWindows,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::{Instant, sleep};

use crate::{
    Context, ModelBudget, ModelNeed, Pack, PackError, PackResult, Routing, SessionNeed,
    context::command,
    vision_run::{Reached, Wanted, Watched, reach},
};

/// How long a program may take to open its window.
const WINDOW: Duration = Duration::from_secs(30);
/// How often windows are counted.
const AGAIN: Duration = Duration::from_millis(200);
/// How long a new window may take to draw.
const DRAWING: Duration = Duration::from_millis(700);

/// Do something in a program on the desktop.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DesktopLegacyAppAction")]
struct Input {
    /// What to do, in words.
    #[schemars(length(min = 1, max = 10_000))]
    instruction: String,
    /// The program to start; by default the one that is open is used.
    #[serde(default)]
    #[schemars(length(min = 1, max = 4096), regex(pattern = r"^[^\x00]+$"))]
    command: Option<String>,
    /// Its arguments.
    #[serde(default)]
    #[schemars(length(max = 900), inner(length(max = 100_000)))]
    args: Vec<String>,
    /// When it is done, by conditions as in `verify`.
    #[serde(default)]
    success: Success,
    /// The model, `provider/model`; defaults to that of the server.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200), regex(pattern = helmdeck_gateway::MODEL_ID_PATTERN))]
    #[schemars(extend("x-expected" = helmdeck_gateway::MODEL_ID_EXPECTED))]
    model: Option<String>,
    /// Most replies of the model; defaults to 12.
    #[serde(default = "steps")]
    #[schemars(range(min = 1, max = 200))]
    max_steps: u32,
    /// What the model may use.
    #[serde(default)]
    budget: ModelBudget,
    /// Sites and programs that may be used besides those where it starts and that the instruction
    /// names.
    #[serde(default)]
    #[schemars(length(max = 50), inner(length(min = 1, max = 300)))]
    allow: Vec<String>,
}

fn steps() -> u32 {
    12
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("desktop.legacy_app_action", run)
        .doc(
            "Do one piece of work in a program on the VISIBLE desktop that has no API, with a model, until \
             observation or `success` shows that it is done. Starts the program if `command` is given. The session \
             and the program stay.",
        )
        .nature(Nature {
            substrate: Substrate::Desktop,
            surface: Surface::Visible,
            style: Style::Vision,
            default_mode: Some(Mode::Desktop),
            open_world: true,
            ..Nature::default()
        })
        .mode(Style::Vision)
        .model(ModelNeed::Vision)
        .session(SessionNeed::Keeps(Mode::Desktop))
        .timeout_s(1200)
        .example(
            "Leave a terminal",
            serde_json::json!({
                "command": "xterm", "instruction": "Type exit and press Enter",
                "success": { "all": [{ "check": "window_closed", "name": "xterm" }] },
            }),
        )
        .routing(Routing {
            accepts: &["instruction", "command", "session"],
            produces: &["outcome", "picture", "session"],
            intent_keywords: &["legacy", "desktop", "app", "program", "gui", "vision", "window"],
            typical_use: "Use a graphical program that cannot be scripted.",
            limitations: &["Programs must be installed on the server."],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Reached> {
    let goal =
        Goal { instruction: input.instruction, success: input.success, allowed: input.allow };
    let wanted = Wanted {
        goal,
        model: input.model.as_deref(),
        max_steps: input.max_steps,
        budget: input.budget,
    };
    let watched = Watched::toward(&context, &wanted)?;
    if let Some(program) = &input.command {
        start(&context, program, &input.args).await?;
    }
    reach(watched, &wanted).await
}

/// Starts a program and waits for its window.
async fn start(context: &Context, program: &str, args: &[String]) -> PackResult<()> {
    let before = context.act(&ListWindows {}).await?.windows.len();
    let words = std::iter::once(program.to_owned()).chain(args.iter().cloned()).collect();
    let exec = Exec {
        command: CommandLine::Program(words),
        timeout_s: MAX_TIMEOUT_S,
        max_output_bytes: 64 << 10,
        background: true,
        ..command([])
    };
    context.progress(0.05, format!("starting {program}"));
    let started = context.session()?.exec(&context.caller, exec).await;
    let mut running = started.map_err(|error| {
        let error = PackError::from(error);
        match error.code() {
            ErrorCode::CommandNotFound | ErrorCode::CommandFailed => {
                PackError::invalid("command", error.to_string())
            }
            _ => error,
        }
    })?;
    let until = Instant::now() + WINDOW;
    loop {
        let state = running.state().await?;
        if !state.running && state.exit_code != Some(0) {
            return Err(context.failed(program, &state));
        }
        if context.act(&ListWindows {}).await?.windows.len() > before {
            break;
        }
        if Instant::now() >= until {
            let message = format!("{program} did not open a window within {} s", WINDOW.as_secs());
            return Err(PackError::new(ErrorCode::Timeout, message));
        }
        sleep(AGAIN).await;
    }
    // From here on it belongs to the session.
    running.leave();
    sleep(DRAWING).await;
    Ok(())
}
