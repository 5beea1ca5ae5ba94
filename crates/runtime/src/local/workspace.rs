//! The sandboxes' directories on disk, mounted as `/workspace`.
//!
//! Programs of a sandbox control the content, so it is only ever removed: without recursion,
//! because a tree may be deeper than any stack, and without following links.

use std::{
    ffi::CString,
    fs::{self, DirBuilder},
    io,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::fs::DirBuilderExt,
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{
        AtFlags, CWD, Dir, FileType, Mode, OFlags, chmodat, mkdirat, openat, renameat, statat,
        unlinkat,
    },
    io::Errno,
};

use crate::{RuntimeError, SandboxId, error::Doing};

/// A folder that collects what is to be removed.
const DOOMED: &str = ".helmdeck-doomed";
/// How many names are read at once: a folder may have millions.
const AT_ONCE: usize = 50_000;
/// The mode a directory needs to be emptied.
const OPEN: u32 = 0o700;

/// The directories of one installation.
#[derive(Debug)]
pub struct Workspaces(PathBuf);

impl Workspaces {
    /// Directories are created in `dir` when needed.
    pub fn new(dir: PathBuf) -> Self {
        Self(dir)
    }

    /// Creates the directory of a sandbox, owned by `uid` if given.
    pub fn make(&self, id: &SandboxId, uid: Option<u32>) -> Result<PathBuf, RuntimeError> {
        let dir = self.0.join(id.as_str());
        DirBuilder::new().recursive(true).mode(OPEN).create(&self.0).doing("create", &self.0)?;
        DirBuilder::new().mode(OPEN).create(&dir).doing("create", &dir)?;
        if let Some(uid) = uid {
            std::os::unix::fs::chown(&dir, Some(uid), Some(uid)).doing("hand over", &dir)?;
        }
        Ok(dir)
    }

    /// Removes the directory of a sandbox that has ended, and `in_place`, which was used if it
    /// could not be mounted. Takes as long as there is something to remove.
    pub async fn remove(&self, id: &SandboxId, in_place: PathBuf) -> Result<(), RuntimeError> {
        for dir in [self.0.join(id.as_str()), in_place] {
            let removing = dir.clone();
            let removed = tokio::task::spawn_blocking(move || remove(&removing)).await;
            removed.unwrap_or_else(|e| Err(io::Error::other(e))).doing("remove", dir)?;
        }
        Ok(())
    }

    /// Removes directories of sandboxes that `is_known` rejects, in the background.
    pub fn sweep(&self, is_known: impl Fn(&str) -> bool) {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let left: Vec<_> = entries
            .filter(|entry| !is_known(&entry.file_name().to_string_lossy()))
            .map(|entry| entry.path())
            .collect();
        if left.is_empty() {
            return;
        }
        std::thread::spawn(move || {
            for dir in left {
                tracing::info!(dir = %dir.display(), "Removing a leftover workspace");
                if let Err(error) = remove(&dir) {
                    tracing::warn!(dir = %dir.display(), %error, "Workspace could not be removed");
                }
            }
        });
    }
}

/// Removes a directory with all its content. Succeeds if it does not exist.
fn remove(dir: &Path) -> io::Result<()> {
    let top = match open(CWD, dir) {
        Ok(top) => top,
        Err(Errno::NOENT) => return Ok(()),
        Err(errno) => return Err(errno.into()),
    };
    match mkdirat(&top, DOOMED, Mode::from_raw_mode(OPEN)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(errno.into()),
    }
    let doomed = open(top.as_fd(), DOOMED)?;
    let number = |name: &CString| name.to_str().ok()?.parse::<u64>().ok();
    // A server that was killed may have started the removal.
    let mut next = names(doomed.as_fd())?.iter().filter_map(number).max().map_or(0, |n| n + 1);
    // Every folder is moved up until none contains another.
    empty(top.as_fd(), doomed.as_fd(), &mut next)?;
    loop {
        let folders = names(doomed.as_fd())?;
        if folders.is_empty() {
            break;
        }
        for name in folders {
            let folder = open(doomed.as_fd(), name.as_c_str())?;
            empty(folder.as_fd(), doomed.as_fd(), &mut next)?;
            unlinkat(&doomed, name.as_c_str(), AtFlags::REMOVEDIR)?;
        }
    }
    unlinkat(&top, DOOMED, AtFlags::REMOVEDIR)?;
    fs::remove_dir(dir)
}

/// Removes the files of a folder, and moves its subfolders to `doomed`.
fn empty(folder: BorrowedFd<'_>, doomed: BorrowedFd<'_>, next: &mut u64) -> io::Result<()> {
    loop {
        let names = names(folder)?;
        if names.is_empty() {
            return Ok(());
        }
        for name in &names {
            let name = name.as_c_str();
            let facts = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
            if FileType::from_raw_mode(facts.st_mode) == FileType::Directory {
                // A folder can only be moved by a user who may write to it.
                chmodat(folder, name, Mode::from_raw_mode(OPEN), AtFlags::empty())?;
                renameat(folder, name, doomed, next.to_string())?;
                *next += 1;
            } else {
                unlinkat(folder, name, AtFlags::empty())?;
            }
        }
    }
}

/// Up to [`AT_ONCE`] names in a folder, without [`DOOMED`].
fn names(folder: BorrowedFd<'_>) -> io::Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if !matches!(name.to_bytes(), b"." | b"..") && name.to_bytes() != DOOMED.as_bytes() {
            names.push(name.to_owned());
        }
        if names.len() == AT_ONCE {
            break;
        }
    }
    Ok(names)
}

fn open(at: BorrowedFd<'_>, name: impl rustix::path::Arg) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(at, name, flags, Mode::empty())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[tokio::test]
    async fn a_directory_is_removed_with_any_content_and_nothing_else_is() {
        let dir = tempfile::tempdir().unwrap();
        let kept = dir.path().join("kept");
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("file"), "").unwrap();
        let workspaces = Workspaces::new(dir.path().join("workspaces"));
        let id = SandboxId::new("one").unwrap();
        let made = workspaces.make(&id, None).unwrap();
        symlink(&kept, made.join("link")).unwrap();
        fs::create_dir_all(made.join("a/b/c")).unwrap();
        fs::create_dir_all(made.join("0/1")).unwrap();
        // An interrupted removal.
        fs::create_dir_all(made.join(DOOMED).join("0/full")).unwrap();
        fs::write(made.join("a/b/file"), "").unwrap();
        for folder in ["a/b/c", "a/b", "a"] {
            let closed = fs::Permissions::from_mode(0o000);
            fs::set_permissions(made.join(folder), closed).unwrap();
        }
        // Deeper than any path can name.
        let mut folder = open(CWD, &made).unwrap();
        for _ in 0..2_000 {
            mkdirat(&folder, "deep", Mode::from_raw_mode(OPEN)).unwrap();
            folder = open(folder.as_fd(), "deep").unwrap();
        }
        let nowhere = dir.path().join("nowhere");
        workspaces.remove(&id, nowhere.clone()).await.unwrap();
        assert!(!made.exists() && kept.join("file").exists());
        workspaces.remove(&id, nowhere).await.unwrap();
    }

    #[test]
    fn leftover_directories_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let workspaces = Workspaces::new(dir.path().to_owned());
        for name in ["known", "left"] {
            workspaces.make(&SandboxId::new(name).unwrap(), None).unwrap();
        }
        workspaces.sweep(|name| name == "known");
        while dir.path().join("left").exists() {
            std::thread::yield_now();
        }
        assert!(dir.path().join("known").exists());
    }
}
