//! What bubblewrap writes down about a sandbox.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

use rustix::process::Pid;
use serde::Deserialize;

/// The first line of the status file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Status {
    /// The first process of the sandbox, as the host sees it.
    child_pid: i32,
    /// The inode of its process namespace; it tells a reused process number apart.
    pid_namespace: u64,
}

impl Status {
    /// The first process of the sandbox.
    pub fn pid(&self) -> Option<Pid> {
        Pid::from_raw(self.child_pid)
    }

    /// Whether that process is still the one that was written down.
    pub fn is_alive(&self) -> bool {
        let namespace = format!("/proc/{}/ns/pid", self.child_pid);
        fs::metadata(namespace).is_ok_and(|found| found.ino() == self.pid_namespace)
    }
}

/// The status of the sandbox in `dir`, once bubblewrap has written it.
pub fn read(dir: &Path) -> Option<Status> {
    let text = fs::read_to_string(dir.join("status")).ok()?;
    serde_json::from_str(text.lines().next()?).ok()
}
