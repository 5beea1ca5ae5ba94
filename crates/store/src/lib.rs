//! What survives a restart: the admin account and the name of this installation.
//!
//! One SQLite file, `helmdeck.db` in the data directory. What is running is never written here;
//! the runtime knows that.

mod admin;
mod error;
mod instance;
mod store;

pub use admin::Admin;
pub use error::StoreError;
pub use store::Store;
