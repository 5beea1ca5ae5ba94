//! Sessions: who owns them, how they start, live and end.
//!
//! The heart of the product. It knows no HTTP and no X11: sandboxes come from a
//! [`helmdeck_runtime::Runtime`], actions travel over a [`helmdeck_link`].

mod caller;
mod driver;
mod egress;
mod error;
mod lifecycle;
mod record;
mod registry;
mod session;
mod spec;

pub use caller::{Caller, Scope};
pub use error::SessionError;
pub use helmdeck_link::Reply;
pub use registry::{Config, Sessions};
pub use session::Session;
