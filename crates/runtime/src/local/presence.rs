//! Tracks which servers run as root on this machine, and cleans up after those that never came
//! back:
//! empty control groups, and claimed user ids of sandboxes that ended.
//!
//! A server holds a shared lock on a file of its instance, in a common directory. A process that
//! gets the exclusive lock knows that no server of the instance is running or starting. Even then a
//! group is removed only if the kernel confirms that it is empty, so a sandbox that waits for its
//! server to come back is left alone.

use std::{
    fs::{self, File, OpenOptions},
    io::{Read, Seek, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use super::{status, uid};

const INSTANCES: &str = "/run/helmdeck-instances";
/// Another server that starts holds our file for milliseconds.
const LOCK_DEADLINE: Duration = Duration::from_secs(5);
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// Marks this server as running while it is held.
#[derive(Debug)]
pub struct Presence {
    file: File,
    path: PathBuf,
}

/// What a server would leave behind if it never came back.
#[derive(Debug, Serialize, Deserialize)]
struct Leftovers {
    /// The directory of the instance.
    root: PathBuf,
    /// Its control groups, each with one child for every sandbox.
    groups: Vec<PathBuf>,
}

impl Presence {
    /// Marks a server of the instance as running; called before it creates any group. If this
    /// fails, the server works, but is not cleaned up after.
    pub fn announce(instance: &str) -> Option<Self> {
        Self::announce_in(Path::new(INSTANCES), instance)
    }

    fn announce_in(dir: &Path, instance: &str) -> Option<Self> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).ok()?;
        let path = dir.join(instance);
        let began = Instant::now();
        while began.elapsed() < LOCK_DEADLINE {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false).mode(0o600);
            let file = options.open(&path).ok()?;
            // Another server that cleaned up may have removed the file after we opened it.
            if file.try_lock_shared().is_ok() && is_at(&file, &path) {
                return Some(Self { file, path });
            }
            std::thread::sleep(LOCK_PAUSE);
        }
        None
    }

    /// Records what to clean up if this server never comes back.
    pub fn bequeath(&mut self, root: &Path, groups: Vec<PathBuf>) {
        let leftovers = Leftovers { root: root.to_owned(), groups };
        let text = serde_json::to_vec(&leftovers).unwrap_or_default();
        let written = self
            .file
            .set_len(0)
            .and_then(|()| self.file.rewind())
            .and_then(|()| self.file.write_all(&text));
        if let Err(error) = written {
            tracing::warn!(%error, "Cleanup record could not be written");
        }
    }

    /// Cleans up after other servers that are gone.
    pub fn clear_after_others(&self) {
        let files = self.path.parent().map(fs::read_dir).into_iter().flatten().flatten().flatten();
        for path in files.map(|entry| entry.path()).filter(|path| *path != self.path) {
            clear(&path);
        }
    }
}

/// Cleans up after one instance, unless a server of it is running.
fn clear(path: &Path) {
    let Ok(mut file) = OpenOptions::new().read(true).write(true).open(path) else { return };
    if file.try_lock().is_err() || !is_at(&file, path) {
        return;
    }
    let mut text = String::new();
    let read = file.read_to_string(&mut text).ok();
    let Some(leftovers) = read.and_then(|_| serde_json::from_str::<Leftovers>(&text).ok()) else {
        return;
    };
    let groups_left = leftovers.groups.iter().filter(|group| !remove_if_empty(group)).count();
    let claims_left =
        sandboxes(&leftovers.root).iter().filter(|dir| !give_up(dir, &leftovers)).count();
    if groups_left + claims_left == 0 {
        tracing::info!(root = %leftovers.root.display(), "Cleaned up after a server that is gone");
        let _ = fs::remove_file(path);
    }
}

/// Removes a group and its children where they are empty; returns whether it is gone.
fn remove_if_empty(group: &Path) -> bool {
    for below in fs::read_dir(group).into_iter().flatten().flatten() {
        if below.file_type().is_ok_and(|kind| kind.is_dir()) {
            // The kernel refuses if a process is inside.
            let _ = fs::remove_dir(below.path());
        }
    }
    let _ = fs::remove_dir(group);
    !group.exists()
}

/// Releases the user id of a sandbox if it has certainly ended; returns whether it did.
fn give_up(dir: &Path, leftovers: &Leftovers) -> bool {
    let name = dir.file_name().unwrap_or_default();
    let has_group = leftovers.groups.iter().any(|group| group.join(name).exists());
    let ended = status::read(dir).is_some_and(|status| !status.is_alive());
    // Without groups, a sandbox in another process namespace would look ended.
    let certain = ended && !has_group && !leftovers.groups.is_empty();
    if certain {
        uid::release(dir);
    }
    certain
}

fn sandboxes(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root.join("sandboxes")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// Whether the path still refers to the open file.
fn is_at(file: &File, path: &Path) -> bool {
    let number = |found: fs::Metadata| (found.dev(), found.ino());
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(there)) => number(open) == number(there),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An instance with a group and a sandbox below it; directories stand for groups.
    fn instance(dir: &Path, name: &str) -> (Presence, PathBuf) {
        let group = dir.join(format!("group-{name}"));
        fs::create_dir_all(group.join("sandbox")).unwrap();
        let mut presence = Presence::announce_in(&dir.join("instances"), name).unwrap();
        presence.bequeath(&dir.join(name), vec![group.clone()]);
        (presence, group)
    }

    #[test]
    fn only_groups_of_servers_that_are_gone_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let (_alive, theirs) = instance(dir.path(), "alive");
        let (gone, left) = instance(dir.path(), "gone");
        drop(gone);
        let (us, ours) = instance(dir.path(), "us");
        us.clear_after_others();
        assert_eq!((theirs.exists(), left.exists(), ours.exists()), (true, false, true));
        let mut names: Vec<_> = fs::read_dir(dir.path().join("instances"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["alive", "us"]);
    }

    #[test]
    fn running_sandboxes_and_their_record_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let (gone, left) = instance(dir.path(), "gone");
        // The file system refuses to remove this, like the kernel does for a group with a process.
        fs::write(left.join("sandbox").join("process"), "").unwrap();
        drop(gone);
        let (us, _) = instance(dir.path(), "us");
        us.clear_after_others();
        assert!(left.join("sandbox").exists() && dir.path().join("instances/gone").exists());
        let (_back, _) = instance(dir.path(), "gone");
    }

    #[test]
    fn foreign_files_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (us, _) = instance(dir.path(), "us");
        let strange = dir.path().join("instances/strange");
        fs::write(&strange, "what is this").unwrap();
        us.clear_after_others();
        assert!(strange.exists());
    }
}
