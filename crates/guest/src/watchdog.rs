//! Measures the memory of the agent's programs, and kills the largest if it exceeds the limit.
//!
//! For machines without control groups, which are more reliable: a fast program can exceed the
//! limit between two checks.

use std::{fs, sync::Arc, time::Duration};

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process};
use tokio::time::sleep;

use crate::log::Log;

/// How often to check.
const TICK: Duration = Duration::from_secs(1);

/// The usage of all the agent's programs together.
#[derive(Debug, Clone, Copy, Default)]
pub struct Usage {
    pub memory_bytes: u64,
    pub pids: u64,
}

/// The last measurement; `None` if nothing is measured.
pub type Measured = Arc<Mutex<Option<Usage>>>;

/// Watches for the life of the guest.
pub async fn watch(limit_bytes: u64, measured: Measured, log: Log) {
    loop {
        sleep(TICK).await;
        let Ok(programs) = tokio::task::spawn_blocking(programs).await else { continue };
        let memory_bytes = programs.iter().map(|program| program.bytes).sum();
        let pids = programs.iter().map(|program| program.threads).sum();
        *measured.lock() = Some(Usage { memory_bytes, pids });
        let largest = programs.iter().max_by_key(|program| program.bytes);
        if let Some(largest) = largest.filter(|_| memory_bytes > limit_bytes) {
            let Program { pid, name, bytes, .. } = largest;
            log.line(
                "guest",
                &format!("{name} used too much memory ({bytes} bytes) and is killed"),
            );
            if let Some(pid) = Pid::from_raw(*pid) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}

struct Program {
    pid: i32,
    name: String,
    bytes: u64,
    threads: u64,
}

fn programs() -> Vec<Program> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| program(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// A process of the nested sandbox: it has a process id there as well as here.
fn program(pid: i32) -> Option<Program> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let field =
        |name: &str| status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(":\t"));
    if field("NSpid")?.split_whitespace().count() < 2 {
        return None;
    }
    let bytes = proportional(pid).or_else(|| private(pid)).unwrap_or(0);
    let threads = field("Threads")?.trim().parse().ok()?;
    Some(Program { pid, name: field("Name")?.to_owned(), bytes, threads })
}

fn proportional(pid: i32) -> Option<u64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}

/// What can be measured of Chromium's sandboxed processes.
fn private(pid: i32) -> Option<u64> {
    let pages = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let mut pages = pages.split_whitespace().skip(1).map_while(|word| word.parse::<u64>().ok());
    let (resident, shared) = (pages.next()?, pages.next()?);
    Some(resident.saturating_sub(shared) * u64::try_from(rustix::param::page_size()).ok()?)
}
