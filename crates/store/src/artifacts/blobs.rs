//! Content of artifacts, named by its SHA-256. Another backend implements [`Blobs`].

use std::{
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use helmdeck_wire::byte_range::Part;
use tokio::{
    fs::{self, File},
    io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt, Take},
};

use crate::owner_dirs;

/// Directory of unfinished content.
const INCOMING: &str = "incoming";
/// Size of the pieces of a file.
const PIECE: usize = 128 << 10;

/// Where content is kept.
#[async_trait]
pub(crate) trait Blobs: Send + Sync + 'static {
    /// Removes unfinished content of a crashed server. Must not run during writes.
    async fn clean_up(&self) -> io::Result<()>;
    /// Begins new content. Dropping it removes it.
    async fn create(&self) -> io::Result<Box<dyn NewBlob>>;
    /// Opens a part of some content.
    async fn open(&self, sha256: &str, part: Part) -> io::Result<Box<dyn BlobReader>>;
    /// Removes content. Succeeds if it does not exist. Readers that opened it can go on.
    async fn remove(&self, sha256: &str) -> io::Result<()>;
    /// The names of some content. `after` continues a list.
    async fn list(&self, after: Option<&str>) -> io::Result<BlobPage>;
}

/// Some names of a list.
pub(crate) struct BlobPage {
    pub names: Vec<String>,
    /// Continues the list; `None` on the last page.
    pub next: Option<String>,
}

/// Content that is being read.
#[async_trait]
pub(crate) trait BlobReader: Send {
    /// The next piece; `None` at the end.
    async fn next(&mut self) -> io::Result<Option<Bytes>>;
}

/// Content that is being written.
#[async_trait]
pub(crate) trait NewBlob: Send {
    /// Appends bytes.
    async fn write(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Makes the bytes durable. May take long; [`NewBlob::keep`] does not.
    async fn finish(&mut self, sha256: &str) -> io::Result<()>;
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

    /// A new, unfinished file.
    pub async fn create_file(&self) -> io::Result<NewFile> {
        let incoming = self.dir.join(INCOMING);
        owner_dirs::create(&incoming).await?;
        let number = self.created.fetch_add(1, Ordering::Relaxed);
        let path = incoming.join(number.to_string());
        let mut options = fs::OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(0o600).open(&path).await?;
        Ok(NewFile { file, path, dir: self.dir.clone() })
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
        Ok(Box::new(self.create_file().await?))
    }

    async fn open(&self, sha256: &str, part: Part) -> io::Result<Box<dyn BlobReader>> {
        let (_, path) = place(&self.dir, sha256);
        let mut file = File::open(path).await?;
        if part.first > 0 {
            file.seek(io::SeekFrom::Start(part.first)).await?;
        }
        Ok(Box::new(FileReader(file.take(part.length))))
    }

    async fn remove(&self, sha256: &str) -> io::Result<()> {
        let (_, path) = place(&self.dir, sha256);
        owner_dirs::remove(&path).await
    }

    async fn list(&self, _after: Option<&str>) -> io::Result<BlobPage> {
        let mut names = Vec::new();
        for dir in owner_dirs::entries(&self.dir).await? {
            if dir.file_name() == INCOMING || !dir.file_type().await?.is_dir() {
                continue;
            }
            let files = owner_dirs::entries(&dir.path()).await?;
            names.extend(files.iter().filter_map(|file| file.file_name().into_string().ok()));
        }
        Ok(BlobPage { names, next: None })
    }
}

/// An open file.
struct FileReader(Take<File>);

#[async_trait]
impl BlobReader for FileReader {
    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        let left = usize::try_from(self.0.limit()).unwrap_or(PIECE);
        let mut piece = BytesMut::with_capacity(PIECE.min(left));
        self.0.read_buf(&mut piece).await?;
        Ok(Some(piece.freeze()).filter(|piece| !piece.is_empty()))
    }
}

/// An unfinished file. Dropping it removes it.
pub(crate) struct NewFile {
    file: File,
    path: PathBuf,
    dir: PathBuf,
}

impl NewFile {
    /// Opens it for reading, after all of it was written.
    pub async fn reopen(&mut self) -> io::Result<File> {
        self.file.flush().await?;
        File::open(&self.path).await
    }
}

#[async_trait]
impl NewBlob for NewFile {
    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes).await
    }

    async fn finish(&mut self, _sha256: &str) -> io::Result<()> {
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
