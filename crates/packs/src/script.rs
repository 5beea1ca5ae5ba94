//! Code of a language, run in a session.

use helmdeck_wire::exec::{CommandLine, DEFAULT_TIMEOUT_S, Exec, MAX_TIMEOUT_S};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Context, PackError, PackResult, context::command};

/// A language.
pub struct Language {
    /// The program that runs it.
    pub program: &'static str,
    /// The option before code.
    pub inline: &'static str,
}

/// Run code in a session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ScriptRun")]
pub struct Input {
    /// The code. Pass this or `command`.
    #[serde(default)]
    #[schemars(length(min = 1, max = 1_048_576))]
    code: Option<String>,
    /// A program and its arguments. Pass this or `code`.
    #[serde(default)]
    #[schemars(length(min = 1, max = 1000))]
    command: Option<Vec<String>>,
    /// Working directory; `/workspace` by default.
    #[serde(default)]
    #[schemars(length(min = 1, max = 4096), regex(pattern = r"^/[^\x00]*$"))]
    #[schemars(extend("x-expected" = "an absolute path, such as /workspace"))]
    cwd: Option<String>,
    /// Text for standard input.
    #[serde(default)]
    #[schemars(length(max = 1_048_576))]
    stdin: Option<String>,
    /// Seconds after which it is killed.
    #[serde(default = "timeout")]
    #[schemars(range(min = 1, max = MAX_TIMEOUT_S))]
    timeout_s: u32,
}

fn timeout() -> u32 {
    DEFAULT_TIMEOUT_S
}

/// The result of code.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ScriptOutput")]
pub struct Output {
    /// Standard output.
    stdout: String,
    /// Standard error.
    stderr: String,
    /// Exit code; absent if a signal ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// Whether the middle of an output is left out.
    truncated: bool,
    /// The program that ran it.
    runtime: String,
}

/// How much of each output is kept.
const MAX_OUTPUT: u32 = 256 << 10;

/// Runs code.
pub async fn run_script(
    context: &Context,
    language: &Language,
    input: Input,
) -> PackResult<Output> {
    let exec = match (input.code, input.command) {
        (Some(code), None) => {
            // By standard input, code could not read from it; by argument, it is limited to 128 KiB.
            let path = format!("/tmp/.{}-{}", language.program, context.job);
            let inline = code.len() < 100_000;
            if !inline {
                let mut write = command(["bash", "-c", "cat > \"$1\"", "write", &path]);
                write.stdin = Some(code.clone());
                context.output(write).await?;
            }
            match inline {
                true => command([language.program, language.inline, &code]),
                false => command([language.program, &path]),
            }
        }
        (None, Some(words)) => Exec { command: CommandLine::Program(words), ..command([]) },
        _ => return Err(PackError::invalid("code", "pass either `code` or `command`")),
    };
    let runtime = exec.command.name().to_owned();
    context.progress(0.1, format!("running {runtime}"));
    let exec = Exec {
        cwd: input.cwd.clone(),
        stdin: input.stdin,
        timeout_s: input.timeout_s,
        max_output_bytes: MAX_OUTPUT,
        ..exec
    };
    let state = context.exec(exec).await.map_err(|error| match &input.cwd {
        Some(cwd) => context.elsewhere("cwd", cwd, error),
        None => error,
    })?;
    Ok(Output {
        stdout: state.stdout.unwrap_or_default(),
        stderr: state.stderr.unwrap_or_default(),
        exit_code: state.exit_code,
        truncated: state.stdout_truncated || state.stderr_truncated,
        runtime,
    })
}
