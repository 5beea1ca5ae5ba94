//! `helmdeck session exec`: runs a program in a session, with its input, output and exit code.

use std::{
    error::Error,
    io::{Read, Write, stderr, stdin, stdout},
    process::ExitCode,
    time::Duration,
};

use bytes::Bytes;
use helmdeck_wire::{ErrorBody, exec::ExecState};
use http::Method;
use http_body_util::BodyExt;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use crate::{
    local::Config,
    mcp::sse::Parser,
    remote::Remote,
    rest,
    server_choice::ServerArgs,
    tools::{block_on, call_tool, escape, print_json},
};

/// How long the program may take to start. A session that was created only now is still starting.
const START_DEADLINE: Duration = Duration::from_secs(120);
/// The server sends a comment more often than this.
const SILENCE: Duration = Duration::from_secs(60);
/// Exit code after a time-out, like that of `timeout`.
const TIMED_OUT: u8 = 124;

#[derive(clap::Args)]
pub struct Args {
    /// The session's id.
    session: String,
    /// Seconds after which the program and everything it started are killed.
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// Working directory.
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,
    /// Pass standard input to the program, at most 1 MiB. It is read to its end first.
    #[arg(long, short)]
    interactive: bool,
    /// Print the result as JSON when the program has ended.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
    /// The program and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// The data of an output event.
#[derive(Deserialize)]
struct Output {
    text: String,
}

/// Runs the program.
pub fn run(config: &Config, args: &Args) -> Result<ExitCode, Box<dyn Error>> {
    let server = args.server.remote(config)?;
    let mut fields = Map::from_iter([("command".to_owned(), json!(args.command))]);
    if let Some(seconds) = args.timeout {
        fields.insert("timeout_s".to_owned(), json!(seconds));
    }
    if let Some(cwd) = &args.cwd {
        fields.insert("cwd".to_owned(), json!(cwd));
    }
    if args.interactive {
        let mut input = String::new();
        stdin().read_to_string(&mut input).map_err(|error| format!("standard input: {error}"))?;
        fields.insert("stdin".to_owned(), json!(input));
    }
    if args.json {
        fields.insert("session_id".to_owned(), json!(args.session));
        let reply = call_tool(&server, "session.exec", fields)?;
        print_json(&reply.body)?;
        return Ok(exit_code(&serde_json::from_slice(&reply.body)?));
    }
    let path = format!("/api/v1/sessions/{}/exec?stream=true", escape(&args.session));
    let body = Bytes::from(Value::Object(fields).to_string());
    let state = block_on(follow(&server, &path, body))??;
    Ok(exit_code(&state))
}

/// Prints the output as it comes, until the program ends. The server kills it if we disconnect.
async fn follow(server: &Remote, path: &str, body: Bytes) -> Result<ExecState, Box<dyn Error>> {
    let mut reply = rest::stream(server, Method::POST, path, body, START_DEADLINE).await?;
    let mut events = Parser::default();
    loop {
        let frame = timeout(SILENCE, reply.frame()).await;
        let frame = frame.map_err(|_| "the server no longer answers")?;
        let frame = frame.ok_or("the connection ended before the program did")??;
        let Ok(bytes) = frame.into_data() else { continue };
        for event in events.read(&bytes) {
            let text = || serde_json::from_str(&event.data).map(|it: Output| it.text);
            match event.kind.as_str() {
                "stdout" => print(stdout(), &text()?)?,
                "stderr" => print(stderr(), &text()?)?,
                "exit" => return Ok(serde_json::from_str(&event.data)?),
                "error" => {
                    let body: ErrorBody = serde_json::from_str(&event.data)?;
                    return Err(format!("{} ({})", body.message, body.error).into());
                }
                _ => {}
            }
        }
    }
}

fn print(mut to: impl Write, text: &str) -> std::io::Result<()> {
    to.write_all(text.as_bytes())?;
    to.flush()
}

/// The program's exit code, or ours if it has none. Says why it has none.
fn exit_code(state: &ExecState) -> ExitCode {
    if state.timed_out {
        eprintln!(
            "helmdeck: the program took too long and was killed; --timeout gives it more time"
        );
        return ExitCode::from(TIMED_OUT);
    }
    if let Some(error) = &state.error {
        eprintln!("helmdeck: the program was killed: {}", error.message);
        return ExitCode::FAILURE;
    }
    if state.running {
        eprintln!(
            "helmdeck: the server stopped, and the program continues: helmdeck call \
             session.show_exec shows its result"
        );
        return ExitCode::FAILURE;
    }
    let Some(code) = state.exit_code else {
        let signal = state.signal.as_deref().unwrap_or("a signal");
        eprintln!("helmdeck: the program was killed by {signal}");
        return ExitCode::FAILURE;
    };
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
