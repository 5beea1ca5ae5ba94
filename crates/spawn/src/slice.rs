//! Scheduling latency of a process.
//!
//! Since Linux 6.12 an ordinary process may request short time slices: it gets no more processor
//! time than others, but runs sooner after it wakes. Older kernels ignore the request.

use std::process::Command;

use crate::{check, in_child};

/// The shortest time slice that the kernel grants.
const PROMPT_NS: u64 = 100_000;
/// The kernel's default.
const ORDINARY: u64 = 0;

/// Requests short time slices for the calling thread and everything it starts later. A request that
/// takes a millisecond must not wait three for a neighbour's time slice.
pub fn be_prompt() {
    set(PROMPT_NS);
}

/// Restores ordinary time slices for the child.
pub fn be_ordinary(command: &mut Command) {
    in_child(command, || {
        set(ORDINARY);
        Ok(())
    });
}

fn set(slice_ns: u64) {
    // Niceness is in the same structure, so it is read first.
    let mut attributes = libc::sched_attr {
        size: size_of::<libc::sched_attr>() as u32,
        sched_policy: 0,
        sched_flags: 0,
        sched_nice: 0,
        sched_priority: 0,
        sched_runtime: 0,
        sched_deadline: 0,
        sched_period: 0,
    };
    let size = attributes.size;
    // SAFETY: the structure is ours, lives through both calls, and `size` is its size. A kernel
    // that refuses leaves things as they are, which is only slower.
    unsafe {
        if check(libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, size, 0) as i32)
            .is_ok()
        {
            attributes.sched_runtime = slice_ns;
            libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0);
        }
    }
}
