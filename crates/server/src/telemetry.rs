//! Logging to stderr, for people or programs.

use std::io::{IsTerminal, stderr};

use tracing_subscriber::EnvFilter;

use crate::{Config, ServerError, config::LogFormat};

/// Starts logging. Call once, before anything else.
pub fn init(config: &Config) -> Result<(), ServerError> {
    // rmcp calls it an error when a client hangs up.
    let filter = format!("rmcp=off,{}", config.log);
    let filter = EnvFilter::try_new(filter).map_err(|e| ServerError::Log(Box::new(e)))?;
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr);
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
