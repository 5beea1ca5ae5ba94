//! Why the store could not do what was asked.

use std::{io, path::PathBuf};

/// A failure of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database file could not be made or opened.
    #[error("the database {path} cannot be opened")]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The database file is there and cannot be worked with.
    #[error("the database {path} cannot be used: see that its disk has room and can be written")]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What the database says.
        #[source]
        source: sqlx::Error,
    },
    /// A newer helmdeck changed the schema.
    #[error(
        "the database {path} is of a newer helmdeck: it has schema {found}, and this version knows \
         schemas up to {known}; start the newer version, or choose another data directory"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The schema of the file.
        found: i64,
        /// The newest schema of this version.
        known: i64,
    },
    /// The schema could not be brought up to date.
    #[error("the database schema cannot be brought up to date")]
    Migrate(#[from] sqlx::migrate::MigrateError),
    /// A query failed.
    #[error("the database does not answer")]
    Query(#[from] sqlx::Error),
    /// A row holds something that no helmdeck wrote.
    #[error("the database holds a {field} that makes no sense: {value:?}")]
    Nonsense {
        /// Which column.
        field: &'static str,
        /// What it holds.
        value: String,
    },
    /// The system has no random numbers.
    #[error("the system gives no random numbers")]
    Random(#[source] getrandom::Error),
    /// Files of profiles could not be looked at or removed.
    #[error("the profiles cannot be read")]
    Profiles(#[source] io::Error),
    /// Files of extensions could not be looked at or kept.
    #[error("the extensions cannot be read or written")]
    Extensions(#[source] io::Error),
    /// An upload is no extension.
    #[error("{0}")]
    BadExtension(String),
    /// An upload is larger than an extension may be.
    #[error("the extension is larger than {} MB", .limit >> 20)]
    ExtensionTooLarge {
        /// Bytes that there may be.
        limit: u64,
    },
    /// The owner has enough extensions.
    #[error("you have as many extensions as one caller may, 50 or 1 GB: delete one first")]
    TooManyExtensions,
    /// The owner uploads enough extensions at once.
    #[error(
        "{limit} of your extensions are being uploaded, as many as may be at once: wait for one"
    )]
    TooManyUploads {
        /// How many there may be.
        limit: usize,
    },
    /// An upload stopped before its end.
    #[error("the body broke off before its end")]
    UploadBrokeOff,
}
