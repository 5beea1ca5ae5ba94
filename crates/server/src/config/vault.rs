//! Settings of the vault: its key, and credentials in variables.

use std::{fs, path::PathBuf};

use helmdeck_store::vault::{
    EnvironmentCredential, KNOWN_CREDENTIALS, KeySource, VaultError, VaultKey, VaultSetup, key_file,
};
use secrecy::{ExposeSecret, SecretString};

use super::{
    Config, absolute,
    layers::{ConfigError, Layers},
};

/// A secret in a variable, or in a file that a variable names.
#[derive(Debug, Clone, Default)]
pub struct SecretSetting {
    /// The secret.
    pub value: Option<SecretString>,
    /// The file with the secret.
    pub file: Option<PathBuf>,
}

/// The vault's key, and credentials for installations without a vault to manage.
#[derive(Debug, Clone)]
pub struct VaultSettings {
    /// `HELMDECK_VAULT_KEY` and `HELMDECK_VAULT_KEY_FILE`: the key that encrypts credentials, or a
    /// file with it (see [vault](vault.md)); make one with `openssl rand -hex 32`. Default:
    /// generated on the first start and kept in `vault.key` in the data directory.
    pub key: SecretSetting,
    /// `HELMDECK_VAULT_KEY_OLD` and `HELMDECK_VAULT_KEY_OLD_FILE`: the previous key of the vault, or a
    /// file with it; credentials are encrypted with the current key when the server starts.
    /// Default: none.
    pub old: SecretSetting,
    /// `HELMDECK_ELEVENLABS_API_KEY` and `HELMDECK_ELEVENLABS_API_KEY_FILE`: stands in for the
    /// credential `elevenlabs-key`, for `api.elevenlabs.io` only; every caller can use it. Default:
    /// none.
    pub elevenlabs: SecretSetting,
    /// `HELMDECK_FAL_KEY` and `HELMDECK_FAL_KEY_FILE`: stands in for the credential `fal-key`, for
    /// `fal.run` only; every caller can use it. Default: none.
    pub fal: SecretSetting,
    /// `HELMDECK_PEXELS_API_KEY` and `HELMDECK_PEXELS_API_KEY_FILE`: stands in for the credential
    /// `pexels-key`, for `api.pexels.com` only; every caller can use it. Default: none.
    pub pexels: SecretSetting,
}

impl VaultSettings {
    pub(super) fn read(layers: &mut Layers) -> Result<Self, ConfigError> {
        let is_key = |text: &str| VaultKey::parse(text).is_some();
        let (digits, some) = ("64 hexadecimal digits", "not empty");
        Ok(Self {
            key: secret(layers, ["vault_key", "vault_key_file"], digits, is_key)?,
            old: secret(layers, ["vault_key_old", "vault_key_old_file"], digits, is_key)?,
            elevenlabs: secret(
                layers,
                ["elevenlabs_api_key", "elevenlabs_api_key_file"],
                some,
                |text| !text.trim().is_empty(),
            )?,
            fal: secret(layers, ["fal_key", "fal_key_file"], some, |it| !it.trim().is_empty())?,
            pexels: secret(layers, ["pexels_api_key", "pexels_api_key_file"], some, |text| {
                !text.trim().is_empty()
            })?,
        })
    }

    /// The secret setting with this key, also if it names a file.
    pub(super) fn secret(&self, key: &str) -> Option<&SecretSetting> {
        Some(match key.strip_suffix("_file").unwrap_or(key) {
            "vault_key" => &self.key,
            "vault_key_old" => &self.old,
            "elevenlabs_api_key" => &self.elevenlabs,
            "fal_key" => &self.fal,
            "pexels_api_key" => &self.pexels,
            _ => return None,
        })
    }
}

/// A secret, or the path of its file; not both.
pub(super) fn secret(
    layers: &mut Layers,
    [key, file]: [&'static str; 2],
    allowed: &'static str,
    check: impl FnOnce(&str) -> bool,
) -> Result<SecretSetting, ConfigError> {
    let path = |text: &str| if text.is_empty() { Some(None) } else { absolute(text).map(Some) };
    let value = layers.secret(key, allowed, check)?;
    let file = layers.value(file, "an absolute path", path, || None)?;
    if value.is_some() && file.is_some() {
        return Err(ConfigError::Conflict(
            "a HELMDECK_…_KEY variable and its _FILE are both set: unset one of them",
        ));
    }
    Ok(SecretSetting { value, file })
}

impl SecretSetting {
    /// Whether it is set, either way.
    pub(super) fn is_set(&self) -> bool {
        self.value.is_some() || self.file.is_some()
    }

    /// The key, if one is set.
    fn key(&self) -> Result<Option<VaultKey>, VaultError> {
        match (&self.value, &self.file) {
            (Some(text), _) => Ok(VaultKey::parse(text.expose_secret())),
            (None, Some(path)) => VaultKey::read(path).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// The secret, if one is set.
    pub(super) fn text(&self) -> Result<Option<SecretString>, VaultError> {
        let Some(path) = &self.file else { return Ok(self.value.clone()) };
        let failed = |source| VaultError::File { path: path.clone(), source };
        let text = fs::read_to_string(path).map_err(failed)?;
        Ok(Some(text.trim()).filter(|text| !text.is_empty()).map(SecretString::from))
    }
}

impl Config {
    /// Where the vault's keys and other credentials come from. Reads the files that settings name.
    pub(crate) fn vault_setup(&self) -> Result<VaultSetup, VaultError> {
        let settings = &self.vault;
        let key = match settings.key.key()? {
            Some(key) => KeySource::Configured(key.into()),
            None => KeySource::File(key_file(&self.data_dir)),
        };
        let mut environment = Vec::new();
        for known in &KNOWN_CREDENTIALS {
            let of_packs = match known.name {
                "elevenlabs-key" => Some(&settings.elevenlabs),
                "fal-key" => Some(&settings.fal),
                "pexels-key" => Some(&settings.pexels),
                _ => None,
            };
            let host = || known.host.to_owned();
            let setting = of_packs.map(|setting| (setting, host()));
            let Some((setting, host)) = setting.or_else(|| self.models.key(known.name)) else {
                continue;
            };
            if let Some(value) = setting.text()? {
                environment.push(EnvironmentCredential::new(known, value).for_host(host));
            }
        }
        Ok(VaultSetup { key, old: settings.old.key()?, environment })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(env: &[(&str, &str)]) -> Result<Config, ConfigError> {
        let env = env.iter().copied().chain([("HELMDECK_DATA_DIR", "/nonexistent")]);
        Config::load(None, env.map(|(name, value)| (name.to_owned(), value.to_owned())))
    }

    #[test]
    fn a_key_comes_from_a_variable_or_from_its_file_and_not_from_both() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("key");
        std::fs::write(&file, format!("{}\n", "a".repeat(64))).unwrap();
        let by_file = ("HELMDECK_VAULT_KEY_FILE", file.to_str().unwrap());
        let by_value = ("HELMDECK_VAULT_KEY", "b".repeat(64));
        let by_value = (by_value.0, by_value.1.as_str());
        for env in [by_file, by_value] {
            let setup = load(&[env]).unwrap().vault_setup().unwrap();
            assert!(matches!(setup.key, KeySource::Configured(_)));
        }
        assert!(load(&[by_file, by_value]).unwrap_err().to_string().contains("both set"));
        let refused = load(&[("HELMDECK_VAULT_KEY", "hunter2")]).unwrap_err().to_string();
        assert!(refused.contains("64 hexadecimal digits") && !refused.contains("hunter2"));
        std::fs::write(&file, "hunter2").unwrap();
        let refused = load(&[by_file]).unwrap().vault_setup().err().unwrap().to_string();
        assert!(refused.contains("is not a vault key") && !refused.contains("hunter2"));
        assert!(matches!(load(&[]).unwrap().vault_setup().unwrap().key, KeySource::File(_)));
    }

    #[test]
    fn credentials_in_variables_and_files_keep_their_names() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("fal");
        std::fs::write(&file, "fal secret\n").unwrap();
        let env = [
            ("HELMDECK_FAL_KEY_FILE", file.to_str().unwrap()),
            ("HELMDECK_PEXELS_API_KEY", "pexels secret"),
        ];
        let config = load(&env).unwrap();
        let names = config.vault_setup().unwrap().environment;
        let names: Vec<_> = names.iter().map(|it| it.known.name).collect();
        assert_eq!(names, ["fal-key", "pexels-key"]);
        assert!(!config.show().contains("pexels secret"), "{}", config.show());
    }
}
