//! Which server a command talks to: options, variables, or what `helmdeck login` remembered.

use std::error::Error;

use helmdeck_server::Config;
use secrecy::SecretString;

use crate::{login, remote::Remote};

/// The options that say which server.
#[derive(clap::Args)]
pub struct ServerArgs {
    /// The server; else the one of `helmdeck login`, else the one of this machine.
    #[arg(long, value_name = "URL", env = "HELMDECK_URL")]
    url: Option<String>,
    /// A token for the server; else the one of `helmdeck login`, else one is made with this
    /// machine's secret.
    #[arg(long, value_name = "TOKEN", env = "HELMDECK_TOKEN", hide_env_values = true)]
    token: Option<SecretString>,
}

impl ServerArgs {
    /// The server and the right to call it.
    pub fn remote(&self, config: &Config) -> Result<Remote, Box<dyn Error>> {
        let (mut url, mut token) = (self.url.clone(), self.token.clone());
        if let Some(known) = login::remembered()? {
            let same = url.as_ref().is_none_or(|url| login::same_server(url, &known.url));
            if same && token.is_none() {
                token = Some(known.token);
                url = Some(known.url);
            }
        }
        Remote::new(config, url.as_deref(), token.as_ref())
    }
}
