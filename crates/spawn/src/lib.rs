//! Starts child processes with chosen descriptors, fewer privileges and a scheduling preference.
//!
//! Everything here runs between fork and exec, where only async-signal-safe calls are allowed. It
//! is kept in one crate so that this unsafe code can be reviewed in one place.

mod descriptors;
mod detach;
mod limits;
mod mounts;
mod network;
mod privilege;
mod slice;
mod supervise;

use std::{io, process::Command};

pub use descriptors::{
    close_inherited, inherit_nothing, keep_fd, memory_file, place_fd, reserve_low_descriptors,
    set_cloexec,
};
pub use detach::detach;
pub use limits::{join_groups, limit_processes, raise_descriptors, usual_descriptors};
pub use mounts::{Layer, Restricted, bind_privately, mount_layer, restrict_mounts};
pub use network::without_network;
pub use privilege::{drop_capabilities, drop_to};
pub use slice::{be_ordinary, be_prompt};
pub use supervise::{Ending, controlling_terminal, ending, supervise};

use std::os::unix::process::CommandExt;

/// Puts the child into a new session, so that signals of our terminal do not reach it.
pub fn new_session(command: &mut Command) {
    in_child(command, || {
        check(
            // SAFETY: no arguments, no memory involved.
            unsafe { libc::setsid() },
        )
    });
}

/// Ends the child with the thread that starts it, however that ends.
pub fn die_with_parent(command: &mut Command) {
    let parent = std::process::id();
    in_child(command, move || {
        check(
            // SAFETY: integers only.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) },
        )?;
        // SAFETY: no arguments, no memory involved.
        let still = unsafe { libc::getppid() };
        if u32::try_from(still) == Ok(parent) {
            return Ok(());
        }
        // The parent ended before the request took effect.
        Err(io::Error::from_raw_os_error(libc::ESRCH))
    });
}

/// Runs `work` in the child just before exec.
fn in_child(command: &mut Command, work: impl FnMut() -> io::Result<()> + Send + Sync + 'static) {
    // SAFETY: every closure of this crate makes plain system calls on values prepared before the
    // fork; none allocates, locks or panics.
    unsafe { command.pre_exec(work) };
}

/// Turns a C return value into a result.
fn check(returned: libc::c_int) -> io::Result<()> {
    if returned == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
