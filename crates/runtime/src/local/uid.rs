//! A separate user id for each sandbox, when the server is root.
//!
//! Ids come from a range that no account uses. A claim is a file that names the sandbox, in a
//! directory shared by all servers of the machine, so that two never choose the same id.

use std::{
    fs,
    io::{ErrorKind, Write},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use crate::{RuntimeError, error::Doing};

const CLAIMS: &str = "/run/helmdeck-uids";
/// Above all ids that distributions, containers and home directories use.
const FIRST: u32 = 2_000_000_000;
const COUNT: u32 = 10_000;
/// For programs that run alone. They share it: none sees the processes of another.
pub const ALONE: u32 = FIRST + COUNT;

/// Claims a free id for the sandbox in `dir`.
pub fn claim(dir: &Path) -> Result<u32, RuntimeError> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(CLAIMS).doing("create", CLAIMS)?;
    // Locked, or two servers could take the same abandoned claim.
    let lock = fs::File::create(Path::new(CLAIMS).join("lock")).doing("lock", CLAIMS)?;
    lock.lock().doing("lock", CLAIMS)?;
    for uid in FIRST..FIRST + COUNT {
        let path = claim_file(uid);
        if !owner_exists(&path) {
            let _ = fs::remove_file(&path);
        }
        if !path.exists() && has_processes(uid) {
            continue;
        }
        match fs::OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                file.write_all(dir.as_os_str().as_encoded_bytes()).doing("write", &path)?;
                fs::write(dir.join("uid"), uid.to_string()).doing("write", dir)?;
                return Ok(uid);
            }
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e).doing("create", path),
        }
    }
    Err(std::io::Error::other("all user ids for sandboxes are taken")).doing("claim in", CLAIMS)
}

/// Releases the id of the sandbox in `dir`, if it has one.
pub fn release(dir: &Path) {
    let uid = fs::read_to_string(dir.join("uid")).ok().and_then(|text| text.parse().ok());
    if let Some(claim) = uid.map(claim_file) {
        let ours = fs::read(&claim).is_ok_and(|owner| owner == dir.as_os_str().as_encoded_bytes());
        if ours {
            let _ = fs::remove_file(claim);
        }
    }
}

fn claim_file(uid: u32) -> PathBuf {
    Path::new(CLAIMS).join(uid.to_string())
}

/// Whether the owner of a claim exists. A server that died at the wrong moment leaves a claim
/// without one.
fn owner_exists(claim: &Path) -> bool {
    match fs::read_to_string(claim) {
        // It is being written right now.
        Ok(owner) if owner.is_empty() => true,
        Ok(owner) => Path::new(&owner).exists(),
        Err(_) => true,
    }
}

/// Whether a process still runs under the id, although it is not claimed.
fn has_processes(uid: u32) -> bool {
    use std::os::unix::fs::MetadataExt;
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.into_iter().any(|entry| entry.metadata().is_ok_and(|process| process.uid() == uid))
}
