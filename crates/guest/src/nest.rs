//! Nested sandboxes: their programs have separate processes, mounts, `/tmp` and `/dev`, and share
//! the loopback network and the X socket with the other nested sandbox.
//!
//! A session has two: one for the agent's programs, one for the session's own browser
//! (`nest/kinds.rs`). In each, a small process of ours starts programs on request.

mod control;
mod inside;
mod kinds;
mod leader;
mod waiter;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    os::fd::{AsFd, OwnedFd},
    process::{Command, Stdio},
    sync::Arc,
};

pub use control::{Program, SUPERVISOR, SpawnError, Spawned};
pub use inside::run_inside;
pub use kinds::{
    BROWSER_HOME, HANDED_OVER, agent, browser, is_mount, is_shared, make_folders, private,
};

use helmdeck_spawn::Layer;
use helmdeck_task::block_in_place;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use self::leader::Leader;
use crate::{error::GuestError, log::Log};

/// The home of the agent's programs.
pub const HOME: &str = "/home/agent";
/// The directory of the session bus.
pub const RUNTIME_DIR: &str = "/run/user/1000";

/// Our own program. In nested sandboxes it is a link to process 2, which is the nest.
pub const PROGRAM: &str = "/opt/helmdeck/helmdeck";

/// The configuration of a nested sandbox.
pub struct NestSpec {
    /// Its name in the log.
    pub name: &'static str,
    /// Whether programs inside may use the X server.
    pub with_display: bool,
    /// The size of `/tmp`.
    pub tmp_bytes: u64,
    /// The size of `/dev/shm`.
    pub shm_bytes: u64,
    /// The OOM score adjustment of its programs: the highest is killed first.
    pub oom_score: u32,
    /// Limit on processes and threads inside.
    pub pids: u64,
    /// The environment of every program inside.
    pub env: BTreeMap<String, String>,
    /// Its folders: bubblewrap arguments, none of which contains a space.
    pub mounts: String,
}

/// A handle to a running nested sandbox.
#[derive(Clone)]
pub struct Nest {
    control: Arc<control::Control>,
    leader: Arc<Leader>,
    env: Arc<BTreeMap<String, String>>,
    /// Processes that the session needs, by their ids inside.
    required: Arc<Mutex<BTreeSet<u32>>>,
    log: Log,
}

impl Nest {
    /// Starts the nested sandbox. `on_end` runs once, when it has ended.
    pub fn start(
        spec: NestSpec,
        log: Log,
        on_end: impl FnOnce() + Send + 'static,
    ) -> Result<Self, GuestError> {
        let (ours, theirs) = control::pair().map_err(|e| GuestError::Io("control socket", e))?;
        let mut command = Command::new("bwrap");
        helmdeck_spawn::inherit_nothing(&mut command);
        // Counted in the nested user namespace, so that a fork bomb there does not block the guest.
        helmdeck_spawn::limit_processes(&mut command, spec.pids);
        helmdeck_spawn::be_ordinary(&mut command);
        let filter =
            File::open("/run/helmdeck/nested.bpf").map_err(|e| GuestError::Io("nested.bpf", e))?;
        let filter = helmdeck_spawn::keep_fd(&mut command, filter.into());
        let pipe = |e| GuestError::Io("pipe of the nested sandbox", e);
        let (facts, told) = std::io::pipe().map_err(pipe)?;
        let told = helmdeck_spawn::keep_fd(&mut command, told.into());
        let theirs = helmdeck_spawn::keep_fd(&mut command, theirs);
        command.args(arguments(&spec).split_whitespace());
        command.args(["--seccomp", &filter.to_string(), "--info-fd", &told.to_string()]);
        // By descriptor: a mount would reveal its path on the host.
        let program = File::open(PROGRAM).map_err(|e| GuestError::Io("program of the nest", e))?;
        let program = helmdeck_spawn::keep_fd(&mut command, program.into());
        command.args([&format!("/proc/self/fd/{program}"), "nest", "--name", spec.name]);
        command.args(["--control-fd", &theirs.to_string()]);
        command.args(["--oom-score", &spec.oom_score.to_string()]);
        command.env_clear().env("PATH", "/usr/bin:/bin").stdin(Stdio::null());
        let output = log.pipe(spec.name).map_err(|e| GuestError::Io("log pipe", e))?;
        let errors = output.try_clone().map_err(|e| GuestError::Io("log pipe", e))?;
        command.stdout(output).stderr(errors);
        start_and_wait(command, on_end)?;
        let leader = Arc::new(Leader::read(facts)?);
        let control = control::Control::new(ours, spec.name, log.clone())?;
        let (control, env) = (Arc::new(control), Arc::new(spec.env));
        Ok(Self { control, leader, env, required: Arc::default(), log })
    }

    /// Forbids running or loading anything from folders shared with others. Call it before anything
    /// runs inside.
    pub async fn restrict(&self) -> Result<(), GuestError> {
        if !self.control.ready().await {
            return Err(GuestError::NestGone);
        }
        let restricted = kinds::restricted();
        let restrict = || {
            let mounts = self.leader.mount_namespace()?;
            helmdeck_spawn::restrict_mounts(mounts.as_fd(), &restricted)
        };
        block_in_place(restrict).map_err(|e| GuestError::Io("mounts of the nested sandbox", e))
    }

    /// Mounts one of its directories where its programs expect it. Call it before any program runs.
    pub async fn mount(&self, layer: &Layer) -> Result<(), GuestError> {
        if !self.control.ready().await {
            return Err(GuestError::NestGone);
        }
        let mount = || {
            let mounts = self.leader.mount_namespace()?;
            helmdeck_spawn::mount_layer(mounts.as_fd(), layer)
        };
        block_in_place(mount).map_err(|e| GuestError::Io("mounts of the nested sandbox", e))
    }

    /// The id of its process namespace, which is unique while it exists.
    pub fn process_namespace(&self) -> u64 {
        self.leader.namespace
    }

    /// The id of its first process, outside the sandbox.
    pub fn leader_pid(&self) -> i32 {
        self.leader.pid
    }

    /// The processes that the session needs, by their ids inside.
    pub fn required(&self) -> BTreeSet<u32> {
        self.required.lock().clone()
    }

    /// Kills every program inside, and returns when none is left.
    pub async fn end(&self) {
        self.leader.end().await;
    }

    /// Starts a program inside; its output is logged under its name.
    pub async fn spawn(&self, start: Start<'_>) -> Result<Spawned, SpawnError> {
        let output = self.log.pipe(start.program)?;
        let mut descriptors = start.descriptors;
        descriptors.push((output.try_clone()?, 1));
        descriptors.push((output, 2));
        let mut env = (*self.env).clone();
        env.extend(start.env.iter().map(|(name, value)| ((*name).into(), (*value).into())));
        let program = start.program.to_owned();
        let program = Program { program, args: start.args, env, ..Program::default() };
        self.control.spawn(program, descriptors).await
    }

    /// Starts a program inside without further setup; its environment is added to the session's
    /// own.
    pub async fn spawn_as(
        &self,
        mut program: Program,
        descriptors: Vec<(OwnedFd, i32)>,
    ) -> Result<Spawned, SpawnError> {
        let mut env = (*self.env).clone();
        env.append(&mut program.env);
        self.control.spawn(Program { env, ..program }, descriptors).await
    }

    /// Starts a program of ours that answers on its standard output, which is `descriptors`'. It
    /// continues to run while a person has control.
    pub async fn require_as(
        &self,
        program: Program,
        mut descriptors: Vec<(OwnedFd, i32)>,
    ) -> Result<Spawned, SpawnError> {
        descriptors.push((self.log.pipe(&program.program)?, 2));
        Ok(self.require_while_it_runs(self.spawn_as(program, descriptors).await?))
    }

    /// Starts a program that the session needs.
    pub async fn require(&self, start: Start<'_>) -> Result<Spawned, GuestError> {
        let program = start.program.to_owned();
        match self.spawn(start).await {
            Ok(spawned) => Ok(self.require_while_it_runs(spawned)),
            Err(SpawnError::Io(source) | SpawnError::Cwd(source)) => {
                Err(GuestError::Spawn { program, source })
            }
            Err(SpawnError::NestGone) => Err(GuestError::NestGone),
        }
    }

    /// Lists a process among those that the session needs until it ends: a later process of the
    /// agent may get its id.
    fn require_while_it_runs(&self, spawned: Spawned) -> Spawned {
        let Spawned { pid, ended, descriptors } = spawned;
        self.required.lock().insert(pid);
        let (tell, told) = oneshot::channel();
        let required = self.required.clone();
        helmdeck_task::spawn(async move {
            let status = ended.await;
            required.lock().remove(&pid);
            if let Ok(status) = status {
                // Most programs are not waited for.
                let _ = tell.send(status);
            }
        });
        Spawned { pid, ended: told, descriptors }
    }
}

/// A program to start inside.
#[derive(Default)]
pub struct Start<'a> {
    /// A name to look up in PATH, or a path.
    pub program: &'a str,
    /// Its arguments.
    pub args: Vec<String>,
    /// Additional environment variables.
    pub env: &'a [(&'a str, &'a str)],
    /// Descriptors it inherits, with their numbers.
    pub descriptors: Vec<(OwnedFd, i32)>,
}

/// bubblewrap's arguments. None of them contains a space.
fn arguments(spec: &NestSpec) -> String {
    let (shm, tmp, mounts) = (spec.shm_bytes, spec.tmp_bytes, &spec.mounts);
    let display = if spec.with_display { "--ro-bind /tmp/.X11-unix /tmp/.X11-unix" } else { "" };
    format!(
        "--unshare-user --unshare-pid --unshare-cgroup-try --uid 1000 --gid 1000 \
         --die-with-parent --clearenv \
         --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/sbin /sbin \
         --symlink usr/lib /lib --symlink usr/lib64 /lib64 --ro-bind /etc /etc \
         --proc /proc --dev /dev --size {shm} --perms 1777 --tmpfs /dev/shm \
         --size {tmp} --perms 1777 --tmpfs /tmp {display} \
         --size 67108864 --perms 1777 --tmpfs /var/tmp --ro-bind /var/cache /var/cache --dir /run \
         --symlink /proc/2/exe {PROGRAM} {mounts} --chdir {HOME} \
         --remount-ro /dev --remount-ro /"
    )
}

/// Starts `command` on a thread that lives as long as the command, because a child with a
/// parent-death signal dies with the thread that started it.
fn start_and_wait(
    mut command: Command,
    on_end: impl FnOnce() + Send + 'static,
) -> Result<(), GuestError> {
    let (started, result) = std::sync::mpsc::sync_channel(1);
    let wait = move || {
        let child = command.spawn();
        // Close our copies of the descriptors, or the other end would never see them close.
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
