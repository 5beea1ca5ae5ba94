//! A child without network access.

use std::{ffi::CStr, io, process::Command};

use crate::{check, in_child};

/// Gives the child a network namespace without an active interface; unix sockets with a path still
/// work. It keeps its user and group, and no other ids are mapped.
pub fn without_network(command: &mut Command) {
    // SAFETY: no arguments, no memory involved.
    let (uid, gid) = unsafe { (libc::getuid(), libc::getgid()) };
    let (users, groups) = (format!("{uid} {uid} 1"), format!("{gid} {gid} 1"));
    in_child(command, move || {
        // SAFETY: integers only; the child has one thread.
        check(unsafe { libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNET) })?;
        write(c"/proc/self/setgroups", b"deny")?;
        write(c"/proc/self/uid_map", users.as_bytes())?;
        write(c"/proc/self/gid_map", groups.as_bytes())
    });
}

/// Writes a whole file of /proc.
fn write(path: &CStr, text: &[u8]) -> io::Result<()> {
    // SAFETY: the path outlives the call.
    let file = unsafe { libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC) };
    check(file)?;
    // SAFETY: the text outlives the call, and the length is its own.
    let written = unsafe { libc::write(file, text.as_ptr().cast(), text.len()) };
    let wrote = if written == -1 { Err(io::Error::last_os_error()) } else { Ok(()) };
    // SAFETY: it was opened above.
    unsafe { libc::close(file) };
    wrote
}
