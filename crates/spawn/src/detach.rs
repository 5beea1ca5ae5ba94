//! Work that continues after this process has become another program.

use std::{
    io,
    os::fd::{AsRawFd, OwnedFd},
};

use crate::check;

/// Runs `work` in a separate process, which does not have to be waited for. It keeps only the
/// descriptor
/// `kept`, so that it does not hold pipes open.
///
/// Fails in a process with several threads, because locks held by the others would never be
/// released.
pub fn detach(kept: OwnedFd, work: impl FnOnce(OwnedFd)) -> io::Result<()> {
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other("there are other threads"));
    }
    // SAFETY: there is one thread, so the child has the whole state, and no lock is held.
    let child = unsafe { libc::fork() };
    check(child)?;
    if child == 0 {
        let _end = End;
        // A grandchild is reaped by init, not by the program we become.
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

/// Ends the process when dropped, even during a panic: no code after `detach` runs twice.
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
        // SAFETY: integers only; these descriptors are no longer used in this process.
        check(unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) } as i32)
    };
    if kept > 0 {
        close(0, kept - 1)?;
    }
    close(kept + 1, u32::MAX)
}
