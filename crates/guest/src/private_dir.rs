//! A temporary directory for this process, outside any sandbox.

use std::{
    fs::{self, DirBuilder, File},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{FlockOperation, flock},
    process::{Pid, getuid, test_kill_process},
};

/// The prefix of its name; our process id follows.
const PREFIX: &str = "helmdeck-attach-";

/// A directory that only this user may enter. Dropping this removes it with its content.
pub struct PrivateDir {
    path: PathBuf,
    /// Locked: a directory may be removed only if it is unlocked and its process is gone.
    _lock: File,
}

impl PrivateDir {
    /// Creates it in the user's runtime directory, else among temporary files. Removes leftovers of
    /// earlier processes.
    pub fn make() -> io::Result<Self> {
        let own = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let base = own.filter(|dir| dir.is_dir()).unwrap_or_else(std::env::temp_dir);
        Self::make_in(&base)
    }

    fn make_in(base: &Path) -> io::Result<Self> {
        remove_stale(base);
        let path = base.join(format!("{PREFIX}{}", std::process::id()));
        // Left by an earlier process with our id, if it exists.
        let _ = fs::remove_dir_all(&path);
        DirBuilder::new().mode(0o700).create(&path)?;
        let lock = File::open(&path)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self { path, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn remove_stale(base: &Path) {
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        if is_stale(&entry.path()) {
            // What cannot be removed is not ours.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether a directory was created by a process that is gone.
fn is_stale(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let number = name.strip_prefix(PREFIX).and_then(|number| number.parse().ok());
    let Some(pid) = number.and_then(Pid::from_raw) else { return false };
    let ours = fs::symlink_metadata(path)
        .is_ok_and(|facts| facts.is_dir() && facts.uid() == getuid().as_raw());
    // A process of another sandbox may share the directory but not our process ids: it holds the
    // lock.
    let unlocked = || {
        let dir = File::open(path);
        dir.is_ok_and(|dir| flock(&dir, FlockOperation::NonBlockingLockExclusive).is_ok())
    };
    ours && test_kill_process(pid).is_err() && unlocked()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_directories_of_killed_processes_are_removed() {
        let base = std::env::temp_dir().join(format!("helmdeck-place-{}", std::process::id()));
        fs::create_dir(&base).unwrap();
        // Process ids are far below this.
        let stale = base.join(format!("{PREFIX}2000000000"));
        let foreign = base.join(format!("{PREFIX}of-others"));
        let busy = base.join(format!("{PREFIX}2000000001"));
        for dir in [&stale, &foreign, &busy] {
            fs::create_dir(dir).unwrap();
        }
        fs::write(stale.join("rfb.passwd"), "x").unwrap();
        let held = File::open(&busy).unwrap();
        flock(&held, FlockOperation::NonBlockingLockExclusive).unwrap();
        let place = PrivateDir::make_in(&base).unwrap();
        assert!(!stale.exists() && foreign.exists() && busy.exists());
        let path = place.path().to_owned();
        assert!(path.is_dir());
        drop(place);
        assert!(!path.exists());
        fs::remove_dir_all(base).unwrap();
    }
}
