//! The directories of one installation, and commands run on them.

use std::{
    ffi::{OsStr, OsString},
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::{View, guard::Guard};

/// Deadline of all commands but `serve`.
const COMMAND_DEADLINE: Duration = Duration::from_secs(30);

/// A data and a run directory, removed on drop.
pub struct Installation {
    dirs: TempDir,
    /// Words before every command.
    before: Vec<String>,
    _guard: Guard,
}

/// Result of a command.
#[derive(Debug)]
pub struct Outcome {
    /// Whether it exited successfully.
    pub success: bool,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// The binary under test: `HELMDECK_BIN`, or the one that cargo built beside the test.
pub fn binary() -> PathBuf {
    if let Some(path) = std::env::var_os("HELMDECK_BIN") {
        return path.into();
    }
    let exe = std::env::current_exe().unwrap();
    // Tests are in `deps`, one level below the programs.
    let dir = exe.ancestors().skip(1).find(|dir| !dir.ends_with("deps")).unwrap();
    dir.join("helmdeck")
}

impl Installation {
    /// New, empty directories.
    pub fn new() -> Self {
        // Short, because unix socket paths have at most 107 bytes.
        let dirs = tempfile::Builder::new().prefix("hd-").tempdir().unwrap();
        // Sandboxes with other user ids must be able to traverse it.
        fs::set_permissions(dirs.path(), fs::Permissions::from_mode(0o711)).unwrap();
        let guard = Guard::new(dirs.path());
        Self { dirs, before: Vec::new(), _guard: guard }
    }

    /// Empty directories, with all commands running in a view of the file system.
    pub fn in_view(view: &View) -> Self {
        Self::behind(view.words())
    }

    /// Empty directories, with all commands run through another one, such as `prlimit`. It must
    /// exec the command.
    pub fn behind(before: Vec<String>) -> Self {
        Self { before, ..Self::new() }
    }

    /// Data that survives a restart.
    pub fn data_dir(&self) -> PathBuf {
        self.dirs.path().join("data")
    }

    /// Files that live as long as the sandboxes.
    pub fn run_dir(&self) -> PathBuf {
        self.dirs.path().join("run")
    }

    /// The directory that holds both.
    pub fn path(&self) -> &Path {
        self.dirs.path()
    }

    /// The names of the sandboxes that have a directory.
    pub fn sandboxes(&self) -> Vec<String> {
        let names = |dir: &Path| {
            let entries = fs::read_dir(dir).into_iter().flatten().map_while(Result::ok);
            entries.map(|entry| entry.path()).collect::<Vec<_>>()
        };
        let instances = names(&self.run_dir());
        let sandboxes = instances.iter().flat_map(|instance| names(&instance.join("sandboxes")));
        sandboxes.map(|dir| dir.file_name().unwrap().to_string_lossy().into_owned()).collect()
    }

    /// A command of the binary under test, on these directories and any free port.
    pub fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut words = self.before.iter().map(OsString::from).chain([binary().into()]);
        let mut command = Command::new(words.next().unwrap());
        command.args(words).args(args).stdin(Stdio::null());
        command.env("HELMDECK_LOG", "info");
        command.env("HELMDECK_ADDR", "127.0.0.1:0");
        command.env("HELMDECK_DATA_DIR", self.data_dir());
        command.env("HELMDECK_RUN_DIR", self.run_dir());
        command
    }

    /// Runs a command to its end, successful or not. Output beyond a pipe's size would block it.
    pub fn attempt<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
        env: &[(&str, &str)],
    ) -> Outcome {
        let mut command = self.command(args);
        command.envs(env.iter().copied()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary is built");
        let began = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if began.elapsed() > COMMAND_DEADLINE {
                let _ = child.kill();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let output = child.wait_with_output().unwrap();
        Outcome {
            success: output.status.success(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs a command that must succeed, and returns its standard output.
    #[track_caller]
    pub fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> String {
        let outcome = self.attempt(args, &[]);
        assert!(outcome.success, "{}", outcome.stderr);
        outcome.stdout.trim_end().to_owned()
    }
}

impl Default for Installation {
    fn default() -> Self {
        Self::new()
    }
}
