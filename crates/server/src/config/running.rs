//! The settings of the running server, stored next to `server.pid`, so that `make up` can tell
//! whether a restart would change anything.
//!
//! Secrets are not stored, only their origin. A secret in a variable is compared with the
//! environment of the running process, which only its owner can read. A secret in the file counts
//! as changed when the file has changed.

use std::{
    collections::BTreeMap,
    fmt,
    fs::{self, OpenOptions},
    io::{self, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use secrecy::{ExposeSecret, SecretString};

use super::{Config, Origin};
use crate::tls::self_signed;

/// Name of the file in the data directory.
const FILE: &str = "server.settings";

/// Stored names and values.
type Kept = BTreeMap<String, String>;

/// A setting whose value would change with a restart.
#[derive(Debug, PartialEq, Eq)]
pub struct Change {
    key: String,
    /// Before and after; `None` for secrets.
    values: Option<(String, String)>,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.values {
            Some((before, after)) => write!(f, "{}: {before} -> {after}", self.key),
            None => write!(f, "{}: changed", self.key),
        }
    }
}

impl Config {
    /// Stores the settings for [`Config::changes`] of a later command.
    pub fn record(&self) -> io::Result<()> {
        let path = self.data_dir.join(FILE);
        let unfinished = path.with_extension("settings.new");
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&unfinished)?;
        file.write_all(serde_json::to_string_pretty(&self.kept())?.as_bytes())?;
        fs::rename(unfinished, path)
    }

    /// The differences between these settings and those of the server that runs on the same data
    /// directory.
    pub fn changes(&self) -> io::Result<Vec<Change>> {
        let before: Kept = serde_json::from_slice(&fs::read(self.data_dir.join(FILE))?)?;
        let running = environment_of_server(&self.data_dir);
        let after = self.kept();
        let changed = |(key, after): (&String, &String)| {
            let before = before.get(key).map_or("not known", String::as_str);
            match self.secret(key) {
                Some(secret) => {
                    let same = before == after && self.is_unchanged(key, secret, running.as_ref());
                    (!same).then(|| Change { key: key.clone(), values: None })
                }
                None => (before != after).then(|| Change {
                    key: key.clone(),
                    values: Some((before.to_owned(), after.clone())),
                }),
            }
        };
        Ok(after.iter().filter_map(changed).collect())
    }

    /// The file with the certificate of the server that runs on this data directory and address, if it
    /// speaks TLS. `helmdeck serve` may have been given options that other commands do not see.
    pub fn certificate_in_use(&self) -> Option<PathBuf> {
        let own = self.kept();
        let running = fs::read(self.data_dir.join(FILE)).ok();
        let running = running.and_then(|text| serde_json::from_slice::<Kept>(&text).ok());
        let kept = running.filter(|kept| kept.get("addr") == own.get("addr")).unwrap_or(own);
        if kept.get("tls_self_signed").is_some_and(|value| value == "true") {
            return Some(self_signed::files(&self.data_dir).cert);
        }
        let table = format!("cert = {}", kept.get("tls_cert")?).parse::<toml::Table>().ok()?;
        let path = table.get("cert")?.as_str()?;
        (!path.is_empty()).then(|| path.into())
    }

    fn kept(&self) -> Kept {
        let value = |(key, origin): &(&'static str, Origin)| {
            let value = match (self.secret(key), origin) {
                (None, _) => self.rendered(key).unwrap_or_else(|| "not set".to_owned()),
                (Some(_), Origin::Default) => "not set".to_owned(),
                (Some(_), Origin::Env(variable)) => format!("from {variable}"),
                (Some(_), Origin::File(path)) => {
                    format!("from {} of {}", path.display(), time_of_change(path))
                }
            };
            ((*key).to_owned(), value)
        };
        self.origins.iter().map(value).collect()
    }

    /// The value of a secret setting; `None` if the setting is not secret.
    fn secret(&self, key: &str) -> Option<Option<&SecretString>> {
        match key {
            "jwt_secret" => Some(self.jwt_secret.as_ref()),
            "admin_password" => Some(self.admin_password.as_ref()),
            "profile_key" => Some(self.profile_key.as_ref()),
            "otlp_headers" => Some(self.traces.headers.as_ref()),
            // The path of a file is not secret.
            key if key.ends_with("_file") => None,
            key => Some(self.secret_setting(key)?.value.as_ref()),
        }
    }

    /// Whether a secret from the same origin is unchanged. If it cannot be compared, it counts as
    /// unchanged.
    fn is_unchanged(
        &self,
        key: &str,
        secret: Option<&SecretString>,
        running: Option<&BTreeMap<Vec<u8>, Vec<u8>>>,
    ) -> bool {
        let origin = self.origins.iter().find(|(name, _)| *name == key).map(|(_, origin)| origin);
        let (Some(Origin::Env(variable)), Some(running), Some(secret)) = (origin, running, secret)
        else {
            return true;
        };
        running.get(variable.as_bytes()).map(Vec::as_slice)
            == Some(secret.expose_secret().as_bytes())
    }
}

/// Nanoseconds; zero if unreadable.
fn time_of_change(path: &PathBuf) -> i128 {
    fs::metadata(path).map_or(0, |about| {
        i128::from(about.mtime()) * 1_000_000_000 + i128::from(about.mtime_nsec())
    })
}

/// The environment of the process in `server.pid`; `None` if it is gone or belongs to another user.
fn environment_of_server(data_dir: &Path) -> Option<BTreeMap<Vec<u8>, Vec<u8>>> {
    let pid = fs::read_to_string(data_dir.join("server.pid")).ok()?;
    let pid: u32 = pid.trim().parse().ok()?;
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let variables = environment.split(|byte| *byte == 0);
    let pairs = variables.filter_map(|variable| {
        let at = variable.iter().position(|byte| *byte == b'=')?;
        Some((variable.get(..at)?.to_vec(), variable.get(at + 1..)?.to_vec()))
    });
    Some(pairs.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(dir: &Path, env: &[(&str, &str)]) -> Config {
        let dir = ("HELMDECK_DATA_DIR".to_owned(), dir.to_str().unwrap().to_owned());
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Config::load(None, env.chain([dir])).unwrap()
    }

    fn changes(config: &Config) -> Vec<String> {
        config.changes().unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_setting_that_changed_since_the_start_is_named_with_both_values() {
        let dir = tempfile::tempdir().unwrap();
        load(dir.path(), &[]).record().unwrap();
        assert_eq!(changes(&load(dir.path(), &[])), [""; 0]);
        let env = [("HELMDECK_ADDR", "127.0.0.1:3001"), ("HELMDECK_IDLE_TIMEOUT_S", "60")];
        assert_eq!(
            changes(&load(dir.path(), &env)),
            ["addr: \"127.0.0.1:3000\" -> \"127.0.0.1:3001\"", "idle_timeout_s: 300 -> 60"]
        );
        std::fs::write(dir.path().join("helmdeck.toml"), "idle_timeout_s = 300").unwrap();
        assert_eq!(changes(&load(dir.path(), &[])), [""; 0], "the same value from another place");
    }

    #[test]
    fn the_certificate_of_a_server_that_was_started_with_options_is_known() {
        let dir = tempfile::tempdir().unwrap();
        let plain = load(dir.path(), &[]);
        assert_eq!(plain.certificate_in_use(), None);
        load(dir.path(), &[("HELMDECK_TLS_SELF_SIGNED", "true")]).record().unwrap();
        let made = dir.path().join("tls/self-signed.pem");
        assert_eq!(plain.certificate_in_use(), Some(made));
        let files = [("HELMDECK_TLS_CERT", "/a \"b\".pem"), ("HELMDECK_TLS_KEY", "/k.pem")];
        load(dir.path(), &files).record().unwrap();
        assert_eq!(plain.certificate_in_use(), Some("/a \"b\".pem".into()));
        let elsewhere = load(dir.path(), &[("HELMDECK_ADDR", "127.0.0.1:3001")]);
        assert_eq!(elsewhere.certificate_in_use(), None);
    }

    #[test]
    fn a_secret_that_changed_is_named_and_neither_kept_nor_shown() {
        let dir = tempfile::tempdir().unwrap();
        load(dir.path(), &[("HELMDECK_ADMIN_PASSWORD", "open sesame")]).record().unwrap();
        let kept = std::fs::read_to_string(dir.path().join(FILE)).unwrap();
        assert!(!kept.contains("sesame"), "{kept}");
        assert_eq!(changes(&load(dir.path(), &[])), ["admin_password: changed"]);

        // A process whose environment has another value.
        let mut sleeper = std::process::Command::new("sleep")
            .arg("60")
            .env("HELMDECK_ADMIN_PASSWORD", "open sesame")
            .spawn()
            .unwrap();
        std::fs::write(dir.path().join("server.pid"), sleeper.id().to_string()).unwrap();
        let same = load(dir.path(), &[("HELMDECK_ADMIN_PASSWORD", "open sesame")]);
        let other = load(dir.path(), &[("HELMDECK_ADMIN_PASSWORD", "another word")]);
        // Before exec, its environment is still ours.
        let known = || environment_of_server(dir.path()).unwrap_or_default();
        while !known().contains_key(b"HELMDECK_ADMIN_PASSWORD".as_slice()) {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let found = (changes(&same), changes(&other));
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        assert_eq!(found, (vec![], vec!["admin_password: changed".to_owned()]));
    }

    #[test]
    fn a_secret_in_a_file_that_changed_counts_as_changed() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("helmdeck.toml");
        std::fs::write(&file, "admin_password = \"open sesame\"").unwrap();
        load(dir.path(), &[]).record().unwrap();
        assert_eq!(changes(&load(dir.path(), &[])), [""; 0]);
        std::fs::remove_file(&file).unwrap();
        std::fs::write(&file, "admin_password = \"another word\"").unwrap();
        assert_eq!(changes(&load(dir.path(), &[])), ["admin_password: changed"]);
    }
}
