//! Commands that a caller runs in a session, and their results.

use std::{collections::BTreeMap, fmt, time::Duration};

use schemars::JsonSchema;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error, SeqAccess, Visitor},
};
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::{ErrorBody, id};

/// Default working directory of commands, on disk.
pub const WORKSPACE: &str = "/workspace";
/// Shell for commands that are a single string.
pub const SHELL: &str = "/bin/bash";
/// Default number of bytes kept of standard output and of standard error.
pub const DEFAULT_OUTPUT_BYTES: u32 = 1 << 20;
/// Maximum number of bytes kept of each.
pub const MAX_OUTPUT_BYTES: u32 = 16 << 20;
/// Default time limit of a command.
pub const DEFAULT_TIMEOUT_S: u32 = 120;
/// Maximum time limit of a command.
pub const MAX_TIMEOUT_S: u32 = 3600;
/// How long a call waits at most for a command to end.
pub const MAX_WAIT_S: u32 = 60;

/// Run a command in the session and wait until it exits.
///
/// The reply is sent when the command itself exits, even if background programs still hold its
/// output. These keep running until the session ends. The command and everything it started are
/// killed when it exceeds `timeout_s`, when the caller disconnects, or on request.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Exec {
    /// A program and its arguments, such as `["git", "status"]`, or a line for `/bin/bash -c`.
    #[schemars(extend("x-missing" = "missing_command", "x-secret" = true))]
    pub command: CommandLine,
    /// Working directory, an absolute path; defaults to `/workspace`.
    #[serde(default)]
    #[schemars(length(min = 1, max = 4096), regex(pattern = r"^/[^\x00]*$"))]
    #[schemars(extend("x-expected" = "an absolute path, such as /workspace"))]
    pub cwd: Option<String>,
    /// Environment variables added to those of the session. They are never logged.
    #[serde(default)]
    #[schemars(extend(
        "propertyNames" = { "pattern": "^[A-Za-z_][A-Za-z0-9_]*$", "x-expected": "names of variables" },
        "additionalProperties" = { "type": "string", "pattern": "^[^\\x00]*$", "x-expected": "text without NUL" },
    ))]
    pub env: BTreeMap<String, String>,
    /// Text for standard input; empty by default.
    #[serde(default)]
    #[schemars(length(max = 1_048_576))]
    pub stdin: Option<String>,
    /// Seconds after which the command and everything it started are killed.
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 1, max = 3600))]
    pub timeout_s: u32,
    /// How many bytes to keep of standard output and of standard error. Longer output keeps its
    /// first and last half, with a line between that gives the number of omitted bytes.
    #[serde(default = "default_output")]
    #[schemars(range(min = 1024, max = 16_777_216))]
    pub max_output_bytes: u32,
    /// Return at once and let the command run. `GET …/exec/{exec_id}` returns its state.
    #[serde(default)]
    pub background: bool,
}

fn default_timeout() -> u32 {
    DEFAULT_TIMEOUT_S
}

fn default_output() -> u32 {
    DEFAULT_OUTPUT_BYTES
}

impl Exec {
    /// The time limit.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(u64::from(self.timeout_s.min(MAX_TIMEOUT_S)))
    }

    /// What histories keep of the command. Arguments, variables and input may be secret.
    pub fn detail(&self) -> Value {
        json!({ "command": self.command.name() })
    }
}

/// What to run: a program with arguments, or a shell line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum CommandLine {
    /// A line for `/bin/bash -c`.
    Shell(
        #[schemars(
            length(min = 1),
            regex(pattern = r"^[^\x00]*[^\x00-\x20][^\x00]*$"),
            extend("x-expected" = "a program and its arguments, or a shell line without NUL")
        )]
        String,
    ),
    /// A program in the session's PATH, or a path, and its arguments. No shell is involved.
    Program(
        #[schemars(length(min = 1, max = 1000))]
        #[schemars(extend(
            "items" = { "type": "string", "pattern": "^[^\\x00]*$", "x-expected": "text without NUL" }
        ))]
        Vec<String>,
    ),
}

impl CommandLine {
    /// The program without arguments.
    pub fn name(&self) -> &str {
        match self {
            Self::Shell(_) => "bash",
            Self::Program(words) => words.first().map_or("", String::as_str),
        }
    }

    /// The program and its arguments.
    pub fn words(self) -> (String, Vec<String>) {
        match self {
            Self::Shell(line) => (SHELL.to_owned(), vec!["-c".to_owned(), line]),
            Self::Program(words) => {
                let mut words = words.into_iter();
                (words.next().unwrap_or_default(), words.collect())
            }
        }
    }
}

impl<'de> Deserialize<'de> for CommandLine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Words)
    }
}

/// Deserializes a [`CommandLine`] in either form.
struct Words;

/// Maximum number of arguments.
const MAX_WORDS: usize = 1000;

impl<'de> Visitor<'de> for Words {
    type Value = CommandLine;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a shell line, or an array of a program and its arguments")
    }

    fn visit_str<E: Error>(self, line: &str) -> Result<CommandLine, E> {
        let line = without_nul(line.to_owned())?;
        if line.chars().all(|c| c <= ' ') {
            return Err(E::custom("the command is empty: expected a program or a shell line"));
        }
        Ok(CommandLine::Shell(line))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut words: A) -> Result<CommandLine, A::Error> {
        let mut all = Vec::new();
        while let Some(word) = words.next_element::<String>()? {
            if all.len() == MAX_WORDS {
                let message =
                    format!("more than {MAX_WORDS} words: pass them in a file or on stdin");
                return Err(A::Error::custom(message));
            }
            all.push(without_nul(word)?);
        }
        match all.first() {
            Some(program) if !program.is_empty() => Ok(CommandLine::Program(all)),
            _ => Err(A::Error::custom("the command is empty: expected a program or a shell line")),
        }
    }
}

fn without_nul<E: Error>(text: String) -> Result<String, E> {
    if text.contains('\0') {
        return Err(E::custom("the command contains a NUL character, which arguments cannot hold"));
    }
    Ok(text)
}

/// Id of a command, valid as long as the command is remembered.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct ExecId(String);

impl ExecId {
    /// Wraps text from a client. The command need not exist.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// A new id from random bytes: `exec-` and twelve characters that are easy to read aloud.
    pub fn from_random(bytes: [u8; 12]) -> Self {
        Self(id::readable("exec-", bytes))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ExecId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A command and its result so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecState {
    /// Id of the command, to query or kill it. It stays valid across restarts of the server.
    pub exec_id: ExecId,
    /// Whether it is still running.
    pub running: bool,
    /// Exit code; null while it runs, or if a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it, such as `SIGKILL`.
    pub signal: Option<String>,
    /// Standard output so far. Invalid UTF-8 is replaced. Absent in the last event of a stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<String>,
    /// Standard error so far, in the same form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// Whether the middle of standard output was omitted.
    pub stdout_truncated: bool,
    /// Whether the middle of standard error was omitted.
    pub stderr_truncated: bool,
    /// How long it has been running, or ran.
    pub duration_ms: u64,
    /// Whether it was killed because it exceeded `timeout_s`.
    pub timed_out: bool,
    /// Why it was killed, if neither by the time limit nor by a call: `session_disk_full`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBody>,
}

/// A command in a list, without its output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecSummary {
    /// Its id.
    pub exec_id: ExecId,
    /// The program without arguments; `bash` for a shell line.
    pub command: String,
    /// Whether it is still running.
    pub running: bool,
    /// Exit code.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<String>,
    /// Whether it exceeded its time limit.
    pub timed_out: bool,
    /// When it was started.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub started_at: OffsetDateTime,
    /// How long it has been running, or ran.
    pub duration_ms: u64,
}

/// Commands of a session: running ones, and the last that ended.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ExecList {
    /// Oldest first.
    pub execs: Vec<ExecSummary>,
}

/// The size of a terminal, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TerminalSize {
    /// Columns.
    #[schemars(range(min = 1, max = 1000))]
    pub cols: u16,
    /// Lines.
    #[schemars(range(min = 1, max = 1000))]
    pub rows: u16,
}

impl TerminalSize {
    /// Whether a terminal can have this size.
    pub fn is_allowed(self) -> bool {
        (1..=1000).contains(&self.cols) && (1..=1000).contains(&self.rows)
    }
}

impl Default for TerminalSize {
    fn default() -> Self {
        Self { cols: 80, rows: 24 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(command: Value) -> Result<Exec, String> {
        serde_json::from_value(json!({ "command": command })).map_err(|error| error.to_string())
    }

    #[test]
    fn a_command_is_a_line_or_words_and_only_its_program_is_shown() {
        let line = read(json!("make TOKEN=secret")).unwrap();
        assert_eq!(line.detail(), json!({ "command": "bash" }));
        let (program, args) = line.command.words();
        assert_eq!((program.as_str(), args.len()), (SHELL, 2));
        let words = read(json!(["git", "push", "https://me:secret@example.com"])).unwrap();
        assert_eq!(words.detail(), json!({ "command": "git" }));
        assert_eq!(words.timeout(), Duration::from_secs(120));
        assert_eq!(words.command.words().0, "git");
    }

    #[test]
    fn a_command_that_cannot_run_is_refused() {
        for (command, reason) in [
            (json!(""), "empty"),
            (json!([]), "empty"),
            (json!(["", "x"]), "empty"),
            (json!("a\0b"), "NUL"),
            (json!(["a", "\0"]), "NUL"),
            (json!(5), "a shell line, or an array"),
            (json!([5]), "a string"),
            (json!(vec!["a"; 1001]), "more than 1000"),
        ] {
            let refused = read(command.clone()).unwrap_err();
            assert!(refused.contains(reason), "{command}: {refused}");
        }
    }
}
