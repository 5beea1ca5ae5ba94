//! The status file that bubblewrap writes for a sandbox.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

use rustix::process::Pid;
use serde::Deserialize;

/// The first line of the status file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Status {
    /// The first process of the sandbox, as the host sees it.
    child_pid: i32,
    /// The inode of its process namespace; it detects a reused process id.
    pid_namespace: u64,
}

impl Status {
    /// The first process of the sandbox.
    pub fn pid(&self) -> Option<Pid> {
        Pid::from_raw(self.child_pid)
    }

    /// Whether that process is still running and not a reused id.
    pub fn is_alive(&self) -> bool {
        let namespace = format!("/proc/{}/ns/pid", self.child_pid);
        let same = fs::metadata(namespace).is_ok_and(|found| found.ino() == self.pid_namespace);
        same && !has_ended(self.child_pid)
    }
}

/// Whether a process has ended and waits to be reaped, which may take long; all others of its
/// namespace ended before. Not while any of its threads is left.
fn has_ended(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name in parentheses may contain anything, so the fields are searched after it.
    let Some((_, fields)) = stat.rsplit_once(')') else { return false };
    let fields: Vec<_> = fields.split_whitespace().collect();
    let (state, threads) = (fields.first(), fields.get(17).and_then(|text| text.parse().ok()));
    matches!(state, Some(&("Z" | "X"))) && threads.is_none_or(|threads: u32| threads <= 1)
}

/// The status of the sandbox in `dir`, once bubblewrap has written it.
pub fn read(dir: &Path) -> Option<Status> {
    let text = fs::read_to_string(dir.join("status")).ok()?;
    serde_json::from_str(text.lines().next()?).ok()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_zombie_is_not_alive() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let child_pid = child.id().cast_signed();
        let pid_namespace = fs::metadata("/proc/self/ns/pid").unwrap().ino();
        let status = Status { child_pid, pid_namespace };
        assert!(status.is_alive());
        drop(child.stdin.take());
        while !has_ended(child_pid) {
            std::thread::yield_now();
        }
        assert!(!status.is_alive());
        child.wait().unwrap();
        assert!(!status.is_alive());
    }
}
