//! Maximum resources that a caller may request.

use helmdeck_runtime::SandboxSpec;
use helmdeck_sessions::{Ceiling, Ceilings};
use helmdeck_wire::size::Bytes;

use super::{
    Config, defaults,
    layers::{ConfigError, Layers},
};

/// A session does not start with less.
const LEAST_MEMORY: Bytes = Bytes(256 << 20);

pub(super) fn read(layers: &mut Layers) -> Result<Ceilings, ConfigError> {
    let machine = Ceiling { memory: defaults::memory(), cpu: defaults::cores() };
    let memory = layers.value(
        "max_memory_limit",
        "a size such as 4g, at least 256m",
        |text| text.parse().ok().filter(|size| *size >= LEAST_MEMORY),
        // The defaults of a session are always allowed.
        || Bytes((machine.memory.0 / 2).max(SandboxSpec::default().limits.memory_bytes)),
    )?;
    let cpu = layers.value(
        "max_cpu_limit",
        "a number of cores from 0.01 to 1024",
        |text| text.parse().ok().filter(|cores| (0.01..=1024.0).contains(cores)),
        || machine.cpu,
    )?;
    Ok(Ceilings { caller: Ceiling { memory, cpu }, machine })
}

/// The memory of all sessions of one caller.
pub(super) fn per_caller(layers: &mut Layers) -> Result<Option<Bytes>, ConfigError> {
    layers.value(
        "max_memory_per_caller",
        "a size such as 16g, at least 256m, or 0 for the default",
        |text| match text.trim() {
            "0" => Some(None),
            text => text.parse().ok().filter(|size| *size >= LEAST_MEMORY).map(Some),
        },
        || None,
    )
}

impl Config {
    /// What the memory limits of one caller's running sessions may add up to.
    pub fn memory_per_caller(&self) -> Bytes {
        let sessions = u64::try_from(self.max_sessions).unwrap_or(u64::MAX);
        let standard = SandboxSpec::default().limits.memory_bytes;
        self.max_memory_per_caller.unwrap_or(Bytes(standard.saturating_mul(sessions)))
    }
}
