//! Where sandboxes come from.
//!
//! A runtime starts, connects to, stops and lists sandboxes. It deals in sandboxes and byte
//! streams; it never sees an action, a caller or a session.

pub mod conformance;
mod error;
pub mod local;

use std::{collections::BTreeMap, fmt};

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncWrite};

pub use error::RuntimeError;
pub use local::LocalRuntime;

/// Names a sandbox. Letters, digits and dashes; it becomes part of paths.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SandboxId(String);

impl SandboxId {
    /// Checks the name.
    pub fn new(name: &str) -> Result<Self, RuntimeError> {
        let good = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if !name.is_empty() && name.len() <= 64 && name.chars().all(good) {
            Ok(Self(name.to_owned()))
        } else {
            Err(RuntimeError::BadName(name.to_owned()))
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SandboxId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a sandbox shall be.
#[derive(Debug, Clone)]
pub struct SandboxSpec {
    /// What whoever lists sandboxes later wants to know about this one. No secrets.
    pub labels: BTreeMap<String, String>,
    /// The most its home may hold.
    pub home_bytes: u64,
    /// The most its own browser's profile may hold.
    pub browser_bytes: u64,
    /// The most its `/tmp` may hold.
    pub tmp_bytes: u64,
    /// Whether it has a directory on the disk, at `/run/helmdeck/workspace`, which is gone with it.
    pub workspace: bool,
    /// What all its processes together may use.
    pub limits: Limits,
}

/// What all processes of a sandbox together may use.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Memory, files in it included.
    pub memory_bytes: u64,
    /// Processor cores; all there are if not given.
    pub cpu_cores: Option<f64>,
    /// Processes and threads.
    pub pids: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory_bytes: 4 << 30, cpu_cores: None, pids: 1024 }
    }
}

/// What all processes of a sandbox together use now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Memory, files in it included.
    pub memory_bytes: u64,
    /// Processes and threads.
    pub pids: u64,
    /// How often the kernel killed a process because the memory was used up.
    pub out_of_memory: u64,
}

impl Default for SandboxSpec {
    fn default() -> Self {
        Self {
            labels: BTreeMap::new(),
            home_bytes: 4 << 30,
            browser_bytes: 1 << 30,
            tmp_bytes: 1 << 30,
            workspace: false,
            limits: Limits::default(),
        }
    }
}

/// A sandbox that was started and not stopped.
#[derive(Debug, Clone)]
pub struct Sandbox {
    /// Its name.
    pub id: SandboxId,
    /// Whether its processes still run; one that ended by itself stays listed until it is stopped.
    pub running: bool,
    /// As given at its start.
    pub labels: BTreeMap<String, String>,
    /// What enforces its limits: `cgroup-v2`, `cgroup-v1` or `rlimit+watchdog`.
    pub limits_by: &'static str,
    /// What it uses, where that can be told from outside.
    pub usage: Option<Usage>,
}

/// Any stream of bytes to a guest.
pub trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

/// Where sandboxes come from.
#[async_trait]
pub trait Runtime: Send + Sync + 'static {
    /// Starts a sandbox. Does not wait for the guest inside it. On failure nothing is left.
    async fn start(&self, id: &SandboxId, spec: &SandboxSpec) -> Result<(), RuntimeError>;

    /// Opens a byte stream to the guest. A sandbox that has ended answers `Gone` with the last
    /// words of its guest.
    async fn connect(&self, id: &SandboxId) -> Result<Box<dyn ByteStream>, RuntimeError>;

    /// Stops a sandbox and removes all it left. Stopping one that is already gone succeeds.
    async fn stop(&self, id: &SandboxId) -> Result<(), RuntimeError>;

    /// Every sandbox we own, so that a restarted server can adopt or stop them.
    async fn list(&self) -> Result<Vec<Sandbox>, RuntimeError>;
}
