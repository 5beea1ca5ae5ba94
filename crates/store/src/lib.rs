//! Data that survives a restart.
//!
//! A SQLite file, `helmdeck.db` in the data directory, holds the admin account, the installation's
//! id, tokens with their use, revocations, recorded actions and ends of sessions, the audit log,
//! forwarded ports, sessions of MCP clients, jobs and their webhooks, sealed credentials of the
//! [`Vault`], calls of models and budgets, the index of artifacts, and settings that an admin
//! changed. Next to it are files of their owners: browser [`Profiles`], [`Extensions`] and the
//! content of [`Artifacts`]. The state of running sessions is not stored here; the runtime has it.

mod actions;
mod admin;
mod artifacts;
mod audit;
pub mod backup;
mod content;
mod ends;
mod error;
mod extensions;
mod forwards;
mod instance;
mod jobs;
mod mcp;
mod model_calls;
mod moment;
mod owner_dirs;
mod profiles;
mod sealing;
mod settings;
mod store;
mod token_use;
mod tokens;
pub mod vault;
mod webhooks;

pub use admin::Admin;
pub use artifacts::{
    ArtifactFilter, ArtifactPage, ArtifactReader, ArtifactRules, Artifacts, LinkQuery, NewArtifact,
    is_content_type,
};
pub use audit::{
    Audit, AuditBreak, AuditEntry, AuditFilter, AuditReport, AuditStatus, BreakReason,
};
pub use content::Pieces;
pub use ends::{End, EndDetails};
pub use error::StoreError;
pub use extensions::{ExtensionArchive, Extensions};
pub use jobs::{JobFilter, StoredJob};
pub use model_calls::{ModelBudgetRow, ModelCall, ModelSpend};
pub use profiles::{ProfileReader, ProfileWriter, Profiles};
pub use sealing::SealingKey;
pub use store::Store;
pub use token_use::TokenClient;
pub use vault::Vault;
pub use webhooks::{DeliveryFilter, NewDelivery, SealedSecret, StoredDelivery};
