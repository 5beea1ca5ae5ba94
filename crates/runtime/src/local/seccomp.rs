//! System calls that sandboxes are denied: parts of the kernel that are attacked more often than
//! they are needed.
//!
//! Two filters. The outer one binds the guest and everything below. The nested one, for what the
//! agent runs, also denies mounting, which only bubblewrap itself needs. Both leave user
//! namespaces alone: they are what Chromium's own sandbox is made of.

use std::collections::BTreeMap;

use libc::{c_long, *};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Op, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch,
};

use crate::RuntimeError;

/// Denied everywhere. ptrace stays: debuggers are useful, and process namespaces confine it.
const ALWAYS: [c_long; 38] = [
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_kcmp,
    SYS_kexec_load,
    SYS_kexec_file_load,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_open_by_handle_at,
    SYS_name_to_handle_at,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_fanotify_init,
    SYS_mbind,
    SYS_set_mempolicy,
    SYS_move_pages,
    SYS_migrate_pages,
    SYS_personality,
    SYS_quotactl,
    SYS_syslog,
    SYS_swapon,
    SYS_swapoff,
    SYS_reboot,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
    SYS_acct,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_vhangup,
    SYS_lookup_dcookie,
    SYS_nfsservctl,
];

/// Denied to what the agent runs.
const NESTED: [c_long; 12] = [
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_move_mount,
    SYS_open_tree,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_mount_setattr,
    SYS_setns,
    // Shorter turns would let it in before its neighbours' guests.
    SYS_sched_setattr,
];

/// Terminal requests that put characters into somebody's input.
const IOCTLS: [u64; 2] = [TIOCSTI, TIOCLINUX];

/// Socket families no desktop program needs: X.25, packet, CAN, ALG, VSOCK.
const FAMILIES: [c_int; 5] = [AF_X25, AF_PACKET, AF_CAN, AF_ALG, AF_VSOCK];

/// The filter for the guest and all below it.
pub fn outer() -> Result<Vec<u8>, RuntimeError> {
    compile(&[])
}

/// The filter for what the agent runs.
pub fn nested() -> Result<Vec<u8>, RuntimeError> {
    compile(&NESTED)
}

fn compile(more: &[c_long]) -> Result<Vec<u8>, RuntimeError> {
    program(more)
        .map(|program| {
            // bubblewrap reads the kernel's own layout: code, two jumps, operand.
            let word = |i: &seccompiler::sock_filter| {
                let [a, b] = i.code.to_ne_bytes();
                let [c, d, e, f] = i.k.to_ne_bytes();
                [a, b, i.jt, i.jf, c, d, e, f]
            };
            program.iter().flat_map(word).collect()
        })
        .map_err(|e| {
            RuntimeError::System("the system call filter is wrong", std::io::Error::other(e))
        })
}

fn program(more: &[c_long]) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules: BTreeMap<c_long, Vec<SeccompRule>> =
        ALWAYS.iter().chain(more).map(|call| (*call, Vec::new())).collect();
    let equals = |argument, value: u64| {
        let condition = SeccompCondition::new(argument, Len::Dword, Op::Eq, value)?;
        SeccompRule::new(vec![condition])
    };
    rules.insert(SYS_ioctl, IOCTLS.iter().map(|r| equals(1, *r)).collect::<Result<_, _>>()?);
    let families = FAMILIES.iter().map(|f| equals(0, u64::from(f.unsigned_abs())));
    rules.insert(SYS_socket, families.collect::<Result<_, _>>()?);
    let denied = SeccompAction::Errno(EPERM.unsigned_abs());
    let architecture: TargetArch = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, SeccompAction::Allow, denied, architecture)?.try_into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nested_filter_denies_more_than_the_outer_one() {
        let (outer, nested) = (outer().unwrap(), nested().unwrap());
        assert!(nested.len() > outer.len());
        assert_eq!(outer.len() % 8, 0);
    }
}
