//! A browser's debugging port: the messages of the pipe, as WebSocket text messages.

use std::{convert::Infallible, future::pending, io, sync::Arc};

use bytes::BytesMut;
use futures_util::{
    SinkExt as _, StreamExt as _,
    stream::{SplitSink, SplitStream},
};
use http::{Request, Uri, header::HOST, uri::Authority};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tokio::{net::TcpStream, select, sync::mpsc};
use tokio_tungstenite::{
    WebSocketStream, client_async_with_config,
    tungstenite::{Message, protocol::WebSocketConfig},
};

use crate::{
    CdpError,
    dispatcher::Dispatcher,
    pipe::{MAX_MESSAGE, Post},
    pipe_messages::Frame,
};

/// Limit on the size of the browser's version document.
const MAX_VERSION: usize = 64 << 10;

type Socket = WebSocketStream<TcpStream>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    web_socket_debugger_url: String,
}

/// Connects to `ws://host:port/path`, or to `http://host:port`, which is first asked for the path.
pub(crate) async fn open(address: &str) -> Result<Socket, CdpError> {
    let uri: Uri = address.parse().map_err(|error| unreachable(io::Error::other(error)))?;
    let authority = uri.authority().ok_or_else(|| foreign("expected a host"))?;
    let path = match uri.scheme_str() {
        Some("ws") => uri.path_and_query().map_or("/", |path| path.as_str()).to_owned(),
        Some("http") => browser_path(authority, uri.path()).await?,
        _ => return Err(foreign("expected ws:// or http://")),
    };
    let stream = dial(authority).await?;
    let config = WebSocketConfig::default()
        .max_message_size(Some(MAX_MESSAGE))
        .max_frame_size(Some(MAX_MESSAGE));
    let request = format!("ws://{authority}{path}");
    let opened = client_async_with_config(request, stream, Some(config)).await;
    opened.map(|(socket, _)| socket).map_err(|error| unreachable(io::Error::other(error)))
}

/// The path of the browser itself on its port. Only the path of its answer is used, so that it
/// cannot redirect us elsewhere.
async fn browser_path(authority: &Authority, below: &str) -> Result<String, CdpError> {
    let stream = TokioIo::new(dial(authority).await?);
    let failed = |error: hyper::Error| unreachable(io::Error::other(error));
    let (mut sender, connection) = http1::handshake(stream).await.map_err(failed)?;
    let question = format!("{}/json/version", below.trim_end_matches('/'));
    let request = Request::get(question)
        .header(HOST, authority.as_str())
        .body(Empty::<bytes::Bytes>::new())
        .map_err(|error| unreachable(io::Error::other(error)))?;
    let asked = async {
        let answer = sender.send_request(request).await.map_err(failed)?;
        let body = Limited::new(answer.into_body(), MAX_VERSION).collect().await;
        Ok::<_, CdpError>(body.map_err(|error| unreachable(io::Error::other(error)))?.to_bytes())
    };
    let carried = async {
        let _ = connection.await;
        // The request itself reports errors of the connection.
        pending::<Infallible>().await
    };
    let body = select! {
        body = asked => body?,
        never = carried => match never {},
    };
    let version: Version = serde_json::from_slice(&body).map_err(CdpError::Nonsense)?;
    let url: Uri = version
        .web_socket_debugger_url
        .parse()
        .map_err(|error| unreachable(io::Error::other(error)))?;
    Ok(url.path_and_query().map_or("/", |path| path.as_str()).to_owned())
}

async fn dial(authority: &Authority) -> Result<TcpStream, CdpError> {
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    let port = authority.port_u16().unwrap_or(80);
    let stream = TcpStream::connect((host, port)).await.map_err(unreachable)?;
    // Small messages must not be delayed.
    let _ = stream.set_nodelay(true);
    Ok(stream)
}

/// Transfers messages both ways until the browser closes its end.
pub(crate) async fn carry(
    socket: Socket,
    posted: mpsc::UnboundedReceiver<Post>,
    dispatcher: Arc<Dispatcher>,
) {
    let (sink, stream) = socket.split();
    let writing = async {
        write(sink, posted).await;
        // Answers may still arrive.
        pending().await
    };
    select! {
        () = read(stream, &dispatcher) => {}
        () = writing => {}
    }
    dispatcher.close();
}

async fn read(mut stream: SplitStream<Socket>, dispatcher: &Dispatcher) {
    while let Some(Ok(message)) = stream.next().await {
        match message {
            Message::Text(text) => {
                dispatcher.receive(Frame::Message(BytesMut::from(text.as_str())))
            }
            Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
            Message::Close(_) => return,
        }
    }
}

async fn write(mut sink: SplitSink<Socket, Message>, mut posted: mpsc::UnboundedReceiver<Post>) {
    while let Some(Post { message, _room }) = posted.recv().await {
        if sink.send(Message::text(message)).await.is_err() {
            return;
        }
    }
}

fn unreachable(error: io::Error) -> CdpError {
    CdpError::Unreachable(error)
}

fn foreign(expected: &'static str) -> CdpError {
    CdpError::Unreachable(io::Error::new(io::ErrorKind::InvalidInput, expected))
}
