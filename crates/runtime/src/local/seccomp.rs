//! System calls that are denied in sandboxes: parts of the kernel that are attacked more often than
//! needed.
//!
//! There are two filters. The outer one applies to the guest and everything below it. The nested
//! one, for the agent's programs, also denies mounting, which only bubblewrap needs. Both allow
//! user namespaces, because Chromium's own sandbox uses them.
//!
//! Calls newer than this list do not exist inside, so new ways to do what is denied are denied as
//! well.
//! The same applies to the x32 ABI, whose numbers are higher.

use std::collections::BTreeMap;

use libc::{c_long, *};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Op, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, sock_filter,
};

use crate::RuntimeError;

/// Denied everywhere. ptrace is allowed: debuggers are useful, and process namespaces confine it.
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

/// The highest known call: `mseal`. Newer ones include `open_tree_attr`.
const HIGHEST: u32 = 462;

/// `statmount` and `listmount`, which have the same numbers on all architectures.
const STATMOUNT: c_long = 457;
const LISTMOUNT: c_long = 458;

/// Denied to the agent's programs.
const NESTED: [c_long; 14] = [
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
    STATMOUNT,
    LISTMOUNT,
    SYS_setns,
    // Shorter time slices would let it run before its neighbours' guests.
    SYS_sched_setattr,
];

/// Terminal requests that inject input.
const IOCTLS: [u64; 2] = [TIOCSTI, TIOCLINUX];

/// Socket families that desktop programs do not need: X.25, packet, CAN, ALG, VSOCK.
const FAMILIES: [c_int; 5] = [AF_X25, AF_PACKET, AF_CAN, AF_ALG, AF_VSOCK];

/// The filter for the guest and everything below it.
pub fn outer() -> Result<Vec<u8>, RuntimeError> {
    compile(&[])
}

/// The filter for the agent's programs.
pub fn nested() -> Result<Vec<u8>, RuntimeError> {
    compile(&NESTED)
}

fn compile(more: &[c_long]) -> Result<Vec<u8>, RuntimeError> {
    program(more)
        .map(|program| {
            // bubblewrap reads the kernel's layout: code, two jumps, operand.
            let word = |i: &sock_filter| {
                let [a, b] = i.code.to_ne_bytes();
                let [c, d, e, f] = i.k.to_ne_bytes();
                [a, b, i.jt, i.jf, c, d, e, f]
            };
            only_known().iter().chain(&program).flat_map(word).collect()
        })
        .map_err(|e| {
            RuntimeError::System("the system call filter is wrong", std::io::Error::other(e))
        })
}

/// Comes first: a call with a higher number fails as if the kernel did not have it.
fn only_known() -> [sock_filter; 3] {
    let plain = |code: u32, k| sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let missing = SECCOMP_RET_ERRNO | ENOSYS.unsigned_abs();
    [
        // The call number is the first word of the filter's data.
        plain(BPF_LD | BPF_W | BPF_ABS, 0),
        sock_filter { jf: 1, ..plain(BPF_JMP | BPF_JGT | BPF_K, HIGHEST) },
        plain(BPF_RET | BPF_K, missing),
    ]
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

    #[test]
    fn unknown_calls_are_refused_before_all_rules() {
        const OPEN_TREE_ATTR: u32 = 467;
        const X32_GETPID: u32 = 0x4000_0000 + 39;
        let [load, compare, missing] = only_known();
        let passes = |number: u32| number <= compare.k;
        assert!(passes(SYS_mseal as u32) && passes(SYS_getpid as u32));
        assert!(!passes(OPEN_TREE_ATTR) && !passes(X32_GETPID));
        // Greater: the next instruction, which refuses; else the rules.
        assert_eq!((load.k, compare.jt, compare.jf), (0, 0, 1));
        assert_eq!(missing.k, SECCOMP_RET_ERRNO | ENOSYS.unsigned_abs());
    }
}
