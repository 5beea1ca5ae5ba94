//! Finds programs of the agent's sandbox with open files in `/workspace`.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use helmdeck_wire::exec::WORKSPACE;

use crate::freeze::{below, processes};

/// The suffix in the name of a deleted file that is still open.
const DELETED: &str = " (deleted)";
/// The owner's write bit, which is set on the entries of descriptors opened for writing.
const WRITABLE: u32 = 0o200;
/// The unit of block counts.
const BLOCK: u64 = 512;

/// Programs that have a file there open for writing: process id and name.
pub fn writing(leader: i32) -> BTreeMap<i32, String> {
    let writes = |file: &PathBuf| {
        fs::symlink_metadata(file).is_ok_and(|link| link.permissions().mode() & WRITABLE != 0)
            && target(file).is_some()
    };
    let writers = below(&processes(), leader).into_iter();
    let writers = writers.filter(|pid| open_files(*pid).iter().any(writes));
    writers.map(|pid| (pid, name(pid))).collect()
}

/// The bytes of deleted files there that are still open; they have no name.
pub fn deleted(leader: i32) -> u64 {
    let mut found = BTreeMap::new();
    for pid in below(&processes(), leader) {
        for file in open_files(pid) {
            let is_deleted = target(&file).is_some_and(|path| path.ends_with(DELETED));
            if let Ok(facts) = fs::metadata(&file)
                && is_deleted
                && facts.nlink() == 0
            {
                found.insert((facts.dev(), facts.ino()), facts.blocks() * BLOCK);
            }
        }
    }
    found.values().sum()
}

fn open_files(pid: i32) -> Vec<PathBuf> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// The path of an open file, if it is in `/workspace`.
fn target(file: &Path) -> Option<String> {
    let target = fs::read_link(file).ok()?;
    let target = target.to_str()?;
    target.strip_prefix(WORKSPACE)?.starts_with('/').then(|| target.to_owned())
}

fn name(pid: i32) -> String {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    name.trim().to_owned()
}
