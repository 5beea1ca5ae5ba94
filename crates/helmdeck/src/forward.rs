//! `helmdeck forward`: a port of this machine inside a session.
//!
//! The server announces each connection on one WebSocket; for each, this program connects to the
//! port here and brings the bytes on a WebSocket of their own.

mod stream;

use std::{error::Error, sync::Arc, time::Duration};

use futures_util::StreamExt;
use helmdeck_egress::dial_loopback;
use helmdeck_server::Config;
use helmdeck_wire::forward::{ForwardNews, ForwardRule};
use tokio::{
    signal::unix::{SignalKind, signal},
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_tungstenite::tungstenite::Message;

use crate::{
    remote::{NoSocket, Remote, Socket},
    server_args::ServerArgs,
};

/// A server that says nothing for this long is gone: it sends a ping every few seconds.
const SILENCE: Duration = Duration::from_secs(20);
/// Between two tries to reach a server that is away; it doubles up to the second.
const PAUSES: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(5));
/// Close codes after which trying again makes no sense.
const FINAL: [u16; 3] = [4000, 4001, 4020];
/// What a server says while it still has the connection before.
const CONFLICT: u16 = 409;

/// What is forwarded, and to which session.
#[derive(clap::Args)]
pub struct Args {
    /// The session's id.
    session: String,
    /// The port here: 5173, or 3000:5173 to open it as port 3000 inside.
    port: ForwardRule,
    #[command(flatten)]
    server: ServerArgs,
}

/// Why a time with a server ended.
enum Ended {
    /// For good, in the server's words.
    Session(String),
    /// The server is away, and may come back.
    Away,
}

/// A forward on its way to a server, and back to it.
struct Forwarding {
    server: Arc<Remote>,
    rule: ForwardRule,
    session: String,
    path: String,
}

/// Forwards until somebody stops it or the session is over.
pub fn run(config: &Config, args: Args) -> Result<(), Box<dyn Error>> {
    let server = Arc::new(args.server.remote(config)?);
    let ForwardRule { port, .. } = args.port;
    let path = format!("/api/v1/sessions/{}/forwards/{port}/client", args.session);
    let forwarding = Forwarding { server, rule: args.port, session: args.session, path };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let (mut interrupt, mut terminate) =
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        tokio::select! {
            done = forwarding.keep() => done,
            _ = interrupt.recv() => Ok(()),
            _ = terminate.recv() => Ok(()),
        }
    })
}

impl Forwarding {
    /// Is there for the server, however often that goes away.
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
                        Ended::Away => "the server is away".to_owned(),
                    }
                }
                Err(NoSocket::Refused(CONFLICT, why)) if opened => why,
                Err(error @ NoSocket::Refused(..)) => return Err(error.into()),
                Err(error) if !opened => return Err(error.into()),
                Err(error) => error.to_string(),
            };
            eprintln!("{why}; trying again");
            sleep(pause).await;
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    /// Brings every connection that is announced, until the WebSocket ends.
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
                // A newer server may have more to say.
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
                 Ctrl-C ends it"
            );
        }
    }
}

/// Connects to the port here and to the server, and carries bytes between both. A port that does not
/// answer is a connection that ends at once.
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
