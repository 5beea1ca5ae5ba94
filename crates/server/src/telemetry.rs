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
