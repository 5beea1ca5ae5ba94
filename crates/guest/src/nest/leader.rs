//! The first process of a nested sandbox. All others end with it.

use std::{
    fs::{self, File},
    io::{self, PipeReader, Read},
    os::{fd::OwnedFd, unix::fs::MetadataExt},
};

use helmdeck_task::block_in_place;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal},
};
use serde::Deserialize;
use tokio::task::spawn_blocking;

use crate::error::GuestError;

/// bubblewrap reports it before anything else.
const REPORT_DEADLINE: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };
/// Killing all processes of a namespace takes milliseconds.
const END_DEADLINE: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };
/// Limit on bubblewrap's report.
const MAX_REPORT: u64 = 4096;

/// bubblewrap's report about a sandbox.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Report {
    child_pid: i32,
}

/// The first process of a nested sandbox.
pub struct Leader {
    pub pid: i32,
    process: OwnedFd,
    /// The id of its process namespace.
    pub namespace: u64,
}

impl Leader {
    /// Finds it from the report that bubblewrap writes to this pipe.
    pub fn read(facts: PipeReader) -> Result<Self, GuestError> {
        block_in_place(|| find(facts))
            .map_err(|e| GuestError::Io("process of the nested sandbox", e))
    }

    /// The mount namespace of its programs.
    pub fn mount_namespace(&self) -> io::Result<OwnedFd> {
        Ok(File::open(format!("/proc/{}/ns/mnt", self.pid))?.into())
    }

    /// Kills it, and returns when all processes of the sandbox are gone.
    pub async fn end(&self) {
        // Fails only if it has already ended.
        let _ = pidfd_send_signal(&self.process, Signal::KILL);
        let Ok(process) = self.process.try_clone() else { return };
        let wait = move || poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&END_DEADLINE));
        let _ = spawn_blocking(wait).await;
    }
}

fn find(facts: PipeReader) -> io::Result<Leader> {
    let ready = poll(&mut [PollFd::new(&facts, PollFlags::IN)], Some(&REPORT_DEADLINE))?;
    if ready == 0 {
        return Err(io::ErrorKind::TimedOut.into());
    }
    let mut text = String::new();
    facts.take(MAX_REPORT).read_to_string(&mut text)?;
    let told: Report = serde_json::from_str(&text)?;
    let pid = Pid::from_raw(told.child_pid).ok_or(io::ErrorKind::InvalidData)?;
    let process = pidfd_open(pid, PidfdFlags::empty())?;
    let namespace = fs::metadata(format!("/proc/{}/ns/pid", told.child_pid))?.ino();
    Ok(Leader { pid: told.child_pid, process, namespace })
}
