//! Settings that an admin can change at runtime: stored in the database and cached in memory.

use std::sync::atomic::{AtomicBool, Ordering};

use helmdeck_gateway::{ModelId, PinnedModel};
use helmdeck_store::{Store, StoreError};
use helmdeck_wire::{
    ErrorCode,
    settings::{ChangeSettings, Feature, Settings as Shown},
};
use time::OffsetDateTime;

use crate::error::ApiError;

const PASSTHROUGH: &str = "browser_passthrough";
const VISION_MODEL: &str = "vision_model";
const ON: &str = "on";
const OFF: &str = "off";

/// Why a setting was not changed.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The configuration enables it.
    #[error(
        "browser_passthrough: the server's configuration turned it on, with \
         HELMDECK_BROWSER_PASSTHROUGH or in its file; turn it off there"
    )]
    FixedByConfiguration,
    /// It could not be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<SettingsError> for ApiError {
    fn from(error: SettingsError) -> Self {
        match error {
            SettingsError::FixedByConfiguration => {
                Self::new(ErrorCode::InvalidInput, error.to_string())
            }
            SettingsError::Store(error) => error.into(),
        }
    }
}

/// The settings of this server.
pub struct Settings {
    store: Store,
    /// Whether the configuration enables it.
    configured: bool,
    passthrough: AtomicBool,
    vision_model: PinnedModel,
}

impl Settings {
    pub async fn load(
        store: Store,
        configured: bool,
        vision_model: PinnedModel,
    ) -> Result<Self, StoreError> {
        let passthrough = store.setting(PASSTHROUGH).await?.is_some_and(|value| value == ON);
        let pinned = store.setting(VISION_MODEL).await?;
        vision_model.set(pinned.and_then(|id| ModelId::parse(&id).ok()));
        Ok(Self { store, configured, passthrough: passthrough.into(), vision_model })
    }

    /// Whether new sessions watch browsers that agents start.
    pub fn browser_passthrough(&self) -> bool {
        self.configured || self.passthrough.load(Ordering::Relaxed)
    }

    pub fn show(&self) -> Shown {
        let enabled = self.browser_passthrough();
        Shown {
            browser_passthrough: Feature { enabled, by_configuration: self.configured },
            vision_model: self.vision_model.get().map(|id| id.to_string()),
        }
    }

    /// Pins the model of vision permanently, or unpins it.
    pub async fn pin_vision_model(
        &self,
        model: Option<ModelId>,
        by: &str,
    ) -> Result<(), SettingsError> {
        let value = model.as_ref().map(ToString::to_string).unwrap_or_default();
        self.store.set_setting(VISION_MODEL, &value, by, OffsetDateTime::now_utc()).await?;
        tracing::info!(setting = VISION_MODEL, value, by, "Setting changed");
        self.vision_model.set(model);
        Ok(())
    }

    /// Changes the given settings permanently. Fails without a change if they cannot be stored, or
    /// if the configuration fixes them.
    pub async fn change(&self, change: &ChangeSettings, by: &str) -> Result<(), SettingsError> {
        if self.configured && change.browser_passthrough == Some(false) {
            return Err(SettingsError::FixedByConfiguration);
        }
        if let Some(on) = change.browser_passthrough {
            let value = if on { ON } else { OFF };
            self.store.set_setting(PASSTHROUGH, value, by, OffsetDateTime::now_utc()).await?;
            self.passthrough.store(on, Ordering::Relaxed);
            tracing::info!(setting = PASSTHROUGH, value, by, "Setting changed");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_setting_fixed_by_configuration_cannot_be_turned_off() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let turn =
            |on| ChangeSettings { browser_passthrough: Some(on), ..ChangeSettings::default() };

        let fixed = Settings::load(store.clone(), true, PinnedModel::default()).await.unwrap();
        let refused = fixed.change(&turn(false), "ann").await.unwrap_err();
        assert!(matches!(refused, SettingsError::FixedByConfiguration));
        assert!(fixed.browser_passthrough());
        assert_eq!(store.setting(PASSTHROUGH).await.unwrap(), None);
        fixed.change(&turn(true), "ann").await.unwrap();

        let free = Settings::load(store, false, PinnedModel::default()).await.unwrap();
        assert!(free.browser_passthrough(), "it is enabled");
        free.change(&turn(false), "ann").await.unwrap();
        assert!(!free.browser_passthrough());
    }
}
