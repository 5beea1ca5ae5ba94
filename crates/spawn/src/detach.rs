//! Work that goes on after this process has become another program.

use std::{
    io,
    os::fd::{AsRawFd, OwnedFd},
};

use crate::check;

/// Does `work` in a process of its own, which nobody has to wait for. It keeps `kept` of all
/// descriptors: whoever waits for the end of a pipe that we have must not wait for it, too.
///
/// Fails in a process that has threads: what they hold would be held for ever.
pub fn detach(kept: OwnedFd, work: impl FnOnce(OwnedFd)) -> io::Result<()> {
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other("there are other threads"));
    }
    // SAFETY: there is one thread, so the child has all that it had, and nobody holds a lock.
    let child = unsafe { libc::fork() };
    check(child)?;
    if child == 0 {
        let _end = End;
        // A grandchild is waited for by the first process, not by what we become.
        // SAFETY: as above.
        if unsafe { libc::fork() } == 0 && keep_only(&kept).is_ok() {
            work(kept);
        }
        return Ok(());
    }
    let mut status = 0;
    // SAFETY: the status outlives the call. Interrupted, it leaves a child that has ended.
    check(unsafe { libc::waitpid(child, &raw mut status, 0) })
}

/// Ends the process when dropped, also while it panics: nothing behind `detach` runs twice.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        // SAFETY: no memory involved.
        unsafe { libc::_exit(0) }
    }
}

fn keep_only(kept: &OwnedFd) -> io::Result<()> {
    let kept = u32::try_from(kept.as_raw_fd()).map_err(io::Error::other)?;
    let close = |first: u32, last: u32| {
        // SAFETY: integers only; in this process, nobody uses these descriptors any more.
        check(unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) } as i32)
    };
    if kept > 0 {
        close(0, kept - 1)?;
    }
    close(kept + 1, u32::MAX)
}
