//! File descriptors that a child inherits.

use std::{
    io,
    os::fd::{AsRawFd, OwnedFd, RawFd},
    process::Command,
};

use rustix::{
    fs::{MemfdFlags, memfd_create},
    io::{FdFlags, fcntl_setfd},
};

use crate::{check, in_child};

/// The first descriptor after standard error.
const FIRST: u32 = 3;

/// Closes all inherited descriptors except standard input, output and error, and `kept`. Call once,
/// before anything is opened, so that programs we start do not find descriptors of our caller.
pub fn close_inherited(kept: Option<RawFd>) -> io::Result<()> {
    match kept.map(u32::try_from) {
        Some(Ok(kept)) if kept >= FIRST => {
            if kept > FIRST {
                close_range(FIRST, kept - 1, 0)?;
            }
            close_range(kept + 1, u32::MAX, 0)
        }
        _ => close_range(FIRST, u32::MAX, 0),
    }
}

/// Makes the child inherit only standard input, output and error, and descriptors that are added
/// after this: call it first.
pub fn inherit_nothing(command: &mut Command) {
    in_child(command, || close_range(FIRST, u32::MAX, libc::CLOSE_RANGE_CLOEXEC));
}

fn close_range(first: u32, last: u32, flags: libc::c_uint) -> io::Result<()> {
    // SAFETY: integers only; the caller owns the closed descriptors.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) } as i32)
}

/// Makes the child inherit `fd` under its current number, which is returned.
pub fn keep_fd(command: &mut Command, fd: OwnedFd) -> RawFd {
    let number = fd.as_raw_fd();
    in_child(command, move || {
        // SAFETY: the descriptor is open, because the closure owns it.
        check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFD, 0) })
    });
    number
}

/// Makes the child inherit `fd` as number `target`, which must be below ten.
///
/// INVARIANT: the process has called [`reserve_low_descriptors`]; otherwise the pipe on which std
/// reports a failed exec may have the same number and would be overwritten.
pub fn place_fd(command: &mut Command, fd: OwnedFd, target: RawFd) {
    in_child(command, move || {
        // SAFETY: the descriptor is open, because the closure owns it; dup2 clears close-on-exec.
        check(unsafe { libc::dup2(fd.as_raw_fd(), target) })
    });
}

/// Occupies the descriptors below ten, so that [`place_fd`] never overwrites one in use. Call once,
/// at the start of a program that uses it.
pub fn reserve_low_descriptors() -> io::Result<()> {
    loop {
        let null = std::fs::File::open("/dev/null")?;
        if null.as_raw_fd() >= 10 {
            return Ok(());
        }
        // Open for the life of the process. Rust opened it close-on-exec.
        std::mem::forget(null);
    }
}

/// Sets close-on-exec on an inherited descriptor.
pub fn set_cloexec(fd: &OwnedFd) -> io::Result<()> {
    Ok(fcntl_setfd(fd, FdFlags::CLOEXEC)?)
}

/// A memory file that contains `bytes`, positioned at its start.
pub fn memory_file(name: &str, bytes: &[u8]) -> io::Result<OwnedFd> {
    let fd = memfd_create(name, MemfdFlags::CLOEXEC)?;
    let mut rest = bytes;
    while !rest.is_empty() {
        let written = rustix::io::write(&fd, rest)?;
        rest = rest.get(written..).unwrap_or_default();
    }
    rustix::fs::seek(&fd, rustix::fs::SeekFrom::Start(0))?;
    Ok(fd)
}
