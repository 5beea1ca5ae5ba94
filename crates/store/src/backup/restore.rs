//! Restores a backup: everything is unpacked beside the data and checked before the data is replaced.

use std::{
    collections::HashSet,
    fs::{self, DirBuilder, OpenOptions},
    io::{self, Read},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, chown},
    path::{Component, Path, PathBuf},
};

use tar::{Archive, EntryType};
use time::OffsetDateTime;

use super::{
    BackupError, BackupSize, DATABASE, DIRECTORIES,
    manifest::{self, Digesting, Entry, Manifest},
};
use crate::{Store, StoreError};

/// Where a backup is unpacked, in the data directory.
const UNPACKED: &str = "restore~";
/// Files of SQLite that belong to a database.
const BESIDE_DATABASE: [&str; 2] = ["helmdeck.db-wal", "helmdeck.db-shm"];
/// Where the files of sessions are.
const WORKSPACES: &str = "workspaces";

/// What was restored.
#[derive(Debug, Clone, Copy)]
pub struct Contents {
    /// When the backup was made.
    pub created_at: OffsetDateTime,
    /// Its files.
    pub size: BackupSize,
    /// How many credentials its vault has.
    pub credentials: u64,
}

/// Restores a backup into a data directory that no server uses. Without `force`, one that has data is
/// refused. Keys and settings in the directory stay.
pub async fn restore<R: Read>(
    data_dir: &Path,
    backup: R,
    force: bool,
) -> Result<Contents, BackupError> {
    if !force {
        check_empty(data_dir)?;
    }
    let unpacked = Unpacked::create(data_dir)?;
    let manifest = unpacked.fill(backup)?;
    // Also migrates it, and refuses one of a newer helmdeck.
    let store = Store::open(&unpacked.dir).await?;
    let credentials = store.credentials().await;
    store.close().await;
    let credentials = credentials?;
    unpacked.replace(data_dir)?;
    let size = BackupSize {
        files: manifest.files.len(),
        bytes: manifest.files.iter().map(|entry| entry.size).sum(),
    };
    Ok(Contents { created_at: manifest.created_at, size, credentials })
}

fn check_empty(dir: &Path) -> Result<(), BackupError> {
    let data = [DATABASE, WORKSPACES].into_iter().chain(DIRECTORIES);
    match data.into_iter().find(|name| dir.join(name).exists()) {
        Some(found) => Err(BackupError::NotEmpty { dir: dir.to_owned(), found }),
        None => Ok(()),
    }
}

/// A directory with an unpacked backup. Removed when dropped.
struct Unpacked {
    dir: PathBuf,
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

impl Unpacked {
    fn create(data_dir: &Path) -> Result<Self, BackupError> {
        let dir = data_dir.join(UNPACKED);
        remove(&dir)?;
        make_dir(&dir)?;
        Ok(Self { dir })
    }

    /// Unpacks a backup and checks it against its manifest.
    fn fill<R: Read>(&self, backup: R) -> Result<Manifest, BackupError> {
        let unreadable = |error: io::Error| BackupError::Broken(error.to_string());
        let mut archive = Archive::new(backup);
        let (mut found, mut manifest) = (Vec::new(), None);
        for entry in archive.entries().map_err(unreadable)? {
            let mut entry = entry.map_err(unreadable)?;
            let name = entry.path().map_err(unreadable)?.into_owned();
            if manifest.is_some() || entry.header().entry_type() != EntryType::Regular {
                return Err(BackupError::Broken(format!("{} does not belong", name.display())));
            }
            if name == Path::new(manifest::NAME) {
                let mut json = Vec::new();
                entry.by_ref().take(manifest::MAX).read_to_end(&mut json).map_err(unreadable)?;
                manifest = Some(Manifest::parse(&json)?);
            } else {
                found.push(self.unpack(&name, &mut entry)?);
            }
        }
        let manifest = manifest
            .ok_or_else(|| BackupError::Broken("it ends before its manifest".to_owned()))?;
        compare(&found, &manifest.files)?;
        Ok(manifest)
    }

    fn unpack(&self, name: &Path, content: &mut impl Read) -> Result<Entry, BackupError> {
        if !is_ours(name) {
            return Err(BackupError::Broken(format!("{} does not belong", name.display())));
        }
        let path = self.dir.join(name);
        if let Some(parent) = path.parent() {
            make_dir(parent)?;
        }
        let mut options = OpenOptions::new();
        let options = options.write(true).create_new(true).mode(0o600);
        let mut file = options.open(&path).map_err(BackupError::file(&path))?;
        let mut content = Digesting::new(content);
        io::copy(&mut content, &mut file).map_err(BackupError::file(&path))?;
        file.sync_all().map_err(BackupError::file(&path))?;
        let (size, sha256) = content.finish();
        Ok(Entry { path: name.to_string_lossy().into_owned(), size, sha256 })
    }

    /// Moves it to its place. The database is last: without it, the directory counts as empty.
    fn replace(&self, data_dir: &Path) -> Result<(), BackupError> {
        give_to_owner_of(data_dir, &self.dir).map_err(BackupError::file(&self.dir))?;
        for name in [DATABASE].iter().chain(&BESIDE_DATABASE).chain(&DIRECTORIES) {
            remove(&data_dir.join(name))?;
        }
        for name in DIRECTORIES.iter().chain(&BESIDE_DATABASE).chain(&[DATABASE]) {
            let (from, to) = (self.dir.join(name), data_dir.join(name));
            match fs::rename(&from, &to) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                moved => moved.map_err(BackupError::file(&to))?,
            }
        }
        Ok(())
    }
}

/// Whether a backup may have this file.
fn is_ours(name: &Path) -> bool {
    let mut parts = name.components();
    let Some(Component::Normal(first)) = parts.next() else { return false };
    match parts.next() {
        None => first == DATABASE,
        Some(Component::Normal(_)) => {
            DIRECTORIES.iter().any(|dir| first == *dir)
                && parts.all(|part| matches!(part, Component::Normal(_)))
        }
        Some(_) => false,
    }
}

fn compare(found: &[Entry], expected: &[Entry]) -> Result<(), BackupError> {
    if !expected.iter().any(|entry| entry.path == DATABASE) {
        return Err(BackupError::Broken("it has no database".to_owned()));
    }
    let (unpacked, known): (HashSet<_>, HashSet<_>) =
        (found.iter().collect(), expected.iter().collect());
    if let Some(entry) = expected.iter().find(|entry| !unpacked.contains(entry)) {
        return Err(BackupError::Broken(format!("{} is missing or damaged", entry.path)));
    }
    match found.iter().find(|entry| !known.contains(entry)) {
        Some(entry) => Err(BackupError::Broken(format!("{} does not belong", entry.path))),
        None => Ok(()),
    }
}

fn make_dir(dir: &Path) -> Result<(), BackupError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.map_err(BackupError::file(dir))
}

/// Removes a file or directory. Succeeds if it does not exist.
fn remove(path: &Path) -> Result<(), BackupError> {
    let removed = match fs::symlink_metadata(path) {
        Ok(facts) if facts.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(BackupError::file(path)(error))
        }
        _ => Ok(()),
    }
}

/// Gives files that root restores to the user who owns the data directory.
fn give_to_owner_of(data_dir: &Path, path: &Path) -> io::Result<()> {
    let (owner, own) = (fs::metadata(data_dir)?, fs::metadata(path)?);
    if (owner.uid(), owner.gid()) == (own.uid(), own.gid()) {
        return Ok(());
    }
    chown(path, Some(owner.uid()), Some(owner.gid()))?;
    if own.is_dir() {
        for entry in fs::read_dir(path)? {
            give_to_owner_of(data_dir, &entry?.path())?;
        }
    }
    Ok(())
}

impl Store {
    /// How many credentials the vault has.
    async fn credentials(&self) -> Result<u64, StoreError> {
        let count: i64 =
            sqlx::query_scalar("SELECT count(*) FROM credential").fetch_one(&self.pool).await?;
        Ok(count.unsigned_abs())
    }
}
