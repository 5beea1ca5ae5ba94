//! Settings of the S3 bucket for artifacts.

use helmdeck_s3::{Addressing, BucketSettings, Endpoint, RequestDeadlines};
use helmdeck_store::vault::VaultError;
use secrecy::{ExposeSecret, SecretString};

use super::{
    layers::{ConfigError, Layers},
    vault::{SecretSetting, secret},
};

/// Where the content of artifacts is, if not in the data directory.
#[derive(Debug, Clone)]
pub struct S3Settings {
    /// `HELMDECK_S3_BUCKET`: the bucket of an S3 service that stores the content of artifacts (see
    /// [artifacts](artifacts.md#s3)). It must exist. Default: none; content is in the data directory.
    pub bucket: Option<String>,
    /// `HELMDECK_S3_USE_SSL`: whether to encrypt if `HELMDECK_S3_ENDPOINT` begins with neither `https://`
    /// nor `http://`. Default `true`.
    pub use_ssl: bool,
    /// `HELMDECK_S3_ENDPOINT`: the S3 service, which may be in any network. Default: AWS in
    /// `HELMDECK_S3_REGION`.
    pub endpoint: Option<Endpoint>,
    /// `HELMDECK_S3_REGION`: the region of the bucket. Default `us-east-1`.
    pub region: String,
    /// `HELMDECK_S3_PREFIX`: begins the keys of all objects; each helmdeck server needs a different
    /// one in a shared bucket. Default: none.
    pub prefix: String,
    /// `HELMDECK_S3_PATH_STYLE`: whether requests name the bucket in the path, not in the host name.
    /// Default: `true` if `HELMDECK_S3_ENDPOINT` is set.
    pub path_style: Option<bool>,
    /// `HELMDECK_S3_ACCESS_KEY` and `HELMDECK_S3_ACCESS_KEY_FILE`: the id of the key for the bucket, or a
    /// file with it. Default: none.
    pub access_key: SecretSetting,
    /// `HELMDECK_S3_SECRET_KEY` and `HELMDECK_S3_SECRET_KEY_FILE`: the secret of that key, or a file with
    /// it. Default: none.
    pub secret_key: SecretSetting,
}

impl S3Settings {
    pub(super) fn read(layers: &mut Layers) -> Result<Self, ConfigError> {
        let flag = |text: &str| text.parse::<bool>().ok();
        let some = |text: &str| !text.trim().is_empty();
        let bucket = layers.value("s3_bucket", "the name of a bucket", bucket, || None)?;
        let use_ssl = layers.value("s3_use_ssl", "true or false", flag, || true)?;
        let endpoint = layers.value(
            "s3_endpoint",
            "a service such as https://s3.example.com:9000, without a path",
            |text| match text {
                "" => Some(None),
                text => Endpoint::parse(text, use_ssl).map(Some),
            },
            || None,
        )?;
        let settings = Self {
            bucket,
            use_ssl,
            endpoint,
            region: layers.value("s3_region", "a region such as eu-west-1", region, || {
                "us-east-1".to_owned()
            })?,
            prefix: layers.value(
                "s3_prefix",
                "letters, digits, -, _ and ., in parts that are separated by /",
                prefix,
                String::new,
            )?,
            path_style: layers.value(
                "s3_path_style",
                "true or false",
                |text| flag(text).map(Some),
                || None,
            )?,
            access_key: secret(layers, ["s3_access_key", "s3_access_key_file"], "not empty", some)?,
            secret_key: secret(layers, ["s3_secret_key", "s3_secret_key_file"], "not empty", some)?,
        };
        let keys = [settings.access_key.is_set(), settings.secret_key.is_set()];
        match &settings.bucket {
            Some(_) if keys != [true, true] => Err(ConfigError::Conflict(
                "HELMDECK_S3_BUCKET needs HELMDECK_S3_ACCESS_KEY and HELMDECK_S3_SECRET_KEY",
            )),
            None if keys.contains(&true) || settings.endpoint.is_some() => {
                Err(ConfigError::Conflict(
                    "HELMDECK_S3_ENDPOINT, HELMDECK_S3_ACCESS_KEY and HELMDECK_S3_SECRET_KEY need \
                     HELMDECK_S3_BUCKET",
                ))
            }
            _ => Ok(settings),
        }
    }

    /// The secret setting with this key, also if it names a file.
    pub(super) fn secret(&self, key: &str) -> Option<&SecretSetting> {
        match key.strip_suffix("_file").unwrap_or(key) {
            "s3_access_key" => Some(&self.access_key),
            "s3_secret_key" => Some(&self.secret_key),
            _ => None,
        }
    }

    /// Where requests name the bucket.
    fn addressing(&self) -> Addressing {
        match self.path_style.unwrap_or(self.endpoint.is_some()) {
            true => Addressing::Path,
            false => Addressing::VirtualHost,
        }
    }

    /// The bucket, if one is set. Reads the files that settings name.
    pub(crate) fn bucket_settings(&self) -> Result<Option<BucketSettings>, VaultError> {
        let Some(bucket) = self.bucket.clone() else { return Ok(None) };
        let text = |key: Option<SecretString>| key.unwrap_or_default();
        let endpoint = self.endpoint.clone();
        Ok(Some(BucketSettings {
            endpoint: endpoint.unwrap_or_else(|| Endpoint::aws(&self.region)),
            region: self.region.clone(),
            bucket,
            prefix: self.prefix.clone(),
            addressing: self.addressing(),
            access_key: text(self.access_key.text()?).expose_secret().to_owned(),
            secret_key: text(self.secret_key.text()?),
            limits: RequestDeadlines::default(),
        }))
    }
}

fn is_plain(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
}

fn bucket(text: &str) -> Option<Option<String>> {
    match text {
        "" => Some(None),
        text => ((3..=63).contains(&text.len()) && is_plain(text)).then(|| Some(text.to_owned())),
    }
}

fn region(text: &str) -> Option<String> {
    (is_plain(text) && (1..=63).contains(&text.len())).then(|| text.to_owned())
}

fn prefix(text: &str) -> Option<String> {
    let text = text.trim_matches('/');
    let part = |part: &str| is_plain(part) && !matches!(part, "" | "." | "..");
    (text.is_empty() || (text.len() <= 200 && text.split('/').all(part))).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    const KEYS: [(&str, &str); 3] = [
        ("HELMDECK_S3_BUCKET", "my-files"),
        ("HELMDECK_S3_ACCESS_KEY", "AKIA"),
        ("HELMDECK_S3_SECRET_KEY", "hunter2"),
    ];

    fn load(env: &[(&str, &str)]) -> Result<Config, ConfigError> {
        let env = env.iter().copied().chain([("HELMDECK_DATA_DIR", "/nonexistent")]);
        Config::load(None, env.map(|(name, value)| (name.to_owned(), value.to_owned())))
    }

    fn settings(env: &[(&str, &str)]) -> BucketSettings {
        let env: Vec<_> = KEYS.iter().chain(env).copied().collect();
        load(&env).unwrap().s3.bucket_settings().unwrap().unwrap()
    }

    #[test]
    fn artifacts_are_in_the_data_directory_unless_a_bucket_is_set() {
        assert!(load(&[]).unwrap().s3.bucket_settings().unwrap().is_none());
        let aws = settings(&[("HELMDECK_S3_REGION", "eu-west-1")]);
        assert_eq!(aws.endpoint.to_string(), "https://s3.eu-west-1.amazonaws.com");
        assert_eq!(aws.addressing, Addressing::VirtualHost);
        let own = settings(&[("HELMDECK_S3_ENDPOINT", "http://10.0.0.7:9000")]);
        assert_eq!(own.endpoint.to_string(), "http://10.0.0.7:9000");
        assert_eq!((own.addressing, own.region.as_str()), (Addressing::Path, "us-east-1"));
        let plain = settings(&[
            ("HELMDECK_S3_ENDPOINT", "garage:3900"),
            ("HELMDECK_S3_USE_SSL", "false"),
            ("HELMDECK_S3_PATH_STYLE", "false"),
            ("HELMDECK_S3_PREFIX", "/team/a/"),
        ]);
        assert_eq!(plain.endpoint.to_string(), "http://garage:3900");
        assert_eq!((plain.addressing, plain.prefix.as_str()), (Addressing::VirtualHost, "team/a"));
    }

    #[test]
    fn an_incomplete_bucket_is_refused() {
        for missing in 0..3 {
            let mut env = KEYS.to_vec();
            env.remove(missing);
            let error = load(&env).unwrap_err().to_string();
            assert!(error.contains("HELMDECK_S3_BUCKET") && !error.contains("hunter2"), "{error}");
        }
        for (name, bad) in [
            ("ENDPOINT", "https://s3.example.com/path"),
            ("ENDPOINT", "ftp://s3.example.com"),
            ("PREFIX", "a/../b"),
            ("PREFIX", "a b"),
            ("REGION", "eu west"),
            ("PATH_STYLE", "yes"),
        ] {
            let name = format!("HELMDECK_S3_{name}");
            let env: Vec<_> = KEYS.into_iter().chain([(name.as_str(), bad)]).collect();
            assert!(load(&env).unwrap_err().to_string().contains(&name), "{name}={bad}");
        }
    }

    #[test]
    fn keys_come_from_variables_or_files_and_are_never_shown() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("secret");
        std::fs::write(&file, "from a file\n").unwrap();
        let file = ("HELMDECK_S3_SECRET_KEY_FILE", file.to_str().unwrap());
        let config = load(&[KEYS[0], KEYS[1], file]).unwrap();
        let settings = config.s3.bucket_settings().unwrap().unwrap();
        assert_eq!(settings.secret_key.expose_secret(), "from a file");
        assert!(config.show().contains("s3_secret_key_file = \"/"), "{}", config.show());

        let config = load(&KEYS).unwrap();
        let shown = config.show();
        assert!(
            shown.contains("s3_bucket = \"my-files\"")
                && shown.contains("s3_secret_key = \"••••\"")
        );
        let settings = config.s3.bucket_settings().unwrap().unwrap();
        for text in [shown, format!("{config:?}"), format!("{settings:?}")] {
            assert!(!text.contains("hunter2"), "{text}");
        }
    }
}
