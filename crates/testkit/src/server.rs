//! The server as a process.

use std::{
    ffi::OsStr,
    fs::{File, OpenOptions},
    io::{BufRead, BufReader, Read, Seek, SeekFrom},
    net::SocketAddr,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Stdio},
    sync::mpsc::{Sender, channel},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{Client, Installation, Process};

/// The server prints its address within milliseconds.
const START_DEADLINE: Duration = Duration::from_secs(30);
/// The server ends its sessions first.
const STOP_DEADLINE: Duration = Duration::from_secs(30);

/// How a server is started.
#[derive(Default)]
struct How {
    options: Vec<String>,
    env: Vec<(String, String)>,
}

/// A running server. On drop, it is stopped with its sessions.
pub struct Server {
    process: Child,
    how: How,
    /// Its log file; `None` for our standard error.
    log: Option<PathBuf>,
    /// Its directories.
    pub installation: Installation,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Server {
    /// Starts a server on a free port with empty directories.
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts a server with further environment variables.
    pub fn start_with(env: &[(&str, &str)]) -> Self {
        Self::start_in(Installation::new(), env)
    }

    /// Starts a server on directories that may have been used before.
    pub fn start_in(installation: Installation, env: &[(&str, &str)]) -> Self {
        Self::start_as(installation, env, None)
    }

    /// Starts a server that logs to a file, like `make up`.
    pub fn start_logging(installation: Installation, env: &[(&str, &str)], log: PathBuf) -> Self {
        Self::start_as(installation, env, Some(log))
    }

    /// Starts a server with these options of `helmdeck serve`.
    pub fn start_with_options(options: &[&str]) -> Self {
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        Self::start_how(Installation::new(), How { options, ..How::default() }, None)
    }

    fn start_as(installation: Installation, env: &[(&str, &str)], log: Option<PathBuf>) -> Self {
        let env: Vec<_> = env.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        Self::start_how(installation, How { env, ..How::default() }, log)
    }

    fn start_how(installation: Installation, how: How, log: Option<PathBuf>) -> Self {
        let (process, address) = spawn(&installation, &how, log.as_deref());
        Self { process, how, log, installation, address }
    }

    /// Restarts the server on the same directories after it ended.
    pub fn restart(&mut self) {
        (self.process, self.address) = spawn(&self.installation, &self.how, self.log.as_deref());
    }

    /// Runs another command of the binary on this server's directories, and returns its output.
    #[track_caller]
    pub fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> String {
        self.installation.run(args)
    }

    /// A caller with these scopes, separated by commas.
    pub fn client(&self, subject: &str, scopes: &str) -> Client {
        self.bearer(self.token(subject, scopes))
    }

    /// A token with these scopes, separated by commas.
    pub fn token(&self, subject: &str, scopes: &str) -> String {
        self.run(["token", "--sub", subject, "--scopes", scopes]).trim().to_owned()
    }

    /// A caller with all scopes.
    pub fn admin(&self) -> Client {
        self.client("admin", "admin")
    }

    /// A person with all scopes.
    pub fn person(&self) -> Client {
        let token = self.run(["token", "--sub", "admin", "--scopes", "admin", "--human"]);
        self.bearer(token.trim().to_owned())
    }

    /// A caller with this token.
    pub fn bearer(&self, token: String) -> Client {
        Client::new(self.address, Some(token))
    }

    /// A caller without a token.
    pub fn stranger(&self) -> Client {
        Client::new(self.address, None)
    }

    /// The data directory.
    pub fn data_dir(&self) -> PathBuf {
        self.installation.data_dir()
    }

    /// The run directory.
    pub fn run_dir(&self) -> PathBuf {
        self.installation.run_dir()
    }

    /// The server's process number.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Stops the server and its sessions, like Ctrl-C, and waits until it is gone.
    pub fn stop(&mut self) {
        self.end(Signal::INT);
    }

    /// Stops the server but not its sessions, like a service manager, and waits until it is gone.
    /// The caller must restart it, or the sessions stay.
    pub fn leave(&mut self) {
        self.end(Signal::TERM);
    }

    /// Kills the server, like a crash: it cannot clean up.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    fn end(&mut self, signal: Signal) {
        let Some(pid) = Pid::from_raw(self.process.id().cast_signed()) else { return };
        if matches!(self.process.try_wait(), Ok(None)) {
            let _ = kill_process(pid, signal);
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
        // A killed server cannot clean up. If the test failed, clean up here. In a passing test,
        // leftovers are a bug and must stay visible.
        if std::thread::panicking() {
            for process in Process::in_sandboxes(&self.run_dir()) {
                process.kill();
            }
        }
    }
}

fn spawn(installation: &Installation, how: &How, log: Option<&Path>) -> (Child, SocketAddr) {
    let options = how.options.iter().map(String::as_str);
    let mut command = installation.command(["serve"].into_iter().chain(options));
    // A separate process group: SIGTERM to the test's group would make the server leave its
    // sandboxes to the next one.
    command.process_group(0);
    command.envs(how.env.iter().map(|(name, value)| (name, value)));
    let (found, address) = channel();
    let mut process = if let Some(path) = log {
        let file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        let mut reader = File::open(path).unwrap();
        reader.seek(SeekFrom::End(0)).unwrap();
        let process = command.stderr(file).spawn().expect("the binary is built");
        std::thread::spawn(move || follow(reader, &found));
        process
    } else {
        let mut process = command.stderr(Stdio::piped()).spawn().expect("the binary is built");
        let stderr = process.stderr.take().unwrap();
        std::thread::spawn(move || read_log(stderr, &found));
        process
    };
    let Ok(address) = address.recv_timeout(START_DEADLINE) else {
        let _ = process.kill();
        panic!("the server does not print its address");
    };
    (process, address)
}

/// Reads the log until the server prints its address. The rest goes to our standard error, where a
/// failing test shows it.
fn read_log(log: impl Read, found: &Sender<SocketAddr>) {
    for line in BufReader::new(log).lines().map_while(Result::ok) {
        if let Some(address) = listening_address(&line) {
            let _ = found.send(address);
        }
        eprintln!("{line}");
    }
}

/// Follows a log file until the server prints its address.
fn follow(mut log: File, found: &Sender<SocketAddr>) {
    let mut text = String::new();
    let began = Instant::now();
    while began.elapsed() < START_DEADLINE {
        log.read_to_string(&mut text).unwrap();
        // An incomplete line may have been read halfway.
        if let Some(address) =
            text.split_inclusive('\n').find_map(|line| listening_address(line.strip_suffix('\n')?))
        {
            let _ = found.send(address);
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    eprintln!("{text}");
}

fn listening_address(line: &str) -> Option<SocketAddr> {
    let (_, rest) = line.split_once("listens on ")?.1.split_once("://")?;
    let text: String =
        rest.chars().take_while(|c| c.is_ascii_digit() || ".:".contains(*c)).collect();
    text.parse().ok()
}
