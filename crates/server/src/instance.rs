//! This server's claim on its data directory.

use std::{fs::DirBuilder, io, os::unix::fs::DirBuilderExt, path::Path, sync::Arc};

use helmdeck_sessions::Clock;
use helmdeck_store::Store;
use helmdeck_task::BoxFuture;

use crate::{Config, McpFixtures, ServerError, lock::Lock};

/// A locked data directory with its open store.
#[derive(Debug)]
pub struct Instance {
    pub(crate) config: Config,
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) mcp_fixtures: Option<Arc<dyn McpFixtures>>,
    id: String,
    _lock: Lock,
}

impl Instance {
    /// Creates the data directory if needed, locks it and opens the store. Fails if another server
    /// uses the directory.
    pub fn open(config: Config) -> BoxFuture<'static, Result<Self, ServerError>> {
        Box::pin(async move {
            make_data_dir(&config.data_dir)
                .map_err(|source| ServerError::File { path: config.data_dir.clone(), source })?;
            let lock = Lock::take(&config.data_dir)?;
            if let Err(error) = config.record() {
                tracing::warn!("failed to store the settings for `make up`: {error}");
            }
            let store = Store::open(&config.data_dir).await?;
            let id = store.instance_id().await?;
            Ok(Self { config, store, clock: Clock::default(), mcp_fixtures: None, id, _lock: lock })
        })
    }

    /// The same with another clock for limits and leases of sessions.
    pub fn with_clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// The same with further MCP tools, prompts and resources, for tests of the protocol.
    pub fn with_mcp_fixtures(self, fixtures: Arc<dyn McpFixtures>) -> Self {
        Self { mcp_fixtures: Some(fixtures), ..self }
    }

    /// Identifies this installation on the machine. Survives restarts.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The settings in effect.
    pub fn config(&self) -> &Config {
        &self.config
    }
}

/// Creates a private directory. An existing one is left unchanged.
pub fn make_data_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}
