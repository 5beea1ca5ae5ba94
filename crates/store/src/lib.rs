//! Data that survives a restart.
//!
<<<<<<< HEAD
//! A SQLite file, `helmdeck.db` in the data directory: the admin account, the name of this
//! installation, which tokens were made and revoked, what was done in sessions and how they ended,
//! which ports are forwarded into those that live, what MCP clients work in, and what an admin changed. Beside it, files of
//! their owners: browser [`Profiles`] and [`Extensions`]. What is running is never written here; the
//! runtime knows that.
=======
//! A SQLite file, `helmdeck.db` in the data directory, holds the admin account, the installation's
//! id, tokens and revocations, recorded actions and ends of sessions, forwarded ports, and settings
//! that an admin changed. Next to it are files of their owners: browser [`Profiles`] and
//! [`Extensions`]. The state of running sessions is not stored here; the runtime has it.
>>>>>>> main

mod actions;
mod admin;
mod ends;
mod error;
mod extensions;
mod forwards;
mod instance;
mod mcp;
mod moment;
mod owner_dirs;
mod pieces;
mod profiles;
mod sealing;
mod settings;
mod store;
mod tokens;

pub use admin::Admin;
pub use ends::{End, Remains};
pub use error::StoreError;
pub use extensions::{ExtensionArchive, Extensions};
pub use pieces::Pieces;
pub use profiles::{ProfileReader, ProfileWriter, Profiles};
pub use sealing::SealingKey;
pub use store::Store;
