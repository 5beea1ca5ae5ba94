//! What an admin can change while the server runs: kept in the store, at hand in memory.

use std::sync::atomic::{AtomicBool, Ordering};

use helmdeck_store::{Store, StoreError};
use helmdeck_wire::settings::{ChangeSettings, Feature, Settings as Shown};
use time::OffsetDateTime;

const PASSTHROUGH: &str = "browser_passthrough";
const ON: &str = "on";
const OFF: &str = "off";

/// The settings of this server.
pub struct Settings {
    store: Store,
    /// What the configuration turned on stays on.
    configured: bool,
    passthrough: AtomicBool,
}

impl Settings {
    pub async fn load(store: Store, configured: bool) -> Result<Self, StoreError> {
        let passthrough = store.setting(PASSTHROUGH).await?.is_some_and(|value| value == ON);
        Ok(Self { store, configured, passthrough: passthrough.into() })
    }

    /// Whether new sessions watch the browsers that agents start.
    pub fn browser_passthrough(&self) -> bool {
        self.configured || self.passthrough.load(Ordering::Relaxed)
    }

    pub fn show(&self) -> Shown {
        let enabled = self.browser_passthrough();
        Shown { browser_passthrough: Feature { enabled, by_configuration: self.configured } }
    }

    /// Changes what is given, for now and after a restart; nothing if it cannot be kept.
    pub async fn change(&self, change: &ChangeSettings, by: &str) -> Result<(), StoreError> {
        if let Some(on) = change.browser_passthrough {
            let value = if on { ON } else { OFF };
            self.store.set_setting(PASSTHROUGH, value, by, OffsetDateTime::now_utc()).await?;
            self.passthrough.store(on, Ordering::Relaxed);
            tracing::info!(setting = PASSTHROUGH, value, by, "Setting changed");
        }
        Ok(())
    }
}
