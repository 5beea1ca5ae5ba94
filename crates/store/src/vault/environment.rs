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
    /// The host that may receive it, and nothing else.
    pub host: &'static str,
}

/// The names with variables.
pub const KNOWN: [KnownCredential; 3] = [
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
];

/// A variable that is set.
pub struct EnvironmentCredential {
    /// What it is for.
    pub known: &'static KnownCredential,
    /// When the server read it.
    pub read_at: OffsetDateTime,
    value: SecretString,
}

impl EnvironmentCredential {
    /// The value of a variable of [`KNOWN`].
    pub fn new(known: &'static KnownCredential, value: SecretString) -> Self {
        Self { known, read_at: OffsetDateTime::now_utc(), value }
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
        to.fits(self.known.host, None)
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
