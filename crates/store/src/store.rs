//! The database file: opening, migration and health check.

use std::{fs::OpenOptions, os::unix::fs::OpenOptionsExt, path::Path, time::Duration};

use helmdeck_task::BoxFuture;
use sqlx::{
    SqlSafeStr, SqlitePool,
    migrate::{MigrateError, Migration, MigrationType, Migrator},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

use crate::StoreError;

/// How long a statement waits for another process that locks the database.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a call waits for the connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

/// The schema migrations: version, description and statements.
static MIGRATIONS: &[(i64, &str, &str)] = &include!(concat!(env!("OUT_DIR"), "/migrations.rs"));

fn migrator() -> Migrator {
    let migration = |&(version, description, sql): &(i64, &'static str, &'static str)| {
        let sql = sql.into_sql_str();
        Migration::new(version, description.into(), MigrationType::Simple, sql, false)
    };
    Migrator::with_migrations(MIGRATIONS.iter().map(migration).collect())
}

/// A cheap handle to the store.
#[derive(Debug, Clone)]
pub struct Store {
    /// A single connection: writers queue here and never see a locked database.
    pub(crate) pool: SqlitePool,
}

impl Store {
    /// Opens `helmdeck.db` in the data directory, which must exist, and migrates its schema. A new
    /// file is readable by its owner only.
    pub fn open(data_dir: &Path) -> BoxFuture<'_, Result<Self, StoreError>> {
        Box::pin(async move {
            let path = data_dir.join("helmdeck.db");
            OpenOptions::new()
                .create(true)
                .append(true)
                .mode(0o600)
                .open(&path)
                .map_err(|source| StoreError::Open { path: path.clone(), source })?;
            let options = SqliteConnectOptions::new()
                .filename(&path)
                .journal_mode(SqliteJournalMode::Wal)
                .synchronous(SqliteSynchronous::Normal)
                .busy_timeout(BUSY_TIMEOUT)
                .foreign_keys(true);
            let pool = SqlitePoolOptions::new()
                .max_connections(1)
                // Keep the connection forever: on a full or read-only disk an open connection still
                // works, but a new one could not be opened.
                .idle_timeout(None)
                .max_lifetime(None)
                .acquire_timeout(ACQUIRE_TIMEOUT)
                .connect_with(options)
                .await
                .map_err(|source| StoreError::Unusable { path: path.clone(), source })?;
            let migrated = migrator().run(&pool).await;
            migrated.map_err(|error| match error {
                MigrateError::VersionMissing(found) => {
                    let known = MIGRATIONS.iter().map(|(version, ..)| *version).max();
                    StoreError::Newer { path, found, known: known.unwrap_or_default() }
                }
                // The migrations are valid, so the disk is the cause.
                MigrateError::Execute(source) | MigrateError::ExecuteMigration(source, _) => {
                    StoreError::Unusable { path, source }
                }
                other => StoreError::Migrate(other),
            })?;
            Ok(Self { pool })
        })
    }

    /// Opens the database to read it, also beside a running server. Changes nothing.
    pub fn open_to_read(data_dir: &Path) -> BoxFuture<'_, Result<Self, StoreError>> {
        Box::pin(async move {
            let path = data_dir.join("helmdeck.db");
            let options = SqliteConnectOptions::new()
                .filename(&path)
                .read_only(true)
                .busy_timeout(BUSY_TIMEOUT);
            let pool = SqlitePoolOptions::new()
                .max_connections(1)
                .acquire_timeout(ACQUIRE_TIMEOUT)
                .connect_with(options)
                .await
                .map_err(|source| StoreError::Unreadable { path, source })?;
            Ok(Self { pool })
        })
    }

    /// Succeeds if the database answers.
    pub async fn ping(&self) -> Result<(), StoreError> {
        sqlx::query("SELECT 1").execute(&self.pool).await?;
        Ok(())
    }

    /// Closes the file. Later calls fail.
    pub fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.pool.close().await;
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[tokio::test]
    async fn the_database_is_private_and_opens_again() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        store.ping().await.unwrap();
        store.close().await;
        assert!(store.ping().await.is_err());

        let mode = std::fs::metadata(dir.path().join("helmdeck.db")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        Store::open(dir.path()).await.unwrap().ping().await.unwrap();
    }

    #[tokio::test]
    async fn the_connection_is_kept_because_a_full_disk_allows_no_new_one() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let options = store.pool.options();
        assert_eq!((options.get_idle_timeout(), options.get_max_lifetime()), (None, None));
    }

    #[tokio::test]
    async fn a_missing_directory_is_named_in_the_error() {
        let error = Store::open(Path::new("/nonexistent/place")).await.unwrap_err();
        assert!(error.to_string().contains("/nonexistent/place/helmdeck.db"), "{error}");
    }
}
