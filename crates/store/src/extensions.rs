//! Stored browser extensions: one file for each owner and name.
//!
//! A file is a line of JSON with metadata, followed by a tar archive that guests unpack. Uploads
//! are checked and repacked here; the host never unpacks them into files.

mod package;
mod upload_limits;

use std::{
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use bytes::Bytes;
use helmdeck_wire::extension::{Extension, ExtensionName};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use tokio::{
    fs::File,
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
};
use tracing::info;

use crate::{Pieces, StoreError, owner_dirs};
use package::{BadPackage, Package};
use upload_limits::{UploadLimits, UploadTurn};

/// Maximum size of an upload.
const MAX_UPLOAD: u64 = 64 << 20;
/// Limits per owner: number of extensions and total bytes.
const MAX_EXTENSIONS: usize = 50;
const MAX_BYTES: u64 = 1 << 30;
/// Maximum length of the JSON line. It is usually far shorter.
const MAX_FACTS: u64 = 16 << 10;
/// Size of one read.
const PIECE: usize = 256 << 10;

/// The stored extensions.
#[derive(Clone)]
pub struct Extensions {
    dir: PathBuf,
    upload_limits: UploadLimits,
}

/// The JSON line of a file.
#[derive(Serialize, Deserialize)]
struct Facts {
    name: ExtensionName,
    title: String,
    version: String,
    manifest_version: u8,
    size: u64,
    files: u32,
    #[serde(with = "time::serde::rfc3339")]
    added_at: OffsetDateTime,
}

impl From<Facts> for Extension {
    fn from(facts: Facts) -> Self {
        let Facts { name, title, version, manifest_version, size, files, added_at } = facts;
        Self { name, title, version, manifest_version, size, files, added_at }
    }
}

/// A temporary file that is removed on drop, unless it was renamed.
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        // Gone if it was renamed.
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Extensions {
    /// Extensions in this directory.
    pub fn new(dir: PathBuf) -> Self {
        Self { dir, upload_limits: UploadLimits::default() }
    }

    /// Removes unfinished files of a crashed server.
    pub async fn sweep(&self) {
        owner_dirs::sweep(&self.dir).await;
    }

    fn dir_of(&self, owner: &str) -> PathBuf {
        owner_dirs::dir_of(&self.dir, owner)
    }

    fn path(&self, owner: &str, name: &ExtensionName) -> PathBuf {
        self.dir_of(owner).join(name.as_str())
    }

    /// Whether the owner has this extension.
    pub fn contains(&self, owner: &str, name: &ExtensionName) -> bool {
        self.path(owner, name).is_file()
    }

    /// An owner's extensions, by name.
    pub async fn list(&self, owner: &str) -> Result<Vec<Extension>, StoreError> {
        self.try_list(owner).await.map_err(StoreError::Extensions)
    }

    async fn try_list(&self, owner: &str) -> io::Result<Vec<Extension>> {
        let mut found = Vec::new();
        for entry in owner_dirs::entries(&self.dir_of(owner)).await? {
            match read(&entry.path()).await {
                Ok((facts, _)) => found.push(Extension::from(facts)),
                // Deleted meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        found.sort_by(|a, b| a.name.as_str().cmp(b.name.as_str()));
        Ok(found)
    }

    /// Deletes an extension. Does nothing if it does not exist.
    pub async fn delete(&self, owner: &str, name: &ExtensionName) -> Result<(), StoreError> {
        owner_dirs::remove(&self.path(owner, name)).await.map_err(StoreError::Extensions)
    }

    /// The archive of an extension. The error describes what is wrong with the file.
    pub async fn open(&self, owner: &str, name: &ExtensionName) -> io::Result<ExtensionArchive> {
        let (_, archive) = read(&self.path(owner, name)).await?;
        Ok(archive)
    }

    /// Adds an extension, or replaces one.
    pub async fn add(
        &self,
        owner: &str,
        name: &ExtensionName,
        upload: impl Pieces,
    ) -> Result<Extension, StoreError> {
        let place = self.upload_limits.begin(owner)?;
        // Check the limits before receiving anything.
        self.room(owner, name).await?;
        let received = self.receive(owner, name, upload).await?;
        // Check again: other uploads may have finished meanwhile. From here on, this owner's
        // uploads are stored one at a time.
        let turn = place.turn().await;
        let room = self.room(owner, name).await?;
        let (path, named) = (self.path(owner, name), name.clone());
        let repacking = move || repack(&received, &path, named, room, turn);
        let repacked = tokio::task::spawn_blocking(repacking).await;
        let repacked = repacked.map_err(|e| StoreError::Extensions(io::Error::other(e)))?;
        let facts = repacked.map_err(|bad| match bad {
            BadPackage::Io(error) => StoreError::Extensions(error),
            BadPackage::Wrong(why) => StoreError::BadExtension(why),
            BadPackage::NoRoom => StoreError::TooManyExtensions,
        })?;
        info!(owner, extension = name.as_str(), bytes = facts.size, "Extension added");
        Ok(facts.into())
    }

    /// Bytes that an extension of this name may have.
    async fn room(&self, owner: &str, name: &ExtensionName) -> Result<u64, StoreError> {
        let kept = self.list(owner).await?;
        let others: Vec<u64> =
            kept.iter().filter(|other| other.name != *name).map(|other| other.size).collect();
        if others.len() >= MAX_EXTENSIONS {
            return Err(StoreError::TooManyExtensions);
        }
        Ok(MAX_BYTES.saturating_sub(others.iter().sum()))
    }

    /// Receives an upload into its own file, up to the limit.
    async fn receive(
        &self,
        owner: &str,
        name: &ExtensionName,
        mut upload: impl Pieces,
    ) -> Result<Unfinished, StoreError> {
        static UPLOADS: AtomicU64 = AtomicU64::new(0);
        let dir = self.dir_of(owner);
        owner_dirs::create(&dir).await.map_err(StoreError::Extensions)?;
        // Two uploads may arrive at once.
        let number = UPLOADS.fetch_add(1, Ordering::Relaxed);
        let received = Unfinished(dir.join(format!("{}.{number}.upload~", name.as_str())));
        let mut options = tokio::fs::OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(0o600);
        let mut file = file.open(&received.0).await.map_err(StoreError::Extensions)?;
        let mut size = 0;
        while let Some(piece) = upload.next().await.map_err(|_| StoreError::UploadBrokeOff)? {
            size += piece.len() as u64;
            if size > MAX_UPLOAD {
                return Err(StoreError::ExtensionTooLarge { limit: MAX_UPLOAD });
            }
            file.write_all(&piece).await.map_err(StoreError::Extensions)?;
        }
        file.flush().await.map_err(StoreError::Extensions)?;
        Ok(received)
    }
}

/// Metadata and archive of a file.
async fn read(path: &Path) -> io::Result<(Facts, ExtensionArchive)> {
    let mut file = BufReader::new(File::open(path).await?);
    let mut facts = Vec::new();
    (&mut file).take(MAX_FACTS).read_until(b'\n', &mut facts).await?;
    Ok((serde_json::from_slice(&facts)?, ExtensionArchive(file)))
}

/// Checks the upload, and stores it as an archive. `room` is valid during this turn.
fn repack(
    received: &Unfinished,
    path: &Path,
    name: ExtensionName,
    room: u64,
    _turn: UploadTurn,
) -> Result<Facts, BadPackage> {
    let mut package = Package::open(std::fs::File::open(&received.0)?)?;
    if package.size() > room {
        return Err(BadPackage::NoRoom);
    }
    let manifest = package.manifest()?;
    let facts = Facts {
        name,
        title: manifest.title,
        version: manifest.version,
        manifest_version: manifest.manifest_version,
        size: package.size(),
        files: package.files(),
        added_at: OffsetDateTime::now_utc(),
    };
    let unfinished = Unfinished(received.0.with_extension("new~"));
    let mut file = io::BufWriter::new(std::fs::File::create(&unfinished.0)?);
    serde_json::to_writer(&mut file, &facts).map_err(io::Error::from)?;
    io::Write::write_all(&mut file, b"\n")?;
    package.write_to(&mut file)?;
    let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()?;
    std::fs::rename(&unfinished.0, path)?;
    Ok(facts)
}

/// The archive of an extension.
pub struct ExtensionArchive(BufReader<File>);

impl Pieces for ExtensionArchive {
    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        let mut piece = vec![0; PIECE];
        let read = self.0.read(&mut piece).await?;
        piece.truncate(read);
        Ok((read > 0).then(|| piece.into()))
    }
}
