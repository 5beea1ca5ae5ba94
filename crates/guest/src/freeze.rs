//! Stops the agent's programs while a person has control, for sessions that ask for it.
//!
//! By signals and not by a control group: the desktop's own programs share the sandbox with the agent's,
//! and must go on. Nobody is left inside who could wake the others.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use helmdeck_wire::guest::Begin;
use rustix::process::{Pid, Signal, kill_process};
use tokio::{sync::Mutex, task::block_in_place, time::sleep};

use crate::nest::Nest;

/// Programs that start others while they are stopped are looked for so often, and no more.
const ROUNDS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(5);

/// The agent's programs, stopped or not.
#[derive(Clone, Default)]
pub struct Frozen {
    wanted: Arc<AtomicBool>,
    stopped: Arc<Mutex<Option<BTreeSet<i32>>>>,
}

impl Frozen {
    /// Keeps what the session asks for.
    pub fn prepare(&self, begin: &Begin) {
        self.wanted.store(begin.freeze_on_takeover, Ordering::Relaxed);
    }

    /// Stops all programs that run now, if the session asks for it. Those that are started later run.
    pub async fn freeze(&self, nest: &Nest) {
        let mut stopped = self.stopped.lock().await;
        if !self.wanted.load(Ordering::Relaxed) || stopped.is_some() {
            return;
        }
        let (leader, desktop) = (nest.leader_pid(), nest.required());
        let all = stopped.insert(BTreeSet::new());
        for _ in 0..ROUNDS {
            let programs = block_in_place(|| programs(&processes(), leader, &desktop));
            let new: Vec<i32> = programs.into_iter().filter(|pid| all.insert(*pid)).collect();
            if new.is_empty() {
                return;
            }
            signal(new, Signal::STOP);
            sleep(PAUSE).await;
        }
    }

    /// Lets those go on that were stopped.
    pub async fn thaw(&self) {
        if let Some(stopped) = self.stopped.lock().await.take() {
            signal(stopped, Signal::CONT);
        }
    }
}

fn signal(pids: impl IntoIterator<Item = i32>, signal: Signal) {
    for pid in pids.into_iter().filter_map(Pid::from_raw) {
        // One that has ended meanwhile needs none.
        let _ = kill_process(pid, signal);
    }
}

/// A process, with its numbers out here and in its sandbox.
#[derive(Debug, Clone, Copy)]
pub struct Process {
    pub pid: i32,
    pub inside: u32,
    pub parent: i32,
    /// A program that the agent stopped itself stays so.
    pub is_stopped: bool,
    /// It only waits for its parent to notice.
    pub has_ended: bool,
}

/// All that run.
pub fn processes() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| read(pid, &fs::read_to_string(format!("/proc/{pid}/status")).ok()?))
        .collect()
}

fn read(pid: i32, status: &str) -> Option<Process> {
    let field =
        |name: &str| status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(":\t"));
    Some(Process {
        pid,
        inside: field("NSpid")?.split_whitespace().next_back()?.parse().ok()?,
        parent: field("PPid")?.trim().parse().ok()?,
        is_stopped: field("State")?.starts_with('T'),
        // Its first thread may have ended before others.
        has_ended: field("State")?.starts_with(['Z', 'X'])
            && field("Threads").is_none_or(|threads| matches!(threads.trim(), "0" | "1")),
    })
}

/// The processes below one of them, itself left out.
pub fn below(all: &[Process], top: i32) -> BTreeSet<i32> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for process in all {
        children.entry(process.parent).or_default().push(process.pid);
    }
    let (mut found, mut parents) = (BTreeSet::new(), vec![top]);
    while let Some(parent) = parents.pop() {
        for pid in children.remove(&parent).unwrap_or_default() {
            found.insert(pid);
            parents.push(pid);
        }
    }
    found
}

/// The programs below the sandbox's first process that are neither ours nor the desktop's.
fn programs(all: &[Process], leader: i32, desktop: &BTreeSet<u32>) -> Vec<i32> {
    let mut children: BTreeMap<i32, Vec<Process>> = BTreeMap::new();
    for process in all {
        children.entry(process.parent).or_default().push(*process);
    }
    let (mut found, mut parents) = (Vec::new(), vec![leader]);
    while let Some(parent) = parents.pop() {
        for process in children.remove(&parent).unwrap_or_default() {
            if desktop.contains(&process.inside) {
                continue;
            }
            parents.push(process.pid);
            // The second process is ours, and starts programs.
            if process.inside > 2 && !process.is_stopped {
                found.push(process.pid);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, inside: u32, parent: i32) -> Process {
        Process { pid, inside, parent, is_stopped: false, has_ended: false }
    }

    #[test]
    fn all_programs_are_stopped_but_ours_and_the_desktops() {
        let stopped = Process { is_stopped: true, ..process(109, 9, 102) };
        let all = [
            process(100, 1, 50),
            process(102, 2, 100),
            // The window manager and what it started.
            process(103, 3, 102),
            process(104, 4, 103),
            // A program, its child, and one that left its parent.
            process(105, 5, 102),
            process(106, 6, 105),
            process(107, 7, 100),
            stopped,
            // Another sandbox, with the same numbers inside.
            process(200, 1, 50),
            process(205, 5, 200),
        ];
        let mut found = programs(&all, 100, &BTreeSet::from([3]));
        found.sort_unstable();
        assert_eq!(found, [105, 106, 107]);
    }

    #[test]
    fn a_process_is_read_with_its_number_inside() {
        let status = "Name:\tsh\nState:\tT (stopped)\nPPid:\t7\nNSpid:\t12\t3\n";
        let read = read(12, status).unwrap();
        assert_eq!((read.inside, read.parent, read.is_stopped), (3, 7, true));
    }
}
