//! Retention settings of recorded actions.

use super::{
    layers::{ConfigError, Layers},
    whole,
};

/// How long and how much to keep.
#[derive(Debug, Clone, Copy)]
pub struct ActionLog {
    /// `HELMDECK_ACTION_LOG_DAYS`: how many days the action log, ended sessions and their last pictures
    /// are kept; 0 keeps them forever. Default 30.
    pub days: u32,
    /// `HELMDECK_ACTION_LOG_PER_SESSION`: how many actions of each session are kept, newest first; 0
    /// keeps all. Default 10000.
    pub per_session: u32,
}

impl ActionLog {
    pub(super) fn read(layers: &mut Layers) -> Result<Self, ConfigError> {
        Ok(Self {
            days: layers.value(
                "action_log_days",
                "a number of days from 1 to 36500, or 0 to keep them forever",
                |text| whole(text, 0, 36_500),
                || 30,
            )?,
            per_session: layers.value(
                "action_log_per_session",
                "a number from 1 to 1000000000, or 0 for all",
                |text| whole(text, 0, 1_000_000_000),
                || 10_000,
            )?,
        })
    }
}
