//! Credentials in variables of the server, for installations without a vault to manage.

use helmdeck_wire::vault::CredentialType;
use secrecy::{ExposeSecret, SecretString};
use time::OffsetDateTime;

use super::{Destination, Secret};

/// A name with a variable that stands in for it.
#[derive(Debug)]
pub struct KnownCredential {
    /// Its name in the vault.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// The variable.
    pub variable: &'static str,
    /// The host that may receive it, unless the operator chose another address.
    pub host: &'static str,
}

/// The names with variables.
pub const KNOWN: [KnownCredential; 11] = [
    KnownCredential {
        name: "elevenlabs-key",
        aliases: &["elevenlabs-api-key"],
        variable: "HELMDECK_ELEVENLABS_API_KEY",
        host: "api.elevenlabs.io",
    },
    KnownCredential {
        name: "fal-key",
        aliases: &[],
        variable: "HELMDECK_FAL_KEY",
        host: "fal.run",
    },
    KnownCredential {
        name: "pexels-key",
        aliases: &[],
        variable: "HELMDECK_PEXELS_API_KEY",
        host: "api.pexels.com",
    },
    KnownCredential {
        name: "anthropic-key",
        aliases: &[],
        variable: "HELMDECK_ANTHROPIC_API_KEY",
        host: "api.anthropic.com",
    },
    KnownCredential {
        name: "openai-key",
        aliases: &[],
        variable: "HELMDECK_OPENAI_API_KEY",
        host: "api.openai.com",
    },
    KnownCredential {
        name: "gemini-key",
        aliases: &[],
        variable: "HELMDECK_GEMINI_API_KEY",
        host: "generativelanguage.googleapis.com",
    },
    KnownCredential {
        name: "openrouter-key",
        aliases: &[],
        variable: "HELMDECK_OPENROUTER_API_KEY",
        host: "openrouter.ai",
    },
    KnownCredential {
        name: "deepseek-key",
        aliases: &[],
        variable: "HELMDECK_DEEPSEEK_API_KEY",
        host: "api.deepseek.com",
    },
    KnownCredential {
        name: "groq-key",
        aliases: &[],
        variable: "HELMDECK_GROQ_API_KEY",
        host: "api.groq.com",
    },
    KnownCredential {
        name: "mistral-key",
        aliases: &[],
        variable: "HELMDECK_MISTRAL_API_KEY",
        host: "api.mistral.ai",
    },
    KnownCredential {
        name: "fireworks-key",
        aliases: &[],
        variable: "HELMDECK_FIREWORKS_API_KEY",
        host: "api.fireworks.ai",
    },
];

/// A variable that is set.
pub struct EnvironmentCredential {
    /// What it is for.
    pub known: &'static KnownCredential,
    /// When the server read it.
    pub read_at: OffsetDateTime,
    /// The host that may receive it, and nothing else.
    pub host: String,
    value: SecretString,
}

impl EnvironmentCredential {
    /// The value of a variable of [`KNOWN`].
    pub fn new(known: &'static KnownCredential, value: SecretString) -> Self {
        Self { known, read_at: OffsetDateTime::now_utc(), host: known.host.to_owned(), value }
    }

    /// The same for a service at another address, which the operator chose.
    pub fn for_host(self, host: String) -> Self {
        Self { host, ..self }
    }

    /// Its id in lists.
    pub(super) fn id(&self) -> String {
        format!("env_{}", self.known.name)
    }

    /// Whether it has this name.
    pub(super) fn is(&self, name: &str) -> bool {
        self.known.name == name || self.known.aliases.contains(&name)
    }

    /// Whether it may be sent there.
    pub(super) fn fits(&self, to: &Destination<'_>) -> bool {
        to.fits(&self.host, None)
    }

    pub(super) fn secret(&self) -> Secret {
        let bytes = self.value.expose_secret().as_bytes().to_vec();
        Secret::new(self.known.name, CredentialType::ApiKey, bytes)
    }
}

/// Every spelling of a name, itself first.
pub(super) fn spellings(name: &str) -> Vec<&str> {
    let known = KNOWN.iter().find(|known| known.name == name || known.aliases.contains(&name));
    let mut names = vec![name];
    if let Some(known) = known {
        let others = known.aliases.iter().chain([&known.name]).copied();
        names.extend(others.filter(|other| *other != name));
    }
    names
}
