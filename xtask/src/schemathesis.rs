//! `cargo xtask schemathesis`: sends generated requests, valid and invalid, to every operation of the API.

use std::{
    ffi::OsString,
    fs,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode, Stdio},
};

const USAGE: &str = "\
Usage: cargo xtask schemathesis [--examples N] [--seconds N] [--only OPERATION]

Starts a server with fake guests and runs schemathesis on its OpenAPI document. Fails if the server
answers with a 5xx, accepts invalid input, refuses valid input with a code that does not name a
state, or uses more than 150 % of its memory afterwards.

  --examples N      Generated requests for each operation (default 30)
  --seconds N       Stop after this many seconds (default: when all examples are done)
  --only OPERATION  Test only this operation, without measuring memory

Schemathesis is installed into target/schemathesis; python3 with venv must be there.
Builds the server first, unless HELMDECK_FAKE_SERVER is its path.";

/// Limit of memory after the run, in percent of the memory before it.
const MEMORY_PERCENT: u64 = 150;
/// Runs that end after a time send the same requests every time.
const SEED: u32 = 1;
/// Generated requests for each operation before the first measurement of memory.
const WARM_UP: u32 = 3;

/// Runs everything and reports failures.
pub fn run(root: &Path, args: &[OsString]) -> ExitCode {
    let Some(options) = Options::parse(args) else {
        println!("{USAGE}");
        return ExitCode::FAILURE;
    };
    match test(root, &options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("schemathesis: {error}");
            ExitCode::FAILURE
        }
    }
}

struct Options {
    examples: u32,
    seconds: Option<u32>,
    only: Option<String>,
}

impl Options {
    fn parse(args: &[OsString]) -> Option<Self> {
        let mut options = Self { examples: 30, seconds: None, only: None };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let value = args.next()?.to_str()?;
            match arg.to_str()? {
                "--examples" => options.examples = value.parse().ok()?,
                "--seconds" => options.seconds = Some(value.parse().ok()?),
                "--only" => options.only = Some(value.to_owned()),
                _ => return None,
            }
        }
        Some(options)
    }
}

fn test(root: &Path, options: &Options) -> io::Result<bool> {
    let root = fs::canonicalize(root)?;
    let tool = install(&root)?;
    let server = Server::start(&fake_server(&root)?)?;
    if let Some(only) = &options.only {
        let all = [format!("--include-operation-id={only}")];
        return tool.run(&server, options.examples, options.seconds, &all);
    }
    // Runs all code once and fills all caches.
    if !tool.run(&server, WARM_UP, options.seconds.map(|all| all / 4), &[])? {
        return Ok(false);
    }
    let before = server.memory_kb()?;
    let seconds = options.seconds.map(|all| all - all / 4);
    let passed = tool.run(&server, options.examples, seconds, &[])?;
    let after = server.memory_kb()?;
    println!("Memory of the server: {before} KB before, {after} KB after.");
    let grew = after * 100 > before * MEMORY_PERCENT;
    if grew {
        eprintln!("The server uses more than {MEMORY_PERCENT} % of its memory before the run.");
    }
    Ok(passed && !grew)
}

/// The program that serves the API with fake guests.
fn fake_server(root: &Path) -> io::Result<PathBuf> {
    if let Some(path) = std::env::var_os("HELMDECK_FAKE_SERVER") {
        return Ok(path.into());
    }
    let mut build = Command::new("cargo");
    build.args(["build", "--package", "helmdeck-testkit", "--features", "fake"]);
    done(build.args(["--bin", "fake-server"]).current_dir(root))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    Ok(target.join("debug/fake-server"))
}

/// Schemathesis, with the settings of this project.
struct Tool {
    program: PathBuf,
    settings: PathBuf,
    folder: PathBuf,
}

fn install(root: &Path) -> io::Result<Tool> {
    let settings = root.join("xtask/schemathesis");
    let folder = root.join("target/schemathesis");
    let (wanted, installed) = (settings.join("requirements.txt"), folder.join("requirements.txt"));
    if fs::read(&installed).ok() != Some(fs::read(&wanted)?) {
        done(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
        let mut install = Command::new(folder.join("bin/pip"));
        install.args(["install", "--quiet", "--disable-pip-version-check"]);
        done(install.arg("--requirement").arg(&wanted))?;
        fs::copy(&wanted, &installed)?;
    }
    Ok(Tool { program: folder.join("bin/schemathesis"), settings, folder })
}

impl Tool {
    /// Whether every check passed.
    fn run(
        &self,
        server: &Server,
        examples: u32,
        seconds: Option<u32>,
        more: &[String],
    ) -> io::Result<bool> {
        let mut command = Command::new(&self.program);
        command.arg("--config-file").arg(self.settings.join("schemathesis.toml"));
        command.arg("run").arg(format!("{}/api/v1/openapi.json", server.url));
        command.arg(format!("--header=authorization:Bearer {}", server.token));
        command.arg(format!("--max-examples={examples}"));
        // Patterns that match few texts are about the generator, not about the server.
        command.arg("--suppress-health-check=filter_too_much");
        if let Some(seconds) = seconds {
            command.arg(format!("--max-time={}", seconds.max(1)));
            command.arg(format!("--seed={SEED}"));
        }
        command.args(more).current_dir(&self.folder);
        command.env("SCHEMATHESIS_HOOKS", "hooks").env("PYTHONPATH", &self.settings);
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        command.env("HELMDECK_SESSION", &server.session).env("HELMDECK_TOKEN", &server.token);
        Ok(command.status()?.success())
    }
}

/// A server with fake guests, which ends when this is dropped.
struct Server {
    process: Child,
    url: String,
    token: String,
    session: String,
}

impl Server {
    fn start(program: &Path) -> io::Result<Self> {
        let mut process =
            Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let Some(stdout) = process.stdout.take() else {
            return Err(io::Error::other("the server has no output"));
        };
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let mut words = line.trim_end().split('\t').map(str::to_owned);
        let (Some(url), Some(token), Some(session)) = (words.next(), words.next(), words.next())
        else {
            return Err(io::Error::other(format!("the server printed {line:?}")));
        };
        Ok(Self { process, url, token, session })
    }

    /// Resident memory.
    fn memory_kb(&self) -> io::Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        number.ok_or_else(|| io::Error::other("the server has exited"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Runs a command, and fails unless it succeeds.
fn done(command: &mut Command) -> io::Result<()> {
    let status = command.status();
    let failed = |what: String| Err(io::Error::other(format!("{command:?}: {what}")));
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => failed(status.to_string()),
        Err(error) => failed(error.to_string()),
    }
}
