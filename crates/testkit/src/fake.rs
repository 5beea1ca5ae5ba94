//! The real server in this process, on a runtime whose sandboxes are fake guests.
//!
//! The guests speak the real link over in-memory streams, so everything from the client's socket to
//! the link is real: authentication, ownership, tickets, events, leases, limits. Replies of desktop
//! and browser are generated from the reply schemas of the OpenAPI document. Starting takes
//! milliseconds.

mod cast;
mod cdp;
mod exec;
mod files;
mod guest;
mod mcp;
mod picture;
mod rfb;
mod router;
mod row;
mod runtime;
mod sample;
mod server;

pub use guest::{FakeGuest, GuestCall, State};
pub use row::{Reply, Row};
pub use runtime::FakeRuntime;
pub use sample::sample;
pub use server::{FakeServer, SECRET};
