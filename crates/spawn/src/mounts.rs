//! Changes mounts of a sandbox from outside, while it runs or before it starts.

use std::{
    ffi::{CStr, CString},
    io,
    os::fd::{AsRawFd, BorrowedFd},
    process::Command,
    ptr::null,
};

use crate::{check, in_child};

/// Returns the user namespace that owns another namespace (`NS_GET_USERNS`).
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

/// A mount and its restrictions.
pub struct Restricted {
    /// Its path in the sandbox.
    pub path: CString,
    /// Whether the restrictions also apply to mounts below it.
    pub recursive: bool,
    /// Whether symbolic links are not followed either.
    pub no_links: bool,
}

/// A directory that is mounted as the upper layer of an overlay without lower content.
///
/// Programs in the sandbox then see the directory as the root of a file system. A plain bind mount
/// would reveal the directory's path on the host.
pub struct Layer {
    /// A mount in the sandbox that contains the directory. It is detached.
    pub hidden: CString,
    /// The upper layer below `hidden`; used directly where no overlay can be mounted.
    pub upper: CString,
    /// The mount point.
    pub place: CString,
    /// The layers, as mount options of the overlay.
    pub options: CString,
}

/// Forbids executing programs and loading libraries from mounts in another mount namespace. The
/// caller must have created the user namespace that owns it.
pub fn restrict_mounts(mounts: BorrowedFd<'_>, restricted: &[Restricted]) -> io::Result<()> {
    among(mounts, || restricted.iter().try_for_each(restrict_one))
}

/// Mounts a layer in another mount namespace, as an overlay or, where that is not possible, as a
/// bind mount. The caller must have created the user namespace that owns it.
pub fn mount_layer(mounts: BorrowedFd<'_>, layer: &Layer) -> io::Result<()> {
    among(mounts, || {
        let flags = libc::MS_NOSUID | libc::MS_NODEV;
        let overlay = mount(c"overlay", &layer.place, c"overlay", flags, &layer.options);
        overlay.or_else(|_| mount(&layer.upper, &layer.place, c"", libc::MS_BIND, c""))?;
        // SAFETY: the path outlives the call.
        check(unsafe { libc::umount2(layer.hidden.as_ptr(), libc::MNT_DETACH) })
    })
}

/// Mounts `from` at `to` for the child only, so that it can give up access to the parents of
/// `from`.
/// Needs root; without it, `to` is unchanged.
pub fn bind_privately(command: &mut Command, from: CString, to: CString) {
    in_child(command, move || {
        // SAFETY: integers only; the child has one thread.
        if check(unsafe { libc::unshare(libc::CLONE_NEWNS) }).is_ok() {
            // Otherwise the mount would propagate to others.
            let apart = mount(c"none", c"/", c"", libc::MS_REC | libc::MS_SLAVE, c"");
            let _ = apart.and_then(|()| mount(&from, &to, c"", libc::MS_BIND, c""));
        }
        Ok(())
    });
}

fn mount(
    from: &CStr,
    to: &CStr,
    kind: &CStr,
    flags: libc::c_ulong,
    options: &CStr,
) -> io::Result<()> {
    let given = |text: &CStr| if text.is_empty() { null() } else { text.as_ptr() };
    // SAFETY: all texts outlive the call.
    check(unsafe {
        libc::mount(from.as_ptr(), to.as_ptr(), given(kind), flags, given(options).cast())
    })
}

/// Runs `work`, which makes only plain system calls, in another mount namespace.
fn among(mounts: BorrowedFd<'_>, work: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    // SAFETY: the descriptor is open; the call has no further argument.
    let owner = unsafe { libc::ioctl(mounts.as_raw_fd(), OWNER) };
    check(owner)?;
    // SAFETY: the child makes plain system calls on values prepared before the fork, and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let enter = || {
            // SAFETY: integers only; there is one thread in this process.
            check(unsafe { libc::setns(owner, libc::CLONE_NEWUSER) })?;
            // SAFETY: as above.
            check(unsafe { libc::setns(mounts.as_raw_fd(), libc::CLONE_NEWNS) })
        };
        let done = enter().and_then(|()| work());
        let errno = done.err().map_or(0, |error| error.raw_os_error().unwrap_or(libc::EIO));
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
