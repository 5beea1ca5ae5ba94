//! `/workspace` of the agent's programs: a directory on the host's disk, or a part of the home.
//!
//! On the disk it is a directory that the runtime gives the outer sandbox. In the agent's sandbox it is
//! an overlay of that directory with nothing below it: of a plain bind, programs could read where on the
//! host it is. Nothing limits its size but the guest, which looks and kills what writes too much.

mod measure;
mod writers;

use std::{ffi::CString, fs, io, time::Duration};

use helmdeck_spawn::Layer;
use helmdeck_wire::{ErrorBody, ErrorCode, exec::WORKSPACE, guest::Begin};
use rustix::{
    fs::{StatVfs, statvfs},
    process::{Pid, Signal, kill_process},
};
use tokio::{
    task::block_in_place,
    time::{Instant, sleep},
};

use crate::{
    exec::{Execs, Killed},
    log::Log,
    nest::Nest,
};

/// The directory on the disk, in the outer sandbox.
const DISK: &str = "/run/helmdeck/workspace";
/// The same in the agent's, until it is mounted.
const HIDDEN: &str = "/run/workspace";
/// In memory, it is beside the home.
const IN_MEMORY: &str = "/home/workspace";
/// The layers of the overlay: what programs write, what it needs itself, and nothing.
const UPPER: &str = "up";
const LAYERS: [&str; 3] = [UPPER, "work", "low"];

/// How often to look whether the disk fills.
const TICK: Duration = Duration::from_secs(1);
/// How often to measure a directory on a disk that does not fill.
const AT_LEAST: Duration = Duration::from_secs(30);
/// Of the time, so much at most is spent with measuring: one part in twenty.
const SHARE: u32 = 20;

/// Whether the runtime could give it a directory on the disk.
pub fn is_on_disk() -> bool {
    fs::exists(DISK).unwrap_or(false)
}

/// Makes the directories that it is made of, before any program runs.
pub fn make_folders(begin: &Begin) -> io::Result<()> {
    if begin.workspace_bytes.is_none() {
        return fs::create_dir_all(IN_MEMORY);
    }
    LAYERS.iter().try_for_each(|layer| fs::create_dir_all(format!("{DISK}/{layer}")))
}

/// What bubblewrap must be told for the agent's sandbox.
pub fn arguments(begin: &Begin) -> String {
    match begin.workspace_bytes {
        Some(_) => format!("--dir {WORKSPACE} --bind {DISK} {HIDDEN}"),
        None => format!("--bind {IN_MEMORY} {WORKSPACE}"),
    }
}

/// Mounts it, if it is on the disk; before any program of the agent's runs.
pub async fn mount(nest: &Nest, begin: &Begin, log: &Log) {
    if begin.workspace_bytes.is_none() {
        return;
    }
    let text = |text: String| CString::new(text).unwrap_or_default();
    let [upper, work, low] = LAYERS.map(|layer| format!("{HIDDEN}/{layer}"));
    let layer = Layer {
        hidden: text(HIDDEN.to_owned()),
        place: text(WORKSPACE.to_owned()),
        // It is gone with the session, so nothing has to be safe on the disk.
        options: text(format!("lowerdir={low},upperdir={upper},workdir={work},userxattr,volatile")),
        upper: text(upper),
    };
    if let Err(error) = nest.mount(&layer).await {
        // A session in which nothing can be built is still a session.
        log.line("guest", &format!("{WORKSPACE} cannot be written to: {error}"));
    }
}

/// Watches what it holds, for the life of the guest.
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

/// Bytes that are in use on a file system.
fn taken(disk: &StatVfs) -> u64 {
    disk.f_blocks.saturating_sub(disk.f_bfree).saturating_mul(disk.f_frsize)
}

/// Kills the programs that have a file open there to write, and the whole command of each.
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
                    // One that has ended meanwhile needs none.
                    let _ = kill_process(pid, Signal::KILL);
                }
            }
        }
    }
}

/// When to measure again: pure, with time and numbers passed in.
#[derive(Default)]
struct Gauge {
    last: Option<Last>,
}

struct Last {
    used: u64,
    /// Bytes in use on the whole disk then.
    taken: u64,
    at: Instant,
    took: Duration,
}

impl Gauge {
    /// Whether it may hold more than `limit` by now. What is written there is taken from the disk.
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
    async fn a_directory_is_measured_when_its_disk_fills_and_now_and_then() {
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
