//! Errors of the store.

use std::{io, path::PathBuf};

use helmdeck_s3::S3Error;
use helmdeck_wire::ErrorCode;

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
    Query(#[source] sqlx::Error),
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
    /// The artifact does not exist, has expired or belongs to another owner.
    #[error(
        "the artifact {key:?} does not exist or has expired; GET /api/v1/artifacts lists yours"
    )]
    ArtifactNotFound {
        /// The key.
        key: String,
    },
    /// A new artifact has an invalid name, namespace or media type.
    #[error("{0}")]
    BadArtifact(String),
    /// An artifact is larger than allowed.
    #[error("the file is larger than {limit} bytes")]
    ArtifactTooLarge {
        /// Maximum size in bytes.
        limit: u64,
    },
    /// The owner has no room for the artifact.
    #[error(
        "your artifacts use {used} of {quota} bytes, and this file does not fit: delete some first, or \
         ask the operator to raise HELMDECK_ARTIFACT_QUOTA"
    )]
    ArtifactQuota {
        /// The limit in bytes.
        quota: u64,
        /// Bytes in use.
        used: u64,
    },
    /// The range lies outside the artifact.
    #[error("the artifact has {size} bytes, and the range lies outside it")]
    NoSuchRange {
        /// Size of the artifact.
        size: u64,
    },
    /// A link is not valid.
    #[error("the link {0}: ask for a new one")]
    InvalidLink(&'static str),
    /// The disk is full.
    #[error("the server's disk is full: nothing was stored; ask the operator to free some space")]
    DiskFull(#[source] io::Error),
    /// Content of artifacts could not be read or written.
    #[error("the content of artifacts cannot be read or written")]
    Artifacts(#[source] io::Error),
    /// The S3 service with the content of artifacts failed.
    #[error(
        "the service that stores artifacts failed: nothing was stored and nothing was lost; try \
         again later"
    )]
    ArtifactService(#[source] io::Error),
    /// The bucket for artifacts cannot be used.
    #[error("artifacts cannot be stored in the S3 bucket")]
    ArtifactBucket(#[source] S3Error),
    /// The bucket has the artifacts of another data directory.
    #[error(
        "{place} has the artifacts of another helmdeck server or data directory, which would be \
         deleted: choose another HELMDECK_S3_PREFIX; if that server is gone, delete the object \
         {marker}"
    )]
    ForeignBucket {
        /// Bucket, prefix and service.
        place: String,
        /// The object that names the owner.
        marker: &'static str,
    },
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        // SQLITE_FULL, and SQLITE_IOERR_SHMSIZE for its shared memory.
        let is_full = |code: &str| ["13", "4874"].contains(&code);
        match &error {
            sqlx::Error::Database(why) if why.code().as_deref().is_some_and(is_full) => {
                Self::DiskFull(io::Error::new(io::ErrorKind::StorageFull, why.to_string()))
            }
            _ => Self::Query(error),
        }
    }
}

impl StoreError {
    /// The public code.
    pub fn public_code(&self) -> ErrorCode {
        match self {
            Self::BadExtension(_) => ErrorCode::InvalidExtension,
            Self::ExtensionTooLarge { .. } | Self::ArtifactTooLarge { .. } => {
                ErrorCode::PayloadTooLarge
            }
            Self::TooManyExtensions | Self::TooManyUploads { .. } => ErrorCode::QuotaReached,
            Self::UploadBrokeOff | Self::BadArtifact(_) => ErrorCode::InvalidInput,
            Self::ArtifactNotFound { .. } => ErrorCode::ArtifactNotFound,
            Self::ArtifactQuota { .. } => ErrorCode::QuotaExceeded,
            Self::NoSuchRange { .. } => ErrorCode::RangeNotSatisfiable,
            Self::InvalidLink(_) => ErrorCode::InvalidLink,
            Self::DiskFull(_) => ErrorCode::DiskFull,
            Self::ArtifactService(_) => ErrorCode::ArtifactFailed,
            Self::Open { .. }
            | Self::Unusable { .. }
            | Self::Unreadable { .. }
            | Self::Newer { .. }
            | Self::Migrate(_)
            | Self::Query(_)
            | Self::Nonsense { .. }
            | Self::Random(_)
            | Self::Profiles(_)
            | Self::Extensions(_)
            | Self::Artifacts(_)
            | Self::ArtifactBucket(_)
            | Self::ForeignBucket { .. } => ErrorCode::Internal,
        }
    }
}
