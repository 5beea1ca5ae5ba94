//! A2A: packs as skills for other agents, and jobs as their tasks.
//!
//! `a2a/card.rs` describes the skills. `a2a/rpc.rs` answers JSON-RPC in the versions 1.0 and 0.3 of the
//! protocol, which differ in names of methods and states and in the shape of parts (`a2a/version.rs`).
//! Jobs, scopes and ownership are those of the rest of the API.

mod card;
mod error;
mod message;
mod rpc;
mod stream;
mod task;
mod version;

pub use card::card;
pub use rpc::serve;

/// Where the endpoint is.
pub const PATH: &str = "/a2a/v1";
