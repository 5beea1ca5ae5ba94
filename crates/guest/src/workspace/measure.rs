//! Measures the size of a directory while programs write to it.

use std::{
    collections::HashSet,
    ffi::OsStr,
    fs,
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
        unix::{ffi::OsStrExt, fs::PermissionsExt},
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags, openat, openat2, statat},
    io::Errno,
};

/// The assumed size of a directory entry, even for an empty file.
const ENTRY: u64 = 1 << 10;
/// The unit of block counts.
const BLOCK: u64 = 512;

/// The bytes that the files below `root` occupy on disk; counting stops beyond `limit`. A tree
/// deeper than any path can name counts as too large.
pub fn measure(root: &str, limit: u64) -> u64 {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(root) = openat(CWD, root, flags, Mode::empty()) else { return 0 };
    let (mut used, mut seen) = (0_u64, HashSet::new());
    let mut folders = vec![PathBuf::from(".")];
    while let Some(folder) = folders.pop() {
        let entries = match open(root.as_fd(), &folder) {
            Ok(entries) => entries,
            Err(Errno::NAMETOOLONG) => return u64::MAX,
            // It is gone, or was moved.
            Err(_) => continue,
        };
        for entry in Dir::read_from(&entries).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let Ok(facts) = statat(&entries, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let is_folder = FileType::from_raw_mode(facts.st_mode) == FileType::Directory;
            // A file with several names counts once.
            if is_folder || facts.st_nlink < 2 || seen.insert(facts.st_ino) {
                let blocks = u64::try_from(facts.st_blocks).unwrap_or(0);
                used = used.saturating_add(blocks.saturating_mul(BLOCK));
            }
            used = used.saturating_add(ENTRY);
            if is_folder {
                folders.push(folder.join(OsStr::from_bytes(name.to_bytes())));
            }
        }
        if used > limit {
            break;
        }
    }
    used
}

/// Opens a subfolder, even if its owner, which is us, made it unreadable.
fn open(root: BorrowedFd<'_>, folder: &Path) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    match openat2(root, folder, flags | OFlags::RDONLY, Mode::empty(), resolve) {
        Err(Errno::ACCESS) => {}
        opened => return opened,
    }
    let closed = openat2(root, folder, flags | OFlags::PATH, Mode::empty(), resolve)?;
    // By descriptor: the name could refer to another folder by now.
    let path = format!("/proc/self/fd/{}", closed.as_raw_fd());
    let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o700));
    openat2(root, folder, flags | OFlags::RDONLY, Mode::empty(), resolve)
}

#[cfg(test)]
mod tests {
    use rustix::fs::mkdirat;

    use super::*;

    /// More than any test writes.
    const PLENTY: u64 = 1 << 40;

    fn used(dir: &Path) -> u64 {
        measure(dir.to_str().unwrap(), PLENTY)
    }

    #[test]
    fn hidden_and_linked_files_are_counted_once() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("a/b");
        fs::create_dir_all(&folder).unwrap();
        let empty = used(dir.path());
        fs::write(folder.join("file"), vec![1; 1 << 20]).unwrap();
        let one = used(dir.path());
        assert!((1 << 20..=(1 << 20) + (64 << 10)).contains(&(one - empty)), "{empty} {one}");
        fs::hard_link(folder.join("file"), dir.path().join("again")).unwrap();
        std::os::unix::fs::symlink("/usr", dir.path().join("elsewhere")).unwrap();
        assert!(used(dir.path()) - one < 64 << 10, "links are small");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o000)).unwrap();
        assert!(used(dir.path()) >= one, "an unreadable folder");
    }

    #[test]
    fn empty_files_count_and_counting_stops_beyond_the_limit() {
        let dir = tempfile::tempdir().unwrap();
        for n in 0..2000 {
            fs::write(dir.path().join(n.to_string()), "").unwrap();
        }
        assert!(used(dir.path()) >= 2000 * ENTRY);
    }

    #[test]
    fn trees_deeper_than_any_path_count_as_too_large() {
        let dir = tempfile::tempdir().unwrap();
        let name = "d".repeat(200);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let mut folder = openat(CWD, dir.path(), flags, Mode::empty()).unwrap();
        for _ in 0..30 {
            mkdirat(&folder, &name, Mode::from_raw_mode(0o755)).unwrap();
            folder = openat(&folder, &name, flags, Mode::empty()).unwrap();
        }
        assert_eq!(used(dir.path()), u64::MAX);
    }
}
