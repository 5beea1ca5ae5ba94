//! End-to-end tests with the real binary, real sandboxes and a real browser.
//!
//! Each test starts its own server. All tests run as root and as an ordinary user.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may"
)]

mod attach;
mod audit;
mod auth;
mod backup;
mod browser;
mod browser_containment;
mod cancel;
mod cast;
mod cdp;
mod code_edit_loop;
mod commands;
mod concurrency;
mod connect;
mod control;
mod crashes;
mod crowds;
mod debugging;
mod desktop;
mod disk;
mod documents;
mod egress;
mod env;
mod exec;
mod extensions;
mod faults;
mod files;
mod find;
mod forwards;
mod git_credentials;
mod git_server;
mod git_ssh;
mod inheritance;
mod isolation;
mod leftovers;
mod lifetimes;
mod limits;
mod live;
mod make_up;
mod mcp;
mod network;
mod observe;
mod outdated;
mod pack_commands;
mod packages;
mod packs;
mod pages;
mod passthrough;
mod pictures;
mod pointing;
mod portable;
mod private;
mod processes;
mod profiles;
mod proxy;
mod readme;
mod rebinding;
mod refusals;
mod runtime;
mod sessions;
mod soak;
mod ssh_server;
mod structured;
mod terminal;
mod tls;
mod tool_doors;
mod tools;
mod typing;
mod vault;
mod verify;
mod vision_mcp;
mod vision_packs;
mod vnc;
mod wall;
mod web_packs;
mod windows;
mod workspace;
