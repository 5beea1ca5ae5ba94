//! Which server a command talks to: options, variables, or what `helmdeck login` remembered.

use std::{error::Error, path::PathBuf};

use helmdeck_server::Config;
use secrecy::SecretString;

use crate::{login, remote::Remote};

/// The options that say which server.
#[derive(Clone, clap::Args)]
pub struct ServerArgs {
    /// The server; else the one of `helmdeck login`, else the one of this machine.
    #[arg(long, value_name = "URL", env = "HELMDECK_URL")]
    url: Option<String>,
    /// A token for the server; else the one of `helmdeck login`, else one is made with this
    /// machine's secret.
    #[arg(long, value_name = "TOKEN", env = "HELMDECK_TOKEN", hide_env_values = true)]
    token: Option<SecretString>,
    /// A PEM file with certificates to trust, for a server whose certificate this machine does not
    /// trust; else the one of `helmdeck login`.
    #[arg(long, value_name = "FILE", env = "HELMDECK_CA_FILE")]
    ca_file: Option<PathBuf>,
}

impl ServerArgs {
    /// The server and the right to call it.
    pub fn remote(&self, config: &Config) -> Result<Remote, Box<dyn Error>> {
        let Self { mut url, mut token, mut ca_file } = self.clone();
        if let Some(known) = login::remembered()? {
            let same = url.as_ref().is_none_or(|url| login::same_server(url, &known.url));
            if same && token.is_none() {
                token = Some(known.token);
                url = Some(known.url);
                ca_file = ca_file.or(known.ca_file);
            }
        }
        Remote::new(config, url.as_deref(), token.as_ref(), ca_file.as_deref())
    }

    /// Whether a server was named.
    pub fn is_named(&self) -> bool {
        self.url.is_some()
    }
}
