//! Packs: typed tools that finish, report and keep their results.
//!
//! A [`Pack`] is one file in `src/packs`: its input and output as types, what it needs, and a
//! function that gets a [`Context`]. The [`Engine`] runs packs as jobs, which the store keeps: a
//! job survives its caller, and a restart of the server either resumes it or ends it with a reason.

mod authorized;
mod browser_step;
mod command_packs;
mod context;
mod digest;
mod docling;
mod document;
mod endpoints;
mod engine;
mod error;
mod form_field;
mod git_credential;
mod git_gateway;
mod github;
mod glob;
mod http_client;
mod job_artifacts;
mod json;
mod leftovers;
mod manifest;
mod media;
mod models;
mod own_api;
mod pack;
mod packs;
mod page;
mod page_tools;
mod plain_text;
mod post_with_retries;
#[cfg(test)]
mod reference;
mod repo_overview;
mod repository;
mod run_registry;
mod script;
mod secrets;
mod session_file;
mod session_use;
mod ssh_address;
mod toolset;
mod vision_run;
mod webhook;
mod write_file;

pub use crate::session_use::NamedSession;
pub use context::Context;
pub use endpoints::{Endpoint, Endpoints};
pub use engine::{Engine, EngineLimits, Options, RETENTION, Services};
pub use error::{PackError, PackResult};
pub use http_client::{HttpClient, HttpRequest, HttpResponse};
pub use job_artifacts::JobArtifacts;
pub use models::{ModelBudget, Models};
pub use own_api::{OwnApi, OwnReply};
pub use pack::{Example, Input, ModelNeed, Needs, Pack, Routing, SessionNeed, Switch};
pub use packs::all as built_in;
pub use run_registry::{NewRun, RegisteredRun, RunEnd, RunRegistry};
pub use secrets::Secrets;
pub use toolset::{TOOLSETS, Toolset};
pub use webhook::Webhook;
