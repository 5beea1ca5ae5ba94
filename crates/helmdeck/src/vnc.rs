//! `helmdeck vnc`: serves a session's desktop to one VNC program on a local port.

use std::{error::Error, net::Ipv4Addr, time::Duration};

use futures_util::{SinkExt, StreamExt};
use helmdeck_wire::ticket::Role;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::timeout,
};
use tokio_tungstenite::tungstenite::Message;

use crate::{local::Config, remote::Remote, server_choice::ServerArgs};

/// How long the port waits for a program.
const WAIT: Duration = Duration::from_secs(300);
const CHUNK: usize = 64 << 10;

/// What to serve, and how.
#[derive(clap::Args)]
pub struct Args {
    /// The session's id.
    session: String,
    /// Also take control: the VNC program's mouse and keyboard reach the session.
    #[arg(long)]
    control: bool,
    /// Port on 127.0.0.1; 0 for any free port.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    #[command(flatten)]
    server: ServerArgs,
}

/// Serves one VNC program, and returns when it disconnects.
pub fn run(config: &Config, args: &Args) -> Result<(), Box<dyn Error>> {
    let server = args.server.remote(config)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    helmdeck_task::block_on(&runtime, serve(&server, args))
}

async fn serve(server: &Remote, args: &Args) -> Result<(), Box<dyn Error>> {
    let role = if args.control { Role::Control } else { Role::View };
    let take = if args.control { "&take=true" } else { "" };
    let path = format!("/api/v1/sessions/{}/vnc?role={}{take}", args.session, role.as_str());
    let request = server.request(&path)?;
    // Check that the session can be watched before asking for a program.
    let probe = format!("/api/v1/sessions/{}/vnc?role={}", args.session, role.as_str());
    server.connect(server.request(&probe)?).await?.close(None).await?;

    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).await?;
    let port = listener.local_addr()?.port();
    println!(
        "Connect one VNC program to 127.0.0.1:{port}, for example: vncviewer 127.0.0.1::{port}"
    );
    let (program, _) = timeout(WAIT, listener.accept())
        .await
        .map_err(|_| format!("no viewer connected within {} s", WAIT.as_secs()))??;
    drop(listener);
    let socket = server.connect(request).await?;
    relay(program, socket).await
}

/// Carries bytes both ways until one side ends.
async fn relay<S>(
    program: TcpStream,
    socket: tokio_tungstenite::WebSocketStream<S>,
) -> Result<(), Box<dyn Error>>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    program.set_nodelay(true)?;
    let (mut from_program, mut to_program) = program.into_split();
    let (mut to_server, mut from_server) = socket.split();
    let up = async {
        let mut chunk = vec![0; CHUNK];
        while let Ok(count @ 1..) = from_program.read(&mut chunk).await {
            let bytes = chunk.get(..count).unwrap_or_default().to_vec();
            if to_server.send(Message::Binary(bytes.into())).await.is_err() {
                break;
            }
        }
        String::new()
    };
    let down = async {
        while let Some(Ok(message)) = from_server.next().await {
            match message {
                Message::Binary(bytes) if to_program.write_all(&bytes).await.is_err() => break,
                Message::Close(Some(frame)) => return frame.reason.to_string(),
                _ => {}
            }
        }
        String::new()
    };
    let reason = tokio::select! {
        reason = up => reason,
        reason = down => reason,
    };
    if !reason.is_empty() {
        println!("{reason}");
    }
    Ok(())
}
