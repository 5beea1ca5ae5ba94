//! Instructions for people who connect a client.

use super::{KnownClient, Place, SettingsFile, Setup, Step, StepFile};

/// Instructions for one client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guide {
    /// Steps, in order.
    pub steps: Vec<Step>,
    /// How to undo them.
    pub undo: String,
}

impl KnownClient {
    /// How to connect it.
    pub fn guide(&self, setup: &Setup<'_>) -> Guide {
        let steps = vec![self.add_step(setup), self.skill_step(setup), self.check_step()];
        Guide { steps, undo: self.undo(setup) }
    }

    fn add_step(&self, setup: &Setup<'_>) -> Step {
        let Self { id, title, .. } = self;
        match self.place {
            Place::Command { program } => Step {
                title: format!("Add helmdeck to {title}"),
                text: format!(
                    "Run this where `{program}` is installed. It adds helmdeck for all your projects. \
                     `helmdeck connect {id}` does the same."
                ),
                command: self.command(setup).map(|command| line(program, &command.add)),
                file: None,
            },
            Place::File(file) => Step {
                title: format!("Add helmdeck to the settings of {title}"),
                text: format!(
                    "Merge this into the file and keep what is there. `helmdeck connect {id}` does \
                     it for you, with a backup."
                ),
                command: None,
                file: Some(self.step_file(file, setup)),
            },
            Place::Unknown => Step {
                title: "Add helmdeck to your client".to_owned(),
                text:
                    "Use the address and the header below, in the form that your client wants. A \
                       client that starts programs can run `helmdeck mcp` with HELMDECK_URL and \
                       HELMDECK_TOKEN in its environment instead."
                        .to_owned(),
                command: None,
                file: Some(StepFile {
                    path: "mcp.json".to_owned(),
                    macos: "mcp.json".to_owned(),
                    windows: "mcp.json".to_owned(),
                    language: "json".to_owned(),
                    content: super::Format::Json
                        .render(&["mcpServers", super::SERVER_NAME], &self.entry(setup)),
                }),
            },
        }
    }

    fn step_file(&self, file: SettingsFile, setup: &Setup<'_>) -> StepFile {
        StepFile {
            path: file.linux.to_owned(),
            macos: file.macos.to_owned(),
            windows: file.windows.to_owned(),
            language: file.format.language().to_owned(),
            content: file.format.render(file.keys, &self.entry(setup)),
        }
    }

    fn skill_step(&self, setup: &Setup<'_>) -> Step {
        let source = format!("{}/api/v1/skill", setup.server.trim_end_matches('/'));
        let Some(path) = self.skill else {
            return Step {
                title: "Tell it how to use helmdeck".to_owned(),
                text: format!(
                    "{} reads no skill files. Create a project and paste the output of this command \
                     into its instructions.",
                    self.title
                ),
                command: Some(format!("curl -fsS \"{source}\"")),
                file: None,
            };
        };
        let folder = path.rsplit_once('/').map_or(path, |(folder, _)| folder);
        Step {
            title: "Install the skill".to_owned(),
            text: format!(
                "The skill tells the agent which tool to use when. `helmdeck skill install {}` does \
                 the same.",
                self.id
            ),
            command: Some(format!("mkdir -p {folder} && curl -fsS \"{source}\" -o {path}")),
            file: None,
        }
    }

    fn check_step(&self) -> Step {
        let text = match self.check.command {
            Some(_) => format!("Run this command. {}", self.check.text),
            None => self.check.text.to_owned(),
        };
        Step {
            title: "Check the connection".to_owned(),
            text,
            command: self.check.command.map(str::to_owned),
            file: None,
        }
    }

    fn undo(&self, setup: &Setup<'_>) -> String {
        let removed = match self.place {
            Place::Command { program } => {
                let remove = self.command(setup).map(|command| command.remove).unwrap_or_default();
                format!("Run `{}`", line(program, &remove))
            }
            Place::File(file) => {
                format!("Remove `{}` from {}", file.keys.join("."), file.linux)
            }
            Place::Unknown => "Remove helmdeck from the client's settings".to_owned(),
        };
        format!("{removed}, and revoke the token.")
    }
}

/// A shell command. The token placeholder is expanded by the shell.
fn line(program: &str, args: &[String]) -> String {
    let words = args.iter().map(|word| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=".contains(c);
        if word.chars().all(plain) && !word.is_empty() {
            return word.clone();
        }
        let escaped = word.replace('\\', "\\\\").replace('"', "\\\"").replace('`', "\\`");
        format!("\"{escaped}\"")
    });
    [program.to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{
        super::{CLIENTS, TOKEN_PLACEHOLDER, ToolProfile, Transport},
        *,
    };

    fn setup(client: &KnownClient) -> Setup<'_> {
        Setup {
            server: "http://localhost:3000",
            ca_file: None,
            profile: client.profile,
            transport: client.transport,
            token: TOKEN_PLACEHOLDER,
            program: "helmdeck",
        }
    }

    #[test]
    fn every_guide_adds_helmdeck_explains_it_and_checks_the_connection() {
        for client in &CLIENTS {
            let guide = client.guide(&setup(client));
            assert_eq!(guide.steps.len(), 3, "{}", client.id);
            let add = guide.steps.first().unwrap();
            assert!(add.command.is_some() != add.file.is_some(), "{}", client.id);
            let text = format!("{:?}{:?}", add.command, add.file);
            assert_eq!(text.matches(TOKEN_PLACEHOLDER).count(), 1, "{text}");
            assert!(guide.undo.contains("revoke the token"), "{}", client.id);
        }
    }

    #[test]
    fn a_command_is_quoted_for_a_shell_that_puts_the_token_in() {
        let claude = KnownClient::named("claude-code").unwrap();
        let guide = claude.guide(&Setup { profile: ToolProfile::Core, ..setup(claude) });
        assert_eq!(
            guide.steps.first().unwrap().command.as_deref().unwrap(),
            "claude mcp add --transport http --scope user helmdeck \
             \"http://localhost:3000/mcp?profile=core\" \
             --header \"Authorization: Bearer $HELMDECK_TOKEN\""
        );
        let openclaw = KnownClient::named("openclaw").unwrap();
        let guide = openclaw.guide(&Setup { transport: Transport::Stdio, ..setup(openclaw) });
        let command = guide.steps.first().unwrap().command.clone().unwrap();
        assert!(command.contains("\\\"command\\\":\\\"helmdeck\\\""), "{command}");
    }
}
