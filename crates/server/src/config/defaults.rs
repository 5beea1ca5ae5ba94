//! Default values of settings.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr, SocketAddrV4},
    path::{Path, PathBuf},
    thread::available_parallelism,
};

use helmdeck_wire::size::Bytes;

/// The loopback: nothing is open to other machines by default.
pub const ADDR: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 3000));
/// Disk space for a session: enough for a large repository with its build.
pub const WORKSPACE_LIMIT: Bytes = Bytes(4 << 30);
/// Smaller limits would be reached immediately.
pub const LEAST_WORKSPACE: Bytes = Bytes(16 << 20);
/// Approximate memory of a session with a browser.
const BYTES_PER_SESSION: u64 = 384 << 20;
const SESSIONS_PER_CORE: usize = 8;

/// The data directory, following the system's conventions.
pub fn data_dir(env: &BTreeMap<String, String>) -> PathBuf {
    if is_root() {
        return "/var/lib/helmdeck".into();
    }
    match (absolute(env, "XDG_DATA_HOME"), absolute(env, "HOME")) {
        (Some(data), _) => data.join("helmdeck"),
        (None, Some(home)) => home.join(".local/share/helmdeck"),
        (None, None) => per_user("/var/tmp"),
    }
}

/// The directory for sockets and mounts of running sandboxes.
pub fn run_dir(env: &BTreeMap<String, String>) -> PathBuf {
    if is_root() {
        return "/run/helmdeck".into();
    }
    match absolute(env, "XDG_RUNTIME_DIR") {
        Some(run) => run.join("helmdeck"),
        None => per_user("/tmp"),
    }
}

/// As many sessions as the machine can run.
pub fn max_sessions() -> usize {
    let by_memory = total_memory().map_or(usize::MAX, |bytes| {
        usize::try_from(bytes / BYTES_PER_SESSION).unwrap_or(usize::MAX)
    });
    let by_cores = available_parallelism().map_or(1, usize::from) * SESSIONS_PER_CORE;
    by_memory.min(by_cores).clamp(4, 64)
}

/// The machine's memory in whole megabytes; unlimited if unknown.
pub fn memory() -> Bytes {
    Bytes(total_memory().map_or(u64::MAX, |bytes| bytes & !((1 << 20) - 1)))
}

/// The machine's CPU cores.
pub fn cores() -> f64 {
    available_parallelism().map_or(1024.0, |cores| cores.get() as f64)
}

fn total_memory() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn per_user(parent: &str) -> PathBuf {
    Path::new(parent).join(format!("helmdeck-{}", rustix::process::geteuid().as_raw()))
}

/// The XDG specification requires relative paths to be ignored.
fn absolute(env: &BTreeMap<String, String>, name: &str) -> Option<PathBuf> {
    env.get(name).map(PathBuf::from).filter(|path| path.is_absolute())
}
