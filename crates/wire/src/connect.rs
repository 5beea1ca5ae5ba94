//! MCP clients that helmdeck can configure: where each keeps its settings, and what goes there.
//!
//! The server shows this to people, and `helmdeck connect` does it. The command line reads it from
//! here and never from a server, which must not decide which file of a client's machine is written.

mod clients;
mod entry;
mod guide;
mod render;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

pub use clients::CLIENTS;
pub use entry::{ClientCommand, Setup};
pub use guide::Guide;

/// The name of helmdeck in the settings of clients.
pub const SERVER_NAME: &str = "helmdeck";
/// Placeholder for a token in instructions that contain none.
pub const TOKEN_PLACEHOLDER: &str = "$HELMDECK_TOKEN";
/// Scopes of a client's token: everything in the sessions of its owner, their artifacts, and nothing else.
pub const SCOPES: [&str; 1] = ["sessions:*"];
/// The scope that a client's token gets besides, if the person allows it to use models.
pub const MODELS_SCOPE: &str = "models:use";
/// Lifetime of a client's token in seconds: 30 days.
pub const TOKEN_LIFE_S: u64 = 30 * 24 * 3600;

/// Which tools an MCP client lists. It can call every tool, listed or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolProfile {
    /// The whole catalogue, for clients that search tools themselves.
    All,
    /// About a dozen, and a search for the rest.
    Core,
    /// Those of the browser.
    Browser,
    /// Those of the desktop.
    Desktop,
    /// Those for programs and files.
    Code,
}

impl ToolProfile {
    /// Every profile.
    pub const ALL: [Self; 5] = [Self::All, Self::Core, Self::Browser, Self::Desktop, Self::Code];

    /// The profile as it is written in a URL.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Core => "core",
            Self::Browser => "browser",
            Self::Desktop => "desktop",
            Self::Code => "code",
        }
    }

    /// The profile with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.as_str() == name)
    }
}

/// How a client reaches helmdeck.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// It connects to the server's address.
    Http,
    /// It starts `helmdeck mcp`, which connects.
    Stdio,
}

/// An MCP client that helmdeck can configure.
#[derive(Debug)]
pub struct KnownClient {
    /// Id in URLs and on the command line.
    pub id: &'static str,
    /// Display name.
    pub title: &'static str,
    /// Default profile.
    pub profile: ToolProfile,
    /// Default transport.
    pub transport: Transport,
    /// Where it keeps its MCP servers.
    pub place: Place,
    /// Where it reads skills, if it does.
    pub skill: Option<&'static str>,
    /// How to see whether it is connected.
    pub check: Check,
    /// Page of the documentation.
    pub docs: &'static str,
    /// Part of the name by which it introduces itself over MCP, in lower case.
    introduces_itself_as: &'static str,
}

/// Where a client keeps its MCP servers.
#[derive(Debug, Clone, Copy)]
pub enum Place {
    /// A command of the client adds one.
    Command {
        /// The program.
        program: &'static str,
    },
    /// In a settings file.
    File(SettingsFile),
    /// Not known.
    Unknown,
}

/// The settings file of a client.
#[derive(Debug, Clone, Copy)]
pub struct SettingsFile {
    /// Path on Linux; `~` is the home directory.
    pub linux: &'static str,
    /// Path on macOS.
    pub macos: &'static str,
    /// Path on Windows.
    pub windows: &'static str,
    /// File format.
    pub format: Format,
    /// The keys that lead to the entry of helmdeck.
    pub keys: &'static [&'static str],
}

/// Format of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON, perhaps with comments.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

/// How to see whether a client is connected.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// A command, if there is one.
    pub command: Option<&'static str>,
    /// What to look for.
    pub text: &'static str,
}

impl KnownClient {
    /// The client with this id.
    pub fn named(id: &str) -> Option<&'static Self> {
        CLIENTS.iter().find(|client| client.id == id)
    }

    /// The client that introduces itself by this name over MCP; `generic` for unknown names.
    pub fn introduced_as(name: &str) -> Option<&'static Self> {
        let name = name.to_lowercase();
        let known = CLIENTS.iter().find(|client| name.contains(client.introduces_itself_as));
        known.or(CLIENTS.last())
    }
}

/// The clients that can be connected.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ConnectList {
    /// Clients in display order; the last one is for any other client.
    pub clients: Vec<ConnectClient>,
}

/// A client, and its connections.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ConnectClient {
    /// Id in URLs and on the command line.
    pub id: String,
    /// Display name.
    pub title: String,
    /// Default profile.
    pub profile: ToolProfile,
    /// The caller's tokens that it has connected with, latest first.
    pub connected: Vec<Connected>,
}

/// A token that a client has connected with.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Connected {
    /// Id of the token.
    pub token_id: String,
    /// Label of the token.
    pub label: Option<String>,
    /// Name that the client reports.
    pub name: String,
    /// Version that the client reports.
    pub version: String,
    /// When it last connected.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub last_seen: OffsetDateTime,
}

/// How to connect a client.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ConnectGuide {
    /// The client.
    pub client: String,
    /// Display name.
    pub title: String,
    /// The tools that it will list.
    pub profile: ToolProfile,
    /// How it will connect.
    pub transport: Transport,
    /// The address of the MCP server.
    pub url: String,
    /// Steps, in order.
    pub steps: Vec<Step>,
    /// How to undo the steps.
    pub undo: String,
    /// Page of the documentation.
    pub docs: String,
    /// The token in the steps; null if they contain a placeholder.
    pub token: Option<String>,
    /// Id of that token, to revoke it.
    pub token_id: Option<String>,
    /// Label of that token.
    pub label: Option<String>,
    /// Scopes of the client's token.
    pub scopes: Vec<String>,
    /// When that token expires.
    #[serde(default, with = "time::serde::rfc3339::option")]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub expires_at: Option<OffsetDateTime>,
    /// The caller's tokens that the client has connected with, latest first.
    pub connected: Vec<Connected>,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// Title.
    pub title: String,
    /// Explanation.
    pub text: String,
    /// A command to run in a shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// A file to write to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<StepFile>,
}

/// An addition to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepFile {
    /// Path on Linux.
    pub path: String,
    /// Path on macOS.
    pub macos: String,
    /// Path on Windows.
    pub windows: String,
    /// `json`, `toml` or `yaml`.
    pub language: String,
    /// What to merge into the file.
    pub content: String,
}

/// Options for connecting a client.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ConnectRequest {
    /// Label of the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Seconds until the token expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_s: Option<u64>,
    /// The tools that it lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<ToolProfile>,
    /// How it connects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// Whether it may use models.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub models: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_ids_are_unique_and_the_last_client_is_generic() {
        let mut ids: Vec<_> = CLIENTS.iter().map(|client| client.id).collect();
        assert_eq!(ids.last(), Some(&"generic"));
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), CLIENTS.len());
    }

    #[test]
    fn a_client_is_recognised_by_what_it_calls_itself() {
        let known = [
            ("claude-code", "claude-code"),
            ("claude-ai", "claude-desktop"),
            ("gemini-cli-mcp-client", "gemini-cli"),
            ("openclaw-bundle-mcp", "openclaw"),
            ("codex-mcp-client", "codex"),
            ("opencode", "opencode"),
            ("cursor-vscode", "cursor"),
            ("Visual Studio Code", "vscode"),
            ("mcp-inspector", "generic"),
        ];
        for (name, id) in known {
            assert_eq!(KnownClient::introduced_as(name).unwrap().id, id, "{name}");
        }
    }
}
