//! What survives a restart: the admin account, the name of this installation, which tokens were
//! made and revoked, what was done in sessions and how they ended, which ports are forwarded into those
//! that live, and what an admin changed.
//!
//! One SQLite file, `helmdeck.db` in the data directory. What is running is never written here;
//! the runtime knows that.

mod actions;
mod admin;
mod ends;
mod error;
mod forwards;
mod instance;
mod moment;
mod settings;
mod store;
mod tokens;

pub use admin::Admin;
pub use ends::{End, Remains};
pub use error::StoreError;
pub use store::Store;
