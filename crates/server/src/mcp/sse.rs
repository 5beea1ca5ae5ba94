//! MCP over HTTP with server-sent events, the transport of 2024-11-05, for old clients.
//!
//! A client opens a stream, learns from its first event where to post, and gets all answers on the
//! stream.

use std::{
    collections::HashMap,
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use ::http::StatusCode;
use axum::{
    extract::{Request, State},
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use futures_util::{Sink, Stream, StreamExt, stream};
use helmdeck_wire::ErrorCode;
use parking_lot::Mutex;
use rmcp::{
    ServiceExt,
    model::{ClientJsonRpcMessage, GetExtensions, JsonRpcMessage, ServerJsonRpcMessage},
};
use tokio::sync::mpsc;
use tokio_util::sync::PollSender;

use super::{client::Client, door::Door, http::admit, legacy_tasks};
use crate::{
    App, body,
    closing::until,
    error::{ApiError, ApiResult},
    query,
};

/// Keeps connections through proxies alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How many messages may wait, each way. A full queue makes the sender wait.
const WAITING: usize = 32;
/// How long a full queue may make a client wait.
const POST_DEADLINE: Duration = Duration::from_secs(30);
/// The most streams of one owner.
const MOST_PER_OWNER: usize = 32;

/// The streams that are open.
#[derive(Default)]
pub struct Connections {
    open: Mutex<HashMap<String, Connection>>,
}

struct Connection {
    owner: String,
    messages: mpsc::Sender<ClientJsonRpcMessage>,
}

/// Removes a connection when its stream ends.
struct Registered {
    app: App,
    id: String,
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.app.mcp.sse.open.lock().remove(&self.id);
    }
}

/// Opens a stream.
pub async fn open(State(app): State<App>, request: Request) -> ApiResult<Response> {
    let (parts, _) = request.into_parts();
    admit(&app, &parts)?;
    let client = Client::of_parts(&app, &parts)
        .ok_or_else(|| ApiError::internal("the gate let an unknown caller through"))?;
    let (to_server, from_client) = mpsc::channel(WAITING);
    let (to_client, answers) = mpsc::channel::<ServerJsonRpcMessage>(WAITING);
    let registered = register(&client, to_server)?;
    let transport = (Outgoing(PollSender::new(to_client)), Incoming(from_client));
    let door = Door::new(app.clone());
    helmdeck_task::spawn(async move {
        // Ends when the stream does: the queue of answers is closed then.
        if let Ok(service) = door.serve(transport).await {
            let _ = service.waiting().await;
        }
    });
    let mut address = format!("{}?sessionId={}", parts.uri.path(), registered.id);
    for (name, value) in query::pairs(parts.uri.query().unwrap_or_default()) {
        if let Ok(pair) = serde_urlencoded::to_string([(name, value)]) {
            address = format!("{address}&{pair}");
        }
    }
    let first = stream::iter([Event::default().event("endpoint").data(address)]);
    let answers = stream::unfold((answers, registered), async |(mut answers, registered)| {
        let message = answers.recv().await?;
        let text = serde_json::to_string(&message).unwrap_or_default();
        Some((Event::default().event("message").data(text), (answers, registered)))
    });
    let events = first.chain(answers).map(Ok::<_, Infallible>).take_until(Box::pin(over(client)));
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response())
}

/// Resolves when the client may no longer listen.
async fn over(client: Client) {
    let credentials = [client.caller.token.clone()];
    tokio::select! {
        () = client.app.closing.cancelled() => {}
        () = client.app.revoked.any_of(&credentials) => {}
        () = until(Some(client.claims.info().expires_at)) => {}
    }
}

fn register(
    client: &Client,
    messages: mpsc::Sender<ClientJsonRpcMessage>,
) -> ApiResult<Registered> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(ApiError::internal)?;
    let id = BASE64_URL_SAFE_NO_PAD.encode(random);
    let owner = client.caller.subject.clone();
    let mut open = client.app.mcp.sse.open.lock();
    if open.values().filter(|connection| connection.owner == owner).count() >= MOST_PER_OWNER {
        let message = format!("{MOST_PER_OWNER} streams are open: close one first");
        return Err(ApiError::new(ErrorCode::TooManyConnections, message));
    }
    open.insert(id.clone(), Connection { owner, messages });
    Ok(Registered { app: client.app.clone(), id })
}

/// Takes a message for an open stream.
pub async fn post(State(app): State<App>, request: Request) -> ApiResult<Response> {
    let (parts, content) = request.into_parts();
    admit(&app, &parts)?;
    let client = Client::of_parts(&app, &parts)
        .ok_or_else(|| ApiError::internal("the gate let an unknown caller through"))?;
    let pairs = query::pairs(parts.uri.query().unwrap_or_default());
    let id = pairs.into_iter().find(|(name, _)| name == "sessionId").map(|(_, id)| id);
    let found = id.and_then(|id| {
        let open = app.mcp.sse.open.lock();
        let connection = open.get(&id).filter(|it| it.owner == client.caller.subject);
        connection.map(|connection| connection.messages.clone())
    });
    let messages = found.ok_or_else(|| {
        let message = "there is no such stream: open one with GET, and post where it says";
        ApiError::new(ErrorCode::NotFound, message)
    })?;
    let bytes = body::read(content, app.max_pack_body_bytes()).await?;
    let bytes = legacy_tasks::rename(None, bytes);
    let mut message: ClientJsonRpcMessage = serde_json::from_slice(&bytes).map_err(|error| {
        ApiError::new(ErrorCode::InvalidJson, format!("not a JSON-RPC message: {error}"))
    })?;
    match &mut message {
        JsonRpcMessage::Request(request) => {
            request.request.extensions_mut().insert(parts);
        }
        JsonRpcMessage::Notification(notification) => {
            notification.notification.extensions_mut().insert(parts);
        }
        _ => {}
    }
    let sent = tokio::time::timeout(POST_DEADLINE, messages.send(message)).await;
    if !matches!(sent, Ok(Ok(()))) {
        let message = "the stream takes no messages: open another";
        return Err(ApiError::new(ErrorCode::NotFound, message));
    }
    Ok((StatusCode::ACCEPTED, "Accepted").into_response())
}

/// Messages of the client, as rmcp reads them.
struct Incoming(mpsc::Receiver<ClientJsonRpcMessage>);

impl Stream for Incoming {
    type Item = ClientJsonRpcMessage;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context)
    }
}

/// Messages for the client, as rmcp writes them.
struct Outgoing(PollSender<ServerJsonRpcMessage>);

impl Sink<ServerJsonRpcMessage> for Outgoing {
    type Error = std::io::Error;

    fn poll_ready(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), Self::Error>> {
        self.0.poll_reserve(context).map_err(closed)
    }

    fn start_send(
        mut self: Pin<&mut Self>,
        message: ServerJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        self.0.send_item(message).map_err(closed)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.0.close();
        Poll::Ready(Ok(()))
    }
}

fn closed<E>(_: E) -> std::io::Error {
    std::io::ErrorKind::BrokenPipe.into()
}
