//! What survives a restart.
//!
//! A SQLite file, `helmdeck.db` in the data directory: the admin account, the name of this
//! installation, which tokens were made, used and revoked, what was done in sessions and how they ended,
//! which ports are forwarded into those that live, and what an admin changed. Beside it, files of
//! their owners: browser [`Profiles`] and [`Extensions`]. What is running is never written here; the
//! runtime knows that.

mod actions;
mod admin;
mod ends;
mod error;
mod extensions;
mod forwards;
mod instance;
mod moment;
mod owner_dirs;
mod pieces;
mod profiles;
mod sealing;
mod settings;
mod store;
mod token_use;
mod tokens;

pub use admin::Admin;
pub use ends::{End, Remains};
pub use error::StoreError;
pub use extensions::{ExtensionArchive, Extensions};
pub use pieces::Pieces;
pub use profiles::{ProfileReader, ProfileWriter, Profiles};
pub use sealing::SealingKey;
pub use store::Store;
pub use token_use::TokenClient;
