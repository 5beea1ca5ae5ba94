//! `helmdeck attach`: attaches your own display or browser to a server as a session.
//!
//! This process is the guest. It connects to the server, keeps a few connections open for it, and
//! resumes the session under the same id after the server was unreachable.

mod streams;

use std::{error::Error, io::Write, sync::Arc, time::Duration};

use futures_util::{SinkExt, StreamExt};
use helmdeck_guest::{Attachment, GuestError};
use helmdeck_server::Config;
use helmdeck_wire::{
    ErrorCode,
    attach::{Attach, AttachReply, Attached, CONTROL, GOODBYE},
    error::with_causes,
    session::EndReason,
};
use http::Uri;
use tokio::{
    signal::unix::{SignalKind, signal},
    time::{sleep, timeout},
};
use tokio_tungstenite::tungstenite::{
    Message,
    protocol::{CloseFrame, frame::coding::CloseCode},
};

use crate::{
    remote::{ConnectFailure, Remote, Socket},
    server_choice::ServerArgs,
};
use streams::Streams;

/// A server that is silent for this long is gone: it sends a ping every few seconds.
const SILENCE: Duration = Duration::from_secs(20);
/// Pause between attempts to reach the server. It doubles up to the second value.
const PAUSES: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(5));
/// How long the server may take to confirm the goodbye.
const GOODBYE_DEADLINE: Duration = Duration::from_secs(3);
/// Close code of an ended session.
const SESSION_OVER: u16 = 4000;

/// What to attach, and to which server.
#[derive(clap::Args)]
pub struct Args {
    /// X display, for example :0. Defaults to DISPLAY, unless --cdp is given.
    #[arg(long, value_name = "DISPLAY")]
    display: Option<String>,
    /// Debugging port of a browser, http://host:port, or its WebSocket address, ws://host:port/…
    #[arg(long, value_name = "URL")]
    cdp: Option<String>,
    /// A name for people.
    #[arg(long, value_name = "TEXT", default_value = "")]
    label: String,
    #[command(flatten)]
    server: ServerArgs,
}

/// How a connection to the server ended.
enum Ended {
    /// The session has ended, with the reason.
    Session(String),
    /// The server is unreachable.
    Server(String),
    /// Stopped by a signal here.
    Here,
}

/// How the program ended successfully.
enum Done {
    /// Ended on the server, with the server's message.
    Asked(String),
    /// Stopped here, and the server was notified.
    Told,
    /// Stopped here while the server was unreachable.
    Untold,
}

/// Serves until the session ends or the program is stopped.
pub fn run(config: &Config, args: Args) -> Result<(), Box<dyn Error>> {
    let server = Arc::new(args.server.remote(config)?);
    // After the certificate was read, which may be an inherited descriptor.
    helmdeck_spawn::close_inherited(None)?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let done = helmdeck_task::block_on(&runtime, serve(server, args));
    // Do not wait for pending X requests.
    runtime.shutdown_background();
    done
}

async fn serve(server: Arc<Remote>, args: Args) -> Result<(), Box<dyn Error>> {
    let display = display_of(&args)?;
    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let started = Attachment::start(display.as_deref(), args.cdp.as_deref()).await;
    let guest = started.map_err(in_words)?;
    let attached =
        Attached { display, live_view: guest.live_view, cdp: args.cdp.as_deref().map(place_of) };
    let left = as_it_was(&attached);
    let mut visit = Visit {
        server,
        guest: &guest,
        hello: Attach { label: args.label, attached, secret: None },
        announced: false,
    };
    let stop = async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    };
    let done = visit.keep(stop).await;
    guest.release_all().await;
    match done? {
        Done::Asked(why) => say(&format!("{why}; {left}")),
        Done::Told => say(&format!("The session has ended; {left}")),
        Done::Untold if visit.announced => {
            say(&format!("The server is unreachable and will end the session by itself; {left}"));
        }
        Done::Untold => {}
    }
    Ok(())
}

/// The message of an error, without its code.
fn in_words(error: GuestError) -> String {
    match error {
        GuestError::Refused(body) => body.message,
        other => with_causes(&other),
    }
}

/// Describes what is left unchanged.
fn as_it_was(attached: &Attached) -> String {
    let browser = |place: &String| format!("the browser at {place}");
    match (&attached.display, &attached.cdp) {
        (Some(display), Some(place)) => {
            format!("display {display} and {} are unchanged", browser(place))
        }
        (Some(display), None) => format!("display {display} is unchanged"),
        (None, place) => {
            format!("{} is unchanged", place.as_ref().map(browser).unwrap_or_default())
        }
    }
}

/// The selected display, if any.
fn display_of(args: &Args) -> Result<Option<String>, Box<dyn Error>> {
    let from_env = || std::env::var("DISPLAY").ok().filter(|name| !name.is_empty());
    let named = match (&args.display, &args.cdp) {
        (Some(name), _) => Some(name.clone()),
        (None, Some(_)) => None,
        (None, None) => Some(
            from_env()
                .ok_or("nothing to attach: give --display :N or --cdp URL, or set DISPLAY")?,
        ),
    };
    // Accept a number alone.
    let number = |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit());
    Ok(named.map(|name| if number(&name) { format!(":{name}") } else { name }))
}

/// Host and port of an address. Its path may be secret.
fn place_of(address: &str) -> String {
    let uri = address.parse::<Uri>().unwrap_or_default();
    uri.authority().map(ToString::to_string).unwrap_or_default()
}

/// A guest and its connection to a server.
struct Visit<'a> {
    server: Arc<Remote>,
    guest: &'a Attachment,
    hello: Attach,
    announced: bool,
}

impl Visit<'_> {
    /// Stays connected to the server, reconnecting as needed, until `stop`.
    async fn keep(&mut self, stop: impl Future<Output = ()>) -> Result<Done, Box<dyn Error>> {
        let mut stop = std::pin::pin!(stop);
        let mut pause = PAUSES.0;
        loop {
            let connected = tokio::select! {
                connected = self.connect() => connected,
                () = &mut stop => return Ok(Done::Untold),
            };
            let why = match connected {
                Ok(mut socket) => {
                    let ended = tokio::select! {
                        ended = self.attend(&mut socket) => ended?,
                        () = &mut stop => Ended::Here,
                    };
                    match ended {
                        // Ended by a request to the server.
                        Ended::Session(why) if why.ends_with(EndReason::Requested.as_str()) => {
                            return Ok(Done::Asked(why));
                        }
                        Ended::Session(why) => return Err(why.into()),
                        Ended::Here => {
                            let told = say_goodbye(socket).await;
                            return Ok(if told { Done::Told } else { Done::Untold });
                        }
                        Ended::Server(why) => {
                            pause = PAUSES.0;
                            why
                        }
                    }
                }
                Err(ConnectFailure::Refused(status, why)) if status < 500 => return Err(why.into()),
                // If the first connection fails, the address is wrong or the server does not run.
                Err(error) if self.hello.secret.is_none() => return Err(error.into()),
                Err(error) => error.to_string(),
            };
            eprintln!("{why}; trying again");
            tokio::select! {
                () = sleep(pause) => {}
                () = &mut stop => return Ok(Done::Untold),
            }
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    async fn connect(&self) -> Result<Socket, ConnectFailure> {
        self.server.connect(self.server.request(CONTROL)?).await
    }

    /// Attaches, and serves until the connection ends.
    async fn attend(&mut self, socket: &mut Socket) -> Result<Ended, Box<dyn Error>> {
        let away = || Ok(Ended::Server("the server is unreachable".to_owned()));
        let hello = Message::text(serde_json::to_string(&self.hello)?);
        if !matches!(timeout(SILENCE, socket.send(hello)).await, Ok(Ok(()))) {
            return away();
        }
        // Dropped with this function, which closes all connections.
        let mut streams = None;
        loop {
            let Ok(Some(Ok(message))) = timeout(SILENCE, socket.next()).await else {
                return away();
            };
            let text = match message {
                Message::Text(text) => text,
                Message::Close(Some(frame)) if u16::from(frame.code) == SESSION_OVER => {
                    return Ok(Ended::Session(frame.reason.to_string()));
                }
                Message::Close(_) => return away(),
                Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {
                    continue;
                }
            };
            match serde_json::from_str(&text)? {
                AttachReply::Attached { session_id, secret, url } => {
                    self.hello.secret = Some(secret.clone());
                    let (server, guest) = (self.server.clone(), self.guest.connections());
                    streams = Some((Streams::open(server, guest, &session_id, secret), url));
                    if !self.announced {
                        say(&format!("session {session_id}"));
                    }
                }
                AttachReply::Ready => {
                    let Some((_, url)) = &streams else { continue };
                    if self.announced {
                        say(&format!("reconnected; watch it at {url}"));
                    } else {
                        say(&format!("watch it at {url}; Ctrl-C ends the session"));
                    }
                    self.announced = true;
                }
                AttachReply::Refused(body)
                    if self.hello.secret.is_some() && may_pass(body.error) =>
                {
                    return Ok(Ended::Server(body.message));
                }
                AttachReply::Refused(body) => return Err(body.message.into()),
            }
        }
    }
}

/// Errors that may go away: the server is full, or has not noticed our disconnect yet.
fn may_pass(code: ErrorCode) -> bool {
    use ErrorCode as E;
    matches!(code, E::CapacityReached | E::QuotaReached | E::AlreadyAttached)
}

/// Prints a line. Write errors are ignored.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Tells the server to end the session. Returns whether it confirmed.
async fn say_goodbye(mut socket: Socket) -> bool {
    let frame = CloseFrame { code: CloseCode::Normal, reason: GOODBYE.into() };
    let said = async {
        let sent = socket.send(Message::Close(Some(frame))).await;
        while let Some(Ok(_)) = socket.next().await {}
        sent.is_ok()
    };
    timeout(GOODBYE_DEADLINE, said).await.unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_goodbye_names_what_is_left_unchanged() {
        let left = |display: Option<&str>, cdp: Option<&str>| {
            let (display, cdp) = (display.map(Into::into), cdp.map(Into::into));
            as_it_was(&Attached { display, cdp, live_view: false })
        };
        assert_eq!(left(Some(":0"), None), "display :0 is unchanged");
        assert_eq!(left(None, Some("a:1")), "the browser at a:1 is unchanged");
        let both = "display :0 and the browser at a:1 are unchanged";
        assert_eq!(left(Some(":0"), Some("a:1")), both);
    }
}
