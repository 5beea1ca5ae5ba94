//! Commands that a caller runs in a session, and what comes of them.

use std::{collections::BTreeMap, fmt, time::Duration};

use schemars::JsonSchema;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error, SeqAccess, Visitor},
};
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::{ErrorBody, id};

/// Where commands run unless they say otherwise: a directory on disk.
pub const WORKSPACE: &str = "/workspace";
/// The shell of commands that are one string.
pub const SHELL: &str = "/bin/bash";
/// What is kept of each of standard output and standard error.
pub const DEFAULT_OUTPUT_BYTES: u32 = 1 << 20;
/// The most that can be kept of each.
pub const MAX_OUTPUT_BYTES: u32 = 16 << 20;
/// How long a command may run unless it says otherwise.
pub const DEFAULT_TIMEOUT_S: u32 = 120;
/// The longest that a command may run.
pub const MAX_TIMEOUT_S: u32 = 3600;
/// The longest that a call waits for the end of a command.
pub const MAX_WAIT_S: u32 = 60;

/// Run a command in the session, and wait for its end.
///
/// The answer comes when the command itself exits, also if programs it left in the background still
/// hold its output; those live on until the session ends. When the command takes longer than
/// `timeout_s`, when the caller hangs up, and when it is killed, everything it started is killed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Exec {
    /// A program and its arguments, such as `["git", "status"]`, or a line for `/bin/bash -c`.
    #[schemars(extend("x-missing" = "missing_command"))]
    pub command: CommandLine,
    /// The directory to run in, an absolute path; `/workspace` if not given.
    #[serde(default)]
    #[schemars(length(min = 1, max = 4096), regex(pattern = r"^/[^\x00]*$"))]
    #[schemars(extend("x-expected" = "an absolute path, such as /workspace"))]
    pub cwd: Option<String>,
    /// Variables that are added to the session's own. They are never logged.
    #[serde(default)]
    #[schemars(extend(
        "propertyNames" = { "pattern": "^[A-Za-z_][A-Za-z0-9_]*$", "x-expected": "names of variables" },
        "additionalProperties" = { "type": "string", "pattern": "^[^\\x00]*$", "x-expected": "text without NUL" },
    ))]
    pub env: BTreeMap<String, String>,
    /// Text for its standard input; none if not given.
    #[serde(default)]
    #[schemars(length(max = 1_048_576))]
    pub stdin: Option<String>,
    /// Seconds after which it is killed with everything it started.
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 1, max = 3600))]
    pub timeout_s: u32,
    /// How many bytes are kept of each of standard output and standard error. Of more, the first and
    /// the last half of this are kept, with a line between that says how many bytes were left out.
    #[serde(default = "default_output")]
    #[schemars(range(min = 1024, max = 16_777_216))]
    pub max_output_bytes: u32,
    /// Answer at once, and let it run: `GET …/exec/{exec_id}` says what became of it.
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
    /// How long it may run.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(u64::from(self.timeout_s.min(MAX_TIMEOUT_S)))
    }

    /// What may be kept and shown of it: arguments, variables and input may be secrets.
    pub fn detail(&self) -> Value {
        json!({ "command": self.command.name() })
    }
}

/// What to run: a program with its arguments, or a line for a shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum CommandLine {
    /// A line for `/bin/bash -c`.
    Shell(#[schemars(length(min = 1))] String),
    /// A program in the session's PATH, or a path, and its arguments. No shell is involved.
    Program(#[schemars(length(min = 1, max = 1000))] Vec<String>),
}

impl CommandLine {
    /// The program, without its arguments.
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

/// Reads a [`CommandLine`] in either of its forms.
struct Words;

/// The most arguments of a program.
const MAX_WORDS: usize = 1000;

impl<'de> Visitor<'de> for Words {
    type Value = CommandLine;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a shell line, or an array of a program and its arguments")
    }

    fn visit_str<E: Error>(self, line: &str) -> Result<CommandLine, E> {
        let line = without_nul(line.to_owned())?;
        if line.trim().is_empty() {
            return Err(E::custom("it is empty: expected a program or a shell line"));
        }
        Ok(CommandLine::Shell(line))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut words: A) -> Result<CommandLine, A::Error> {
        let mut all = Vec::new();
        while let Some(word) = words.next_element::<String>()? {
            if all.len() == MAX_WORDS {
                let message =
                    format!("more than {MAX_WORDS} words: send them in a file or by stdin");
                return Err(A::Error::custom(message));
            }
            all.push(without_nul(word)?);
        }
        match all.first() {
            Some(program) if !program.is_empty() => Ok(CommandLine::Program(all)),
            _ => Err(A::Error::custom("it is empty: expected a program or a shell line")),
        }
    }
}

fn without_nul<E: Error>(text: String) -> Result<String, E> {
    if text.contains('\0') {
        return Err(E::custom("it holds a NUL character, which no argument can"));
    }
    Ok(text)
}

/// Names one command of a session, for as long as it is remembered.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct ExecId(String);

impl ExecId {
    /// Wraps text that came from a client; whether there is such a command is another question.
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

/// A command and what came of it so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecState {
    /// Its id, by which it can be asked for and killed, also after a restart of the server.
    pub exec_id: ExecId,
    /// Whether it still runs.
    pub running: bool,
    /// The code that it exited with; null while it runs, and if a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it, such as `SIGKILL`.
    pub signal: Option<String>,
    /// What it wrote to standard output, so far. Bytes that are no UTF-8 are replaced. Left out of
    /// the last event of a stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<String>,
    /// The same of standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// Whether the middle of its standard output was left out.
    pub stdout_truncated: bool,
    /// Whether the middle of its standard error was left out.
    pub stderr_truncated: bool,
    /// How long it ran, so far.
    pub duration_ms: u64,
    /// Whether it was killed because it took longer than `timeout_s`.
    pub timed_out: bool,
    /// Why it was killed, if that was neither the time-out nor a call: `session_disk_full`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBody>,
}

/// A command in a list, without its output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecSummary {
    /// Its id.
    pub exec_id: ExecId,
    /// The program, without its arguments; `bash` if it is a shell line.
    pub command: String,
    /// Whether it still runs.
    pub running: bool,
    /// The code that it exited with.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<String>,
    /// Whether it took longer than it may.
    pub timed_out: bool,
    /// When it was started.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub started_at: OffsetDateTime,
    /// How long it ran, so far.
    pub duration_ms: u64,
}

/// The commands of a session: those that run, and the last that ended.
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
    /// The largest in either direction.
    pub const MAX: u16 = 1000;

    /// Whether a terminal can have this size.
    pub fn is_allowed(self) -> bool {
        (1..=Self::MAX).contains(&self.cols) && (1..=Self::MAX).contains(&self.rows)
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
    fn a_command_is_a_line_or_words_and_only_its_program_is_told() {
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
