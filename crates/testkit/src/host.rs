//! Processes as the host sees them in `/proc`.

use std::{fs, path::Path};

use rustix::process::{Pid, Signal, kill_process};

/// A process. It is identified so that reused pids are not confused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Pid on the host.
    pub pid: i32,
    /// Real user id on the host.
    pub uid: u32,
    /// Command line, arguments separated by spaces.
    pub command: String,
    parent: i32,
    started: u64,
}

/// Whether this process runs as root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

impl Process {
    /// All running processes, without zombies.
    pub fn all() -> Vec<Self> {
        let entries = fs::read_dir("/proc").unwrap().map_while(Result::ok);
        entries.filter_map(|entry| Self::read(entry.file_name().to_str()?.parse().ok()?)).collect()
    }

    /// Processes of the sandboxes under a run directory, and their descendants.
    pub fn in_sandboxes(run_dir: &Path) -> Vec<Self> {
        let run_dir = run_dir.to_str().unwrap();
        let (mut family, mut others): (Vec<_>, Vec<_>) =
            Self::all().into_iter().partition(|process| process.command.contains(run_dir));
        loop {
            let child = |process: &Self| family.iter().any(|parent| parent.pid == process.parent);
            let (children, rest): (Vec<_>, Vec<_>) = others.into_iter().partition(child);
            if children.is_empty() {
                return family;
            }
            family.extend(children);
            others = rest;
        }
    }

    /// Whether it still runs.
    pub fn is_alive(&self) -> bool {
        Self::read(self.pid).is_some_and(|now| now.started == self.started)
    }

    /// Kills it, if it still runs.
    pub fn kill(&self) {
        if let Some(pid) = Pid::from_raw(self.pid).filter(|_| self.is_alive()) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    /// One of its namespaces, such as `user`; `None` if it is gone.
    pub fn namespace(&self, kind: &str) -> Option<String> {
        let link = fs::read_link(format!("/proc/{}/ns/{kind}", self.pid)).ok()?;
        Some(link.to_string_lossy().into_owned())
    }

    /// A field of its status, such as `Seccomp`; `None` if it is gone.
    pub fn status(&self, field: &str) -> Option<String> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).ok()?;
        status_field(&status, field)
    }

    fn read(pid: i32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in parentheses may contain anything, so fields are counted after it.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let started = fields.nth(17)?.parse().ok()?;
        if matches!(state, "Z" | "X") {
            return None;
        }
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let uid = status_field(&status, "Uid")?.split_whitespace().next()?.parse().ok()?;
        let command = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        Some(Self { pid, uid, command, parent, started })
    }
}

fn status_field(status: &str, field: &str) -> Option<String> {
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    Some(line.trim().to_owned())
}
