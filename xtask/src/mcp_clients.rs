//! `cargo xtask mcp-clients`: unmodified MCP clients against a real server.

mod outcome;
mod programs;
mod sdks;

use std::{
    ffi::OsString,
    fs, io,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    time::Duration,
};

use helmdeck_testkit::{Server, binary};

use crate::mcp_packages::Packages;
use outcome::{Outcome, print};

const USAGE: &str = "\
Usage: cargo xtask mcp-clients [--long SECONDS] [--only NAME]

Connects unmodified MCP clients to a server, over HTTP, and over stdio and SSE where they can: the
SDKs for TypeScript (v1, v2) and Python, the Inspector, Claude Code, Gemini CLI, opencode, mcporter.
The SDKs list, create a desktop, click, take a screenshot, run a long command, cancel another, and
go on after the server was killed and started again. Claude Code is also set up by `helmdeck connect`,
and the time of that is printed.

  --long SECONDS   How long the long command runs (default 90)
  --only NAME      Only clients whose name contains this

The clients are installed into target/mcp-clients; python3 with venv, and npm, must be there.
Uses the helmdeck beside this program (cargo build -p helmdeck), or HELMDECK_BIN.";

/// Packages of npm.
const NPM: [&str; 7] = [
    "@modelcontextprotocol/sdk@1.32.2",
    "@modelcontextprotocol/client@2.4.0",
    "@modelcontextprotocol/inspector@2.12.0",
    "@anthropic-ai/claude-code@2.1.325",
    "@google/gemini-cli@0.61.0",
    "opencode-ai@1.18.33",
    "mcporter@0.12.3",
];
/// Packages of PyPI.
const PYTHON: [&str; 1] = ["mcp==2.3.0"];

/// How a client reaches the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    Http,
    Sse,
    Stdio,
}

impl Transport {
    fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Sse => "sse",
            Self::Stdio => "stdio",
        }
    }
}

/// What every client is given.
pub struct Bench {
    pub packages: Packages,
    pub sources: PathBuf,
    pub server: Server,
    pub token: String,
    pub long: Duration,
    /// Whether the binary serves MCP over standard input and output.
    pub has_stdio: bool,
}

impl Bench {
    /// The server's address.
    pub fn url(&self) -> String {
        format!("http://{}", self.server.address)
    }

    /// The address of a transport.
    pub fn endpoint(&self, transport: Transport) -> String {
        match transport {
            Transport::Sse => format!("{}/api/v1/mcp/sse", self.url()),
            _ => format!("{}/mcp", self.url()),
        }
    }
}

/// Runs all clients, and prints what became of each.
pub fn run(root: &Path, args: &[OsString]) -> ExitCode {
    let Some(options) = Options::parse(args) else {
        println!("{USAGE}");
        return ExitCode::FAILURE;
    };
    match drive(root, &options) {
        Ok(outcomes) => {
            print(&outcomes);
            let failed = outcomes.iter().any(|outcome| outcome.failure().is_some());
            if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
        }
        Err(error) => {
            eprintln!("mcp-clients: {error}");
            ExitCode::FAILURE
        }
    }
}

struct Options {
    long: Duration,
    only: String,
}

impl Options {
    fn parse(args: &[OsString]) -> Option<Self> {
        let mut options = Self { long: Duration::from_secs(90), only: String::new() };
        let mut args = args.iter().map(|arg| arg.to_str());
        while let Some(name) = args.next() {
            let value = args.next()??;
            match name? {
                "--long" => options.long = Duration::from_secs(value.parse().ok()?),
                "--only" => value.clone_into(&mut options.only),
                _ => return None,
            }
        }
        Some(options)
    }
}

fn drive(root: &Path, options: &Options) -> io::Result<Vec<Outcome>> {
    let root = fs::canonicalize(root)?;
    let packages = Packages::install(&root, "clients", &NPM, &PYTHON)?;
    // Clients go on after a restart, so the port stays the same.
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let server = Server::start_with(&[("HELMDECK_ADDR", &port.to_string())]);
    let token = server.token("agent", "sessions:*");
    let has_stdio = has_stdio();
    let sources = root.join("xtask/clients/mcp");
    let mut bench = Bench { packages, sources, server, token, long: options.long, has_stdio };
    let mut outcomes = Vec::new();
    let wanted = |name: &str| name.contains(&options.only);
    for sdk in sdks::ALL.iter().filter(|sdk| wanted(sdk.name)) {
        outcomes.push(sdks::drive(&mut bench, sdk));
    }
    for program in programs::ALL.iter().filter(|program| wanted(program.name)) {
        outcomes.push(programs::connect(&bench, program));
    }
    Ok(outcomes)
}

fn has_stdio() -> bool {
    let mut help = Command::new(binary());
    help.args(["mcp", "--help"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    help.status().is_ok_and(|status| status.success())
}
