//! Resource limits of a session, and of all sessions of a caller: set by the operator for callers,
//! by the machine's size for admins.

use helmdeck_runtime::SandboxSpec;
use helmdeck_wire::{session::SessionSpec, size::Bytes};

use crate::{
    Caller, SessionError,
    spec::{invalid, memory},
};

/// Maximum resources of one session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ceiling {
    /// Memory, including files in memory.
    pub memory: Bytes,
    /// CPU cores.
    pub cpu: f64,
}

/// The ceilings of all sessions. By default there are none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ceilings {
    /// For callers.
    pub caller: Ceiling,
    /// For admins: the machine's resources.
    pub machine: Ceiling,
}

impl Default for Ceilings {
    fn default() -> Self {
        let none = Ceiling { memory: Bytes(u64::MAX), cpu: f64::INFINITY };
        Self { caller: none, machine: none }
    }
}

impl Ceilings {
    /// Refuses requests above the limit, and caps defaults.
    pub fn apply(&self, caller: &Caller, spec: &mut SessionSpec) -> Result<(), SessionError> {
        let (ceiling, why) = if caller.is_admin() {
            (self.machine, "all that this machine has")
        } else {
            (self.caller, "set by the server's HELMDECK_MAX_MEMORY_LIMIT")
        };
        for (field, asked) in [("memory_limit", spec.memory_limit), ("shm_size", spec.shm_size)] {
            if let Some(asked) = asked
                && asked > ceiling.memory
            {
                let most = ceiling.memory;
                return Err(invalid(field, format!("{asked} is too much: at most {most}, {why}")));
            }
        }
        if let Some(asked) = spec.cpu_limit
            && asked > ceiling.cpu
        {
            let most = ceiling.cpu;
            let why = why.replace("MEMORY", "CPU");
            let reason = format!("{asked} cores are too many: at most {most}, {why}");
            return Err(invalid("cpu_limit", reason));
        }
        let standard = SandboxSpec::default().limits;
        if ceiling.memory.0 < standard.memory_bytes {
            spec.memory_limit.get_or_insert(ceiling.memory);
        }
        if ceiling.cpu < self.machine.cpu {
            spec.cpu_limit.get_or_insert(ceiling.cpu);
        }
        Ok(())
    }
}

/// Refuses a session whose memory limit, with those of the caller's `running` sessions, exceeds
/// `most`. Admins are not limited.
pub fn check_memory<'a>(
    most: Bytes,
    caller: &Caller,
    spec: &SessionSpec,
    running: impl Iterator<Item = &'a SessionSpec>,
) -> Result<(), SessionError> {
    let used = running.map(memory).fold(0, u64::saturating_add);
    let asked = memory(spec);
    if caller.is_admin() || used.saturating_add(asked) <= most.0 {
        return Ok(());
    }
    Err(SessionError::MemoryQuotaReached { asked: Bytes(asked), used: Bytes(used), most })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(admin: bool, mut spec: SessionSpec) -> Option<String> {
        let ceilings = Ceilings {
            caller: Ceiling { memory: Bytes(2 << 30), cpu: 1.5 },
            machine: Ceiling { memory: Bytes(16 << 30), cpu: 4.0 },
        };
        let scopes = if admin { vec!["admin".to_owned()] } else { Vec::new() };
        let caller = Caller { scopes, ..Caller::default() };
        ceilings.apply(&caller, &mut spec).err().map(|error| error.to_string())
    }

    fn with(gigabytes: u64) -> SessionSpec {
        SessionSpec { memory_limit: Some(Bytes(gigabytes << 30)), ..SessionSpec::default() }
    }

    #[test]
    fn a_caller_cannot_ask_for_900_gigabytes_of_memory() {
        let message = refused(false, with(900)).unwrap();
        assert_eq!(
            message,
            "memory_limit: 900g is too much: at most 2g, set by the server's \
             HELMDECK_MAX_MEMORY_LIMIT"
        );
        assert_eq!(refused(false, with(2)), None);
        let shm = SessionSpec { shm_size: Some(Bytes(3 << 30)), ..SessionSpec::default() };
        assert!(refused(false, shm).unwrap().starts_with("shm_size: 3g"));
        let cpu = SessionSpec { cpu_limit: Some(2.0), ..SessionSpec::default() };
        assert!(refused(false, cpu.clone()).unwrap().contains("HELMDECK_MAX_CPU_LIMIT"));
        assert_eq!(refused(true, cpu), None);
    }

    #[test]
    fn an_admin_is_bounded_by_the_machine() {
        assert_eq!(refused(true, with(16)), None);
        assert!(refused(true, with(900)).unwrap().contains("at most 16g"));
    }

    #[test]
    fn defaults_stay_below_the_ceiling_too() {
        let ceilings = Ceilings {
            caller: Ceiling { memory: Bytes(1 << 30), cpu: 1.0 },
            machine: Ceiling { memory: Bytes(16 << 30), cpu: 4.0 },
        };
        let mut spec = SessionSpec::default();
        ceilings.apply(&Caller::default(), &mut spec).unwrap();
        assert_eq!((spec.memory_limit, spec.cpu_limit), (Some(Bytes(1 << 30)), Some(1.0)));
        let mut spec = SessionSpec::default();
        Ceilings::default().apply(&Caller::default(), &mut spec).unwrap();
        assert_eq!((spec.memory_limit, spec.cpu_limit), (None, None));
    }

    #[test]
    fn a_caller_cannot_ask_for_half_of_the_machine_in_every_session() {
        let check = |admin: bool, running: &[u64], asked: SessionSpec| {
            let scopes = if admin { vec!["admin".to_owned()] } else { Vec::new() };
            let caller = Caller { scopes, ..Caller::default() };
            let running: Vec<_> = running.iter().copied().map(with).collect();
            let checked = check_memory(Bytes(16 << 30), &caller, &asked, running.iter());
            checked.err().map(|error| error.to_string())
        };
        assert_eq!(check(false, &[8], with(8)), None);
        assert_eq!(
            check(false, &[8, 3], with(8)).unwrap(),
            "memory_limit: 8g is too much: your running sessions have 11g of at most 16g, set by \
             the server's HELMDECK_MAX_MEMORY_PER_CALLER: end one, or ask for less"
        );
        assert_eq!(check(true, &[8, 3], with(8)), None);
        // A session without a limit counts with the default.
        assert_eq!(check(false, &[4, 8], SessionSpec::default()), None);
        assert!(check(false, &[5, 8], SessionSpec::default()).unwrap().contains(": 4g is too"));
    }
}
