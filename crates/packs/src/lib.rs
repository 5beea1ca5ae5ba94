//! Packs: typed tools that finish, report and keep their results.
//!
//! A [`Pack`] is one file in `src/packs`: its input and output as types, what it needs, and a
//! function that gets a [`Context`]. The [`Engine`] runs packs as jobs, which the store keeps: a
//! job survives its caller, and a restart of the server either resumes it or ends it with a reason.

mod context;
mod digest;
mod engine;
mod error;
mod glob;
mod http;
mod job_artifacts;
mod pack;
mod packs;
mod repo_overview;
mod repository;
mod script;
mod secrets;
mod session_use;
mod webhook;
mod write_file;

pub use crate::session_use::NamedSession;
pub use context::Context;
pub use engine::{Engine, Limits, Options, Services};
pub use error::{PackError, PackResult};
pub use http::{HttpClient, HttpRequest, HttpResponse};
pub use job_artifacts::JobArtifacts;
pub use pack::{Input, Needs, Pack, Routing, SessionNeed};
pub use secrets::Secrets;
pub use webhook::Webhook;
