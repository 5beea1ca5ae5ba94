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

/// The name under which helmdeck stands in the settings of clients.
pub const SERVER_NAME: &str = "helmdeck";
/// What stands in place of a token where none is shown.
pub const TOKEN_PLACEHOLDER: &str = "$HELMDECK_TOKEN";
/// What a client may do: everything in its own sessions, and nothing else.
pub const SCOPES: [&str; 3] = ["sessions:read", "sessions:write", "sessions:act"];
/// How long the token of a client is valid, in seconds: 30 days.
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

    /// The profile as it stands in an address.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Core => "core",
            Self::Browser => "browser",
            Self::Desktop => "desktop",
            Self::Code => "code",
        }
    }

    /// The profile of this name.
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
    /// Its name in addresses and on the command line.
    pub id: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// The tools that suit it.
    pub profile: ToolProfile,
    /// How it connects, unless asked otherwise.
    pub transport: Transport,
    /// Where it keeps its MCP servers.
    pub place: Place,
    /// Where it looks for skills, if it does.
    pub skill: Option<&'static str>,
    /// A command that shows whether it is connected, and what to look for.
    pub check: Check,
    /// The page that explains more.
    pub docs: &'static str,
    /// What its name contains when it introduces itself over MCP.
    introduces_itself_as: &'static str,
}

/// Where a client keeps its MCP servers.
#[derive(Debug, Clone, Copy)]
pub enum Place {
    /// It has a command that adds one.
    Command {
        /// The program.
        program: &'static str,
    },
    /// In a file that people edit.
    File(SettingsFile),
    /// Not known.
    Unknown,
}

/// A file with the settings of a client.
#[derive(Debug, Clone, Copy)]
pub struct SettingsFile {
    /// Where it is on Linux; `~` is the home.
    pub linux: &'static str,
    /// Where it is on macOS.
    pub macos: &'static str,
    /// Where it is on Windows.
    pub windows: &'static str,
    /// How it is written.
    pub format: Format,
    /// The keys that lead to the entry of helmdeck.
    pub keys: &'static [&'static str],
}

/// How a file is written.
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
    /// The client of this name.
    pub fn named(id: &str) -> Option<&'static Self> {
        CLIENTS.iter().find(|client| client.id == id)
    }

    /// The client that introduces itself by this name over MCP; the last one, if none does.
    pub fn introduced_as(name: &str) -> Option<&'static Self> {
        let name = name.to_lowercase();
        let known = CLIENTS.iter().find(|client| name.contains(client.introduces_itself_as));
        known.or(CLIENTS.last())
    }
}

/// The clients that can be connected.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ConnectList {
    /// Those that helmdeck knows; the last one stands for any other.
    pub clients: Vec<ConnectClient>,
}

/// One client, and who is connected as it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ConnectClient {
    /// Its name in addresses and on the command line.
    pub id: String,
    /// Its name for people.
    pub title: String,
    /// The tools that suit it.
    pub profile: ToolProfile,
    /// The caller's tokens with which it has connected, the latest first.
    pub connected: Vec<Connected>,
}

/// A token with which a client has connected.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Connected {
    /// The token.
    pub token_id: String,
    /// The token's label.
    pub label: Option<String>,
    /// What the client calls itself.
    pub name: String,
    /// Its version.
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
    /// Its name for people.
    pub title: String,
    /// The tools it will list.
    pub profile: ToolProfile,
    /// How it will connect.
    pub transport: Transport,
    /// The address of the MCP server.
    pub url: String,
    /// What to do, in order.
    pub steps: Vec<Step>,
    /// How to take it back.
    pub undo: String,
    /// The page of the documentation that explains more.
    pub docs: String,
    /// The token in the steps; empty where they have a placeholder.
    pub token: Option<String>,
    /// The id of that token, to revoke it.
    pub token_id: Option<String>,
    /// The label of that token.
    pub label: Option<String>,
    /// What that token allows.
    pub scopes: Vec<String>,
    /// Until when that token is good.
    #[serde(default, with = "time::serde::rfc3339::option")]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub expires_at: Option<OffsetDateTime>,
    /// The caller's tokens with which the client has connected, the latest first.
    pub connected: Vec<Connected>,
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// In a few words.
    pub title: String,
    /// In a sentence or two.
    pub text: String,
    /// A command to run in a shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// A file to write to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<StepFile>,
}

/// What belongs into a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepFile {
    /// Where it is on Linux.
    pub path: String,
    /// Where it is on macOS.
    pub macos: String,
    /// Where it is on Windows.
    pub windows: String,
    /// `json`, `toml` or `yaml`.
    pub language: String,
    /// What to add to it; the rest of the file stays as it is.
    pub content: String,
}

/// What is wanted for a client that is connected.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ConnectRequest {
    /// A label for the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Seconds until the token expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_s: Option<u64>,
    /// The tools it lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<ToolProfile>,
    /// How it connects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_have_different_names_and_the_last_stands_for_any_other() {
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
