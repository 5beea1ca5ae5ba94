//! `helmdeck mcp`: serves MCP over standard input and output, for clients that start a program.
//!
//! Each line is a JSON-RPC message. The bridge relays it to the server's `/mcp` over streamable HTTP,
//! and writes each message of the server as one line. Nothing else is written to standard output.

mod bridge;
mod exchange;
mod http;
mod id;
mod message;
mod notifications;
mod problem;
mod request;
mod retry;
mod session;
pub mod sse;
mod standard_io;
mod stream;

use std::{error::Error, fmt::Write as _, sync::Arc, time::Duration};

use helmdeck_task::boxed;
use helmdeck_wire::connect::ToolProfile;
use tokio::{task::JoinSet, time::timeout};

use crate::{
    connect::profile,
    local::{Bearer, Config},
    server_choice::ServerArgs,
    stop_signal::stop_signal,
    tools::escape,
};
use bridge::Bridge;
use message::{Kind, Message};
use request::Handshake;
use standard_io::{Input, Output};

/// How long requests may still be answered after the client closed standard input. Clients wait about
/// two seconds before they kill the program.
const LAST_ANSWERS: Duration = Duration::from_secs(1);
/// The longest name of a session.
const MAX_NAME: usize = 64;

/// Which tools, and in which session.
#[derive(clap::Args)]
pub struct Args {
    /// The tools that the client lists: all, core, browser, desktop or code. It can call all of them.
    #[arg(long, value_name = "PROFILE", value_parser = profile, default_value = "all")]
    profile: ToolProfile,
    /// Name of the session for calls that name none: programs with the same name share it, and find
    /// it again later. By default, each program has its own.
    #[arg(long, value_name = "NAME", value_parser = session_name)]
    session: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
}

/// Relays messages until the client closes standard input, or the program is stopped.
pub fn run(config: &Config, args: &Args) -> Result<(), Box<dyn Error>> {
    let server = args.server.remote_for(config, Bearer::Agent)?;
    let session = args.session.clone().map_or_else(random_name, Ok)?;
    let path = format!("/mcp?profile={}&session={}", args.profile.as_str(), escape(&session));
    let (input, output) = (Input::open(), Output::open());
    let bridge = Arc::new(Bridge::new(server, path, output.lines()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = helmdeck_task::block_on(&runtime, serve(bridge, input));
    // Ends all tasks, so that only lines that were already passed on are left to write. A name that
    // is being resolved is not waited for.
    runtime.shutdown_background();
    output.finish();
    served
}

async fn serve(bridge: Arc<Bridge>, mut input: Input) -> Result<(), Box<dyn Error>> {
    let stop = stop_signal()?;
    tokio::pin!(stop);
    // They end with this function.
    let mut tasks = JoinSet::new();
    let mut handshake = Handshake::default();
    let is_stopped = loop {
        tokio::select! {
            line = input.next() => match line {
                Some(line) => take(&bridge, &mut tasks, &mut handshake, &line).await,
                None => break false,
            },
            Some(_) = tasks.join_next() => {}
            () = bridge.is_unread() => break true,
            () = &mut stop => break true,
        }
    };
    if !is_stopped {
        bridge.end_subscriptions();
        let answered = async { while tasks.join_next().await.is_some() {} };
        let _ = timeout(LAST_ANSWERS, answered).await;
    }
    tasks.shutdown().await;
    session::end(&bridge).await;
    Ok(())
}

/// Handles a line of the client.
async fn take(
    bridge: &Arc<Bridge>,
    tasks: &mut JoinSet<()>,
    handshake: &mut Handshake,
    line: &[u8],
) {
    let messages = match Message::read(line) {
        Ok(messages) => messages,
        Err(problem) => return bridge.write(problem.answer(None)).await,
    };
    for message in messages {
        let before = handshake.clone();
        let done = message.is_handshake().then(|| handshake.begin());
        match &message.kind {
            Kind::Request { id, .. } => match bridge.begin(id, &message) {
                Some(pending) => {
                    let id = id.clone();
                    let bridge = bridge.clone();
                    tasks.spawn(boxed(async move {
                        request::run(&bridge, &message, &id, pending, before).await;
                        drop(done);
                    }));
                }
                None => bridge.write(problem::id_in_use().answer(Some(id))).await,
            },
            Kind::Notification { .. } | Kind::Response => {
                let bridge = bridge.clone();
                tasks.spawn(boxed(async move {
                    notifications::relay(&bridge, &message, before).await;
                    drop(done);
                }));
            }
        }
    }
}

/// A name that no other program has.
fn random_name() -> Result<String, Box<dyn Error>> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes)?;
    let mut name = "stdio-".to_owned();
    for byte in bytes {
        write!(name, "{byte:02x}")?;
    }
    Ok(name)
}

fn session_name(text: &str) -> Result<String, String> {
    let fits = (1..=MAX_NAME).contains(&text.len());
    fits.then(|| text.to_owned()).ok_or(format!("expected 1 to {MAX_NAME} characters"))
}
