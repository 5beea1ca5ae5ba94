//! Errors of the store.

use std::{io, path::PathBuf};

/// A failure of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database file could not be created or opened.
    #[error("the database {path} cannot be opened")]
    Open {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The database file exists but cannot be used.
    #[error("the database {path} cannot be used: check that its disk is writable and not full")]
    Unusable {
        /// The file.
        path: PathBuf,
        /// The database's error.
        #[source]
        source: sqlx::Error,
    },
    /// The database file cannot be read.
    #[error("the database {path} cannot be read")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The database's error.
        #[source]
        source: sqlx::Error,
    },
    /// A newer version of helmdeck changed the schema.
    #[error(
        "the database {path} belongs to a newer helmdeck: it has schema {found}, and this version \
         knows schemas up to {known}; start the newer version, or choose another data directory"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Schema of the file.
        found: i64,
        /// Newest schema that this version knows.
        known: i64,
    },
    /// The schema could not be updated.
    #[error("the database schema cannot be updated")]
    Migrate(#[from] sqlx::migrate::MigrateError),
    /// A query failed.
    #[error("the database does not answer")]
    Query(#[from] sqlx::Error),
    /// A row holds an invalid value.
    #[error("the database has an invalid {field}: {value:?}")]
    Nonsense {
        /// The column.
        field: &'static str,
        /// The value.
        value: String,
    },
    /// The system has no random numbers.
    #[error("the system provides no random numbers")]
    Random(#[source] getrandom::Error),
    /// Profile files could not be read or removed.
    #[error("the profiles cannot be read")]
    Profiles(#[source] io::Error),
    /// Extension files could not be read or written.
    #[error("the extensions cannot be read or written")]
    Extensions(#[source] io::Error),
    /// An upload is not an extension.
    #[error("{0}")]
    BadExtension(String),
    /// An upload is larger than allowed.
    #[error("the extension is larger than {} MB", .limit >> 20)]
    ExtensionTooLarge {
        /// Maximum size in bytes.
        limit: u64,
    },
    /// The owner has reached the limit of extensions.
    #[error("you have reached the limit of 50 extensions or 1 GB: delete one first")]
    TooManyExtensions,
    /// The owner has reached the limit of simultaneous uploads.
    #[error("you have reached the limit of {limit} simultaneous uploads: wait for one to finish")]
    TooManyUploads {
        /// The limit.
        limit: usize,
    },
    /// An upload ended early.
    #[error("the request body ended early")]
    UploadBrokeOff,
}
