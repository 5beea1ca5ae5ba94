//! Logging to stderr, for people or programs.

use std::io::{self, IsTerminal, Write, stderr};

use helmdeck_store::vault::redact_used;
use tracing_subscriber::EnvFilter;

use crate::{Config, ServerError, config::LogFormat};

/// Starts logging. Call once, before anything else.
pub fn init(config: &Config) -> Result<(), ServerError> {
    // rmcp calls it an error when a client hangs up.
    let filter = format!("rmcp=off,{}", config.log);
    let filter = EnvFilter::try_new(filter).map_err(|e| ServerError::Log(Box::new(e)))?;
    let lines =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| Redacted(stderr()));
    // A failure to log on a full disk would otherwise panic.
    let lines = lines.log_internal_errors(false);
    match config.log_format {
        LogFormat::Human => lines.with_ansi(stderr().is_terminal()).with_target(false).try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    }
    .map_err(ServerError::Log)?;
    for warning in &config.warnings {
        tracing::warn!("{warning}");
    }
    Ok(())
}

/// Writes log lines without secrets of the vault that were used.
struct Redacted<W>(W);

impl<W: Write> Write for Redacted<W> {
    /// Each call has a whole line.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.write_all(&redact_used(line))?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use helmdeck_sessions::Caller;
    use helmdeck_store::{
        Store,
        vault::{KeySource, Vault, VaultSetup, key_file},
    };

    use super::*;

    #[tokio::test]
    async fn a_secret_that_was_used_is_removed_from_log_lines() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let key = KeySource::File(key_file(dir.path()));
        let setup = VaultSetup { key, old: None, environment: Vec::new() };
        let vault = Vault::open(&store, setup).await.unwrap();
        let ann = Caller { subject: "ann".into(), ..Caller::default() };
        let new = r#"{"name": "a", "type": "api_key", "host_pattern": "a.example"}"#;
        let new = serde_json::from_str(new).unwrap();
        vault.add(&ann, new, b"log-secret-1".into()).await.unwrap();

        let mut lines = Redacted(Vec::new());
        lines.write_all(b"before log-secret-1\n").unwrap();
        vault.resolve(&ann, "a", "a.example").await.unwrap();
        lines.write_all(b"after log-secret-1\n").unwrap();
        let lines = String::from_utf8(lines.0).unwrap();
        assert_eq!(lines, "before log-secret-1\nafter •••\n");
    }
}
