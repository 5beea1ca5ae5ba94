//! Routes every message of the browser to its receiver, without ever waiting.

mod state;

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;

pub(crate) use self::state::{Answer, Settling};
use self::state::{Asker, Call, Listener, Share, State};

use crate::{
    CdpError,
    client::{Ended, Outbox},
    client_message::{self, refusal},
    contexts::{Expectation, Named},
    envelope::{Envelope, id_at_start},
    events::Inbox,
    handover::{CallHandling, Settings, Step, TooManySettings},
    pipe::Posts,
    pipe_messages::Frame,
    session::SessionId,
    tree::{Owner, Tree},
};

/// Limit on unanswered calls of one client. The browser does not answer calls to ended sessions or
/// invalid messages, so without a limit a client could make the list grow forever.
const MAX_UNANSWERED: usize = 4096;
/// Sets the download folder, or denies downloads.
const DOWNLOADS: &str = "Browser.setDownloadBehavior";

/// The state of one pipe.
pub(crate) struct Dispatcher {
    state: Mutex<State>,
    posts: Posts,
}

/// A client's call.
pub(crate) struct Question<'a> {
    pub id: i32,
    pub session: Option<&'a str>,
    pub method: &'a str,
    pub params: &'a str,
    pub named: &'a Named<'a>,
}

/// A client's call that may be sent.
pub(crate) struct Expected {
    /// The id to send it with.
    pub id: i32,
    pub session: SessionId,
    /// Parameters that replace the client's.
    pub params: Option<String>,
    /// A call to make afterwards.
    pub then: Option<Step>,
}

/// Why a client's call is not sent.
pub(crate) enum NotSent {
    /// The session does not belong to the client.
    Foreign,
    /// The context belongs to another client.
    ForeignContext,
    /// The call changes a shared context.
    SharedContext,
    TooMany,
    TooManyContexts,
    TooMuchSet,
    /// A person has control: the call is answered now and made later.
    Later,
    /// The client was closed.
    Closed,
}

/// Whether a call turns downloads off. An ambiguous call counts as one that does.
fn turns_off(params: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Behavior<'a> {
        #[serde(borrow, default)]
        behavior: std::borrow::Cow<'a, str>,
    }
    serde_json::from_str::<Behavior<'_>>(params).map_or(true, |params| params.behavior == "deny")
}

impl Dispatcher {
    pub fn new(posts: Posts) -> Self {
        Self { state: Mutex::default(), posts }
    }

    /// Registers a call of ours and returns its id.
    pub fn expect(
        &self,
        session: Option<&SessionId>,
        method: &str,
    ) -> Result<(i32, oneshot::Receiver<Result<Answer, CdpError>>), CdpError> {
        let mut state = self.state.lock();
        if state.gone {
            return Err(CdpError::BrowserGone);
        }
        let (sender, receiver) = oneshot::channel();
        let id = state.number();
        let expectation = Named::default().expectation(method);
        let call = Call { session: session.cloned(), asker: Asker::Us(sender), expectation };
        state.calls.insert(id, call);
        Ok((id, receiver))
    }

    /// The same for a client's call; the session defaults to the client's own.
    pub fn expect_for(&self, client: u64, question: &Question<'_>) -> Result<Expected, NotSent> {
        let mut state = self.state.lock();
        let state = &mut *state;
        let fenced = state.is_fenced(Owner::Client(client));
        let share = state.clients.get_mut(&client).ok_or(NotSent::Closed)?;
        let session = question.session.map_or_else(|| share.session.clone(), SessionId::from);
        if state.sessions.owner(session.as_str()) != Some(Owner::Client(client)) {
            return Err(NotSent::Foreign);
        }
        if !state.contexts.shows(client, question.named.context.as_deref()) {
            return Err(NotSent::ForeignContext);
        }
        let (method, context) = (question.method, question.named.context.as_deref());
        if method == DOWNLOADS
            && turns_off(question.params)
            && !state.contexts.owns(client, context)
        {
            return Err(NotSent::SharedContext);
        }
        if share.unanswered >= MAX_UNANSWERED {
            return Err(NotSent::TooMany);
        }
        let expectation = question.named.expectation(question.method);
        if expectation == Expectation::NewContext && state.contexts.is_full(client) {
            return Err(NotSent::TooManyContexts);
        }
        let turn = share.settings.call(&session, question.method, question.params, fenced);
        let (params, then) = match turn {
            Ok(CallHandling::Pass) => (None, None),
            Ok(CallHandling::Instead(params)) => (Some(params), None),
            Ok(CallHandling::Then(step)) => (None, Some(step)),
            Ok(CallHandling::Later) => return Err(NotSent::Later),
            Err(TooManySettings) => return Err(NotSent::TooMuchSet),
        };
        share.unanswered += 1;
        let id = state.number();
        let asker = Asker::Client { client, id: question.id };
        state.calls.insert(id, Call { session: Some(session.clone()), asker, expectation });
        Ok(Expected { id, session, params, then })
    }

    /// Makes a call on behalf of a client; its answer is ignored.
    pub fn step(&self, step: &Step) {
        let id = self.state.lock().number();
        self.posts.step(id, step);
    }

    /// Whether a client may see and use a context.
    pub fn shows(&self, client: u64, context: Option<&str>) -> bool {
        self.state.lock().contexts.shows(client, context)
    }

    /// Control changed: to the person whose clients have this label, or to agents.
    pub fn hand_over(&self, driver: Option<String>) -> Vec<Settling> {
        self.state.lock().hand_over(driver, &self.posts)
    }

    /// Forgets a call whose answer is no longer needed.
    pub fn forget(&self, id: i32) {
        self.state.lock().take_call(id);
    }

    /// Registers a listener for a session of ours, or for the browser itself.
    pub fn listen(&self, session: Option<&SessionId>, inbox: &Arc<Inbox>) {
        let mut state = self.state.lock();
        let known =
            session.is_none_or(|session| state.sessions.owner(session.as_str()) == Some(Owner::Us));
        if state.gone || !known {
            return inbox.end();
        }
        state.listeners.retain(|listener| listener.inbox.strong_count() > 0);
        let inbox = Arc::downgrade(inbox);
        state.listeners.push(Listener { session: session.cloned(), inbox });
    }

    /// Makes a session that we attached the root session of a new client.
    pub fn admit(
        &self,
        session: &SessionId,
        label: String,
        outbox: Arc<Outbox>,
    ) -> Result<u64, CdpError> {
        let mut state = self.state.lock();
        if state.gone {
            return Err(CdpError::BrowserGone);
        }
        let client = state.last_client + 1;
        if !state.sessions.give(session, client) {
            return Err(CdpError::TargetGone);
        }
        state.last_client = client;
        let (session, settings) = (session.clone(), Settings::default());
        state.clients.insert(client, Share { session, label, outbox, unanswered: 0, settings });
        Ok(client)
    }

    /// Sends a client an answer in place of the browser.
    pub fn answer_for(&self, client: u64, answer: String) {
        self.state.lock().hand(client, answer, &self.posts);
    }

    /// Removes a client: its sessions are detached and its calls forgotten.
    pub fn dismiss(&self, client: u64) {
        self.state.lock().dismiss(client, Ended::Dropped, &self.posts);
    }

    /// Handles the end of the pipe: all pending calls fail now.
    pub fn close(&self) {
        let mut state = self.state.lock();
        state.gone = true;
        self.posts.close();
        for (_, call) in state.calls.drain() {
            if let Asker::Us(sender) = call.asker {
                let _ = sender.send(Err(CdpError::BrowserGone));
            }
        }
        for inbox in state.listeners.drain(..).filter_map(|listener| listener.inbox.upgrade()) {
            inbox.end();
        }
        for (_, share) in state.clients.drain() {
            share.outbox.end(Ended::BrowserGone);
        }
        state.sessions = Tree::default();
    }

    /// Routes a message of the browser. Invalid messages are ignored, but a call that they answer
    /// fails.
    pub fn receive(&self, frame: Frame) {
        let message = match frame {
            Frame::Message(message) => message,
            Frame::TooLarge(head) => return self.fail(&head, CdpError::TooLarge),
        };
        let envelope = match Envelope::read(&message) {
            Ok(envelope) => envelope,
            Err(error) => return self.fail(&message, CdpError::Nonsense(error)),
        };
        let mut state = self.state.lock();
        match (envelope.id, &envelope.method) {
            (Some(id), _) => state.answer(id, envelope, &self.posts),
            (None, Some(_)) => state.event(envelope, &self.posts),
            (None, None) => {}
        }
    }

    /// Fails the call that an unreadable message answers, judging by its first bytes.
    fn fail(&self, head: &[u8], error: CdpError) {
        let mut state = self.state.lock();
        match id_at_start(head).and_then(|id| state.take_call(id)).map(|call| call.asker) {
            Some(Asker::Us(sender)) => {
                let _ = sender.send(Err(error));
            }
            Some(Asker::Client { client, id }) => {
                let answer =
                    refusal(Some(id), None, client_message::SERVER_ERROR, &error.to_string());
                state.hand(client, answer, &self.posts);
            }
            None => {}
        }
    }
}
