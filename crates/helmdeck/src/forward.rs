//! `helmdeck forward`: opens a local port inside a session.
//!
//! The server announces each connection on one WebSocket. For each, this program connects to the
//! local port and carries the bytes over a separate WebSocket.

mod stream;

use std::{error::Error, sync::Arc, time::Duration};

use futures_util::StreamExt;
use helmdeck_egress::dial_loopback;
use helmdeck_wire::forward::{ForwardNews, ForwardRule};
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_tungstenite::tungstenite::Message;

use crate::{
    local::Config,
    remote::{ConnectFailure, Remote, Socket},
    server_choice::ServerArgs,
    stop_signal::stop_signal,
};

/// A server that is silent for this long is gone: it sends a ping every few seconds.
const SILENCE: Duration = Duration::from_secs(20);
/// Pause between attempts to reach the server. It doubles up to the second value.
const PAUSES: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(5));
/// Close codes after which a retry is pointless.
const FINAL: [u16; 3] = [4000, 4001, 4020];
/// The server's status while it still has the previous connection.
const CONFLICT: u16 = 409;

/// What to forward, and to which session.
#[derive(clap::Args)]
pub struct Args {
    /// The session's id.
    session: String,
    /// Local port: 5173, or 3000:5173 to open it as port 3000 inside.
    port: ForwardRule,
    #[command(flatten)]
    server: ServerArgs,
}

/// Why a connection to the server ended.
enum Ended {
    /// Permanently, with the server's message.
    Session(String),
    /// The server is unreachable and may return.
    Away,
}

/// A forward and its connection to the server.
struct Forwarding {
    server: Arc<Remote>,
    rule: ForwardRule,
    session: String,
    path: String,
}

/// Forwards until the program is stopped or the session ends.
pub fn run(config: &Config, args: Args) -> Result<(), Box<dyn Error>> {
    let server = Arc::new(args.server.remote(config)?);
    let ForwardRule { port, .. } = args.port;
    let path = format!("/api/v1/sessions/{}/forwards/{port}/client", args.session);
    let forwarding = Forwarding { server, rule: args.port, session: args.session, path };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    helmdeck_task::block_on(&runtime, async {
        let stop = stop_signal()?;
        tokio::select! {
            done = forwarding.keep() => done,
            () = stop => Ok(()),
        }
    })
}

impl Forwarding {
    /// Stays connected to the server, reconnecting as needed.
    async fn keep(&self) -> Result<(), Box<dyn Error>> {
        let (mut opened, mut pause) = (false, PAUSES.0);
        loop {
            let request = self.server.request(&format!("{}?to={}", self.path, self.rule.to))?;
            let why = match self.server.connect(request).await {
                Ok(socket) => {
                    let ended = self.attend(socket, opened).await;
                    (opened, pause) = (true, PAUSES.0);
                    match ended {
                        Ended::Session(why) => return Err(why.into()),
                        Ended::Away => "the server is unreachable".to_owned(),
                    }
                }
                Err(ConnectFailure::Refused(CONFLICT, why)) if opened => why,
                Err(error @ ConnectFailure::Refused(..)) => return Err(error.into()),
                Err(error) if !opened => return Err(error.into()),
                Err(error) => error.to_string(),
            };
            eprintln!("{why}; trying again");
            sleep(pause).await;
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    /// Opens every announced connection, until the WebSocket ends.
    async fn attend(&self, mut socket: Socket, again: bool) -> Ended {
        // They end with this function.
        let mut connections = JoinSet::new();
        loop {
            while connections.try_join_next().is_some() {}
            let text = match timeout(SILENCE, socket.next()).await {
                Ok(Some(Ok(Message::Text(text)))) => text,
                Ok(Some(Ok(Message::Close(Some(frame)))))
                    if FINAL.contains(&u16::from(frame.code)) =>
                {
                    return Ended::Session(frame.reason.to_string());
                }
                Ok(Some(Ok(Message::Close(_)) | Err(_)) | None) | Err(_) => return Ended::Away,
                Ok(Some(Ok(_))) => continue,
            };
            match serde_json::from_str(&text) {
                Ok(ForwardNews::Open) => self.tell(again),
                Ok(ForwardNews::Connect(name)) => {
                    let (server, to) = (self.server.clone(), self.rule.to);
                    let path = format!("{}/{name}", self.path);
                    connections.spawn(bring(server, path, to));
                }
                // Unknown messages of a newer server.
                Err(_) => {}
            }
        }
    }

    fn tell(&self, again: bool) {
        let (session, ForwardRule { port, to }) = (&self.session, self.rule);
        if again {
            eprintln!("connected again");
        } else {
            println!(
                "http://localhost:{port} in session {session} is localhost:{to} of this machine; \
                 press Ctrl-C to stop"
            );
        }
    }
}

/// Connects the local port with the server. If the port does not answer, the connection ends at
/// once.
async fn bring(server: Arc<Remote>, path: String, to: u16) {
    let local = dial_loopback(to).await;
    let Ok(request) = server.request(&path) else { return };
    let Ok(socket) = server.connect(request).await else { return };
    match local {
        Ok(local) => stream::carry(socket, local).await,
        Err(error) => {
            eprintln!("localhost:{to} does not answer: {error}");
            stream::hang_up(socket).await;
        }
    }
}
