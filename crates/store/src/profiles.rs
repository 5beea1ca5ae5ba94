//! Stored browser profiles: one file for each owner and name.
//!
//! A file is a tar archive that only guests read and write. Its header tells whether and how it is
//! sealed ([`crate::sealing`]).

use std::{io, path::PathBuf, sync::Arc};

use bytes::Bytes;
use helmdeck_wire::{profile::Profile, session::ProfileName};
use tokio::{
    fs::File,
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
};

use crate::{
    Pieces, SealingKey, StoreError, owner_dirs,
    sealing::{NONCE, Opener, PIECE, SEALED_PIECE, Sealer, damaged, first_format},
};

/// Magic bytes at the beginning of a file, before the format.
const MAGIC: &[u8; 15] = b"helmdeckprofile";
const PLAIN: u8 = b'0';
/// The sealed format of an earlier version: read, never written.
const FIRST_SEALED: u8 = b'1';
const SEALED: u8 = b'2';
/// Maximum size of a profile. Logins need far less.
const MAX_BYTES: u64 = 512 << 20;
/// Maximum number of profiles per owner.
const MAX_PROFILES: usize = 100;

/// The stored profiles.
#[derive(Clone)]
pub struct Profiles {
    dir: PathBuf,
    key: Option<Arc<SealingKey>>,
}

impl Profiles {
    /// Profiles in this directory, sealed if there is a key.
    pub fn new(dir: PathBuf, key: Option<SealingKey>) -> Self {
        Self { dir, key: key.map(Arc::new) }
    }

    /// Removes unfinished files of a crashed server.
    pub async fn sweep(&self) {
        owner_dirs::sweep(&self.dir).await;
    }

    fn dir_of(&self, owner: &str) -> PathBuf {
        owner_dirs::dir_of(&self.dir, owner)
    }

    fn path(&self, owner: &str, name: &ProfileName) -> PathBuf {
        self.dir_of(owner).join(name.as_str())
    }

    /// An owner's profiles, by name.
    pub async fn list(&self, owner: &str) -> Result<Vec<Profile>, StoreError> {
        self.try_list(owner).await.map_err(StoreError::Profiles)
    }

    async fn try_list(&self, owner: &str) -> io::Result<Vec<Profile>> {
        let mut found = Vec::new();
        for entry in owner_dirs::entries(&self.dir_of(owner)).await? {
            let name = entry.file_name().to_string_lossy().into_owned();
            let facts = entry.metadata().await?;
            let kept_at = facts.modified()?.into();
            found.push(Profile { name, size: facts.len(), kept_at });
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    /// Deletes a profile. Does nothing if it does not exist.
    pub async fn delete(&self, owner: &str, name: &ProfileName) -> Result<(), StoreError> {
        owner_dirs::remove(&self.path(owner, name)).await.map_err(StoreError::Profiles)
    }

    /// Opens a profile for reading; `None` if it does not exist yet. The error describes what is
    /// wrong with the file.
    pub async fn open(&self, owner: &str, name: &ProfileName) -> io::Result<Option<ProfileReader>> {
        let file = match File::open(self.path(owner, name)).await {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut file = BufReader::new(file);
        let mut head = [0; MAGIC.len() + 1];
        file.read_exact(&mut head).await?;
        let format = head.split_last().filter(|(_, magic)| magic == MAGIC).map(|(kind, _)| *kind);
        let content = match (format, &self.key) {
            (Some(PLAIN), None) => Content::Plain,
            (Some(PLAIN), Some(_)) => {
                let why =
                    "the file is not sealed, but HELMDECK_PROFILE_KEY is set: remove one of them";
                return Err(io::Error::other(why));
            }
            (Some(SEALED), Some(key)) => {
                let mut nonce = [0; NONCE];
                file.read_exact(&mut nonce).await?;
                Content::Sealed(Opener::new(key, nonce, owner, name.as_str()))
            }
            (Some(FIRST_SEALED), Some(key)) => {
                let mut salt = [0; first_format::SALT];
                file.read_exact(&mut salt).await?;
                let opener = first_format::Opener::new(key, &salt, owner, name.as_str())?;
                Content::FirstSealed(opener)
            }
            (Some(SEALED | FIRST_SEALED), None) => {
                return Err(io::Error::other(
                    "the file is sealed, but HELMDECK_PROFILE_KEY is not set",
                ));
            }
            _ => return Err(io::Error::other("the file is not a profile")),
        };
        Ok(Some(ProfileReader { file, content, at_end: false }))
    }

    /// Opens a new profile for writing. It replaces the old one when it is finished. Only one
    /// writer at a time is allowed.
    pub async fn create(&self, owner: &str, name: &ProfileName) -> io::Result<ProfileWriter> {
        let path = self.path(owner, name);
        if !path.exists() && self.try_list(owner).await?.len() >= MAX_PROFILES {
            return Err(io::Error::other("you have reached the limit of 100 profiles: delete one"));
        }
        owner_dirs::create(&self.dir_of(owner)).await?;
        let unfinished = path.with_extension("new~");
        let mut options = tokio::fs::OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(0o600);
        let mut file = file.open(&unfinished).await?;
        file.write_all(MAGIC).await?;
        let sealer = match &self.key {
            None => {
                file.write_all(&[PLAIN]).await?;
                None
            }
            Some(key) => {
                let (sealer, nonce) = Sealer::new(key, owner, name.as_str())?;
                file.write_all(&[SEALED]).await?;
                file.write_all(&nonce).await?;
                Some(sealer)
            }
        };
        Ok(ProfileWriter { file, sealer, path, unfinished, waiting: Vec::new(), size: 0 })
    }
}

/// A profile that is being read.
pub struct ProfileReader {
    file: BufReader<File>,
    content: Content,
    at_end: bool,
}

/// Format of the content after the header.
enum Content {
    Plain,
    Sealed(Opener),
    FirstSealed(first_format::Opener),
}

impl Pieces for ProfileReader {
    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        if self.at_end {
            return Ok(None);
        }
        let piece = match &mut self.content {
            Content::Plain => {
                let piece = read(&mut self.file, PIECE).await?;
                self.at_end = piece.is_empty();
                piece
            }
            Content::Sealed(opener) => {
                let piece = read(&mut self.file, SEALED_PIECE).await?;
                self.at_end = is_at_end(&mut self.file).await?;
                opener.open(piece, self.at_end)?
            }
            Content::FirstSealed(opener) => {
                let length = self.file.read_u32().await? as usize;
                if length > SEALED_PIECE {
                    return Err(damaged());
                }
                let mut piece = vec![0; length];
                self.file.read_exact(&mut piece).await?;
                let piece = opener.open(&piece)?;
                self.at_end = opener.is_done();
                if self.at_end && !is_at_end(&mut self.file).await? {
                    return Err(damaged());
                }
                piece
            }
        };
        Ok((!self.at_end || !piece.is_empty()).then(|| piece.into()))
    }
}

/// Reads this many bytes, or what is left.
async fn read(file: &mut BufReader<File>, most: usize) -> io::Result<Vec<u8>> {
    let mut piece = Vec::with_capacity(most);
    file.take(most as u64).read_to_end(&mut piece).await?;
    Ok(piece)
}

async fn is_at_end(file: &mut BufReader<File>) -> io::Result<bool> {
    Ok(file.fill_buf().await?.is_empty())
}

/// A profile that is being written. It replaces the old one when it is finished.
pub struct ProfileWriter {
    file: File,
    sealer: Option<Sealer>,
    path: PathBuf,
    unfinished: PathBuf,
    waiting: Vec<u8>,
    size: u64,
}

impl ProfileWriter {
    /// Appends bytes of the archive.
    pub async fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.size += bytes.len() as u64;
        if self.size > MAX_BYTES {
            return Err(io::Error::other("the profile is larger than 512 MB"));
        }
        self.waiting.extend_from_slice(bytes);
        while self.waiting.len() > PIECE {
            let rest = self.waiting.split_off(PIECE);
            let piece = std::mem::replace(&mut self.waiting, rest);
            self.write(piece, false).await?;
        }
        Ok(())
    }

    async fn write(&mut self, piece: Vec<u8>, last: bool) -> io::Result<()> {
        let piece = match &mut self.sealer {
            None => piece,
            Some(sealer) => sealer.seal(piece, last)?,
        };
        self.file.write_all(&piece).await
    }

    /// Replaces the old profile. Returns the size of the archive.
    pub async fn finish(mut self) -> io::Result<u64> {
        let rest = std::mem::take(&mut self.waiting);
        self.write(rest, true).await?;
        self.file.flush().await?;
        self.file.sync_all().await?;
        tokio::fs::rename(&self.unfinished, &self.path).await?;
        Ok(self.size)
    }
}

impl Drop for ProfileWriter {
    fn drop(&mut self) {
        // Gone if it was finished.
        let _ = std::fs::remove_file(&self.unfinished);
    }
}
