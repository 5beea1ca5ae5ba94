//! `/workspace` of the agent's programs: a directory on the host's disk, or in memory.
//!
//! On disk, it is a directory that the runtime gives to the outer sandbox. In the agent's sandbox
//! it is an overlay of that directory without lower content, because a plain bind mount would
//! reveal its path on the host. Only the guest limits its size: it measures the directory, and
//! kills programs that write too much.

mod measure;
mod writers;

use std::{ffi::CString, fs, io, time::Duration};

use helmdeck_spawn::Layer;
use helmdeck_task::block_in_place;
use helmdeck_wire::{ErrorBody, ErrorCode, exec::WORKSPACE, guest::Begin};
use rustix::{
    fs::{StatVfs, statvfs},
    process::{Pid, Signal, kill_process},
};
use tokio::time::{Instant, sleep};

use crate::{
    exec::{Execs, Killed},
    log::Log,
    nest::Nest,
};

/// The directory on disk, in the outer sandbox.
const DISK: &str = "/run/helmdeck/workspace";
/// The same in the agent's sandbox, until it is mounted.
const HIDDEN: &str = "/run/workspace";
/// The directory in memory, beside the home.
const IN_MEMORY: &str = "/home/workspace";
/// The layers of the overlay: the programs' files, its work directory, and an empty one.
const UPPER: &str = "up";
const LAYERS: [&str; 3] = [UPPER, "work", "low"];

/// How often to check whether the disk fills.
const TICK: Duration = Duration::from_secs(1);
/// How often to measure the directory while the disk does not fill.
const AT_LEAST: Duration = Duration::from_secs(30);
/// Limit on the time spent measuring: one part in this many.
const SHARE: u32 = 20;

/// Whether the runtime provided a directory on disk.
pub fn is_on_disk() -> bool {
    fs::exists(DISK).unwrap_or(false)
}

/// Creates its directories, before any program runs.
pub fn make_folders(begin: &Begin) -> io::Result<()> {
    if begin.workspace_bytes.is_none() {
        return fs::create_dir_all(IN_MEMORY);
    }
    LAYERS.iter().try_for_each(|layer| fs::create_dir_all(format!("{DISK}/{layer}")))
}

/// The bubblewrap arguments for the agent's sandbox.
pub fn arguments(begin: &Begin) -> String {
    match begin.workspace_bytes {
        Some(_) => format!("--dir {WORKSPACE} --bind {DISK} {HIDDEN}"),
        None => format!("--bind {IN_MEMORY} {WORKSPACE}"),
    }
}

/// Mounts it if it is on disk, before any program of the agent runs.
pub async fn mount(nest: &Nest, begin: &Begin, log: &Log) {
    if begin.workspace_bytes.is_none() {
        return;
    }
    let text = |text: String| CString::new(text).unwrap_or_default();
    let [upper, work, low] = LAYERS.map(|layer| format!("{HIDDEN}/{layer}"));
    let layer = Layer {
        hidden: text(HIDDEN.to_owned()),
        place: text(WORKSPACE.to_owned()),
        // It is deleted with the session, so nothing has to be synced to disk.
        options: text(format!("lowerdir={low},upperdir={upper},workdir={work},userxattr,volatile")),
        upper: text(upper),
    };
    if let Err(error) = nest.mount(&layer).await {
        // The session works without a writable workspace.
        log.line("guest", &format!("{WORKSPACE} cannot be written to: {error}"));
    }
}

/// Watches its size, for the life of the guest.
pub async fn watch(limit: u64, nest: Nest, execs: Execs, log: Log) {
    let mut gauge = Gauge::default();
    loop {
        sleep(TICK).await;
        let Ok(disk) = statvfs(DISK) else { continue };
        let now = Instant::now();
        if !gauge.is_due(taken(&disk), limit, now) {
            continue;
        }
        let used = block_in_place(|| {
            let deleted = writers::deleted(nest.leader_pid());
            measure::measure(&format!("{DISK}/{UPPER}"), limit).saturating_add(deleted)
        });
        gauge.measured(used, taken(&disk), now, now.elapsed());
        if used > limit {
            stop_writers(used, limit, &nest, &execs, &log);
        }
    }
}

/// Bytes in use on a file system.
fn taken(disk: &StatVfs) -> u64 {
    disk.f_blocks.saturating_sub(disk.f_bfree).saturating_mul(disk.f_frsize)
}

/// Kills programs that have a file open there for writing, with their whole command.
fn stop_writers(used: u64, limit: u64, nest: &Nest, execs: &Execs, log: &Log) {
    let megabytes = |bytes: u64| bytes >> 20;
    let message = format!(
        "{WORKSPACE} holds {} MB, and may hold {}: remove files there, or ask the operator to raise \
         HELMDECK_WORKSPACE_LIMIT",
        megabytes(used),
        megabytes(limit)
    );
    let writers = block_in_place(|| writers::writing(nest.leader_pid()));
    let running = execs.running();
    for (pid, name) in writers {
        let command = block_in_place(|| running.iter().find(|command| command.tree().has(pid)));
        log.line("guest", &format!("{name} is killed: {message}"));
        match command {
            Some(command) => {
                let full = ErrorBody::new(ErrorCode::SessionDiskFull, message.clone());
                command.kill(Killed::DiskFull(full));
            }
            None => {
                if let Some(pid) = Pid::from_raw(pid) {
                    // A process that has ended needs no signal.
                    let _ = kill_process(pid, Signal::KILL);
                }
            }
        }
    }
}

/// Decides when to measure again. Pure: time and numbers are passed in.
#[derive(Default)]
struct Gauge {
    last: Option<Last>,
}

struct Last {
    used: u64,
    /// Bytes in use on the whole disk at that time.
    taken: u64,
    at: Instant,
    took: Duration,
}

impl Gauge {
    /// Whether the directory may exceed `limit` by now, judging by the usage of the disk.
    fn is_due(&self, taken: u64, limit: u64, now: Instant) -> bool {
        let Some(last) = &self.last else { return true };
        let passed = now.duration_since(last.at);
        if passed < last.took * SHARE {
            return false;
        }
        let room = limit.saturating_sub(last.used);
        let grown = taken.saturating_sub(last.taken);
        passed >= AT_LEAST || last.used > limit || grown >= room / 4
    }

    fn measured(&mut self, used: u64, taken: u64, at: Instant, took: Duration) {
        self.last = Some(Last { used, taken, at, took });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_directory_is_measured_when_its_disk_fills_and_periodically() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let mut gauge = Gauge::default();
        assert!(gauge.is_due(500, 100, start));
        gauge.measured(60, 500, start, Duration::from_millis(100));
        assert!(!gauge.is_due(500, 100, at(3)), "nothing was written");
        assert!(gauge.is_due(510, 100, at(3)), "a quarter of the room is taken");
        assert!(!gauge.is_due(900, 100, at(1)), "measuring costs a twentieth of the time at most");
        assert!(gauge.is_due(400, 100, at(30)), "others may have freed what was written here");
        gauge.measured(101, 500, start, Duration::ZERO);
        assert!(gauge.is_due(500, 100, at(1)), "too much is watched closely");
    }
}
