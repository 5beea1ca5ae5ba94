//! The session of protocol versions before 2026-07-28.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::{FutureExt, future::BoxFuture};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::Value;
use tokio::time::timeout;

use super::{
    bridge::Bridge,
    exchange::Answer,
    message::{Kind, Message, VERSION_HEADER},
    notifications,
    problem::Problem,
    request,
};

/// The header with its id.
pub const HEADER: HeaderName = HeaderName::from_static("mcp-session-id");
/// How long the server may take to end it.
const END_DEADLINE: Duration = Duration::from_secs(2);

/// A session that the client initialized.
#[derive(Debug, Clone)]
pub struct Session {
    id: Option<HeaderValue>,
    version: HeaderValue,
    /// The client's request, to open another one.
    initialize: Message,
}

impl Session {
    /// The session that an answer opens.
    fn opened(initialize: &Message, answer: &Answer) -> Option<Self> {
        let value: Value = serde_json::from_str(&answer.text).ok()?;
        let version = value.pointer("/result/protocolVersion")?.as_str()?;
        Some(Self {
            id: answer.session.clone(),
            version: HeaderValue::try_from(version).ok()?,
            initialize: initialize.clone(),
        })
    }

    /// The headers of its messages.
    pub fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(VERSION_HEADER, self.version.clone());
        if let Some(id) = &self.id {
            headers.insert(HEADER, id.clone());
        }
        headers
    }
}

/// Notes what an answer changes: the session, or its subscriptions.
pub fn note(bridge: &Bridge, message: &Message, answer: &Answer) {
    match (message.method(), &message.name) {
        ("initialize", _) => {
            bridge.set_listener(None);
            bridge.subscribed.lock().clear();
            bridge.set_session(Session::opened(message, answer));
        }
        ("resources/subscribe", Some(uri)) => {
            bridge.subscribed.lock().insert(uri.clone(), message.clone());
        }
        ("resources/unsubscribe", Some(uri)) => drop(bridge.subscribed.lock().remove(uri)),
        _ => {}
    }
}

/// Opens a session in place of one that the server does not know any more. The client does not notice.
///
/// Boxed because opening a session is a request, too.
pub fn reopen<'a>(
    bridge: &'a Arc<Bridge>,
    gone: &'a Session,
) -> BoxFuture<'a, Result<(), Problem>> {
    async move {
        let _turn = bridge.reopening.lock().await;
        if bridge.session().is_none_or(|it| it.id != gone.id) {
            return Ok(());
        }
        let initialize = &gone.initialize;
        let Kind::Request { id, .. } = &initialize.kind else { return Ok(()) };
        let answer = request::relay(bridge, initialize, id, None).await?;
        bridge.set_session(Session::opened(initialize, &answer));
        bridge.note("the server did not know the MCP session; opened another one");
        notifications::confirm(bridge).await;
        Ok(())
    }
    .boxed()
}

/// Subscribes again, after the server was restarted or the session replaced.
pub async fn resubscribe(bridge: &Arc<Bridge>) {
    let subscribed: Vec<_> = bridge.subscribed.lock().values().cloned().collect();
    for message in subscribed {
        if let Kind::Request { id, .. } = &message.kind {
            // A resource that is gone does not change any more.
            let _ = request::relay(bridge, &message, id, None).await;
        }
    }
}

/// Ends the session, if there is one.
pub async fn end(bridge: &Bridge) {
    bridge.set_listener(None);
    if let Some(session) = bridge.session().filter(|it| it.id.is_some()) {
        let ending = bridge.send(Method::DELETE, session.headers(), Bytes::new(), END_DEADLINE);
        // Connecting has a separate deadline.
        let _ = timeout(END_DEADLINE, ending).await;
    }
}
