//! Forwarded ports of a machine that runs `helmdeck forward`.

use helmdeck_wire::forward::ForwardRule;
use serde_json::json;
use tokio::{
    io::{DuplexStream, duplex},
    sync::mpsc,
};

use super::Target;
use crate::{Caller, Session, SessionError, events::EventKind, history::Attempt};

/// Announced connections that the client has not read yet.
const UNHEARD: usize = 64;
/// Buffer between a program inside and a client.
const BUFFER: usize = 64 << 10;

/// A port that a client forwards. Dropping it closes the port.
pub struct ClientForward {
    session: Session,
    port: u16,
    announced: mpsc::Receiver<String>,
}

impl ClientForward {
    /// Name of the next connection. The client opens it with [`Session::bring_forwarded`]. `None`
    /// if the forward is closed.
    pub async fn next(&mut self) -> Option<String> {
        self.announced.recv().await
    }
}

impl Drop for ClientForward {
    fn drop(&mut self) {
        let (session, port) = (self.session.clone(), self.port);
        let forwards = &session.inner.forwards;
        // The port may have been closed and opened again by another forward.
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
            helmdeck_task::spawn(async move {
                // If the guest cannot be reached, there is nothing left to close.
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

    /// The other end of a requested connection. `None` if it is not expected.
    pub fn bring_forwarded(&self, name: &str) -> Option<DuplexStream> {
        let waiting = self.inner.forwards.waiting.lock().remove(name)?;
        let (ours, theirs) = duplex(BUFFER);
        waiting.send(theirs).ok()?;
        Some(ours)
    }
}
