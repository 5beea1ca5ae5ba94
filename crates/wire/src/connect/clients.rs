//! The clients themselves, one entry each.

use super::{
    Check,
    Format::{Json, Toml, Yaml},
    KnownClient, Place, SERVER_NAME, SettingsFile,
    ToolProfile::{All, Core},
    Transport::{Http, Stdio},
};

/// Skill path of clients that follow the Agent Skills standard.
const AGENTS_SKILL: &str = "~/.agents/skills/helmdeck/SKILL.md";

/// Every client, in the order in which people are shown them.
pub const CLIENTS: [KnownClient; 10] = [
    KnownClient {
        id: "claude-code",
        title: "Claude Code",
        // It searches tools itself and loads those it needs.
        profile: All,
        transport: Http,
        place: Place::Command { program: "claude" },
        skill: Some("~/.claude/skills/helmdeck/SKILL.md"),
        check: Check {
            command: Some("claude mcp list"),
            text: "helmdeck is listed as connected. In a session, `/mcp` shows the same.",
        },
        docs: "docs/integrations/claude-code.md",
        introduces_itself_as: "claude-code",
    },
    KnownClient {
        id: "claude-desktop",
        title: "Claude Desktop",
        profile: Core,
        // Its settings file has no place for headers.
        transport: Stdio,
        place: Place::File(SettingsFile {
            linux: "~/.config/Claude/claude_desktop_config.json",
            macos: "~/Library/Application Support/Claude/claude_desktop_config.json",
            windows: "%APPDATA%\\Claude\\claude_desktop_config.json",
            format: Json,
            keys: &["mcpServers", SERVER_NAME],
        }),
        skill: None,
        check: Check {
            command: None,
            text: "Quit Claude Desktop completely and start it again. Settings > Developer lists \
                   helmdeck as running.",
        },
        docs: "docs/integrations/claude-desktop.md",
        introduces_itself_as: "claude-ai",
    },
    KnownClient {
        id: "gemini-cli",
        title: "Gemini CLI",
        profile: Core,
        transport: Http,
        place: Place::File(SettingsFile::in_home(
            "~/.gemini/settings.json",
            Json,
            &["mcpServers", SERVER_NAME],
        )),
        skill: Some("~/.gemini/skills/helmdeck/SKILL.md"),
        check: Check {
            command: Some("gemini mcp list"),
            text: "helmdeck is listed as connected. In a session, `/mcp` lists its tools.",
        },
        docs: "docs/integrations/gemini-cli.md",
        introduces_itself_as: "gemini",
    },
    KnownClient {
        id: "openclaw",
        title: "OpenClaw",
        profile: Core,
        transport: Http,
        place: Place::Command { program: "openclaw" },
        skill: Some("~/.openclaw/skills/helmdeck/SKILL.md"),
        check: Check {
            command: Some("openclaw mcp probe helmdeck"),
            text: "It connects and counts the tools.",
        },
        docs: "docs/integrations/openclaw.md",
        introduces_itself_as: "openclaw",
    },
    KnownClient {
        id: "hermes",
        title: "Hermes Agent",
        profile: Core,
        transport: Http,
        place: Place::File(SettingsFile::in_home(
            "~/.hermes/config.yaml",
            Yaml,
            &["mcp_servers", SERVER_NAME],
        )),
        skill: Some("~/.hermes/skills/helmdeck/SKILL.md"),
        check: Check {
            command: Some("hermes mcp test helmdeck"),
            text: "It connects and lists the tools.",
        },
        docs: "docs/integrations/hermes.md",
        introduces_itself_as: "hermes",
    },
    KnownClient {
        id: "codex",
        title: "Codex",
        profile: Core,
        transport: Http,
        place: Place::File(SettingsFile::in_home(
            "~/.codex/config.toml",
            Toml,
            &["mcp_servers", SERVER_NAME],
        )),
        skill: Some(AGENTS_SKILL),
        check: Check {
            command: Some("codex mcp list"),
            text: "helmdeck is listed. In a session, `/mcp` lists its tools.",
        },
        docs: "docs/integrations/other.md",
        introduces_itself_as: "codex",
    },
    KnownClient {
        id: "opencode",
        title: "opencode",
        profile: Core,
        transport: Http,
        place: Place::File(SettingsFile::in_home(
            "~/.config/opencode/opencode.json",
            Json,
            &["mcp", SERVER_NAME],
        )),
        skill: Some("~/.config/opencode/skills/helmdeck/SKILL.md"),
        check: Check {
            command: Some("opencode mcp list"),
            text: "helmdeck is listed as connected.",
        },
        docs: "docs/integrations/other.md",
        introduces_itself_as: "opencode",
    },
    KnownClient {
        id: "cursor",
        title: "Cursor",
        profile: Core,
        transport: Http,
        place: Place::File(SettingsFile::in_home(
            "~/.cursor/mcp.json",
            Json,
            &["mcpServers", SERVER_NAME],
        )),
        skill: Some(AGENTS_SKILL),
        check: Check {
            command: None,
            text: "Restart Cursor. The list of MCP servers in its settings shows helmdeck with its \
                   tools.",
        },
        docs: "docs/integrations/other.md",
        introduces_itself_as: "cursor",
    },
    KnownClient {
        id: "vscode",
        title: "VS Code",
        profile: Core,
        transport: Http,
        place: Place::File(SettingsFile {
            linux: "~/.config/Code/User/mcp.json",
            macos: "~/Library/Application Support/Code/User/mcp.json",
            windows: "%APPDATA%\\Code\\User\\mcp.json",
            format: Json,
            keys: &["servers", SERVER_NAME],
        }),
        skill: Some(AGENTS_SKILL),
        check: Check {
            command: None,
            text: "Run \"MCP: List Servers\" from the command palette and start helmdeck.",
        },
        docs: "docs/integrations/other.md",
        introduces_itself_as: "visual studio code",
    },
    KnownClient {
        id: "generic",
        title: "Any other client",
        profile: Core,
        transport: Http,
        place: Place::Unknown,
        skill: Some(AGENTS_SKILL),
        check: Check {
            command: None,
            text: "The client lists the tools of helmdeck, and the Connect page shows it as \
                   connected.",
        },
        docs: "docs/integrations/other.md",
        // Matches no name.
        introduces_itself_as: "\n",
    },
];

impl SettingsFile {
    /// A file with the same path in the home directory on every system.
    const fn in_home(
        path: &'static str,
        format: super::Format,
        keys: &'static [&'static str],
    ) -> Self {
        Self { linux: path, macos: path, windows: path, format, keys }
    }
}
