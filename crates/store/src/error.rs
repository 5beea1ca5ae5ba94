//! Why the store could not do what was asked.

use std::path::PathBuf;

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
        source: std::io::Error,
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
    /// The schema could not be brought up to date; perhaps a newer helmdeck wrote it.
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
}
