//! Selects the server of a command: options, variables, or the login of `helmdeck login`.

use std::{error::Error, path::PathBuf};

use secrecy::SecretString;

use crate::{
    local::{Bearer, Config},
    login,
    remote::Remote,
};

/// Options that select the server.
#[derive(Clone, clap::Args)]
pub struct ServerArgs {
    /// Address of the server. Defaults to the one of `helmdeck login`, then to this machine's. With
    /// a token and without an address, it is this machine's.
    #[arg(long, value_name = "URL", env = "HELMDECK_URL")]
    url: Option<String>,
    /// Token for the server. Defaults to the one of `helmdeck login` at that address. For the server
    /// of this machine, one is created with its secret.
    #[arg(long, value_name = "TOKEN", env = "HELMDECK_TOKEN", hide_env_values = true)]
    token: Option<SecretString>,
    /// A PEM file with certificates to trust, for a server whose certificate this machine does not
    /// trust; else the one of `helmdeck login`.
    #[arg(long, value_name = "FILE", env = "HELMDECK_CA_FILE")]
    ca_file: Option<PathBuf>,
}

impl ServerArgs {
    /// The server and its credentials.
    pub fn remote(&self, config: &Config) -> Result<Remote, Box<dyn Error>> {
        self.remote_for(config, Bearer::Person)
    }

    /// The same. A token that is created here is for this bearer.
    pub fn remote_for(&self, config: &Config, bearer: Bearer) -> Result<Remote, Box<dyn Error>> {
        let Self { mut url, mut token, mut ca_file } = self.clone();
        if let Some(known) = login::remembered()? {
            let same = url.as_ref().is_none_or(|url| login::same_server(url, &known.url));
            if same && token.is_none() {
                token = Some(known.token);
                url = Some(known.url);
                ca_file = ca_file.or(known.ca_file);
            }
        }
        Remote::new_for(config, url.as_deref(), token.as_ref(), ca_file.as_deref(), bearer)
    }

    /// Whether a server was named.
    #[cfg(feature = "server")]
    pub fn is_named(&self) -> bool {
        self.url.is_some()
    }
}
