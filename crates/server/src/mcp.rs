//! The MCP door: every tool of the table for MCP clients, at `/mcp`.
//!
//! rmcp speaks the protocol in all its revisions; this module decides what is listed, who may call it,
//! in which session, and what a reply looks like. Tools, scopes, ownership and control are those of the
//! HTTP API: the same rows of the same table.

mod arguments;
mod builtin;
mod call;
mod catalogue;
mod client;
mod context_budgets;
mod current_session;
mod door;
mod fixtures;
mod http;
mod instructions;
mod keep_alive;
mod lean_schema;
mod legacy_tasks;
mod live_sessions;
mod long_reply;
mod own_host;
mod pack_call;
mod pictures;
mod portable_schema;
mod profile;
mod progress;
mod prompts;
mod reply;
mod resources;
mod routing_guide;
mod search;
mod session_store;
mod sse;
mod subscriptions;
mod tasks;
mod uri;

use std::sync::{Arc, OnceLock};

use parking_lot::RwLock;
use tokio::sync::watch;

use crate::Tool;

pub use self::http::{challenge, metadata, serve};
pub use catalogue::{is_offered, mcp_name};
pub use fixtures::Fixtures;
pub use sse::{open as open_sse, post as post_sse};

/// What the MCP door keeps while the server runs.
#[derive(Default)]
pub struct Mcp {
    endpoint: OnceLock<http::Endpoint>,
    catalogue: RwLock<Option<Arc<catalogue::Catalogue>>>,
    /// How often the list of tools changed.
    tool_changes: watch::Sender<u64>,
    texts: long_reply::Texts,
    current_sessions: current_session::CurrentSessions,
    sse: sse::Connections,
    /// Only tests set it.
    pub fixtures: OnceLock<Arc<dyn Fixtures>>,
}

impl Mcp {
    /// Lists these tools from now on, and tells clients.
    pub fn tools_changed(&self, tools: &[Arc<Tool>]) {
        *self.catalogue.write() = Some(Arc::new(catalogue::Catalogue::new(tools)));
        self.tools_may_differ();
    }

    /// Tells clients to list the tools again: what they may list can depend on more than the tools, such
    /// as keys of models.
    pub fn tools_may_differ(&self) {
        self.tool_changes.send_modify(|changes| *changes += 1);
    }
}
