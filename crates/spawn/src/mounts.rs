//! Mounts of a sandbox that runs already, made stricter from outside.

use std::{
    ffi::CString,
    io,
    os::fd::{AsRawFd, BorrowedFd},
};

use crate::check;

/// Asks for the user namespace that owns another namespace (`NS_GET_USERNS`).
const OWNER: libc::Ioctl = 0xb701;

/// From the kernel's `linux/mount.h`.
const NO_SUID: u64 = 0x2;
const NO_DEVICES: u64 = 0x4;
const NO_EXEC: u64 = 0x8;
const NO_LINKS: u64 = 0x0020_0000;
const RECURSIVE: libc::c_int = 0x8000;

/// The kernel's `struct mount_attr`.
#[repr(C)]
struct Attributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

/// A mount, and what is not possible there any more.
pub struct Restricted {
    /// Where it is in the sandbox.
    pub path: CString,
    /// Whether that holds for the mounts below, too.
    pub recursive: bool,
    /// Whether symbolic links are not followed either.
    pub no_links: bool,
}

/// Makes mounts of another mount namespace ones from which no program is run and no library is loaded.
/// The caller must have made the user namespace that it belongs to.
pub fn restrict_mounts(mounts: BorrowedFd<'_>, restricted: &[Restricted]) -> io::Result<()> {
    // SAFETY: the descriptor is open; the call has no further argument.
    let owner = unsafe { libc::ioctl(mounts.as_raw_fd(), OWNER) };
    check(owner)?;
    // SAFETY: the child makes plain system calls on values prepared before the fork, and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let restrict = || {
            // SAFETY: integers only; there is one thread in this process.
            check(unsafe { libc::setns(owner, libc::CLONE_NEWUSER) })?;
            // SAFETY: as above.
            check(unsafe { libc::setns(mounts.as_raw_fd(), libc::CLONE_NEWNS) })?;
            restricted.iter().try_for_each(restrict_one)
        };
        let errno = restrict().err().map_or(0, |error| error.raw_os_error().unwrap_or(libc::EIO));
        // SAFETY: ends the child at once, without anything that belongs to the parent.
        unsafe { libc::_exit(errno) }
    }
    // SAFETY: it was opened above and is ours; the child has its own.
    unsafe { libc::close(owner) };
    check(child)?;
    let mut status = 0;
    loop {
        // SAFETY: the status outlives the call.
        match check(unsafe { libc::waitpid(child, &raw mut status, 0) }) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            waited => break waited?,
        }
    }
    match (libc::WIFEXITED(status), libc::WEXITSTATUS(status)) {
        (true, 0) => Ok(()),
        (true, errno) => Err(io::Error::from_raw_os_error(errno)),
        (false, _) => Err(io::Error::other("the helper was killed")),
    }
}

fn restrict_one(mount: &Restricted) -> io::Result<()> {
    let links = if mount.no_links { NO_LINKS } else { 0 };
    let set = NO_SUID | NO_DEVICES | NO_EXEC | links;
    let attributes = Attributes { set, clear: 0, propagation: 0, user_namespace: 0 };
    let flags = if mount.recursive { RECURSIVE } else { 0 };
    // SAFETY: path and structure outlive the call, and the size is the structure's.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            mount.path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<Attributes>(),
        )
    } as i32)
}
