//! How soon a process runs when it wakes.
//!
//! Since Linux 6.12 an ordinary process may ask for short turns on the processor: it gets no more
//! time than others, but is let in sooner. Older kernels ignore it.

use std::process::Command;

use crate::{check, in_child};

/// The shortest turn the kernel grants.
const PROMPT_NS: u64 = 100_000;
/// The kernel's own choice.
const ORDINARY: u64 = 0;

/// Lets the calling thread, and all it starts from now on, in soon. A request that is answered in
/// a millisecond must not wait three for a neighbour's turn to end.
pub fn be_prompt() {
    set(PROMPT_NS);
}

/// Gives the child the turns of any other process again.
pub fn be_ordinary(command: &mut Command) {
    in_child(command, || {
        set(ORDINARY);
        Ok(())
    });
}

fn set(slice_ns: u64) {
    // Niceness is part of the same structure, so what is there is read first.
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
