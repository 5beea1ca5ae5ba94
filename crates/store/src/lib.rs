//! Data that survives a restart.
//!
//! A SQLite file, `helmdeck.db` in the data directory, holds the admin account, the installation's
//! id, tokens with their use, revocations, recorded actions and ends of sessions, forwarded ports,
//! sessions of MCP clients, settings that an admin changed, and the index of artifacts. Next to it are
//! files of their owners: browser [`Profiles`], [`Extensions`] and the content of [`Artifacts`]. The state of running sessions is not stored here; the runtime has it.

mod actions;
mod admin;
mod artifacts;
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
mod token_use;
mod tokens;

pub use admin::Admin;
pub use artifacts::{
    ArtifactFilter, ArtifactPage, ArtifactReader, ArtifactRules, Artifacts, LinkQuery, NewArtifact,
};
pub use ends::{End, Remains};
pub use error::StoreError;
pub use extensions::{ExtensionArchive, Extensions};
pub use pieces::Pieces;
pub use profiles::{ProfileReader, ProfileWriter, Profiles};
pub use sealing::SealingKey;
pub use store::Store;
pub use token_use::TokenClient;
