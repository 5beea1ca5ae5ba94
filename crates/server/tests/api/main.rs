//! API tests with the real server on a real socket, one module per noun.
//!
//! Nothing here starts a sandbox: sessions are fake guests behind the real link
//! ([`helmdeck_testkit::fake`]), or cannot start at all ([`nowhere`]). Screen and browser are
//! tested end to end elsewhere.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may"
)]

mod a2a;
mod access;
mod artifact_packs;
mod artifacts;
mod assertions;
mod attached;
mod audit;
mod auth;
mod behind_proxy;
mod browser_packs;
mod cancel;
mod cast;
mod cdp;
mod client;
mod clock;
mod command_packs;
mod connect;
mod connections;
mod control;
mod desktop;
mod documents;
mod drain;
mod email;
mod ended;
mod events;
mod every_row;
mod faults;
mod files;
mod forwards;
mod github;
mod health;
mod http_fetch;
mod jobs;
mod lifetimes;
mod live;
mod log_capture;
mod mcp;
mod metrics;
mod models;
mod nowhere;
mod openapi;
mod outdated;
mod outside;
mod ownership;
mod packs;
mod pages;
mod paths;
mod profiles;
mod providers;
mod refusals;
mod s3;
mod sessions;
mod settings;
mod spans;
mod tls;
mod tokens;
mod trace;
mod vault;
mod vision;
mod vision_control;
mod vision_faults;
mod vision_pack_ends;
mod vision_packs;
mod web_test;
mod webhooks;
