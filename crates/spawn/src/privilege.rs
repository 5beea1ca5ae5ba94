//! Drops root privileges permanently.

use std::{io, process::Command};

use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

use crate::{check, in_child};

/// Makes the child run as `uid`, with the group of the same number and without any capability. It
/// cannot regain one. Needs root.
pub fn drop_to(command: &mut Command, uid: u32) {
    in_child(command, move || {
        drop_bounding_set()?;
        // SAFETY: integers only; a null list of length zero means no supplementary groups.
        unsafe {
            check(libc::setgroups(0, std::ptr::null()))?;
            check(libc::setresgid(uid, uid, uid))?;
            check(libc::setresuid(uid, uid, uid))?;
            check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
            libc::umask(0o022);
        }
        Ok(())
    });
}

/// Drops every capability of the calling thread permanently. Meant for a process with one thread.
pub fn drop_capabilities() -> io::Result<()> {
    drop_bounding_set()?;
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    Ok(set_capabilities(None, sets)?)
}

fn drop_bounding_set() -> io::Result<()> {
    for capability in 0..=63 {
        // SAFETY: integers only.
        match check(unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) }) {
            Ok(()) => {}
            // The first unknown number ends the list.
            Err(e) if e.raw_os_error() == Some(libc::EINVAL) => return Ok(()),
            Err(e) => return Err(e),
        }
    }
    Ok(())
}
