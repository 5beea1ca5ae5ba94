//! The command line of the outer sandbox, which defines what it sees.

use std::{
    ffi::{OsStr, OsString},
    os::fd::RawFd,
    path::Path,
};

use super::etc;
use crate::SandboxSpec;

/// Descriptors that bubblewrap and the guest inherit.
pub struct Descriptors {
    /// Where bubblewrap writes the sandbox's process id.
    pub status: RawFd,
    /// The system call filter.
    pub filter: RawFd,
    /// The guest's listening socket.
    pub listener: RawFd,
    /// Files of `/etc`, by name.
    pub etc: Vec<(&'static str, RawFd)>,
}

/// The path of the sandbox's directory on disk, inside the sandbox.
const WORKSPACE: &str = "/run/helmdeck/workspace";

/// Arguments for bubblewrap, including the guest's command line.
pub fn outer(
    root: &Path,
    dir: &Path,
    spec: &SandboxSpec,
    workspace: Option<&Path>,
    descriptors: &Descriptors,
) -> Vec<OsString> {
    let mut line = Line::default();
    line.words("--unshare-user --unshare-pid --unshare-net --unshare-ipc --unshare-uts");
    line.words("--unshare-cgroup-try --uid 1000 --gid 1000 --clearenv --hostname");
    line.words(etc::HOST_NAME);
    line.words("--setenv PATH /usr/local/bin:/usr/bin:/bin");
    line.words("--ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/sbin /sbin");
    line.words("--symlink usr/lib /lib --symlink usr/lib64 /lib64");
    line.words("--proc /proc --dev /dev");
    for (name, file) in &descriptors.etc {
        line.words(&format!("--perms 0644 --file {file} /etc/{name}"));
    }
    for name in etc::FROM_HOST {
        line.bind("--ro-bind-try", &Path::new("/etc").join(name), &format!("/etc/{name}"));
    }
    line.tmpfs("/tmp", spec.tmp_bytes);
    line.words("--chmod 1777 /tmp --dir /tmp/.X11-unix --chmod 1777 /tmp/.X11-unix");
    // The agent's home and the browser's view of it: hard links need one file system.
    line.tmpfs("/home", spec.home_bytes);
    line.words("--dir /home/agent --dir /home/handed-over");
    line.tmpfs("/home/browser", spec.browser_bytes);
    line.tmpfs("/run", 64 << 20);
    line.words("--perms 0700 --dir /run/user/1000 --perms 0700 --dir /run/helmdeck");
    if let Some(workspace) = workspace {
        line.bind("--bind", workspace, WORKSPACE);
    }
    line.tmpfs("/var/tmp", 64 << 20);
    // The guest copies it into place: a bind mount would reveal its source path.
    line.bind("--ro-bind", &root.join("fonts"), "/run/helmdeck/fonts");
    line.tmpfs("/var/cache/fontconfig", 16 << 20);
    line.bind("--ro-bind", &root.join("bin/helmdeck"), "/opt/helmdeck/helmdeck");
    line.bind("--ro-bind", &dir.join("nested.bpf"), "/run/helmdeck/nested.bpf");
    // The guest is PID 1: when it ends, the kernel kills all other processes.
    line.words("--chdir / --as-pid-1");
    // The rest of the root and /dev are in memory without a size limit, so they are read-only.
    line.words("--remount-ro /dev --remount-ro /");
    line.words(&format!("--json-status-fd {}", descriptors.status));
    line.words(&format!("--seccomp {}", descriptors.filter));
    line.words("/opt/helmdeck/helmdeck guest --listen-fd");
    line.words(&descriptors.listener.to_string());
    line.0
}

/// Builds a command line.
#[derive(Default)]
pub struct Line(pub Vec<OsString>);

impl Line {
    /// Adds words, split at spaces.
    pub fn words(&mut self, words: &str) {
        self.0.extend(words.split(' ').map(OsString::from));
    }

    pub fn bind(&mut self, kind: &str, from: &Path, to: &str) {
        self.0.extend([OsStr::new(kind), from.as_os_str(), OsStr::new(to)].map(OsString::from));
    }

    fn tmpfs(&mut self, at: &str, bytes: u64) {
        self.words(&format!("--size {bytes} --tmpfs {at}"));
    }
}
