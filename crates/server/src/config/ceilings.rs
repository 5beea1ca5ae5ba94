//! Maximum resources that a caller may request for one session.

use helmdeck_runtime::SandboxSpec;
use helmdeck_sessions::{Ceiling, Ceilings};
use helmdeck_wire::size::Bytes;

use super::{
    defaults,
    layers::{ConfigError, Layers},
};

pub(super) fn read(layers: &mut Layers) -> Result<Ceilings, ConfigError> {
    let machine = Ceiling { memory: defaults::memory(), cpu: defaults::cores() };
    let memory = layers.value(
        "max_memory_limit",
        "a size such as 4g, at least 256m",
        |text| text.parse().ok().filter(|size| *size >= Bytes(256 << 20)),
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
