//! The nested sandbox: everything that an agent can influence runs in it, and cannot see out.
//!
//! It has its own processes, `/tmp` and `/dev`, and shares the home, the loopback network and the X
//! socket. A small process of ours inside starts programs on request.

mod control;
mod inside;
mod waiter;

use std::{
    collections::BTreeMap,
    fs::File,
    os::fd::OwnedFd,
    process::{Command, Stdio},
    sync::Arc,
};

pub use control::{Program, SpawnError, Spawned};
pub use inside::run_inside;

use crate::{error::GuestError, extension, log::Log};

/// The home of the agent's programs.
pub const HOME: &str = "/home/agent";
/// Where the session bus lives.
pub const RUNTIME_DIR: &str = "/run/user/1000";

/// What the nested sandbox is given.
pub struct NestSpec {
    /// Whether programs inside may use the X server.
    pub with_display: bool,
    /// Whether there are extensions that programs inside may read.
    pub with_extensions: bool,
    /// The size of `/tmp`.
    pub tmp_bytes: u64,
    /// The size of `/dev/shm`.
    pub shm_bytes: u64,
    /// The most processes and threads inside.
    pub pids: u64,
    /// The environment of every program inside.
    pub env: BTreeMap<String, String>,
    /// More arguments for bubblewrap, none of which holds a space.
    pub more: String,
}

/// A handle to the running nested sandbox.
#[derive(Clone)]
pub struct Nest {
    control: Arc<control::Control>,
    env: Arc<BTreeMap<String, String>>,
    log: Log,
}

impl Nest {
    /// Starts the nested sandbox. `on_end` runs once, when it is over.
    pub fn start(
        spec: NestSpec,
        log: Log,
        on_end: impl FnOnce() + Send + 'static,
    ) -> Result<Self, GuestError> {
        let (ours, theirs) = control::pair().map_err(|e| GuestError::Io("control socket", e))?;
        let mut command = Command::new("bwrap");
        // Counted in the nested user namespace, so a fork bomb there leaves the guest room to act.
        helmdeck_spawn::limit_processes(&mut command, spec.pids);
        helmdeck_spawn::be_ordinary(&mut command);
        let filter =
            File::open("/run/helmdeck/nested.bpf").map_err(|e| GuestError::Io("nested.bpf", e))?;
        let filter = helmdeck_spawn::keep_fd(&mut command, filter.into());
        let theirs = helmdeck_spawn::keep_fd(&mut command, theirs);
        command.args(arguments(&spec).split_whitespace());
        command.args(["--seccomp", &filter.to_string()]);
        command.args(["/opt/helmdeck/helmdeck", "nest", "--control-fd", &theirs.to_string()]);
        command.env_clear().env("PATH", "/usr/bin:/bin").stdin(Stdio::null());
        let output = log.pipe("nest").map_err(|e| GuestError::Io("log pipe", e))?;
        let errors = output.try_clone().map_err(|e| GuestError::Io("log pipe", e))?;
        command.stdout(output).stderr(errors);
        start_and_wait(command, on_end)?;
        let control = control::Control::new(ours, log.clone())?;
        Ok(Self { control: Arc::new(control), env: Arc::new(spec.env), log })
    }

    /// Starts a program inside; its output goes to the log under its name.
    pub async fn spawn(&self, start: Start<'_>) -> Result<Spawned, SpawnError> {
        let output = self.log.pipe(start.program)?;
        let mut descriptors = start.descriptors;
        descriptors.push((output.try_clone()?, 1));
        descriptors.push((output, 2));
        let mut env = (*self.env).clone();
        env.extend(start.env.iter().map(|(name, value)| ((*name).into(), (*value).into())));
        let program = Program { program: start.program.to_owned(), args: start.args, env };
        self.control.spawn(program, descriptors).await
    }

    /// Starts a program that the session cannot do without.
    pub async fn require(&self, start: Start<'_>) -> Result<Spawned, GuestError> {
        let program = start.program.to_owned();
        match self.spawn(start).await {
            Ok(spawned) => Ok(spawned),
            Err(SpawnError::Io(source)) => Err(GuestError::Spawn { program, source }),
            Err(SpawnError::NestGone) => Err(GuestError::NestGone),
        }
    }
}

/// A program to start inside.
#[derive(Default)]
pub struct Start<'a> {
    /// A name to look up in PATH, or a path.
    pub program: &'a str,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables besides the session's own.
    pub env: &'a [(&'a str, &'a str)],
    /// Descriptors it inherits, under the given numbers.
    pub descriptors: Vec<(OwnedFd, i32)>,
}

/// bubblewrap's arguments. None of them holds a space.
fn arguments(spec: &NestSpec) -> String {
    let (shm, tmp, more) = (spec.shm_bytes, spec.tmp_bytes, &spec.more);
    let display = if spec.with_display { "--ro-bind /tmp/.X11-unix /tmp/.X11-unix" } else { "" };
    let extensions = if spec.with_extensions {
        format!("--ro-bind {} {}", extension::OUTSIDE, extension::INSIDE)
    } else {
        String::new()
    };
    format!(
        "--unshare-user --unshare-pid --unshare-cgroup-try --uid 1000 --gid 1000 \
         --die-with-parent --clearenv \
         --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/sbin /sbin \
         --symlink usr/lib /lib --symlink usr/lib64 /lib64 --ro-bind /etc /etc \
         --proc /proc --dev /dev --size {shm} --perms 1777 --tmpfs /dev/shm \
         --size {tmp} --perms 1777 --tmpfs /tmp {display} \
         --bind {HOME} {HOME} --size 67108864 --perms 1777 --tmpfs /var/tmp --ro-bind /var/cache /var/cache \
         --dir /run --bind {RUNTIME_DIR} {RUNTIME_DIR} \
         --ro-bind /opt/helmdeck/helmdeck /opt/helmdeck/helmdeck {extensions} {more} --chdir {HOME} \
         --remount-ro /dev --remount-ro /"
    )
}

/// Starts `command` on a thread that lives as long as it does, because a child that shall die with
/// its parent dies with the thread that started it.
fn start_and_wait(
    mut command: Command,
    on_end: impl FnOnce() + Send + 'static,
) -> Result<(), GuestError> {
    let (started, result) = std::sync::mpsc::sync_channel(1);
    let wait = move || {
        let child = command.spawn();
        // Our copies of the descriptors must go, or the other end never sees them close.
        drop(command);
        match child {
            Ok(mut child) => {
                let _ = started.send(Ok(()));
                let _ = child.wait();
                on_end();
            }
            Err(error) => {
                let _ = started.send(Err(error));
            }
        }
    };
    let spawn = |source| GuestError::Spawn { program: "bwrap".into(), source };
    std::thread::Builder::new().name("nest".into()).spawn(wait).map_err(spawn)?;
    result.recv().map_err(|_| GuestError::NestGone)?.map_err(spawn)
}
