//! The sources of settings and their precedence.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use secrecy::SecretString;

use super::{defaults, unknown};

/// Every variable of helmdeck begins with this.
pub(super) const PREFIX: &str = "HELMDECK_";

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The default.
    Default,
    /// This file.
    File(PathBuf),
    /// This variable.
    Env(String),
}

/// Every setting in order, with its origin.
pub type Origins = Vec<(&'static str, Origin)>;

/// Invalid settings.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The given file cannot be read.
    #[error("the configuration file {path} cannot be read")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// The file is not TOML.
    #[error("the configuration file {path} is not TOML")]
    NotToml {
        /// The file.
        path: PathBuf,
        /// The parser's error.
        #[source]
        source: toml::de::Error,
    },
    /// The file has a key that helmdeck does not know.
    #[error("{path}: unknown key {key:?}; known keys are {known}")]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// The key.
        key: String,
        /// The known keys.
        known: String,
    },
    /// A value is not allowed.
    #[error("{name} is {value:?}: expected {allowed}")]
    Value {
        /// The variable, or the key and its file.
        name: String,
        /// The value; masked for secrets.
        value: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// Settings that do not go together.
    #[error("{0}")]
    Conflict(&'static str),
}

/// Takes values out of the environment and the file, one setting at a time.
pub struct Layers {
    env: BTreeMap<String, String>,
    file: BTreeMap<String, String>,
    path: PathBuf,
    origins: Origins,
}

impl Layers {
    /// Reads the file, if there is one.
    pub fn read(
        config_file: Option<&Path>,
        env: impl Iterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let env: BTreeMap<_, _> = env.collect();
        let asked = config_file
            .map(Path::to_owned)
            .or_else(|| env.get("HELMDECK_CONFIG").filter(|v| !v.is_empty()).map(PathBuf::from));
        let path = asked.clone().unwrap_or_else(|| {
            let data_dir = env.get("HELMDECK_DATA_DIR").map(PathBuf::from);
            data_dir.unwrap_or_else(|| defaults::data_dir(&env)).join("helmdeck.toml")
        });
        let file = match std::fs::read_to_string(&path) {
            Ok(text) => parse(&path, &text)?,
            Err(error) if asked.is_none() && error.kind() == std::io::ErrorKind::NotFound => {
                BTreeMap::new()
            }
            Err(source) => return Err(ConfigError::Unreadable { path, source }),
        };
        Ok(Self { env, file, path, origins: Vec::new() })
    }

    /// The whole environment, for defaults that depend on it.
    pub fn environment(&self) -> &BTreeMap<String, String> {
        &self.env
    }

    /// One setting, from the source with the highest precedence.
    pub fn value<T>(
        &mut self,
        key: &'static str,
        allowed: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
        default: impl FnOnce() -> T,
    ) -> Result<T, ConfigError> {
        let Some((name, text)) = self.take(key) else { return Ok(default()) };
        parse(&text).ok_or(ConfigError::Value { name, value: text, allowed })
    }

    /// One secret setting.
    pub fn secret(
        &mut self,
        key: &'static str,
        allowed: &'static str,
        check: impl FnOnce(&str) -> bool,
    ) -> Result<Option<SecretString>, ConfigError> {
        match self.take(key) {
            None => Ok(None),
            Some((_, text)) if check(&text) => Ok(Some(SecretString::from(text))),
            Some((name, _)) => {
                Err(ConfigError::Value { name, value: "••••".to_owned(), allowed })
            }
        }
    }

    /// Call after all settings were taken. Everything left is unknown: an error in the file, and a
    /// warning in the environment.
    pub fn finish(self) -> Result<(Origins, Vec<String>), ConfigError> {
        let known: Vec<_> = self.origins.iter().map(|(key, _)| *key).collect();
        if let Some(key) = self.file.into_keys().find(|key| !known.contains(&key.as_str())) {
            return Err(ConfigError::UnknownKey { path: self.path, key, known: known.join(", ") });
        }
        let known: Vec<_> = known.into_iter().map(variable).collect();
        let warnings = unknown::variables(self.env.into_keys(), &known);
        Ok((self.origins, warnings))
    }

    /// The text of a setting, and its name for errors. An empty variable counts as unset.
    fn take(&mut self, key: &'static str) -> Option<(String, String)> {
        let variable = variable(key);
        if let Some(text) = self.env.get(&variable).filter(|text| !text.is_empty()) {
            self.origins.push((key, Origin::Env(variable.clone())));
            return Some((variable, text.clone()));
        }
        if let Some(text) = self.file.get(key) {
            self.origins.push((key, Origin::File(self.path.clone())));
            return Some((format!("{key} in {}", self.path.display()), text.clone()));
        }
        self.origins.push((key, Origin::Default));
        None
    }
}

fn variable(key: &str) -> String {
    format!("{PREFIX}{}", key.to_ascii_uppercase())
}

/// Converts every value to text, so that file and environment share one parser.
fn parse(path: &Path, text: &str) -> Result<BTreeMap<String, String>, ConfigError> {
    let table: toml::Table =
        text.parse().map_err(|source| ConfigError::NotToml { path: path.to_owned(), source })?;
    let text = |value: toml::Value| match value {
        toml::Value::String(text) => text,
        other => other.to_string(),
    };
    Ok(table.into_iter().map(|(key, value)| (key, text(value))).collect())
}
