//! Packs that the operator can disable.

use helmdeck_packs::Switch;

use super::layers::{ConfigError, Layers};

/// Whether packs that act outside of sessions may be called.
#[derive(Debug, Clone)]
pub struct PackSwitches {
    /// `HELMDECK_EMAIL_ENABLED`: whether `email.send` may be called. Default `true`.
    pub email_enabled: bool,
    /// `HELMDECK_GITHUB_ENABLED`: whether the `github.*` packs may be called. Default `true`.
    pub github_enabled: bool,
    /// `HELMDECK_HTTP_FETCH_ENABLED`: whether `http.fetch` may be called. Default `true`.
    pub http_fetch_enabled: bool,
    /// `HELMDECK_REPO_PUSH_ENABLED`: whether `repo.push` may be called. Default `true`.
    pub repo_push_enabled: bool,
}

impl PackSwitches {
    pub(super) fn read(layers: &mut Layers) -> Result<Self, ConfigError> {
        let mut enabled =
            |key| layers.value(key, "true or false", |text| text.parse().ok(), || true);
        Ok(Self {
            email_enabled: enabled("email_enabled")?,
            github_enabled: enabled("github_enabled")?,
            http_fetch_enabled: enabled("http_fetch_enabled")?,
            repo_push_enabled: enabled("repo_push_enabled")?,
        })
    }

    /// The packs that are disabled.
    pub(crate) fn disabled(&self) -> Vec<Switch> {
        let switches = [
            (Switch::Email, self.email_enabled),
            (Switch::Github, self.github_enabled),
            (Switch::HttpFetch, self.http_fetch_enabled),
            (Switch::RepoPush, self.repo_push_enabled),
        ];
        switches.into_iter().filter(|(_, enabled)| !enabled).map(|(switch, _)| switch).collect()
    }
}
