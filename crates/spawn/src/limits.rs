//! What a child may use.

use std::{fs::File, io, os::fd::AsRawFd, process::Command};

use crate::{check, in_child};

/// Makes the child join control groups: each file is the `cgroup.procs` of one.
pub fn join_groups(command: &mut Command, groups: Vec<File>) {
    in_child(command, move || {
        for group in &groups {
            // SAFETY: the descriptor is open, because the closure owns it; the text is static.
            let written = unsafe { libc::write(group.as_raw_fd(), c"0".as_ptr().cast(), 1) };
            if written != 1 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    });
}

/// Bounds how many processes the child's user may have in all.
pub fn limit_processes(command: &mut Command, most: u64) {
    let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
    in_child(command, move || {
        // SAFETY: the structure outlives the call.
        check(unsafe { libc::setrlimit(libc::RLIMIT_NPROC, &raw const limit) })
    });
}
