//! `cargo xtask mcp-conformance`: the official conformance suite of MCP.
//!
//! Most scenarios call tools with fixed names. They run against the server with fake guests and these
//! tools; the others run against the real program.

use std::{
    ffi::OsString,
    fs,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode, Stdio},
};

use helmdeck_testkit::Server;

use crate::mcp_packages::{Packages, run as succeed};

const USAGE: &str = "\
Usage: cargo xtask mcp-conformance

Runs the official MCP conformance suite for 2026-07-28 and 2025-11-25: the scenarios without fixtures
against the real server, and all required ones against the same code with the suite's fixtures.
Failures that xtask/clients/mcp/*.yml list, with the reason, are expected.

The suite is installed into target/mcp-clients; python3 with venv, and npm, must be there.
Uses the helmdeck beside this program (cargo build -p helmdeck), or HELMDECK_BIN.";

const SUITE: &str = "@modelcontextprotocol/conformance@0.2.0-alpha.12";

/// A revision of the protocol, and its scenarios that call no fixture.
const REVISIONS: [(&str, &[&str]); 2] = [
    (
        "2026-07-28",
        &[
            "server-stateless",
            "tools-list",
            "server-sse-multiple-streams",
            "resources-list",
            "sep-2164-resource-not-found",
            "prompts-list",
            "dns-rebinding-protection",
            "caching",
            "http-header-validation",
            "input-required-result-unsupported-methods",
        ],
    ),
    (
        "2025-11-25",
        &[
            "server-initialize",
            "server-session-lifecycle",
            "ping",
            "tools-list",
            "server-sse-multiple-streams",
            "resources-list",
            "prompts-list",
            "dns-rebinding-protection",
        ],
    ),
];

/// Runs everything, and fails if anything fails that is not expected to.
pub fn run(root: &Path, args: &[OsString]) -> ExitCode {
    if !args.is_empty() {
        println!("{USAGE}");
        return ExitCode::FAILURE;
    }
    match suites(root) {
        Ok(failed) if failed.is_empty() => {
            println!("conformance: everything passed, or failed as expected");
            ExitCode::SUCCESS
        }
        Ok(failed) => {
            println!("conformance: FAILED: {}", failed.join(", "));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("mcp-conformance: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The runs that failed.
fn suites(root: &Path) -> io::Result<Vec<String>> {
    let root = fs::canonicalize(root)?;
    let packages = Packages::install(&root, "conformance", &[SUITE], &[])?;
    let suite = Suite { packages, sources: root.join("xtask/clients/mcp"), failed: Vec::new() };
    let suite = suite.against_the_server()?;
    Ok(suite.against_fixtures(&root)?.failed)
}

struct Suite {
    packages: Packages,
    sources: PathBuf,
    failed: Vec<String>,
}

impl Suite {
    fn against_the_server(mut self) -> io::Result<Self> {
        let server = Server::start();
        let token = server.token("conformance", "sessions:*");
        let proxy = self.proxy(&format!("http://{}", server.address), &token)?;
        for (revision, scenarios) in REVISIONS {
            for scenario in scenarios {
                let args = ["--scenario", scenario, "--spec-version", revision];
                self.run(&proxy, "without-fixtures.yml", &args)?;
            }
        }
        Ok(self)
    }

    fn against_fixtures(mut self, root: &Path) -> io::Result<Self> {
        let mut build = Command::new("cargo");
        // With the features of the whole workspace, so that what the tests have built is used.
        build.args(["build", "--workspace", "--features", "helmdeck-testkit/fake"]);
        succeed(build.args(["--bin", "fake-server"]).current_dir(root))?;
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
        let mut command = Command::new(target.join("debug/fake-server"));
        let server = Printing::start(command.arg("--mcp-fixtures"))?;
        let mut words = server.line.split('\t');
        let (url, token) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let proxy = self.proxy(url, token)?;
        for (revision, _) in REVISIONS {
            self.run(&proxy, "with-fixtures.yml", &["--requirements", revision])?;
        }
        Ok(self)
    }

    /// A proxy that adds the token: the suite cannot.
    fn proxy(&self, url: &str, token: &str) -> io::Result<Printing> {
        let mut command = Command::new(self.packages.node()?);
        command.arg(self.sources.join("proxy.mjs"));
        Printing::start(command.env("HELMDECK_URL", url).env("HELMDECK_TOKEN", token))
    }

    fn run(&mut self, proxy: &Printing, expected: &str, args: &[&str]) -> io::Result<()> {
        println!("\n== {} ==", args.join(" "));
        let mut command = self.packages.command("conformance")?;
        command.args(["server", "--url"]).arg(format!("{}/mcp", proxy.line)).args(args);
        command.arg("--expected-failures").arg(self.sources.join(expected));
        if !command.status()?.success() {
            self.failed.push(args.join(" "));
        }
        Ok(())
    }
}

/// A program that prints one line when it is ready. Dropping it kills it.
struct Printing {
    process: Child,
    line: String,
}

impl Printing {
    fn start(command: &mut Command) -> io::Result<Self> {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let output = process.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        Ok(Self { process, line: line.trim().to_owned() })
    }
}

impl Drop for Printing {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
