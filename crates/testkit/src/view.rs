//! A private view of the file system for the server under test. Its mounts are invisible to the
//! rest of the machine.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use rustix::process::{getgid, getuid};

use crate::is_root;

/// A mount namespace; for ordinary users inside a user namespace. It is removed with its mounts
/// when this value and the processes in it are gone.
pub struct View {
    mounts: Keeper,
    /// Inside the view an ordinary user appears as root, and the server would drop to other users.
    /// Servers therefore run in another namespace below, with the user's own id. It is shared,
    /// because a server can only manage its predecessor's sandboxes from the same namespace.
    user: Option<Keeper>,
}

impl View {
    /// Creates a view. `None`, with a printed reason, if the system does not allow namespaces.
    pub fn new() -> Option<Self> {
        let mut unshare = Command::new("unshare");
        if is_root() {
            let mounts = Keeper::start(unshare.arg("--mount"))?;
            return Some(Self { mounts, user: None });
        }
        let mounts = Keeper::start(unshare.args(["--map-root-user", "--mount"]))?;
        let mut words = mounts.enter(&["--mount", "--user"]).into_iter();
        let mut unshare = Command::new(words.next().unwrap());
        unshare.args(words).args(["unshare", "--user"]);
        unshare.arg(format!("--map-user={}", getuid().as_raw()));
        unshare.arg(format!("--map-group={}", getgid().as_raw()));
        Some(Self { mounts, user: Some(Keeper::start(&mut unshare)?) })
    }

    /// Runs a script in the view, which must succeed, and returns its output.
    #[track_caller]
    pub fn run(&self, script: &str) -> String {
        let mut words = self.enter().into_iter();
        let mut command = Command::new(words.next().unwrap());
        let said = command.args(words).args(["bash", "-ec", script]).output().unwrap();
        let errors = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(said.status.success(), "{script}: {errors}");
        String::from_utf8(said.stdout).unwrap()
    }

    /// A path in the view, as seen from outside.
    pub fn path(&self, inside: &Path) -> PathBuf {
        let root = Path::new("/proc").join(self.mounts.process.id().to_string()).join("root");
        root.join(inside.strip_prefix("/").unwrap())
    }

    /// Prefix that runs a command in the view as the current user.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = self.enter();
        words.extend(self.user.iter().flat_map(|user| user.enter(&["--user"])));
        words
    }

    fn enter(&self) -> Vec<String> {
        let kinds = if self.user.is_some() { &["--mount", "--user"][..] } else { &["--mount"] };
        self.mounts.enter(kinds)
    }
}

/// A process that only keeps its namespaces alive. It ends with its standard input, and so also
/// when the test is killed.
struct Keeper {
    process: Child,
}

impl Keeper {
    fn start(unshare: &mut Command) -> Option<Self> {
        unshare.args(["sh", "-c", "echo ready; exec cat"]);
        unshare.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = unshare.spawn().expect("unshare is installed");
        let mut word = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut word).unwrap();
        if word.trim() != "ready" {
            let said = process.wait_with_output().unwrap();
            let why = String::from_utf8_lossy(&said.stderr).trim().to_owned();
            eprintln!("skipped: cannot create namespaces: {why}");
            return None;
        }
        Some(Self { process })
    }

    /// Prefix that runs a command in namespaces of these kinds.
    fn enter(&self, kinds: &[&str]) -> Vec<String> {
        let id = self.process.id().to_string();
        let mut words = vec!["nsenter", "--target", &id];
        words.extend(kinds);
        if kinds.contains(&"--user") {
            words.push("--preserve-credentials");
        }
        words.push("--");
        words.into_iter().map(str::to_owned).collect()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}
