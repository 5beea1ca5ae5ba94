//! Backups: the database, artifacts, browser profiles and extensions in one tar file, without keys.
//!
//! The database is copied first, by SQLite, at one moment. Content of artifacts is never changed and is
//! durable before its row exists, so the files that are copied afterwards have everything that the
//! rows need, except what was deleted meanwhile: the rows of that are removed from the copy. The
//! manifest with checksums is the last entry, so a file that was cut off has none.

mod manifest;
mod restore;
#[cfg(test)]
mod tests;

use std::{
    collections::HashSet,
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use sqlx::{
    ConnectOptions, Connection, Row,
    sqlite::{SqliteConnectOptions, SqliteJournalMode},
};
use tar::{Builder, EntryType, Header};
use time::OffsetDateTime;

use crate::{Store, StoreError};
use manifest::{Digesting, Entry, Manifest};
pub use restore::{Contents, restore};

/// The database in the data directory and in a backup.
const DATABASE: &str = "helmdeck.db";
/// Directories of the data directory that are in a backup.
const DIRECTORIES: [&str; 3] = [ARTIFACTS, "profiles", "extensions"];
const ARTIFACTS: &str = "artifacts";
/// Unfinished content of artifacts.
const INCOMING: &str = "incoming";

/// Why a backup could not be made or restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The database cannot be copied or opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The backup cannot be written.
    #[error("the backup cannot be written: {0}")]
    Write(#[source] io::Error),
    /// The backup is incomplete or was changed. Nothing was restored.
    #[error("this is not a complete backup: {0}; nothing was changed")]
    Broken(String),
    /// The data directory is in use.
    #[error("{} already has {found}: choose another HELMDECK_DATA_DIR, or replace its data with --force", .dir.display())]
    NotEmpty {
        /// The data directory.
        dir: PathBuf,
        /// What it has.
        found: &'static str,
    },
}

impl BackupError {
    fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}

/// What a backup contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BackupSize {
    /// Files, with the database.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
}

/// Where the content of artifacts is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentPlace {
    /// In the data directory, and in its backups.
    DataDir,
    /// In a bucket, which backups do not contain.
    Bucket,
}

/// Writes a backup of a data directory, also while its server runs.
pub async fn back_up<W: Write>(
    data_dir: &Path,
    place: ContentPlace,
    out: W,
) -> Result<BackupSize, BackupError> {
    let copy = DatabaseCopy::make(data_dir).await?;
    let mut archive = Archive { tar: Builder::new(out), entries: Vec::new() };
    for name in DIRECTORIES {
        archive.add_dir(&data_dir.join(name), Path::new(name))?;
    }
    if place == ContentPlace::DataDir {
        let stored = archive.entries.iter().filter_map(Entry::content_of_artifact);
        copy.keep_artifacts(&stored.collect()).await?;
    }
    archive.add_file(&copy.path, Path::new(DATABASE))?;
    archive.finish()
}

/// A copy of the database beside it. Removed when dropped.
struct DatabaseCopy {
    path: PathBuf,
}

impl Drop for DatabaseCopy {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

impl DatabaseCopy {
    async fn make(data_dir: &Path) -> Result<Self, BackupError> {
        // In the data directory, because it is as secret as the database.
        let path = data_dir.join(format!("backup-{}.db~", std::process::id()));
        let mut private = OpenOptions::new();
        let private = private.write(true).create(true).truncate(true).mode(0o600);
        private.open(&path).map_err(BackupError::file(&path))?;
        let copy = Self { path };
        let store = Store::open_to_read(data_dir).await?;
        let copied = store.copy_into(&copy.path).await;
        store.close().await;
        copied?;
        Ok(copy)
    }

    /// Removes the rows of artifacts whose content is not in the backup.
    async fn keep_artifacts(&self, stored: &HashSet<&str>) -> Result<(), StoreError> {
        let unusable = |source| StoreError::Unusable { path: self.path.clone(), source };
        let options = SqliteConnectOptions::new().filename(&self.path);
        // A single file, without a journal beside it.
        let options = options.journal_mode(SqliteJournalMode::Memory);
        let mut copy = options.connect().await.map_err(unusable)?;
        // An older helmdeck had no artifacts.
        let known = "SELECT 1 FROM sqlite_master WHERE name = 'artifact'";
        if sqlx::query(known).fetch_optional(&mut copy).await?.is_none() {
            return Ok(copy.close().await?);
        }
        let rows = sqlx::query("SELECT DISTINCT sha256 FROM artifact").fetch_all(&mut copy).await?;
        for row in rows {
            let sha256: String = row.try_get(0)?;
            if !stored.contains(sha256.as_str()) {
                let remove = sqlx::query("DELETE FROM artifact WHERE sha256 = ?").bind(sha256);
                remove.execute(&mut copy).await?;
            }
        }
        Ok(copy.close().await?)
    }
}

impl Store {
    /// Copies the database as of one moment into an empty file. Others can read and write meanwhile.
    async fn copy_into(&self, path: &Path) -> Result<(), StoreError> {
        let copy = sqlx::query("VACUUM INTO ?").bind(path.to_string_lossy().into_owned());
        copy.execute(&self.pool).await?;
        Ok(())
    }
}

/// A backup that is being written.
struct Archive<W: Write> {
    tar: Builder<W>,
    entries: Vec<Entry>,
}

impl<W: Write> Archive<W> {
    /// Adds the files of a directory, without unfinished ones. Files may disappear meanwhile.
    fn add_dir(&mut self, dir: &Path, name: &Path) -> Result<(), BackupError> {
        let found = match fs::read_dir(dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            found => found.map_err(BackupError::file(dir))?,
        };
        for entry in found {
            let entry = entry.map_err(BackupError::file(dir))?;
            let file_name = entry.file_name();
            let unfinished = file_name.to_string_lossy().ends_with('~')
                || (name == Path::new(ARTIFACTS) && file_name == INCOMING);
            let (path, name) = (entry.path(), name.join(&file_name));
            match entry.file_type() {
                _ if unfinished => {}
                Ok(kind) if kind.is_dir() => self.add_dir(&path, &name)?,
                Ok(kind) if kind.is_file() => self.add_file(&path, &name)?,
                // Links are not ours.
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(BackupError::file(&path)(error)),
            }
        }
        Ok(())
    }

    fn add_file(&mut self, path: &Path, name: &Path) -> Result<(), BackupError> {
        let file = match File::open(path) {
            // It was deleted after the directory was read.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            file => file.map_err(BackupError::file(path))?,
        };
        // Files are replaced, never changed: the open one keeps its size.
        let size = file.metadata().map_err(BackupError::file(path))?.len();
        let mut content = Digesting::new(file.take(size));
        self.tar.append_data(&mut header(size), name, &mut content).map_err(BackupError::Write)?;
        let (read, sha256) = content.finish();
        if read != size {
            let shorter = io::Error::new(io::ErrorKind::UnexpectedEof, "it became shorter");
            return Err(BackupError::file(path)(shorter));
        }
        self.entries.push(Entry { path: name.to_string_lossy().into_owned(), size, sha256 });
        Ok(())
    }

    /// Adds the manifest.
    fn finish(mut self) -> Result<BackupSize, BackupError> {
        let size = BackupSize {
            files: self.entries.len(),
            bytes: self.entries.iter().map(|entry| entry.size).sum(),
        };
        let manifest = Manifest::new(self.entries, OffsetDateTime::now_utc()).to_json();
        let mut header = header(manifest.len() as u64);
        let name = Path::new(manifest::NAME);
        let added = self.tar.append_data(&mut header, name, manifest.as_slice());
        let written = added.and_then(|()| self.tar.into_inner()).and_then(|mut out| out.flush());
        written.map_err(BackupError::Write)?;
        Ok(size)
    }
}

fn header(size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o600);
    header.set_size(size);
    header.set_mtime(OffsetDateTime::now_utc().unix_timestamp().unsigned_abs());
    header
}
