//! Stops the agent's programs while a person has control, if the session requests it.
//!
//! Uses signals, not a control group: the desktop's own programs share the sandbox with the agent's
//! and must continue. Nothing that the agent started is left running to resume the others, also not
//! what the desktop's programs started for it: services of the session bus, entries of the menu.

mod exempt;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use helmdeck_task::block_in_place;
use helmdeck_wire::guest::Begin;
use rustix::process::{Pid, Signal, kill_process};
use tokio::{sync::Mutex, time::sleep};

use self::exempt::is_exempt;
use crate::{log::Log, nest::Nest};

/// How often to search for programs that run, or were started while others were being stopped.
const ROUNDS: u32 = 100;
/// How many searches in a row must find none. What the bus or the panel is starting looks like a
/// part of them for a moment.
const QUIET_ROUNDS: u32 = 3;
const PAUSE: Duration = Duration::from_millis(5);

/// The agent's programs, stopped or not.
#[derive(Clone, Default)]
pub struct Frozen {
    wanted: Arc<AtomicBool>,
    stopped: Arc<Mutex<Option<BTreeSet<i32>>>>,
}

impl Frozen {
    /// Stores what the session requests.
    pub fn prepare(&self, begin: &Begin) {
        self.wanted.store(begin.freeze_on_takeover, Ordering::Relaxed);
    }

    /// Stops all programs that run now, if the session requests it. Later ones are not stopped.
    pub async fn freeze(&self, nest: &Nest, log: &Log) {
        let mut stopped = self.stopped.lock().await;
        if !self.wanted.load(Ordering::Relaxed) || stopped.is_some() {
            return;
        }
        let (leader, desktop) = (nest.leader_pid(), nest.required());
        let all = stopped.insert(BTreeSet::new());
        let mut quiet = 0;
        for _ in 0..ROUNDS {
            let running = block_in_place(|| programs(&processes(), leader, &desktop, is_exempt));
            quiet = if running.is_empty() { quiet + 1 } else { 0 };
            if quiet == QUIET_ROUNDS {
                return;
            }
            all.extend(&running);
            // Again, if a program resumed it before it was stopped itself.
            signal(running, Signal::STOP);
            sleep(PAUSE).await;
        }
        log.line(
            "guest",
            "not all programs have stopped: some start or resume others, or are busy",
        );
    }

    /// Resumes the stopped programs.
    pub async fn thaw(&self) {
        if let Some(stopped) = self.stopped.lock().await.take() {
            signal(stopped, Signal::CONT);
        }
    }
}

fn signal(pids: impl IntoIterator<Item = i32>, signal: Signal) {
    for pid in pids.into_iter().filter_map(Pid::from_raw) {
        // A process that has ended needs no signal.
        let _ = kill_process(pid, signal);
    }
}

/// A process, with its ids outside and inside its sandbox.
#[derive(Debug, Clone, Copy)]
pub struct Process {
    pub pid: i32,
    pub inside: u32,
    pub parent: i32,
    /// Programs that the agent stopped itself stay stopped.
    pub is_stopped: bool,
    /// It is a zombie.
    pub has_ended: bool,
}

/// All processes.
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
        // The main thread may have ended before others.
        has_ended: field("State")?.starts_with(['Z', 'X'])
            && field("Threads").is_none_or(|threads| matches!(threads.trim(), "0" | "1")),
    })
}

/// The descendants of a process.
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

/// The programs that run below the sandbox's first process, except ours, those of the desktop and
/// its services. What these have started is among them.
fn programs(
    all: &[Process],
    leader: i32,
    desktop: &BTreeSet<u32>,
    is_exempt: impl Fn(i32) -> bool,
) -> Vec<i32> {
    let inside = below(all, leader);
    let is_program = |process: &&Process| {
        // Process 2 is ours and starts programs.
        inside.contains(&process.pid)
            && process.inside > 2
            && !process.is_stopped
            && !process.has_ended
            && !desktop.contains(&process.inside)
            && !is_exempt(process.pid)
    };
    all.iter().filter(is_program).map(|process| process.pid).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, inside: u32, parent: i32) -> Process {
        Process { pid, inside, parent, is_stopped: false, has_ended: false }
    }

    #[test]
    fn all_programs_except_ours_and_the_desktops_are_stopped() {
        let stopped = Process { is_stopped: true, ..process(109, 9, 102) };
        let zombie = Process { has_ended: true, ..process(110, 10, 102) };
        let all = [
            process(100, 1, 50),
            process(102, 2, 100),
            // The window manager.
            process(103, 3, 102),
            // A program, its child, and a process that left its parent.
            process(105, 5, 102),
            process(106, 6, 105),
            process(107, 7, 100),
            stopped,
            zombie,
            // Another sandbox, with the same ids inside.
            process(200, 1, 50),
            process(205, 5, 200),
        ];
        let found = programs(&all, 100, &BTreeSet::from([3]), |_| false);
        assert_eq!(found, [105, 106, 107]);
    }

    #[test]
    fn what_the_desktops_programs_started_for_the_agent_is_stopped() {
        let all = [
            process(100, 1, 50),
            process(102, 2, 100),
            // The session bus, its helper process for a service, the service, and its child.
            process(103, 3, 102),
            process(104, 4, 103),
            process(105, 5, 104),
            process(106, 6, 105),
            // The settings of the desktop, which left the bus, and a program from the menu.
            process(107, 7, 100),
            process(108, 8, 102),
            process(109, 9, 108),
        ];
        let exempt = [103, 104, 107];
        let found = programs(&all, 100, &BTreeSet::from([3, 8]), |pid| exempt.contains(&pid));
        assert_eq!(found, [105, 106, 109]);
    }

    #[test]
    fn a_process_has_its_id_inside_the_sandbox() {
        let status = "Name:\tsh\nState:\tT (stopped)\nPPid:\t7\nNSpid:\t12\t3\n";
        let read = read(12, status).unwrap();
        assert_eq!((read.inside, read.parent, read.is_stopped), (3, 7, true));
    }
}
