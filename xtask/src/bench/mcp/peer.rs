//! Other MCP servers, over their standard input and output.

use std::{
    io::{self, BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};

use crate::mcp_packages::{Packages, isolate};

const CHROMIUM: &str = "/usr/bin/chromium";

/// A running server. Dropping it kills it.
pub struct Peer {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last: u64,
    _home: tempfile::TempDir,
}

impl Peer {
    /// `@playwright/mcp`.
    pub fn playwright(packages: &Packages, args: &[&str]) -> io::Result<Self> {
        let mut command = Command::new(packages.node()?);
        command.arg(packages.file("@playwright/mcp/cli.js"));
        command.args(["--headless", "--executable-path", CHROMIUM]).args(args);
        Self::start(command)
    }

    /// `chrome-devtools-mcp`.
    pub fn devtools(packages: &Packages) -> io::Result<Self> {
        let mut command = packages.command("chrome-devtools-mcp")?;
        command.args(["--headless", "--executablePath", CHROMIUM, "--no-usage-statistics"]);
        Self::start(command)
    }

    fn start(mut command: Command) -> io::Result<Self> {
        let home = tempfile::tempdir()?;
        isolate(&mut command, home.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn()?;
        let input = process.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let output = process.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let output = BufReader::new(output);
        let mut it = Self { process, input, output, last: 0, _home: home };
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "bench", "version": "1" },
        });
        it.request("initialize", hello)?;
        it.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(it)
    }

    /// The result of a request.
    pub fn request(&mut self, method: &str, params: Value) -> io::Result<Value> {
        self.last += 1;
        let id = self.last;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let message: Value = serde_json::from_str(&line)?;
            if message.get("id") == Some(&json!(id)) {
                let result = message.get("result").cloned();
                return result.ok_or_else(|| io::Error::other(format!("{method}: {message}")));
            }
        }
    }

    fn write(&mut self, message: &Value) -> io::Result<()> {
        self.input.write_all(format!("{message}\n").as_bytes())?;
        self.input.flush()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
