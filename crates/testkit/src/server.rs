//! The server as a process.

use std::{
    ffi::OsStr,
    fs,
    io::{BufRead, BufReader},
    net::SocketAddr,
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::Client;

/// The server says where it listens within milliseconds.
const START_DEADLINE: Duration = Duration::from_secs(30);
/// It ends its sessions first.
const STOP_DEADLINE: Duration = Duration::from_secs(30);

/// A running server. It is ended, with its sessions, when this is dropped.
pub struct Server {
    process: Child,
    dirs: TempDir,
    /// Where it listens.
    pub address: SocketAddr,
}

/// The binary under test: `HELMDECK_BIN`, or the one that cargo built beside the test.
pub fn binary() -> PathBuf {
    if let Some(path) = std::env::var_os("HELMDECK_BIN") {
        return path.into();
    }
    let test = std::env::current_exe().unwrap();
    let dir = test.parent().and_then(|deps| deps.parent()).unwrap();
    dir.join("helmdeck")
}

impl Server {
    /// Starts a server on a free port with empty directories.
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts a server with further environment variables.
    pub fn start_with(env: &[(&str, &str)]) -> Self {
        let dirs = tempfile::Builder::new().prefix("helmdeck-test-").tempdir().unwrap();
        // Sandboxes of other user ids must be able to pass.
        fs::set_permissions(dirs.path(), fs::Permissions::from_mode(0o711)).unwrap();
        let mut command = command(&dirs, ["serve"]);
        command.env("HELMDECK_ADDR", "127.0.0.1:0").envs(env.iter().copied());
        let mut process = command.stderr(Stdio::piped()).spawn().expect("the binary is built");
        let address = listening_address(&mut process);
        Self { process, dirs, address }
    }

    /// Runs another command of the binary on this server's directories, and returns what it says.
    pub fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> String {
        let output = command(&self.dirs, args).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// A caller with these scopes, separated by commas.
    pub fn client(&self, subject: &str, scopes: &str) -> Client {
        let token = self.run(["token", "--sub", subject, "--scopes", scopes]);
        Client::new(self.address, Some(token))
    }

    /// A caller that may do everything.
    pub fn admin(&self) -> Client {
        self.client("admin", "admin")
    }

    /// A caller without a token.
    pub fn stranger(&self) -> Client {
        Client::new(self.address, None)
    }

    /// The data directory.
    pub fn data_dir(&self) -> PathBuf {
        self.dirs.path().join("data")
    }

    /// The run directory.
    pub fn run_dir(&self) -> PathBuf {
        self.dirs.path().join("run")
    }

    /// The server's process number.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Ends the server as a service manager would, and waits until it is gone.
    pub fn stop(&mut self) {
        let Some(pid) = Pid::from_raw(self.process.id().cast_signed()) else { return };
        if matches!(self.process.try_wait(), Ok(None)) {
            let _ = kill_process(pid, Signal::TERM);
        }
        let began = Instant::now();
        while let Ok(None) = self.process.try_wait() {
            if began.elapsed() > STOP_DEADLINE {
                let _ = self.process.kill();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

fn command<S: AsRef<OsStr>>(dirs: &TempDir, args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(binary());
    command.args(args).stdin(Stdio::null()).env("HELMDECK_LOG", "info");
    command.env("HELMDECK_DATA_DIR", dirs.path().join("data"));
    command.env("HELMDECK_RUN_DIR", dirs.path().join("run"));
    command
}

/// Reads the log up to the line that says where the server listens; the rest goes to our own
/// standard error, where a failing test shows it.
fn listening_address(process: &mut Child) -> SocketAddr {
    let stderr = process.stderr.take().unwrap();
    let (found, address) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            if let Some((_, rest)) = line.split_once("http://") {
                let text: String =
                    rest.chars().take_while(|c| c.is_ascii_digit() || ".:".contains(*c)).collect();
                if let Ok(address) = text.parse::<SocketAddr>() {
                    let _ = found.send(address);
                }
            }
            eprintln!("{line}");
        }
    });
    address.recv_timeout(START_DEADLINE).expect("the server says where it listens")
}
