//! The entry of helmdeck in the settings of each client.

use serde_json::{Map, Value, json};

use super::{KnownClient, Place, SERVER_NAME, ToolProfile, Transport};
use crate::exec::MAX_TIMEOUT_S;

/// The longest call of a tool: the longest command, and a little more.
const CALL_TIMEOUT_S: u32 = MAX_TIMEOUT_S + 60;

/// Inputs of an entry.
#[derive(Debug, Clone, Copy)]
pub struct Setup<'a> {
    /// Base URL of the server.
    pub server: &'a str,
    /// A file with certificates to trust, for clients that start the program.
    pub ca_file: Option<&'a str>,
    /// The tools to list.
    pub profile: ToolProfile,
    /// How to connect.
    pub transport: Transport,
    /// The token, or a placeholder.
    pub token: &'a str,
    /// The helmdeck program, for clients that start it.
    pub program: &'a str,
}

/// Arguments for a client's own program, for adding helmdeck and removing it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientCommand {
    /// The program.
    pub program: &'static str,
    /// What adds helmdeck.
    pub add: Vec<String>,
    /// What removes it.
    pub remove: Vec<String>,
    /// Whether adding fails if it is there already.
    pub remove_first: bool,
}

impl Setup<'_> {
    /// URL of the MCP endpoint.
    pub fn url(&self) -> String {
        let server = self.server.trim_end_matches('/');
        match self.profile {
            ToolProfile::All => format!("{server}/mcp"),
            profile => format!("{server}/mcp?profile={}", profile.as_str()),
        }
    }

    fn authorization(&self) -> String {
        format!("Bearer {}", self.token)
    }

    fn headers(&self) -> Value {
        json!({ "Authorization": self.authorization() })
    }

    fn args(&self) -> Vec<&str> {
        match self.profile {
            ToolProfile::All => vec!["mcp"],
            profile => vec!["mcp", "--profile", profile.as_str()],
        }
    }

    /// Variables of the program.
    fn env(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let known = [("HELMDECK_URL", self.server), ("HELMDECK_TOKEN", self.token)];
        known.into_iter().chain(self.ca_file.map(|file| ("HELMDECK_CA_FILE", file)))
    }
}

impl KnownClient {
    /// The entry of helmdeck in this client's settings.
    pub fn entry(&self, setup: &Setup<'_>) -> Value {
        let mut entry = match setup.transport {
            Transport::Http => self.http_entry(setup),
            Transport::Stdio => self.stdio_entry(setup),
        };
        // Clients that give up on a call after a minute by default.
        let (name, value) = match self.id {
            "codex" => ("tool_timeout_sec", CALL_TIMEOUT_S),
            "gemini-cli" => ("timeout", CALL_TIMEOUT_S.saturating_mul(1000)),
            "hermes" => ("timeout", CALL_TIMEOUT_S),
            "openclaw" => ("requestTimeoutMs", CALL_TIMEOUT_S.saturating_mul(1000)),
            _ => return Value::Object(entry),
        };
        entry.insert(name.to_owned(), value.into());
        Value::Object(entry)
    }

    fn http_entry(&self, setup: &Setup<'_>) -> Map<String, Value> {
        let (url, headers) = (setup.url(), setup.headers());
        object(match self.id {
            "gemini-cli" => json!({ "httpUrl": url, "headers": headers }),
            "openclaw" => json!({ "url": url, "transport": "streamable-http", "headers": headers }),
            "codex" => json!({ "url": url, "http_headers": headers }),
            "opencode" => {
                json!({ "type": "remote", "url": url, "headers": headers, "enabled": true })
            }
            "cursor" | "hermes" => json!({ "url": url, "headers": headers }),
            _ => json!({ "type": "http", "url": url, "headers": headers }),
        })
    }

    fn stdio_entry(&self, setup: &Setup<'_>) -> Map<String, Value> {
        let args = setup.args();
        let env: Map<_, _> =
            setup.env().map(|(name, value)| (name.to_owned(), value.into())).collect();
        if self.id == "opencode" {
            let command: Vec<_> = [setup.program].into_iter().chain(args).collect();
            let local = json!({ "type": "local", "command": command, "environment": env });
            return object(local)
                .into_iter()
                .chain([("enabled".to_owned(), true.into())])
                .collect();
        }
        let mut entry = object(json!({ "command": setup.program, "args": args, "env": env }));
        if self.id == "vscode" {
            entry.insert("type".to_owned(), "stdio".into());
        }
        entry
    }

    /// The command of the client that adds helmdeck, if it has one.
    pub fn command(&self, setup: &Setup<'_>) -> Option<ClientCommand> {
        let Place::Command { program } = self.place else { return None };
        let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        if self.id == "openclaw" {
            let entry = self.entry(setup).to_string();
            return Some(ClientCommand {
                program,
                add: own(&["mcp", "set", SERVER_NAME, &entry]),
                remove: own(&["mcp", "unset", SERVER_NAME]),
                remove_first: false,
            });
        }
        let add = match setup.transport {
            Transport::Http => {
                let header = format!("Authorization: {}", setup.authorization());
                let (url, name) = (setup.url(), SERVER_NAME);
                let scope = ["mcp", "add", "--transport", "http", "--scope", "user"];
                [own(&scope), own(&[name, &url, "--header", &header])].concat()
            }
            Transport::Stdio => {
                let variables = setup.env().map(|(name, value)| format!("{name}={value}"));
                let env = variables.flat_map(|variable| ["--env".to_owned(), variable]).collect();
                let before = own(&["mcp", "add", "--scope", "user", SERVER_NAME]);
                [before, env, own(&["--", setup.program]), own(&setup.args())].concat()
            }
        };
        let remove = own(&["mcp", "remove", "--scope", "user", SERVER_NAME]);
        Some(ClientCommand { program, add, remove, remove_first: true })
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETUP: Setup<'_> = Setup {
        server: "http://localhost:3000",
        ca_file: None,
        profile: ToolProfile::Core,
        transport: Transport::Http,
        token: "a.b.c",
        program: "helmdeck",
    };

    #[test]
    fn every_entry_has_the_address_or_the_program_and_the_token() {
        for client in &super::super::CLIENTS {
            let http = client.entry(&SETUP).to_string();
            assert!(http.contains("http://localhost:3000/mcp?profile=core"), "{http}");
            assert!(http.contains("Bearer a.b.c"), "{http}");
            let stdio = client.entry(&Setup { transport: Transport::Stdio, ..SETUP }).to_string();
            assert!(stdio.contains("\"helmdeck\"") && stdio.contains("\"mcp\""), "{stdio}");
            assert!(stdio.contains("\"HELMDECK_TOKEN\":\"a.b.c\""), "{stdio}");
            assert!(!stdio.contains("/mcp"), "{stdio}");
        }
    }

    #[test]
    fn a_program_gets_the_certificates_to_trust_and_http_clients_do_not() {
        for client in &super::super::CLIENTS {
            let http = Setup { ca_file: Some("/a/ca.pem"), ..SETUP };
            let stdio = Setup { transport: Transport::Stdio, ..http };
            let entry = client.entry(&stdio).to_string();
            assert!(entry.contains("\"HELMDECK_CA_FILE\":\"/a/ca.pem\""), "{entry}");
            assert!(!client.entry(&http).to_string().contains("ca.pem"), "{}", client.id);
        }
        let claude = KnownClient::named("claude-code").unwrap();
        let stdio = Setup { ca_file: Some("/a/ca.pem"), transport: Transport::Stdio, ..SETUP };
        let add = claude.command(&stdio).unwrap().add.join(" ");
        assert!(add.contains("--env HELMDECK_CA_FILE=/a/ca.pem -- helmdeck mcp"), "{add}");
    }

    #[test]
    fn the_whole_catalogue_needs_no_profile_in_the_address() {
        let all = Setup { profile: ToolProfile::All, server: "https://deck.example/p/", ..SETUP };
        assert_eq!(all.url(), "https://deck.example/p/mcp");
    }

    #[test]
    fn claude_gets_the_header_last_because_that_option_takes_several_values() {
        let claude = KnownClient::named("claude-code").unwrap();
        let command = claude.command(&SETUP).unwrap();
        let header = command.add.iter().position(|word| word == "--header").unwrap();
        assert_eq!(header, command.add.len() - 2);
        assert!(command.remove_first);
    }
}
