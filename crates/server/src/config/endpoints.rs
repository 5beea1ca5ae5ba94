//! Services that packs use.

use std::path::PathBuf;

use helmdeck_packs::{Endpoint, Endpoints};

use super::{
    absolute,
    layers::{ConfigError, Layers},
};

/// Addresses of services.
#[derive(Debug, Clone)]
pub struct ServiceSettings {
    /// `HELMDECK_GITHUB_API_URL`: the API that `github.*` packs call, such as that of a GitHub Enterprise
    /// server. Default `https://api.github.com`.
    pub github_api_url: Option<String>,
    /// `HELMDECK_RESEND_API_URL`: the API that `email.send` calls. Default `https://api.resend.com`.
    pub resend_api_url: Option<String>,
    /// `HELMDECK_FIRECRAWL_ENABLED`: whether `web.scrape` uses a Firecrawl server instead of
    /// the session's browser. Default `false`.
    pub firecrawl_enabled: bool,
    /// `HELMDECK_FIRECRAWL_URL`: the Firecrawl server. Default `http://helmdeck-firecrawl:3002`.
    pub firecrawl_url: String,
    /// `HELMDECK_SSH_KNOWN_HOSTS`: a file of host keys, in the format of OpenSSH's `known_hosts`, which
    /// `repo.fetch` and `repo.push` trust beside those of the credential. Default: none.
    pub ssh_known_hosts: Option<PathBuf>,
}

impl ServiceSettings {
    pub(super) fn read(layers: &mut Layers) -> Result<Self, ConfigError> {
        let expected = "an address that begins with http:// or https://";
        let optional = |text: &str| {
            if text.is_empty() { Some(None) } else { address(text).map(Some) }
        };
        Ok(Self {
            github_api_url: layers.value("github_api_url", expected, optional, || None)?,
            resend_api_url: layers.value("resend_api_url", expected, optional, || None)?,
            firecrawl_enabled: layers.value(
                "firecrawl_enabled",
                "true or false",
                |text| text.parse().ok(),
                || false,
            )?,
            firecrawl_url: layers.value("firecrawl_url", expected, address, || {
                "http://helmdeck-firecrawl:3002".to_owned()
            })?,
            ssh_known_hosts: layers.value(
                "ssh_known_hosts",
                "an absolute path",
                |text| if text.is_empty() { Some(None) } else { absolute(text).map(Some) },
                || None,
            )?,
        })
    }

    /// Where packs find the services.
    pub(crate) fn endpoints(&self) -> Endpoints {
        let default = Endpoints::default();
        let configured = |url: &String| Endpoint::configured(url);
        Endpoints {
            github: self.github_api_url.as_ref().map_or(default.github, configured),
            resend: self.resend_api_url.as_ref().map_or(default.resend, configured),
            firecrawl: self.firecrawl_enabled.then(|| Endpoint::configured(&self.firecrawl_url)),
            docling: None,
        }
    }
}

pub(super) fn address(text: &str) -> Option<String> {
    let is_http = text.starts_with("http://") || text.starts_with("https://");
    let plain = !text.contains(|c: char| c.is_whitespace() || c == '@' || c == '?' || c == '#');
    (is_http && plain).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    fn load(env: &[(&str, &str)]) -> Result<Config, ConfigError> {
        let env = env.iter().copied().chain([("HELMDECK_DATA_DIR", "/nonexistent")]);
        Config::load(None, env.map(|(name, value)| (name.to_owned(), value.to_owned())))
    }

    #[test]
    fn services_are_the_public_ones_unless_configured() {
        let endpoints = load(&[]).unwrap().services.endpoints();
        assert_eq!(endpoints.github.url, "https://api.github.com");
        assert!(!endpoints.github.is_configured && endpoints.firecrawl.is_none());
        let env = [
            ("HELMDECK_GITHUB_API_URL", "https://git.example/api/v3/"),
            ("HELMDECK_FIRECRAWL_ENABLED", "true"),
        ];
        let endpoints = load(&env).unwrap().services.endpoints();
        assert_eq!(endpoints.github.url, "https://git.example/api/v3");
        assert!(endpoints.github.is_configured && endpoints.firecrawl.is_some());
        assert!(load(&[("HELMDECK_GITHUB_API_URL", "git.example")]).is_err());
    }
}
