//! The server of this machine, which commands use if no other server is named.
//!
//! Without the feature `server`, this machine has none, and commands need an address and a token.

#[cfg(feature = "server")]
pub use here::*;
#[cfg(not(feature = "server"))]
pub use nowhere::*;

/// In whose name a token is created.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Bearer {
    /// The person who runs the command, with all scopes.
    Person,
    /// An agent of that person.
    Agent,
}

#[cfg(feature = "server")]
mod here {
    use std::{
        error::Error,
        io::{Write, stderr},
        net::{IpAddr, SocketAddr},
        path::{Path, PathBuf},
        time::{Duration, Instant},
    };

    pub use helmdeck_server::Config;
    use helmdeck_server::token::{Grant, Signer};
    use http::uri::Authority;
    use parking_lot::Mutex;

    use super::Bearer;

    /// Lifetime of a token. A connection ends with its token.
    const TOKEN_LIFE: Duration = Duration::from_secs(24 * 3600);
    /// How long a token is used for new connections.
    const TOKEN_USE: Duration = Duration::from_secs(12 * 3600);

    /// Reads its settings from a file, or the default one, and the environment. `options` override
    /// variables.
    pub fn read(
        file: Option<&Path>,
        options: Vec<(String, String)>,
    ) -> Result<Config, Box<dyn Error>> {
        Ok(Config::load(file, environment().chain(options))?)
    }

    /// The same, and prints warnings about them.
    pub fn load(file: Option<&Path>) -> Result<Config, Box<dyn Error>> {
        let config = read(file, Vec::new())?;
        for warning in &config.warnings {
            // Write errors are ignored.
            let _ = writeln!(stderr(), "helmdeck: {warning}");
        }
        Ok(config)
    }

    /// The environment, without values that are not UTF-8. No setting needs those.
    fn environment() -> impl Iterator<Item = (String, String)> {
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
    }

    /// Its address, and the file with its certificate if it speaks TLS.
    pub fn address(config: &Config) -> Result<(SocketAddr, Option<PathBuf>), Box<dyn Error>> {
        Ok((config.addr, config.certificate_in_use()))
    }

    /// Whether a server with this address runs on this machine.
    pub fn is_here(config: &Config, authority: &Authority) -> bool {
        let host = authority.host().trim_matches(['[', ']']);
        let ip = host.parse::<IpAddr>();
        let own =
            |ip| authority.port_u16().is_some_and(|it| SocketAddr::new(ip, it) == config.addr);
        match ip {
            Ok(ip) => ip.is_loopback() || own(ip),
            Err(_) => host.eq_ignore_ascii_case("localhost"),
        }
    }

    /// Creates tokens with this machine's secret.
    pub struct TokenSigner {
        signer: Box<Signer>,
        subject: String,
        bearer: Bearer,
        last: Mutex<Option<(Instant, String)>>,
    }

    impl TokenSigner {
        /// Reads the secret.
        pub fn open(config: &Config, bearer: Bearer) -> Result<Self, Box<dyn Error>> {
            let subject = config.admin_username.clone();
            let signer = Signer::load(config)?.into();
            Ok(Self { signer, subject, bearer, last: Mutex::default() })
        }

        /// A token for a new connection.
        pub fn token(&self) -> Result<String, Box<dyn Error>> {
            let mut last = self.last.lock();
            if let Some((_, token)) = last.as_ref().filter(|(at, _)| at.elapsed() < TOKEN_USE) {
                return Ok(token.clone());
            }
            // A user who can read the server's secret counts as a person.
            let human = self.bearer == Bearer::Person;
            let (scope, label) =
                if human { ("admin", "helmdeck") } else { ("sessions:*", "helmdeck mcp") };
            let (subject, label, scopes) = (&self.subject, Some(label), &[scope.to_owned()]);
            let grant = Grant { subject, label, human, scopes, ttl: TOKEN_LIFE };
            let token = self.signer.mint(&grant)?.0;
            *last = Some((Instant::now(), token.clone()));
            Ok(token)
        }
    }
}

#[cfg(not(feature = "server"))]
mod nowhere {
    use std::{
        error::Error,
        net::SocketAddr,
        path::{Path, PathBuf},
    };

    use http::uri::Authority;

    use super::Bearer;

    /// No settings.
    pub struct Config;

    /// Succeeds.
    pub fn load(_: Option<&Path>) -> Result<Config, Box<dyn Error>> {
        Ok(Config)
    }

    /// No address.
    pub fn address(_: &Config) -> Result<(SocketAddr, Option<PathBuf>), Box<dyn Error>> {
        Err("no server is named: log in with `helmdeck login URL`, or set HELMDECK_URL".into())
    }

    /// No.
    pub fn is_here(_: &Config, _: &Authority) -> bool {
        false
    }

    /// No secret.
    pub enum TokenSigner {}

    impl TokenSigner {
        /// Fails.
        pub fn open(_: &Config, _: Bearer) -> Result<Self, Box<dyn Error>> {
            Err("no token: log in with `helmdeck login URL`, or set HELMDECK_TOKEN".into())
        }

        /// Is never called.
        pub fn token(&self) -> Result<String, Box<dyn Error>> {
            match *self {}
        }
    }
}
