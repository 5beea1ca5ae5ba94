//! Messages without an answer: those of the client, and what the server sends outside of answers.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode};
use tokio::time::{sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

use super::{
    bridge::Bridge,
    http::Failure,
    id::Id,
    message::{Kind, Message},
    request::Handshake,
    retry::Retry,
    session::{self, Session},
    stream::{LAST_EVENT, Position, Stream},
};

/// How long the server may take to accept a notification.
const DEADLINE: Duration = Duration::from_secs(30);
/// How long a request that is cancelled may take to reach the server.
const CANCEL_DEADLINE: Duration = Duration::from_secs(5);
/// Pause before the stream of notifications is opened again.
const PAUSE: Duration = Duration::from_secs(1);

/// Relays a notification or a response of the client.
pub async fn relay(bridge: &Arc<Bridge>, message: &Message, before: Handshake) {
    if let Kind::Notification { cancels: Some(id), .. } = &message.kind {
        return cancel(bridge, message, id).await;
    }
    before.done().await;
    post(bridge, message).await;
    if message.method() == "notifications/initialized" {
        listen(bridge, false);
    }
}

/// Cancels a request. Without a session, closing its connection is the cancellation.
async fn cancel(bridge: &Arc<Bridge>, message: &Message, id: &Id) {
    let Some(pending) = bridge.pending(id) else { return };
    if !pending.is_stateless {
        // The server ignores a cancellation that overtakes its request.
        let accepted = timeout(CANCEL_DEADLINE, pending.accepted.cancelled()).await;
        if accepted.is_ok() {
            post(bridge, message).await;
        }
    }
    bridge.forget(id);
    pending.cancel.cancel();
}

/// Sends a message until the server has it. Whether the server accepts it does not matter.
async fn post(bridge: &Arc<Bridge>, message: &Message) {
    // Servers without sessions accept no notifications.
    while let Some(session) = bridge.session() {
        let is_known = deliver(bridge, message, &session).await;
        if is_known || session::reopen(bridge, &session).await.is_err() {
            return;
        }
    }
}

/// The same for one session. False if the server does not know the session.
async fn deliver(bridge: &Bridge, message: &Message, session: &Session) -> bool {
    let mut retry = Retry::default();
    loop {
        let text = message.text.clone();
        let why = match bridge.send(Method::POST, session.headers(), text, DEADLINE).await {
            Ok(reply) if reply.status == StatusCode::NOT_FOUND => return false,
            Ok(reply) if reply.status.is_success() => return true,
            Ok(reply) => {
                let (status, method) = (reply.status, message.method());
                bridge.note(&format!("the server refused {method}: {status}"));
                return true;
            }
            Err(Failure::Lost(_)) if !message.is_handshake() => return true,
            Err(Failure::Lost(why) | Failure::Unsent(why)) => why,
        };
        if !retry.pause(Duration::ZERO, bridge.patience()).await {
            bridge.note(&format!("{}: {why}", message.method()));
            return true;
        }
    }
}

/// Confirms a session that the bridge opened itself, and listens to it.
pub async fn confirm(bridge: &Arc<Bridge>) {
    let line = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let confirmation = Message::read(line).ok().and_then(|mut messages| messages.pop());
    if let (Some(message), Some(session)) = (confirmation, bridge.session()) {
        deliver(bridge, &message, &session).await;
    }
    listen(bridge, true);
}

/// Receives what the server sends outside of answers, for as long as the session lasts.
fn listen(bridge: &Arc<Bridge>, mut is_again: bool) {
    let Some(session) = bridge.session() else { return };
    let owner = bridge.clone();
    let task = helmdeck_task::spawn(async move {
        let mut last = None;
        while let Some(pause) = receive(&owner, &session, &mut last, is_again).await {
            is_again = true;
            sleep(pause).await;
        }
    });
    bridge.set_listener(Some(AbortOnDropHandle::new(task)));
}

/// Passes on messages until the stream breaks. Returns when to open it again, if at all.
async fn receive(
    bridge: &Arc<Bridge>,
    session: &Session,
    last: &mut Option<Position>,
    is_again: bool,
) -> Option<Duration> {
    let mut headers = session.headers();
    if let Some(id) = last.as_ref().and_then(|last| HeaderValue::try_from(&last.id).ok()) {
        headers.insert(LAST_EVENT, id);
    }
    let Ok(reply) = bridge.send(Method::GET, headers, Bytes::new(), DEADLINE).await else {
        // The server was restarted, and numbers events from the beginning.
        *last = None;
        return Some(PAUSE);
    };
    match reply.status {
        StatusCode::OK if reply.is_stream() => {}
        StatusCode::NOT_FOUND => {
            // Begins another listener, which ends this one.
            let _ = session::reopen(bridge, session).await;
            return None;
        }
        status if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
            return Some(reply.retry_after().max(PAUSE));
        }
        // This server sends no notifications.
        _ => return None,
    }
    if is_again {
        // In the background: answers must not delay notifications.
        let bridge = bridge.clone();
        helmdeck_task::spawn(async move { session::resubscribe(&bridge).await });
    }
    let mut stream = Stream::new(reply.events(), last.take());
    while let Ok(message) = stream.next().await {
        bridge.pass(message, None).await;
    }
    // A stream that cannot be resumed begins anew.
    *last = stream.position();
    Some(stream.retry.map_or(PAUSE, |retry| retry.min(PAUSE)))
}
