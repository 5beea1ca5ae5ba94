//! Files of the session's home, which the agent's programs write at the same time.
//!
//! Nothing outside the home is ever opened, whatever links programs create: the kernel resolves
//! every path beneath it (`RESOLVE_BENEATH`), and new files are created by name in an open folder.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    os::fd::{AsFd, OwnedFd},
};

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use helmdeck_task::block_in_place;
use helmdeck_wire::{
    ErrorBody, ErrorCode,
    file::{FileEntry, FileKind, FileList, FileStored, HomePath},
    guest::OneFile,
};
use rustix::{
    fs::{
        AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, ResolveFlags, Stat, fstat, mkdirat,
        openat, openat2, renameat_with, statat, unlinkat,
    },
    io::Errno,
};
use time::OffsetDateTime;

use crate::{error::GuestError, nest::HOME};

/// Limit on listed entries of a folder.
const MAX_ENTRIES: usize = 10_000;

/// Limit on retries while programs rename files.
const TRIES: usize = 100;
/// How much is read at once.
const PIECE: usize = 256 << 10;

/// Lists a folder.
pub fn list(path: &HomePath) -> Result<FileList, GuestError> {
    let refused = |errno| refusal(errno, path);
    let folder = open(path.as_str(), OFlags::RDONLY | OFlags::DIRECTORY).map_err(refused)?;
    let mut entries = Vec::new();
    let mut truncated = false;
    for found in Dir::read_from(&folder).map_err(refused)? {
        let found = found.map_err(refused)?;
        if matches!(found.file_name().to_bytes(), b"." | b"..") {
            continue;
        }
        if entries.len() == MAX_ENTRIES {
            truncated = true;
            break;
        }
        // Entries that are gone by now are skipped.
        if let Ok(facts) = statat(&folder, found.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
            entries.push(entry(found.file_name().to_string_lossy().into_owned(), &facts));
        }
    }
    entries.sort_by(|a, b| {
        (a.kind != FileKind::Directory, &a.name).cmp(&(b.kind != FileKind::Directory, &b.name))
    });
    Ok(FileList { path: path.to_string(), entries, truncated })
}

fn entry(name: String, facts: &Stat) -> FileEntry {
    let kind = match FileType::from_raw_mode(facts.st_mode) {
        FileType::Directory => FileKind::Directory,
        FileType::RegularFile => FileKind::File,
        FileType::Symlink => FileKind::Link,
        _ => FileKind::Other,
    };
    let size = if kind == FileKind::File { u64::try_from(facts.st_size).unwrap_or(0) } else { 0 };
    // Programs may set any time; one without a date is shown as the epoch.
    let modified_at =
        OffsetDateTime::from_unix_timestamp(facts.st_mtime).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    FileEntry { name, kind, size, modified_at }
}

/// Opens a file to read, and returns its size.
pub fn read(path: &HomePath) -> Result<(File, u64), GuestError> {
    let refused = |errno| refusal(errno, path);
    // Opening a pipe without a writer must not block.
    let file = open(path.as_str(), OFlags::RDONLY | OFlags::NONBLOCK).map_err(refused)?;
    let facts = fstat(&file).map_err(refused)?;
    if FileType::from_raw_mode(facts.st_mode) != FileType::RegularFile {
        return Err(refused(Errno::ISDIR));
    }
    Ok((file.into(), u64::try_from(facts.st_size).unwrap_or(0)))
}

/// Seeks to a byte of a file.
pub fn skip(file: &mut File, first: u64) -> Result<(), GuestError> {
    file.seek(SeekFrom::Start(first)).map(|_| ()).map_err(|e| GuestError::Io("the file", e))
}

/// Streams a file from its current position. Ends with an error if the file shrinks meanwhile.
pub fn pieces(file: File, size: u64) -> impl Stream<Item = io::Result<Bytes>> {
    stream::try_unfold((file, size), async |(mut file, left)| {
        if left == 0 {
            return Ok(None);
        }
        let mut piece = vec![0; PIECE.min(usize::try_from(left).unwrap_or(PIECE))];
        let read = block_in_place(|| file.read(&mut piece))?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        piece.truncate(read);
        Ok(Some((piece.into(), (file, left - read as u64))))
    })
}

/// Writes a stream to a file, completely or not at all. Reads the whole stream even after an error,
/// because the sender does not read our answer before.
pub async fn store<E>(
    target: OneFile,
    mut pieces: impl Stream<Item = Result<Bytes, E>> + Unpin,
) -> Result<FileStored, GuestError>
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let mut upload = block_in_place(|| Upload::begin(target));
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|e| GuestError::Io("the upload", io::Error::other(e)))?;
        if let Ok(started) = &mut upload
            && let Err(error) = block_in_place(|| started.write(&piece))
        {
            upload = Err(error);
        }
    }
    block_in_place(|| upload?.finish())
}

/// A file being written, under a temporary name until it is complete.
struct Upload {
    target: OneFile,
    folder: OwnedFd,
    name: String,
    file: File,
    size: u64,
    kept: bool,
}

impl Upload {
    /// Starts a file and creates its folders.
    fn begin(target: OneFile) -> Result<Self, GuestError> {
        let refused = |errno| refusal(errno, &target.path);
        let Some((folder, _)) = target.path.split() else { return Err(refused(Errno::ISDIR)) };
        let folder = make_folders(folder).map_err(refused)?;
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|e| GuestError::Io("a name", io::Error::other(e)))?;
        let name = format!(".upload-{:016x}", u64::from_ne_bytes(random));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = openat(&folder, &name, flags, Mode::from_raw_mode(0o644)).map_err(refused)?;
        Ok(Self { target, folder, name, file: file.into(), size: 0, kept: false })
    }

    /// Adds bytes.
    fn write(&mut self, bytes: &Bytes) -> Result<(), GuestError> {
        self.size += bytes.len() as u64;
        let errno = |error: io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
        self.file.write_all(bytes).map_err(|error| refusal(errno(error), &self.target.path))
    }

    /// Renames the file to its final name.
    fn finish(mut self) -> Result<FileStored, GuestError> {
        let path = &self.target.path;
        let (_, name) = path.split().ok_or_else(|| refusal(Errno::ISDIR, path))?;
        if let Some(modified_at) = self.target.modified_at {
            let changed = self.file.set_modified(modified_at.into());
            changed.map_err(|error| GuestError::Io("the time of a file", error))?;
        }
        let flags = if self.target.replace { RenameFlags::empty() } else { RenameFlags::NOREPLACE };
        renameat_with(&self.folder, &self.name, &self.folder, name, flags)
            .map_err(|errno| refusal(errno, path))?;
        self.kept = true;
        Ok(FileStored { path: self.target.path.to_string(), size: self.size })
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if !self.kept {
            let _ = unlinkat(&self.folder, &self.name, AtFlags::empty());
        }
    }
}

/// Opens a folder beneath the home, creating missing ones.
fn make_folders(path: &str) -> Result<OwnedFd, Errno> {
    let mut folder = open("", OFlags::RDONLY | OFlags::DIRECTORY)?;
    let mut here = String::new();
    for name in path.split('/').filter(|name| !name.is_empty()) {
        match mkdirat(&folder, name, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
        here = if here.is_empty() { name.to_owned() } else { format!("{here}/{name}") };
        folder = open(&here, OFlags::RDONLY | OFlags::DIRECTORY)?;
    }
    Ok(folder)
}

/// Opens a path beneath the home. Links may point within the home, but not out of it.
pub fn open(path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    let folder = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let home = openat(rustix::fs::CWD, HOME, folder, Mode::empty())?;
    let path = if path.is_empty() { "." } else { path };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    // A path that is only looked up cannot be a terminal; the kernel refuses the flag.
    let terminal = if flags.contains(OFlags::PATH) { OFlags::empty() } else { OFlags::NOCTTY };
    let flags = flags | OFlags::CLOEXEC | terminal;
    let mut opened = Err(Errno::AGAIN);
    for _ in 0..TRIES {
        opened = openat2(home.as_fd(), path, flags, Mode::empty(), resolve);
        // A rename during the resolution made the kernel give up.
        if !matches!(opened, Err(Errno::AGAIN | Errno::INTR)) {
            break;
        }
    }
    opened
}

pub fn refusal(errno: Errno, path: &HomePath) -> GuestError {
    let shown = if path.as_str().is_empty() { "the home" } else { path.as_str() };
    let (code, message) = match errno {
        Errno::NOENT => (ErrorCode::FileNotFound, format!("{shown} does not exist in the session")),
        Errno::EXIST => (
            ErrorCode::FileExists,
            format!("{shown} already exists; choose another name, or send replace=true"),
        ),
        Errno::XDEV => (ErrorCode::InvalidPath, format!("{shown} leads out of the session's home")),
        Errno::LOOP | Errno::NAMETOOLONG | Errno::INVAL | Errno::ILSEQ => {
            (ErrorCode::InvalidPath, format!("{shown} cannot be opened: {errno}"))
        }
        Errno::ISDIR | Errno::NXIO => (ErrorCode::NotAFile, format!("{shown} is not a file")),
        Errno::NOTDIR => (ErrorCode::NotAFile, format!("{shown} is not a folder")),
        Errno::AGAIN => {
            (ErrorCode::FileDenied, format!("{shown} is in use by a program of the session"))
        }
        Errno::ACCESS | Errno::PERM => (
            ErrorCode::FileDenied,
            format!("{shown} cannot be opened: its permissions do not allow it"),
        ),
        Errno::NOSPC | Errno::DQUOT => (
            ErrorCode::SessionDiskFull,
            "the session's disk is full; remove files and try again".to_owned(),
        ),
        other => return GuestError::Io("a file of the home", other.into()),
    };
    GuestError::Refused(ErrorBody::new(code, message))
}
