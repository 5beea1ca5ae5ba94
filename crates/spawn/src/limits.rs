//! Resource limits of a child.

use std::{
    fs::File,
    io,
    os::fd::AsRawFd,
    process::Command,
    sync::atomic::{AtomicU64, Ordering},
};

use crate::{check, in_child};

/// The soft limit on descriptors at the start of this process; 0 if it was not raised.
static STARTED_WITH: AtomicU64 = AtomicU64::new(0);

/// Raises this process's limit on descriptors to the maximum. The default is low only for programs
/// that use `select`; children get it back with [`usual_descriptors`].
pub fn raise_descriptors() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure outlives the call.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } == -1 {
        return;
    }
    let raised = libc::rlimit { rlim_cur: limit.rlim_max, ..limit };
    // SAFETY: the structure outlives the call.
    if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const raised) } == 0 {
        STARTED_WITH.store(limit.rlim_cur, Ordering::Relaxed);
    }
}

/// Restores the original soft limit on descriptors for the child.
pub fn usual_descriptors(command: &mut Command) {
    let soft = STARTED_WITH.load(Ordering::Relaxed);
    if soft == 0 {
        return;
    }
    in_child(command, move || {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the structure outlives the call.
        check(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) })?;
        limit.rlim_cur = soft.min(limit.rlim_max);
        // SAFETY: the structure outlives the call.
        check(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) })
    });
}

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

/// Limits the number of processes of the child's user.
pub fn limit_processes(command: &mut Command, most: u64) {
    let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
    in_child(command, move || {
        // SAFETY: the structure outlives the call.
        check(unsafe { libc::setrlimit(libc::RLIMIT_NPROC, &raw const limit) })
    });
}
