//! One file per noun of the API. Handlers only translate.

pub mod attach;
pub mod auth;
pub mod cast;
pub mod cdp;
pub mod connect;
pub mod control;
pub mod desktop;
pub mod egress;
pub mod ended;
pub mod events;
pub mod exec;
pub mod extensions;
pub mod files;
pub mod forwards;
pub mod health;
pub mod live;
pub mod metrics;
pub mod openapi;
pub mod pages;
pub mod private;
pub mod profiles;
pub mod sessions;
pub mod settings;
pub mod tokens;
pub mod tools;
pub mod wall;
