//! Ports of a machine that `helmdeck forward` runs on.

use helmdeck_wire::forward::ForwardRule;
use serde_json::json;
use tokio::{
    io::{DuplexStream, duplex},
    sync::mpsc,
};

use super::Target;
use crate::{Caller, Session, SessionError, events::EventKind, history::Attempt};

/// Connections that a client is told of and has not heard yet.
const UNHEARD: usize = 64;
/// What is on the way between a program inside and a client.
const BUFFER: usize = 64 << 10;

/// A port that a client forwards. Dropping it closes the port.
pub struct ClientForward {
    session: Session,
    port: u16,
    announced: mpsc::Receiver<String>,
}

impl ClientForward {
    /// The name of the next connection, which the client brings by [`Session::bring_forwarded`];
    /// none if the forward is closed.
    pub async fn next(&mut self) -> Option<String> {
        self.announced.recv().await
    }
}

impl Drop for ClientForward {
    fn drop(&mut self) {
        let (session, port) = (self.session.clone(), self.port);
        let forwards = &session.inner.forwards;
        // Another may have opened the port since this one was closed by somebody else.
        let own = |open: &super::Open| match &open.target {
            Target::Client(announce) => announce.is_closed(),
            Target::Server => false,
        };
        self.announced.close();
        let mut open = forwards.open.lock();
        if !open.get(&port).is_some_and(own) {
            return;
        }
        open.remove(&port);
        drop(open);
        session.tell(EventKind::Changed);
        if session.is_alive() {
            tokio::spawn(async move {
                // A guest that cannot be told has nobody to tell either.
                let _ = session.tell_guest_forwards().await;
            });
        }
    }
}

impl Session {
    /// Opens a port inside that leads to a port of the caller's machine.
    pub async fn forward_from_client(
        &self,
        caller: &Caller,
        rule: ForwardRule,
    ) -> Result<ClientForward, SessionError> {
        let detail = json!({ "port": rule.port, "to_port": rule.to, "from": "client" });
        let mut attempt = Attempt::named(self, caller.actor(), "forward_open", detail);
        let opened = async {
            let _busy = self.admit_forward().await?;
            let (announce, announced) = mpsc::channel(UNHEARD);
            self.open_forward(rule, Target::Client(announce)).await?;
            Ok(ClientForward { session: self.clone(), port: rule.port, announced })
        }
        .await;
        attempt.outcome = opened.as_ref().map_or_else(SessionError::code, |_| "ok");
        opened
    }

    /// The other end of a connection that a client was asked for; none if nobody waits for it.
    pub fn bring_forwarded(&self, name: &str) -> Option<DuplexStream> {
        let waiting = self.inner.forwards.waiting.lock().remove(name)?;
        let (ours, theirs) = duplex(BUFFER);
        waiting.send(theirs).ok()?;
        Some(ours)
    }
}
