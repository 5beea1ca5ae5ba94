//! Content of artifacts, named by its SHA-256. Another backend implements [`Blobs`].

use std::{
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use async_trait::async_trait;
use helmdeck_wire::byte_range::Part;
use tokio::{
    fs::{self, File},
    io::{AsyncRead, AsyncReadExt, AsyncSeekExt, AsyncWriteExt},
};

use crate::owner_dirs;

/// Directory of unfinished content.
const INCOMING: &str = "incoming";

/// Where content is kept.
#[async_trait]
pub(crate) trait Blobs: Send + Sync + 'static {
    /// Removes unfinished content of a crashed server. Must not run during writes.
    async fn clean_up(&self) -> io::Result<()>;
    /// Begins new content. Dropping it removes it.
    async fn create(&self) -> io::Result<Box<dyn NewBlob>>;
    /// Opens a part of some content.
    async fn open(&self, sha256: &str, part: Part)
    -> io::Result<Box<dyn AsyncRead + Send + Unpin>>;
    /// Removes content. Succeeds if it does not exist. Readers that opened it can go on.
    async fn remove(&self, sha256: &str) -> io::Result<()>;
    /// The names of all content.
    async fn list(&self) -> io::Result<Vec<String>>;
}

/// Content that is being written.
#[async_trait]
pub(crate) trait NewBlob: Send {
    /// Appends bytes.
    async fn write(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Makes the bytes durable. May take long; [`NewBlob::keep`] does not.
    async fn finish(&mut self) -> io::Result<()>;
    /// Keeps it under this name. The same content may exist already.
    async fn keep(self: Box<Self>, sha256: &str) -> io::Result<()>;
}

/// Files in a directory.
pub(crate) struct FileBlobs {
    dir: PathBuf,
    created: AtomicU64,
}

impl FileBlobs {
    pub fn new(dir: PathBuf) -> Self {
        Self { dir, created: AtomicU64::new(0) }
    }
}

/// The directory and the file of some content. Directories with fewer files are quicker to list.
fn place(dir: &Path, sha256: &str) -> (PathBuf, PathBuf) {
    let dir = dir.join(sha256.get(..2).unwrap_or_default());
    let file = dir.join(sha256);
    (dir, file)
}

#[async_trait]
impl Blobs for FileBlobs {
    async fn clean_up(&self) -> io::Result<()> {
        for file in owner_dirs::entries(&self.dir.join(INCOMING)).await? {
            owner_dirs::remove(&file.path()).await?;
        }
        Ok(())
    }

    async fn create(&self) -> io::Result<Box<dyn NewBlob>> {
        let incoming = self.dir.join(INCOMING);
        owner_dirs::create(&incoming).await?;
        let number = self.created.fetch_add(1, Ordering::Relaxed);
        let path = incoming.join(number.to_string());
        let mut options = fs::OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(0o600).open(&path).await?;
        Ok(Box::new(NewFile { file, path, dir: self.dir.clone() }))
    }

    async fn open(
        &self,
        sha256: &str,
        part: Part,
    ) -> io::Result<Box<dyn AsyncRead + Send + Unpin>> {
        let (_, path) = place(&self.dir, sha256);
        let mut file = File::open(path).await?;
        if part.first > 0 {
            file.seek(io::SeekFrom::Start(part.first)).await?;
        }
        Ok(Box::new(file.take(part.length)))
    }

    async fn remove(&self, sha256: &str) -> io::Result<()> {
        let (_, path) = place(&self.dir, sha256);
        owner_dirs::remove(&path).await
    }

    async fn list(&self) -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        for dir in owner_dirs::entries(&self.dir).await? {
            if dir.file_name() == INCOMING || !dir.file_type().await?.is_dir() {
                continue;
            }
            let files = owner_dirs::entries(&dir.path()).await?;
            found.extend(files.iter().filter_map(|file| file.file_name().into_string().ok()));
        }
        Ok(found)
    }
}

/// An unfinished file.
struct NewFile {
    file: File,
    path: PathBuf,
    dir: PathBuf,
}

#[async_trait]
impl NewBlob for NewFile {
    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes).await
    }

    async fn finish(&mut self) -> io::Result<()> {
        self.file.flush().await?;
        self.file.sync_all().await
    }

    async fn keep(self: Box<Self>, sha256: &str) -> io::Result<()> {
        let (dir, path) = place(&self.dir, sha256);
        owner_dirs::create(&dir).await?;
        fs::rename(&self.path, path).await?;
        // The new name is durable when its directories are.
        File::open(&dir).await?.sync_all().await?;
        File::open(&self.dir).await?.sync_all().await
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // Gone if it was kept.
        let _ = std::fs::remove_file(&self.path);
    }
}
