//! One file per noun of the API. Handlers translate; they decide nothing.

pub mod auth;
pub mod desktop;
pub mod health;
pub mod home;
pub mod metrics;
pub mod openapi;
pub mod sessions;
