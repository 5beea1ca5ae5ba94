//! Sandboxes on this machine with bubblewrap: no daemon; works without root and as root.
//!
//! ```text
//! <run dir>/<instance>/             0711, so that sandboxes can traverse it
//!     bin/helmdeck                  what runs inside as the guest
//!     fonts/                        what fontconfig knows of the fonts in /usr
//!     sandboxes/<id>/               0711
//!         guest.sock                the guest's listener, reachable from outside only
//!         nested.bpf                system calls denied to what the agent runs
//!         status                    written by bubblewrap: process and namespaces, exit code
//!         labels                    as given at the start
//!         log                       what bubblewrap and the guest say
//!         uid                       the sandbox's own user id, when we are root
//!         workspace/                where its directory on the disk is mounted, when we are root
//! <workspaces>/<id>/                0700, a directory on the disk for each sandbox that wants one
//! ```

mod arguments;
mod cgroup;
mod etc;
mod presence;
mod program_sandbox;
mod seccomp;
mod status;
mod uid;
mod workspace;

use std::{
    collections::BTreeMap,
    ffi::CString,
    fs,
    io::{ErrorKind, Read, Write},
    os::{
        fd::OwnedFd,
        unix::{
            ffi::OsStrExt,
            fs::{OpenOptionsExt, PermissionsExt},
            net::UnixListener,
        },
    },
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use async_trait::async_trait;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal},
};
use tokio::{
    net::UnixStream,
    process::{Child, Command},
    time::timeout,
};

use self::{cgroup::Cgroups, presence::Presence, workspace::Workspaces};
use crate::{
    ByteStream, IsolatedProgram, Runtime, RuntimeError, Sandbox, SandboxId, SandboxSpec,
    error::Doing,
};

/// bubblewrap sets up the namespaces within this time.
const START_DEADLINE: Duration = Duration::from_secs(10);
/// Killing the first process of a namespace takes milliseconds.
const STOP_DEADLINE_S: i64 = 10;
/// How often to check whether bubblewrap has written its status.
const STATUS_POLL: Duration = Duration::from_millis(1);
/// The mount point of a sandbox's directory on disk, if the sandbox cannot enter its real location.
const WORKSPACE: &str = "workspace";
/// How much of the log is quoted in an error.
const LAST_WORDS: usize = 32 << 10;

/// The local backend.
pub struct LocalRuntime {
    /// `<run dir>/<instance>`.
    root: PathBuf,
    /// As root, each sandbox gets a separate user id.
    drop_privileges: bool,
    cgroups: Cgroups,
    workspaces: Workspaces,
    /// As root: keeps other servers from cleaning up after us while we run.
    _presence: Option<Presence>,
}

impl LocalRuntime {
    /// Prepares the run directory of one instance and installs `program` there as the guest. The
    /// sandboxes' directories on disk are created in `workspaces`, which belongs to this instance.
    pub fn new(
        run_dir: &Path,
        instance: &str,
        program: &Path,
        workspaces: PathBuf,
    ) -> Result<Self, RuntimeError> {
        make_dir(run_dir, 0o711)?;
        let root = run_dir.join(instance);
        make_dir(&root, 0o711)?;
        make_dir(&root.join("sandboxes"), 0o711)?;
        make_dir(&root.join("bin"), 0o755)?;
        replace(program, &root.join("bin/helmdeck"), 0o755)?;
        copy_font_cache(&root.join("fonts"))?;
        let drop_privileges = rustix::process::getuid().is_root();
        let mut presence = drop_privileges.then(|| Presence::announce(instance)).flatten();
        let cgroups = Cgroups::detect(instance);
        tracing::info!(limits = cgroups.name(), "Sandboxes are limited");
        if let Some(presence) = &mut presence {
            presence.bequeath(&root, cgroups.all());
            presence.clear_after_others();
        }
        let workspaces = Workspaces::new(workspaces);
        workspaces.sweep(|name| root.join("sandboxes").join(name).exists());
        Ok(Self { root, drop_privileges, cgroups, workspaces, _presence: presence })
    }

    fn dir(&self, id: &SandboxId) -> PathBuf {
        self.root.join("sandboxes").join(id.as_str())
    }

    async fn start_in(&self, id: &SandboxId, spec: &SandboxSpec) -> Result<(), RuntimeError> {
        let dir = &*self.dir(id);
        let labels = serde_json::to_vec(&spec.labels).map_err(std::io::Error::from);
        let mut file = create(&dir.join("labels"))?;
        file.write_all(&labels.doing("describe", dir)?).doing("write", dir)?;
        public_file(&dir.join("nested.bpf"), &seccomp::nested()?)?;
        let socket = dir.join("guest.sock");
        let listener = UnixListener::bind(&socket).doing("listen on", &socket)?;
        fs::set_permissions(&socket, fs::Permissions::from_mode(0o600))
            .doing("protect", &socket)?;
        let status = create(&dir.join("status"))?;
        let log = create(&dir.join("log"))?;
        let filter = helmdeck_spawn::memory_file("seccomp", &seccomp::outer()?)
            .map_err(|e| RuntimeError::System("the system call filter cannot be stored", e))?;

        let etc = etc::generate()?;

        let mut command = Command::new("bwrap");
        let std = command.as_std_mut();
        helmdeck_spawn::inherit_nothing(std);
        helmdeck_spawn::join_groups(std, self.cgroups.create(id, &spec.limits)?);
        helmdeck_spawn::new_session(std);
        helmdeck_spawn::usual_descriptors(std);
        let uid = if self.drop_privileges { Some(uid::claim(dir)?) } else { None };
        let made = if spec.workspace { Some(self.workspaces.make(id, uid)) } else { None };
        let workspace = match made {
            Some(Ok(made)) => {
                Some(uid.map_or(Ok(made.clone()), |uid| mount_workspace(std, &made, dir, uid))?)
            }
            // A full or read-only disk must not prevent a session: the guest then uses memory.
            Some(Err(error)) => {
                tracing::warn!(%error, "Workspace could not be created on disk; using memory");
                None
            }
            None => None,
        };
        if let Some(uid) = uid {
            helmdeck_spawn::drop_to(std, uid);
        }
        let descriptors = arguments::Descriptors {
            status: helmdeck_spawn::keep_fd(std, status.into()),
            filter: helmdeck_spawn::keep_fd(std, filter),
            listener: helmdeck_spawn::keep_fd(std, listener.into()),
            etc: etc
                .into_iter()
                .map(|(name, file)| (name, helmdeck_spawn::keep_fd(std, file)))
                .collect(),
        };
        let workspace = workspace.as_deref();
        command.args(arguments::outer(&self.root, dir, spec, workspace, &descriptors));
        let errors = log.try_clone().doing("open", dir)?;
        command.stdin(Stdio::null()).stdout(log).stderr(errors);
        // The child outlives us on purpose. If it ends earlier, tokio reaps it.
        let mut child = command.spawn().map_err(|e| RuntimeError::Missing("bwrap", e))?;
        let mut unfinished = Unfinished::of(&child);
        // Close our copy of the listener, or connecting to a dead guest would hang.
        drop(command);

        let started = async {
            loop {
                if status::read(dir).is_some() {
                    unfinished.is_finished();
                    return Ok(());
                }
                if let Ok(Some(_)) = child.try_wait() {
                    unfinished.is_finished();
                    return Err(RuntimeError::NotStarted(last_words(dir)));
                }
                tokio::time::sleep(STATUS_POLL).await;
            }
        };
        timeout(START_DEADLINE, started).await.unwrap_or(Err(RuntimeError::Stuck))
    }
}

#[async_trait]
impl Runtime for LocalRuntime {
    async fn start(&self, id: &SandboxId, spec: &SandboxSpec) -> Result<(), RuntimeError> {
        let dir = self.dir(id);
        match fs::create_dir(&dir) {
            Ok(()) => {}
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                return Err(RuntimeError::Exists);
            }
            Err(e) => return Err(e).doing("create", &dir),
        }
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o711)).doing("protect", &dir)?;
        let started = self.start_in(id, spec).await;
        if started.is_err() {
            self.stop(id).await?;
        }
        started
    }

    async fn connect(&self, id: &SandboxId) -> Result<Box<dyn ByteStream>, RuntimeError> {
        let dir = self.dir(id);
        match UnixStream::connect(dir.join("guest.sock")).await {
            Ok(stream) => Ok(Box::new(stream)),
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) => {
                Err(RuntimeError::Gone(last_words(&dir)))
            }
            Err(e) => Err(RuntimeError::System("the guest cannot be reached", e)),
        }
    }

    async fn stop(&self, id: &SandboxId) -> Result<(), RuntimeError> {
        let dir = self.dir(id);
        if let Some(status) = status::read(&dir) {
            kill(&status).await?;
        }
        self.cgroups.remove(id).await;
        self.workspaces.remove(id, dir.join(WORKSPACE)).await?;
        uid::release(&dir);
        match fs::remove_dir_all(&dir) {
            Err(e) if e.kind() != ErrorKind::NotFound => Err(e).doing("remove", &dir),
            _ => Ok(()),
        }
    }

    async fn list(&self) -> Result<Vec<Sandbox>, RuntimeError> {
        let parent = self.root.join("sandboxes");
        let mut found = Vec::new();
        for entry in fs::read_dir(&parent).doing("list", &parent)? {
            let dir = entry.doing("list", &parent)?.path();
            let name = dir.file_name().unwrap_or_default().to_string_lossy();
            if let Ok(id) = SandboxId::new(&name) {
                let running = status::read(&dir).is_some_and(|status| status.is_alive());
                let (labels, usage) = (read_labels(&dir), self.cgroups.usage(&id));
                let limits_by = self.cgroups.name();
                found.push(Sandbox { id, running, labels, limits_by, usage });
            }
        }
        found.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(found)
    }

    fn isolated(&self, program: IsolatedProgram) -> Result<Command, RuntimeError> {
        program_sandbox::command(&self.root, self.drop_privileges, program)
    }
}

/// Mounts a directory of the data directory, which only root may enter, where the sandbox can reach
/// it. If that is not possible, the sandbox uses a directory beside its socket instead.
fn mount_workspace(
    command: &mut std::process::Command,
    made: &Path,
    dir: &Path,
    uid: u32,
) -> Result<PathBuf, RuntimeError> {
    let place = dir.join(WORKSPACE);
    fs::create_dir(&place).doing("create", &place)?;
    std::os::unix::fs::chown(&place, Some(uid), Some(uid)).doing("hand over", &place)?;
    let text =
        |path: &Path| CString::new(path.as_os_str().as_bytes()).map_err(std::io::Error::other);
    let (from, to) = (text(made).doing("mount", made)?, text(&place).doing("mount", &place)?);
    helmdeck_spawn::bind_privately(command, from, to);
    Ok(place)
}

/// The labels of a sandbox; empty if they cannot be read, so that no server adopts it.
fn read_labels(dir: &Path) -> BTreeMap<String, String> {
    let text = fs::read(dir.join("labels")).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// A sandbox whose start is incomplete, which [`kill`] would not find. Dropping this kills all its
/// processes, which are still one process group.
struct Unfinished(Option<Pid>);

impl Unfinished {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|pid| Pid::from_raw(pid.cast_signed())))
    }

    fn is_finished(&mut self) {
        self.0 = None;
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// Kills the first process of the sandbox's namespace, which ends all others, and waits until it is
/// gone. Does nothing if the process id was reused.
async fn kill(status: &status::Status) -> Result<(), RuntimeError> {
    let gone = |e: Errno| e == Errno::SRCH;
    let Some(pid) = status.pid() else { return Ok(()) };
    let pidfd = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(pidfd) => pidfd,
        Err(e) if gone(e) => return Ok(()),
        Err(e) => return Err(RuntimeError::System("the sandbox cannot be watched", e.into())),
    };
    // Checked with the pidfd open, so that the id cannot be reused in between.
    if !status.is_alive() {
        return Ok(());
    }
    match pidfd_send_signal(&pidfd, Signal::KILL) {
        Err(e) if !gone(e) => {
            return Err(RuntimeError::System("the sandbox cannot be killed", e.into()));
        }
        _ => {}
    }
    let ended = tokio::task::spawn_blocking(move || wait_for_end(&pidfd)).await;
    if ended.unwrap_or(false) { Ok(()) } else { Err(RuntimeError::Stuck) }
}

/// Blocks until the process is gone; false at the deadline.
fn wait_for_end(pidfd: &OwnedFd) -> bool {
    let deadline = Timespec { tv_sec: STOP_DEADLINE_S, tv_nsec: 0 };
    let mut watched = [PollFd::new(pidfd, PollFlags::IN)];
    loop {
        match poll(&mut watched, Some(&deadline)) {
            Err(Errno::INTR) => {}
            ended => return matches!(ended, Ok(1..)),
        }
    }
}

/// Creates a directory, or checks that the existing one is ours.
fn make_dir(path: &Path, mode: u32) -> Result<(), RuntimeError> {
    use std::os::unix::fs::MetadataExt;
    fs::create_dir_all(path).doing("create", path)?;
    let found = fs::symlink_metadata(path).doing("inspect", path)?;
    if !found.is_dir() || found.uid() != rustix::process::getuid().as_raw() {
        let foreign = std::io::Error::other("it is not a directory of this user");
        return Err(foreign).doing("use", path);
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).doing("protect", path)
}

/// Replaces a file through a temporary name, because running sandboxes have the old one mounted. A
/// source that is gone meanwhile is ignored.
fn replace(from: &Path, to: &Path, mode: u32) -> Result<(), RuntimeError> {
    let fresh = to.with_extension("new");
    match fs::copy(from, &fresh) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
        copied => copied.doing("copy", from)?,
    };
    fs::set_permissions(&fresh, fs::Permissions::from_mode(mode)).doing("protect", &fresh)?;
    fs::rename(&fresh, to).doing("install", to)
}

/// Writes a file that other users' sandboxes can read, regardless of our umask.
fn public_file(path: &Path, content: &[u8]) -> Result<(), RuntimeError> {
    fs::write(path, content).doing("write", path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).doing("protect", path)
}

/// Copies fontconfig's cache; without it, the first program of every session would scan all fonts.
/// It describes only files in /usr. If the host has none, sessions create their own.
fn copy_font_cache(target: &Path) -> Result<(), RuntimeError> {
    make_dir(target, 0o755)?;
    for entry in fs::read_dir("/var/cache/fontconfig").into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|kind| kind.to_string_lossy().starts_with("cache-")) {
            replace(&path, &target.join(entry.file_name()), 0o644)?;
        }
    }
    Ok(())
}

fn create(path: &Path) -> Result<fs::File, RuntimeError> {
    let mut options = fs::OpenOptions::new();
    options.create_new(true).append(true).mode(0o600).open(path).doing("create", path)
}

fn last_words(dir: &Path) -> String {
    let mut text = String::new();
    if let Ok(mut log) = fs::File::open(dir.join("log")) {
        let mut bytes = Vec::new();
        let _ = log.read_to_end(&mut bytes);
        let tail = bytes.len().saturating_sub(LAST_WORDS);
        text = String::from_utf8_lossy(bytes.get(tail..).unwrap_or_default()).trim().to_owned();
    }
    text
}
