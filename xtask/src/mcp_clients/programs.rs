//! Programs that connect to MCP servers, configured as their users would.

use std::{
    env, fs, io, iter,
    path::Path,
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use helmdeck_testkit::binary;
use serde_json::{Value, json};

use super::{Bench, Outcome, Transport};
use crate::mcp_packages::isolate;

const DEADLINE: Duration = Duration::from_secs(120);
/// The folder of Claude Code's program. Its launcher is set up by an install script, which is not run.
const CLAUDE: &str = "@anthropic-ai/claude-code-linux-x64";

/// A program and how it connects.
pub struct Program {
    pub name: &'static str,
    version: &'static str,
    transport: Transport,
    /// What it is told about the protocol, if anything.
    era: &'static str,
    try_it: fn(&Bench, &Program, &Path) -> io::Result<String>,
}

const fn inspector(transport: Transport, era: &'static str) -> Program {
    Program { name: "Inspector CLI", version: "2.12.0", transport, era, try_it: try_inspector }
}

const fn claude(transport: Transport) -> Program {
    Program { name: "Claude Code", version: "2.1.325", transport, era: "", try_it: try_claude }
}

/// Set up by `helmdeck connect`, with what people type.
const CONNECTED_CLAUDE: Program = Program {
    name: "Claude Code, by helmdeck connect",
    version: "2.1.325",
    transport: Transport::Http,
    era: "",
    try_it: try_helmdeck_connect,
};

const fn gemini(transport: Transport) -> Program {
    Program { name: "Gemini CLI", version: "0.61.0", transport, era: "", try_it: try_gemini }
}

const fn opencode(transport: Transport) -> Program {
    Program { name: "opencode", version: "1.18.33", transport, era: "", try_it: try_opencode }
}

const fn mcporter(transport: Transport) -> Program {
    Program { name: "mcporter", version: "0.12.3", transport, era: "", try_it: try_mcporter }
}

pub const ALL: [Program; 18] = [
    inspector(Transport::Http, "legacy"),
    inspector(Transport::Http, "auto"),
    inspector(Transport::Http, "modern"),
    inspector(Transport::Sse, "legacy"),
    inspector(Transport::Stdio, "legacy"),
    inspector(Transport::Stdio, "modern"),
    claude(Transport::Http),
    claude(Transport::Sse),
    claude(Transport::Stdio),
    CONNECTED_CLAUDE,
    gemini(Transport::Http),
    gemini(Transport::Sse),
    gemini(Transport::Stdio),
    opencode(Transport::Http),
    opencode(Transport::Sse),
    opencode(Transport::Stdio),
    mcporter(Transport::Http),
    mcporter(Transport::Stdio),
];

/// Runs a program in an empty home.
pub fn connect(bench: &Bench, program: &Program) -> Outcome {
    eprintln!("{} over {} {}", program.name, program.transport.name(), program.era);
    let skipped = program.transport == Transport::Stdio && !bench.has_stdio;
    let result = if skipped {
        Err("this helmdeck has no command `mcp`".to_owned())
    } else {
        let tried =
            tempfile::tempdir().and_then(|home| (program.try_it)(bench, program, home.path()));
        tried.map_err(|error| error.to_string().replace('\n', " "))
    };
    let (client, version) = (program.name, program.version);
    let protocol = program.era.to_owned();
    Outcome { client, version, transport: program.transport, protocol, result, skipped }
}

fn try_inspector(bench: &Bench, program: &Program, home: &Path) -> io::Result<String> {
    let ask = |more: &[&str]| {
        let mut command = bench.packages.command("mcp-inspector")?;
        command.arg("--cli");
        match program.transport {
            Transport::Stdio => {
                command.arg(binary()).arg("mcp");
                for pair in stdio_env(bench) {
                    command.arg("-e").arg(format!("{}={}", pair.0, pair.1));
                }
            }
            other => {
                command.args(["--transport", other.name(), "--server-url"]);
                command.arg(bench.endpoint(other)).arg("--header").arg(authorization(bench));
            }
        }
        command.args(["--format", "json", "--protocol-era", program.era]).args(more);
        let output = finish(&mut command, home)?;
        let answer: Value = serde_json::from_slice(&output.stdout).map_err(|_| told(&output))?;
        Ok::<_, io::Error>(answer.get("result").cloned().unwrap_or(answer))
    };
    let tools = ask(&["--method", "tools/list"])?;
    let tools = tools.get("tools").and_then(Value::as_array).map_or(0, Vec::len);
    let called = ask(&["--method", "tools/call", "--tool-name", "session-list"])?;
    let sessions = called.pointer("/structuredContent/sessions").is_some_and(Value::is_array);
    if tools == 0 || !sessions {
        return Err(io::Error::other(format!("{tools} tools; session-list: {called}")));
    }
    Ok(format!("listed {tools} tools, called session-list"))
}

fn try_claude(bench: &Bench, program: &Program, home: &Path) -> io::Result<String> {
    let path = bench.packages.file(CLAUDE).join("claude");
    let mut add = Command::new(&path);
    add.args(["mcp", "add", "helmdeck"]);
    match program.transport {
        Transport::Stdio => {
            for (name, value) in stdio_env(bench) {
                add.arg("--env").arg(format!("{name}={value}"));
            }
            add.arg("--").arg(binary()).arg("mcp");
        }
        other => {
            add.arg(bench.endpoint(other)).args(["--transport", other.name()]);
            add.arg("--header").arg(authorization(bench));
        }
    }
    finish(&mut add, home)?;
    connected(Command::new(&path).args(["mcp", "list"]), home, "helmdeck: ", "Connected")
}

/// Times what people type until Claude Code is connected.
fn try_helmdeck_connect(bench: &Bench, _: &Program, home: &Path) -> io::Result<String> {
    let folder = bench.packages.file(CLAUDE);
    let path = env::var_os("PATH").unwrap_or_default();
    let path = iter::once(folder.clone()).chain(env::split_paths(&path));
    let path = env::join_paths(path).map_err(io::Error::other)?;
    // Agents may not create tokens.
    let token = bench.server.run(["token", "--sub", "agent", "--scopes", "sessions:*", "--human"]);
    let began = Instant::now();
    let mut connect = Command::new(binary());
    connect.args(["connect", "claude-code"]).env("PATH", path);
    connect.env("HELMDECK_URL", bench.url()).env("HELMDECK_TOKEN", token.trim());
    let output = finish(&mut connect, home)?;
    if !output.status.success() {
        return Err(told(&output));
    }
    let connecting = began.elapsed().as_secs_f64();
    let mut list = Command::new(folder.join("claude"));
    connected(list.args(["mcp", "list"]), home, "helmdeck: ", "Connected")?;
    let all = began.elapsed().as_secs_f64();
    Ok(format!(
        "2 commands, {all:.1} s: `helmdeck connect claude-code` {connecting:.1} s, then `claude mcp \
         list`: connected"
    ))
}

fn try_gemini(bench: &Bench, program: &Program, home: &Path) -> io::Result<String> {
    let headers = json!({ "Authorization": format!("Bearer {}", bench.token) });
    let address = bench.endpoint(program.transport);
    let server = match program.transport {
        Transport::Http => json!({ "httpUrl": address, "headers": headers }),
        Transport::Sse => json!({ "url": address, "type": "sse", "headers": headers }),
        Transport::Stdio => {
            json!({ "command": binary(), "args": ["mcp"], "env": stdio_object(bench) })
        }
    };
    let settings = json!({
        "mcpServers": { "helmdeck": server }, "security": { "folderTrust": { "enabled": false } },
    });
    write(&home.join(".gemini/settings.json"), &settings)?;
    let mut command = bench.packages.command("gemini")?;
    connected(command.args(["mcp", "list"]), home, "helmdeck: ", "Connected")
}

fn try_opencode(bench: &Bench, program: &Program, home: &Path) -> io::Result<String> {
    let server = match program.transport {
        Transport::Stdio => json!({
            "type": "local", "command": [binary(), "mcp"], "environment": stdio_object(bench),
        }),
        other => {
            let headers = json!({ "Authorization": format!("Bearer {}", bench.token) });
            json!({ "type": "remote", "url": bench.endpoint(other), "headers": headers })
        }
    };
    write(&home.join(".config/opencode/opencode.json"), &json!({ "mcp": { "helmdeck": server } }))?;
    let mut command = Command::new(bench.packages.file("opencode-linux-x64/bin/opencode"));
    command.env("OPENCODE_DISABLE_AUTOUPDATE", "1");
    connected(command.args(["mcp", "list"]), home, "helmdeck", "connected")
}

fn try_mcporter(bench: &Bench, program: &Program, home: &Path) -> io::Result<String> {
    let server = match program.transport {
        Transport::Stdio => {
            json!({ "command": binary(), "args": ["mcp"], "env": stdio_object(bench) })
        }
        other => {
            let headers = json!({ "Authorization": format!("Bearer {}", bench.token) });
            json!({ "baseUrl": bench.endpoint(other), "headers": headers })
        }
    };
    let config = home.join("mcporter.json");
    write(&config, &json!({ "mcpServers": { "helmdeck": server } }))?;
    let ask = |words: &[&str]| {
        let mut command = bench.packages.command("mcporter")?;
        command.arg("--config").arg(&config).args(words);
        finish(&mut command, home)
    };
    let listed = ask(&["list", "helmdeck", "--json"])?;
    let value: Value = serde_json::from_slice(&listed.stdout).map_err(|_| told(&listed))?;
    let tools = value.get("tools").and_then(Value::as_array).map_or(0, Vec::len);
    let called = ask(&["call", "helmdeck.session-list"])?;
    let sessions = String::from_utf8_lossy(&called.stdout).contains("\"sessions\"");
    if tools == 0 || !sessions {
        return Err(io::Error::other(format!("{tools} tools; {}", told(&called))));
    }
    Ok(format!("listed {tools} tools, called session-list"))
}

fn authorization(bench: &Bench) -> String {
    format!("Authorization: Bearer {}", bench.token)
}

/// What `helmdeck mcp` needs to know.
fn stdio_env(bench: &Bench) -> [(&'static str, String); 2] {
    [("HELMDECK_URL", bench.url()), ("HELMDECK_TOKEN", bench.token.clone())]
}

fn stdio_object(bench: &Bench) -> Value {
    stdio_env(bench).into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect()
}

fn write(path: &Path, value: &Value) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, value.to_string())
}

/// Runs a command that prints a line for each server, with its state.
fn connected(command: &mut Command, home: &Path, name: &str, state: &str) -> io::Result<String> {
    let output = finish(command, home)?;
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    let line = text.lines().find(|line| line.contains(name) && line.contains(state));
    // Some of them say "Disconnected".
    match line.filter(|line| !line.contains("isconnected")) {
        Some(_) => Ok("`mcp list`: connected".to_owned()),
        None => Err(told(&output)),
    }
}

/// Runs a command to its end, with a separate home directory.
fn finish(command: &mut Command, home: &Path) -> io::Result<Output> {
    isolate(command, home);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn()?;
    let (mut stdout, mut stderr) = (process.stdout.take(), process.stderr.take());
    let read = |stream: Option<Box<dyn io::Read + Send>>| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(mut stream) = stream {
                let _ = stream.read_to_end(&mut bytes);
            }
            bytes
        })
    };
    let stdout = read(stdout.take().map(|it| Box::new(it) as _));
    let stderr = read(stderr.take().map(|it| Box::new(it) as _));
    let began = Instant::now();
    let status = loop {
        match process.try_wait()? {
            Some(status) => break status,
            None if began.elapsed() > DEADLINE => {
                process.kill()?;
                break process.wait()?;
            }
            None => thread::sleep(Duration::from_millis(20)),
        }
    };
    let stdout = stdout.join().unwrap_or_default();
    Ok(Output { status, stdout, stderr: stderr.join().unwrap_or_default() })
}

/// The end of what a program said.
fn told(output: &Output) -> io::Error {
    let text = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    let skipped = text.chars().count().saturating_sub(400);
    io::Error::other(format!(
        "{}: {}",
        output.status,
        text.chars().skip(skipped).collect::<String>()
    ))
}
