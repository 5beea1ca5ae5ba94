//! The life of a request: attempts until it is answered, by the server or with an error.

use std::{sync::Arc, time::Duration};

use tokio::sync::watch;

use super::{
    bridge::{Bridge, Pending},
    exchange::{Answer, Exchange, Outcome},
    id::Id,
    message::Message,
    problem::{self, Problem},
    retry::Retry,
    session,
};

/// How often a session is replaced for one message.
const MAX_SESSIONS: usize = 3;

/// Messages that must be through before those that follow: `initialize` and its confirmation.
#[derive(Clone, Default)]
pub struct Handshake(Option<watch::Receiver<()>>);

impl Handshake {
    /// Begins a handshake, which is done when the returned value is dropped.
    pub fn begin(&mut self) -> watch::Sender<()> {
        let (done, waiting) = watch::channel(());
        self.0 = Some(waiting);
        done
    }

    /// Waits until it is done.
    pub async fn done(self) {
        if let Some(mut waiting) = self.0 {
            // Nothing is sent: this returns when the sender is dropped.
            let _ = waiting.changed().await;
        }
    }
}

/// Has a request answered, unless the client cancels it.
pub async fn run(
    bridge: &Arc<Bridge>,
    message: &Message,
    id: &Id,
    pending: Pending,
    before: Handshake,
) {
    let work = async {
        if !message.is_stateless() {
            before.done().await;
        }
        relay(bridge, message, id, Some(&pending)).await
    };
    let Some(answer) = pending.cancel.run_until_cancelled(work).await else {
        return bridge.forget(id);
    };
    let text = match answer {
        Ok(answer) => {
            session::note(bridge, message, &answer);
            answer.text
        }
        Err(problem) => problem.answer(Some(id)),
    };
    bridge.answer(id, text).await;
}

/// Sends a request until it is answered. One that may have been carried out is sent again only if it
/// is repeatable.
pub async fn relay(
    bridge: &Arc<Bridge>,
    message: &Message,
    id: &Id,
    pending: Option<&Pending>,
) -> Result<Answer, Problem> {
    let has_session = !message.is_stateless() && message.method() != "initialize";
    let mut retry = Retry::default();
    let mut sessions = 0;
    loop {
        let session = bridge.session().filter(|_| has_session);
        let exchange = Exchange { bridge, message, id, pending, session: session.as_ref() };
        let (why, after) = match exchange.run().await {
            Outcome::Answered(answer) => return Ok(answer),
            Outcome::Refused(problem) => return Err(problem),
            Outcome::SessionGone => {
                sessions += 1;
                let Some(gone) = session.filter(|_| sessions < MAX_SESSIONS) else {
                    return Err(problem::unreachable("it does not keep the MCP session"));
                };
                session::reopen(bridge, &gone).await?;
                continue;
            }
            Outcome::Unsent { why, after } => (why, after),
            Outcome::Lost { why, has_begun } if message.is_repeatable() => {
                if has_begun && message.is_subscription() {
                    retry = Retry::default();
                }
                (why, Duration::ZERO)
            }
            Outcome::Lost { why, .. } => {
                return Err(problem::lost(&bridge.url(), message.method(), &why));
            }
        };
        if !retry.has_failed() {
            bridge.note(&format!("{}: {why}; trying again", message.method()));
        }
        if !retry.pause(after, bridge.patience()).await {
            return Err(problem::unreachable(&why));
        }
    }
}
