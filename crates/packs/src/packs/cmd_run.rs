//! `cmd.run`: runs a program in a clone.

use std::collections::BTreeMap;

use helmdeck_wire::{
    exec::{CommandLine, DEFAULT_TIMEOUT_S, Exec, MAX_TIMEOUT_S},
    nature::Nature,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Context, Pack, PackResult, Routing, SessionNeed, repository::ClonePath};

/// Run a program in a clone.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CmdRun")]
struct Input {
    /// Where the repository was cloned, as `repo.fetch` returned it.
    clone_path: ClonePath,
    /// A program and its arguments, such as `["make", "test"]`, or a line for `/bin/bash -c`.
    command: CommandLine,
    /// Text for standard input.
    #[serde(default)]
    #[schemars(length(max = 1_048_576))]
    stdin: Option<String>,
    /// Environment variables.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Seconds after which it is killed.
    #[serde(default = "timeout")]
    #[schemars(range(min = 1, max = MAX_TIMEOUT_S))]
    timeout_s: u32,
    /// How many bytes to keep of each output; the first and last half.
    #[serde(default = "output")]
    #[schemars(range(min = 1024, max = 1_048_576))]
    max_output_bytes: u32,
}

fn timeout() -> u32 {
    DEFAULT_TIMEOUT_S
}

fn output() -> u32 {
    64 << 10
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CmdRunOutput")]
struct Output {
    /// Standard output.
    stdout: String,
    /// Standard error.
    stderr: String,
    /// Exit code; absent if a signal ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<String>,
    /// Whether the middle of an output is left out.
    truncated: bool,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("cmd.run", run)
        .doc(
            "Run a program in a clone and wait for it: build, test, search. A non-zero exit code is a \
             result, not an error. Pass `_session_id` and `clone_path` from `repo.fetch`.",
        )
        .nature(Nature { open_world: true, ..Nature::default().in_sandbox() })
        .session(SessionNeed::Existing)
        .timeout_s(MAX_TIMEOUT_S + 60)
        .example(
            "Run the tests of a clone",
            serde_json::json!({ "_session_id": "sess-0123456789ab", "clone_path": "/workspace/app", "command": ["make", "test"] }),
        )
        .routing(Routing {
            accepts: &["command"],
            produces: &["text"],
            intent_keywords: &["run", "build", "test", "shell", "command", "grep"],
            typical_use: "Build and test a change.",
            limitations: &["Ends after 120 s unless timeout_s says otherwise."],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    let exec = Exec {
        command: input.command,
        cwd: Some(input.clone_path.as_str().to_owned()),
        env: input.env,
        stdin: input.stdin,
        timeout_s: input.timeout_s,
        max_output_bytes: input.max_output_bytes,
        background: false,
    };
    context.progress(0.1, format!("running {}", exec.command.name()));
    let state = context.exec(exec).await;
    let state = state.map_err(|error| input.clone_path.explain(&context, error))?;
    Ok(Output {
        stdout: state.stdout.unwrap_or_default(),
        stderr: state.stderr.unwrap_or_default(),
        exit_code: state.exit_code,
        signal: state.signal,
        truncated: state.stdout_truncated || state.stderr_truncated,
    })
}
