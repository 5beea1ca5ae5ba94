//! Finds and kills all processes of a command, from outside its sandbox.
//!
//! Each command has a supervisor (`crates/spawn/src/supervise.rs`), which adopts processes that
//! leave their parent. A program can kill its supervisor; the remaining processes are then
//! recognized by a variable in their environment.

use std::{
    collections::BTreeSet,
    fs,
    os::fd::{AsRawFd, OwnedFd},
    time::Duration,
};

use helmdeck_task::block_in_place;
use helmdeck_wire::exec::ExecId;
use rustix::process::{Pid, Signal, kill_process, pidfd_send_signal};
use tokio::time::{Instant, sleep};

use crate::freeze::{Process, below, processes};

/// The environment variable with the id of the command that a program belongs to.
pub const MARK: &str = "HELMDECK_EXEC_ID";
/// How often to stop programs that keep starting others, before they are killed anyway.
const STOP_ROUNDS: u32 = 100;
/// Pause between two rounds.
const PAUSE: Duration = Duration::from_millis(2);
/// Killing takes milliseconds; processes that remain after this wait for a device.
const KILL_DEADLINE: Duration = Duration::from_secs(10);
/// A process that starts another and ends while the list is read can be missed once, but not twice.
const EMPTY_LOOKS: u32 = 2;
/// Limit on how much of an environment is read.
const MAX_ENVIRONMENT: usize = 1 << 20;

/// The processes of one command.
pub struct Tree {
    /// Identifies the supervisor even if its process id is reused.
    supervisor: OwnedFd,
    /// The variable as it appears in an environment.
    mark: Vec<u8>,
    /// The first process of its sandbox.
    leader: i32,
}

impl Tree {
    pub fn new(supervisor: OwnedFd, id: &ExecId, leader: i32) -> Self {
        let mark = format!("{MARK}={id}").into_bytes();
        Self { supervisor, mark, leader }
    }

    /// Kills all processes, and returns when none is left.
    pub async fn kill(&self) {
        let until = Instant::now() + KILL_DEADLINE;
        // Stop them first: a killed process could be replaced by another.
        let mut stopped = BTreeSet::new();
        for _ in 0..STOP_ROUNDS {
            let alive = block_in_place(|| self.alive());
            let new: Vec<i32> = alive.into_iter().filter(|pid| stopped.insert(*pid)).collect();
            if new.is_empty() {
                break;
            }
            signal(new, Signal::STOP);
            sleep(PAUSE).await;
        }
        let mut empty = 0;
        while empty < EMPTY_LOOKS && Instant::now() < until {
            let alive = block_in_place(|| self.alive());
            if alive.is_empty() {
                empty += 1;
                continue;
            }
            empty = 0;
            signal(alive, Signal::KILL);
            sleep(PAUSE).await;
        }
        // It ends by itself when no process is below it, unless it was stopped.
        let _ = pidfd_send_signal(&self.supervisor, Signal::KILL);
    }

    /// Whether a process, by its id outside the sandbox, belongs to the command.
    pub fn has(&self, pid: i32) -> bool {
        self.alive().contains(&pid)
    }

    fn alive(&self) -> Vec<i32> {
        let is_marked = |pid: i32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let environment = environment.get(..MAX_ENVIRONMENT).unwrap_or(&environment);
            environment.split(|byte| *byte == 0).any(|variable| variable == self.mark)
        };
        members(&processes(), self.supervisor_pid(), self.leader, is_marked)
    }

    /// Its process id outside the sandbox; `None` when it is gone.
    fn supervisor_pid(&self) -> Option<i32> {
        let about =
            fs::read_to_string(format!("/proc/self/fdinfo/{}", self.supervisor.as_raw_fd()));
        let pid =
            about.ok()?.lines().find_map(|line| line.strip_prefix("Pid:")?.trim().parse().ok());
        pid.filter(|pid| *pid > 0)
    }
}

fn signal(pids: impl IntoIterator<Item = i32>, signal: Signal) {
    for pid in pids.into_iter().filter_map(Pid::from_raw) {
        // A process that has ended needs no signal.
        let _ = kill_process(pid, signal);
    }
}

/// The processes below the supervisor, and marked processes of the sandbox.
fn members(
    all: &[Process],
    supervisor: Option<i32>,
    leader: i32,
    is_marked: impl Fn(i32) -> bool,
) -> Vec<i32> {
    let mut found = supervisor.map(|top| below(all, top)).unwrap_or_default();
    for pid in below(all, leader) {
        if Some(pid) != supervisor && !found.contains(&pid) && is_marked(pid) {
            found.insert(pid);
        }
    }
    let alive = |pid: &i32| all.iter().any(|process| process.pid == *pid && !process.has_ended);
    found.into_iter().filter(alive).collect()
}

#[cfg(test)]
mod tests {
    use std::{
        io::Read,
        process::{Child, Command, Stdio},
    };

    use rustix::process::{PidfdFlags, pidfd_open};

    use super::*;

    fn process(pid: i32, parent: i32) -> Process {
        Process { pid, inside: 9, parent, is_stopped: false, has_ended: false }
    }

    #[test]
    fn detached_and_unsupervised_processes_are_found() {
        let all = [
            process(100, 1),
            // The supervisor, its program, a child of that, and a process that left its parent.
            process(110, 100),
            process(111, 110),
            process(112, 111),
            process(113, 110),
            // Of the same sandbox: one marked, one not.
            process(120, 100),
            process(121, 100),
            // Of another sandbox, with the same mark: programs can choose any.
            process(200, 1),
            Process { has_ended: true, ..process(114, 110) },
        ];
        let found = members(&all, Some(110), 100, |pid| pid == 120 || pid == 200);
        assert_eq!(found, [111, 112, 113, 120]);
        assert_eq!(members(&all, None, 100, |pid| pid == 113), [113]);
    }

    /// Starts a script with a supervisor above it, as the nest does.
    fn start(script: &str) -> (Child, Tree) {
        let (mut ready, said) = std::io::pipe().unwrap();
        let (_read, told) = std::io::pipe().unwrap();
        let id = ExecId::new(format!("exec-{}", std::process::id()));
        let mut command = Command::new("bash");
        command.args(["-c", script]).env(MARK, id.as_str());
        command.stdin(Stdio::null()).stdout(said);
        helmdeck_spawn::supervise(&mut command, told.into());
        helmdeck_spawn::new_session(&mut command);
        let supervisor = command.spawn().unwrap();
        drop(command);
        let mut word = [0; 6];
        ready.read_exact(&mut word).unwrap();
        assert_eq!(&word, b"ready\n");
        let pidfd = pidfd_open(Pid::from_child(&supervisor), PidfdFlags::empty()).unwrap();
        let tree = Tree::new(pidfd, &id, std::process::id().cast_signed());
        (supervisor, tree)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn all_processes_of_a_command_are_killed() {
        let script = "trap '' TERM HUP
            (trap '' TERM HUP; setsid bash -c 'trap \"\" TERM; (sleep 1000 &); sleep 1000' &)
            setsid nohup env -i /bin/sleep 1000 >/dev/null 2>&1 &
            echo ready; while :; do (sleep 1000 &); sleep 0.01; done";
        let (mut supervisor, tree) = start(script);
        while tree.alive().len() < 8 {
            tokio::task::yield_now().await;
        }
        tree.kill().await;
        assert_eq!(tree.alive(), [0; 0]);
        supervisor.wait().unwrap();
        // Killing twice does no harm.
        tree.kill().await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_program_that_kills_its_supervisor_is_still_found() {
        let script = "kill -9 $PPID; (setsid sleep 1000 &); echo ready; sleep 1000";
        let (mut supervisor, tree) = start(script);
        supervisor.wait().unwrap();
        assert_eq!(tree.supervisor_pid(), None);
        // Its children are adopted by PID 1, or by another subreaper.
        let tree = Tree { leader: 1, ..tree };
        while tree.alive().len() < 2 {
            tokio::task::yield_now().await;
        }
        tree.kill().await;
        assert_eq!(tree.alive(), [0; 0]);
    }
}
