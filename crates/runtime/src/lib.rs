//! Starts and stops sandboxes.
//!
//! A runtime starts, connects to, stops and lists sandboxes. It handles only sandboxes and byte
//! streams, and knows nothing of actions, callers or sessions.

pub mod conformance;
mod error;
pub mod local;

use std::{collections::BTreeMap, fmt, os::fd::OwnedFd};

use async_trait::async_trait;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    process::Command,
};

pub use error::RuntimeError;
pub use local::LocalRuntime;

/// The name of a sandbox: letters, digits and dashes, because it becomes part of paths.
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

/// The configuration of a sandbox.
#[derive(Debug, Clone)]
pub struct SandboxSpec {
    /// Information about the sandbox for a later [`Runtime::list`]. No secrets.
    pub labels: BTreeMap<String, String>,
    /// The size limit of its home.
    pub home_bytes: u64,
    /// The size limit of its browser's profile.
    pub browser_bytes: u64,
    /// The size limit of its `/tmp`.
    pub tmp_bytes: u64,
    /// Whether it has a directory on disk, at `/run/helmdeck/workspace`, which is removed with it.
    pub workspace: bool,
    /// Limits for all its processes together.
    pub limits: SandboxLimits,
}

/// Resource limits for all processes of a sandbox together.
#[derive(Debug, Clone, PartialEq)]
pub struct SandboxLimits {
    /// Memory, including files in memory.
    pub memory_bytes: u64,
    /// Processor cores; `None` for all.
    pub cpu_cores: Option<f64>,
    /// Processes and threads.
    pub pids: u64,
}

impl Default for SandboxLimits {
    fn default() -> Self {
        Self { memory_bytes: 4 << 30, cpu_cores: None, pids: 1024 }
    }
}

/// The current resource usage of all processes of a sandbox together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Memory, including files in memory.
    pub memory_bytes: u64,
    /// Processes and threads.
    pub pids: u64,
    /// How often the kernel killed a process for lack of memory.
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
            limits: SandboxLimits::default(),
        }
    }
}

/// A sandbox that was started and not stopped.
#[derive(Debug, Clone)]
pub struct Sandbox {
    /// Its name.
    pub id: SandboxId,
    /// Whether its processes still run. A sandbox that ended by itself is listed until it is
    /// stopped.
    pub running: bool,
    /// The labels given at its start.
    pub labels: BTreeMap<String, String>,
    /// The mechanism that enforces its limits: `cgroup-v2`, `cgroup-v1` or `rlimit+watchdog`.
    pub limits_by: &'static str,
    /// Its usage, where it can be measured from outside.
    pub usage: Option<Usage>,
}

/// A program that runs in a sandbox without a network and without files of the machine or of a session.
pub struct IsolatedProgram {
    /// The command of helmdeck that it is. It gets `--connection-fd NUMBER` and the arguments.
    pub command: &'static str,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// A connection that it inherits, its only way out.
    pub connection: OwnedFd,
    /// Its files, by path. They are in memory, and only it can read them.
    pub files: Vec<(&'static str, Vec<u8>)>,
}

/// Any byte stream to a guest.
pub trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

/// Starts and manages sandboxes.
#[async_trait]
pub trait Runtime: Send + Sync + 'static {
    /// Starts a sandbox without waiting for its guest. A failed start leaves nothing behind.
    async fn start(&self, id: &SandboxId, spec: &SandboxSpec) -> Result<(), RuntimeError>;

    /// Opens a byte stream to the guest. For a sandbox that has ended, the error is `Gone` with the
    /// end of its log.
    async fn connect(&self, id: &SandboxId) -> Result<Box<dyn ByteStream>, RuntimeError>;

    /// Stops a sandbox and removes everything it left. Succeeds if the sandbox is already gone.
    async fn stop(&self, id: &SandboxId) -> Result<(), RuntimeError>;

    /// All sandboxes of this instance, so that a restarted server can adopt or stop them.
    async fn list(&self) -> Result<Vec<Sandbox>, RuntimeError>;

    /// The command that runs an isolated program. Its child ends when it is dropped. A backend that does
    /// not run on this machine cannot.
    fn isolated(&self, program: IsolatedProgram) -> Result<Command, RuntimeError> {
        Err(RuntimeError::CannotIsolate(program.command))
    }
}
