//! Resources that a server and its sessions use, to check that they do not grow.

use std::{fs, path::Path};

use crate::{Process, Server};

/// One measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Footprint {
    /// Processes in sandboxes.
    pub processes: usize,
    /// Open descriptors of the server.
    pub descriptors: usize,
    /// Threads of the server.
    pub threads: usize,
    /// Resident memory of the server, in kilobytes.
    pub memory_kb: u64,
    /// Files and directories under the run directory.
    pub files: usize,
    /// Control groups of all helmdeck servers of the machine.
    pub groups: usize,
}

impl Footprint {
    /// Measures now.
    pub fn of(server: &Server) -> Self {
        let own = format!("/proc/{}", server.pid());
        let status = fs::read_to_string(format!("{own}/status")).unwrap_or_default();
        let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let memory = memory.and_then(|text| text.split_whitespace().next()?.parse().ok());
        Self {
            processes: Process::in_sandboxes(&server.run_dir()).len(),
            descriptors: entries(format!("{own}/fd").as_ref()),
            threads: entries(format!("{own}/task").as_ref()),
            memory_kb: memory.unwrap_or(0),
            files: all_below(&server.run_dir()),
            groups: groups_below("/sys/fs/cgroup".as_ref(), 4),
        }
    }
}

fn entries(dir: &Path) -> usize {
    fs::read_dir(dir).map_or(0, |entries| entries.count())
}

fn all_below(dir: &Path) -> usize {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|entry| 1 + all_below(&entry.path())).sum()
}

fn groups_below(dir: &Path, depth: usize) -> usize {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let dirs = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    dirs.map(|dir| {
        let ours = dir.file_name().to_string_lossy().starts_with("helmdeck-");
        usize::from(ours) + if depth > 0 { groups_below(&dir.path(), depth - 1) } else { 0 }
    })
    .sum()
}
