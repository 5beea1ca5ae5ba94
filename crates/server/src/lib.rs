//! The control plane: REST, authentication, configuration.
//!
//! Read `router.rs` first: it lists every operation. A request passes `request_log.rs` (request id, log,
//! panics), `auth.rs` (token and scope) and a handler in `routes/` that decides nothing; then it
//! belongs to [`helmdeck_sessions`].

mod accept;
pub mod admin;
mod app;
mod attach;
mod auth;
mod body;
mod cast;
mod cdp;
mod client_address;
mod closing;
pub mod config;
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
mod metrics;
mod openapi;
mod operation;
mod origin;
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
mod table;
pub mod telemetry;
mod terminal;
mod ticket;
pub mod tls;
pub mod token;
mod tool;
mod vnc_ports;
mod wall;

pub use app::{App, Shutdown, Started, run};
pub use config::{Change, Config};
pub use error::ServerError;
pub use helmdeck_sessions::{Clock, ClockControl, Scope};
pub use instance::Instance;
pub use operation::{Access, Operation};
pub use table::{operations, tools};
pub use tool::{Effect, Nature, Style, Substrate, Surface, Tool};
