//! The control plane: REST, authentication, configuration.
//!
//! Start with `router.rs`, which lists every operation. A request passes `request_log.rs` (request
//! id, log, panics), `auth.rs` (token and scope) and a thin handler in `routes/`, and then goes to
//! [`helmdeck_sessions`].

mod a2a;
mod accept;
pub mod admin;
mod app;
pub mod artifact_store;
mod attach;
pub mod audit;
mod auth;
pub mod backup;
mod body;
mod cast;
mod cdp;
mod client_address;
mod closing;
pub mod config;
mod connect;
mod connection_limits;
mod cookie;
mod error;
mod event_ids;
mod forward;
mod housekeeping;
mod input;
mod input_journal;
mod instance;
mod lock;
mod login;
mod login_queue;
mod login_throttle;
mod mcp;
mod mcp_clients;
mod media_type;
mod metrics;
mod minting;
mod multipart;
mod openapi;
mod operation;
mod origin;
mod own_api;
mod pack_engine;
mod password;
mod public;
mod query;
mod relay;
mod request_log;
mod revocation;
mod router;
mod routes;
mod serve;
mod settings;
mod skill;
mod table;
pub mod telemetry;
mod terminal;
mod ticket;
pub mod tls;
pub mod token;
mod token_use;
mod tool;
mod upload_body;
mod vnc_ports;
mod wall;

pub use app::{App, Shutdown, Started, run};
pub use config::{Change, Config};
pub use error::ServerError;
pub use helmdeck_sessions::{Clock, ClockControl, Scope};
pub use instance::Instance;
pub use mcp::Fixtures as McpFixtures;
pub use mcp_clients::{McpClients, SeenClient};
pub use operation::{Access, Operation};
pub use table::{operations, tools};
pub use tool::{Effect, Nature, Style, Substrate, Surface, Tool};
