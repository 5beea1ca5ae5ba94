//! Errors of the vault. No message contains a secret.

use std::{io, path::PathBuf};

use helmdeck_wire::ErrorCode;

use crate::StoreError;

/// A failure of the vault.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// The caller has no credential with this name. Agents match this message.
    #[error(
        "vault: {name} not found: add it with `helmdeck vault add {name}`, or have its owner grant \
         it to you"
    )]
    NotFound {
        /// The name.
        name: String,
    },
    /// The credential is not for this destination.
    #[error("vault: {name} may not be sent to {host}: it is for {allowed}")]
    NotForHost {
        /// The name.
        name: String,
        /// The host it was for.
        host: String,
        /// The pattern that did not match.
        allowed: String,
    },
    /// No credential of this type is for the host.
    #[error("vault: no {kind} credential for {host} found: add one with `helmdeck vault add`")]
    NoneForHost {
        /// The type.
        kind: &'static str,
        /// The host.
        host: String,
    },
    /// The secret is not text and cannot replace a placeholder.
    #[error("vault: {name} is not text")]
    NotText {
        /// The name.
        name: String,
    },
    /// A text has more placeholders than are replaced.
    #[error("vault: the text names more than {limit} credentials")]
    TooManyNames {
        /// The limit.
        limit: usize,
    },
    /// There is no such credential that the caller may manage.
    #[error("the credential does not exist or is not yours; /api/v1/vault/credentials lists yours")]
    Unknown,
    /// There is no such grant.
    #[error("the credential is not granted to this subject and client")]
    UnknownGrant,
    /// The credential comes from a variable.
    #[error("{name} comes from {variable}: change it there")]
    FromEnvironment {
        /// The name.
        name: String,
        /// The variable.
        variable: &'static str,
    },
    /// The owner has a credential with this name.
    #[error("{owner} has a credential named {name}: choose another name, or rotate it")]
    Duplicate {
        /// The owner.
        owner: String,
        /// The name.
        name: String,
    },
    /// A field of a request is not allowed.
    #[error("{field}: {reason}")]
    Invalid {
        /// The field.
        field: &'static str,
        /// Why.
        reason: &'static str,
    },
    /// Only an admin may do this.
    #[error("{0}")]
    AdminOnly(&'static str),
    /// The key is configured, so the server cannot replace it.
    #[error(
        "the vault's key comes from the configuration: set HELMDECK_VAULT_KEY to a new key and \
         HELMDECK_VAULT_KEY_OLD to the current one, and restart the server"
    )]
    KeyConfigured,
    /// The credentials were sealed with another key.
    #[error(
        "the vault was sealed with another key: set HELMDECK_VAULT_KEY or restore vault.key; to \
         change the key, set HELMDECK_VAULT_KEY_OLD to the previous one; `helmdeck admin clear-vault` \
         deletes all credentials if the key is lost"
    )]
    WrongKey,
    /// The old key is not the one that sealed the credentials.
    #[error("HELMDECK_VAULT_KEY_OLD is not the key that the vault was sealed with")]
    WrongOldKey,
    /// The key file is gone, but there are credentials.
    #[error(
        "{path} is missing, and the vault has credentials: restore the file, or set HELMDECK_VAULT_KEY \
         to their key; `helmdeck admin clear-vault` deletes all credentials if the key is lost"
    )]
    KeyMissing {
        /// The file.
        path: PathBuf,
    },
    /// A key file has other content.
    #[error("{path} is not a vault key: expected 64 hexadecimal digits")]
    KeyMalformed {
        /// The file.
        path: PathBuf,
    },
    /// A file with a key or a secret cannot be read or written.
    #[error("{path} cannot be used")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// A row cannot be opened with its key.
    #[error("the credential {id} is damaged: delete it and add it again")]
    Damaged {
        /// The credential.
        id: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<sqlx::Error> for VaultError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

impl VaultError {
    /// The code that clients see.
    pub fn public_code(&self) -> ErrorCode {
        match self {
            Self::NotFound { .. }
            | Self::NoneForHost { .. }
            | Self::Unknown
            | Self::UnknownGrant => ErrorCode::NotFound,
            Self::Invalid { .. }
            | Self::NotText { .. }
            | Self::TooManyNames { .. }
            | Self::FromEnvironment { .. }
            | Self::KeyConfigured => ErrorCode::InvalidInput,
            Self::NotForHost { .. } | Self::AdminOnly(_) => ErrorCode::Forbidden,
            Self::Duplicate { .. } => ErrorCode::Duplicate,
            Self::WrongKey
            | Self::WrongOldKey
            | Self::KeyMissing { .. }
            | Self::KeyMalformed { .. }
            | Self::File { .. }
            | Self::Damaged { .. }
            | Self::Store(_) => ErrorCode::Internal,
        }
    }
}
