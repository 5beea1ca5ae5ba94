//! Who waits for what: every message of the browser finds its way here, and none waits for anyone.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Weak},
};

use parking_lot::Mutex;
use serde::de::Error as _;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::{
    CdpError,
    client::{Ended, Outbox},
    envelope::{Attachment, Envelope, id_at_start},
    events::{Event, Inbox},
    frames::Frame,
    peek::{self, refusal},
    pipe::Posts,
    session::SessionId,
    tree::{Owner, Tree},
};

/// What one client may have asked without an answer yet. The browser owes none to a session that
/// ended or to a message it could not read, so a client could make this grow without end.
const MAX_UNANSWERED: usize = 4096;

/// The state of one pipe.
pub(crate) struct Board {
    state: Mutex<State>,
    posts: Posts,
}

#[derive(Default)]
struct State {
    gone: bool,
    last_call: i32,
    last_client: u64,
    calls: HashMap<i32, Call>,
    sessions: Tree,
    clients: HashMap<u64, Share>,
    listeners: Vec<Listener>,
}

/// A question the browser has not answered.
struct Call {
    /// Where it was asked; nobody else may answer.
    session: Option<SessionId>,
    asker: Asker,
}

enum Asker {
    Us(oneshot::Sender<Result<Answer, CdpError>>),
    Client { client: u64, id: i32 },
}

/// What the browser answered, unread.
pub(crate) enum Answer {
    Yes(Box<RawValue>),
    No(Box<RawValue>),
}

/// What a client has of the pipe.
struct Share {
    session: SessionId,
    outbox: Arc<Outbox>,
    unanswered: usize,
}

struct Listener {
    session: Option<SessionId>,
    inbox: Weak<Inbox>,
}

/// Why a client's question is not asked.
pub(crate) enum Unasked {
    /// The session is not one of the client's.
    Foreign,
    TooMany,
    /// The client was closed.
    Closed,
}

impl Board {
    pub fn new(posts: Posts) -> Self {
        Self { state: Mutex::default(), posts }
    }

    /// Expects an answer to a question of ours, and returns the number to ask it with.
    pub fn expect(
        &self,
        session: Option<&SessionId>,
    ) -> Result<(i32, oneshot::Receiver<Result<Answer, CdpError>>), CdpError> {
        let mut state = self.state.lock();
        if state.gone {
            return Err(CdpError::BrowserGone);
        }
        let (sender, receiver) = oneshot::channel();
        let id = state.number();
        state.calls.insert(id, Call { session: session.cloned(), asker: Asker::Us(sender) });
        Ok((id, receiver))
    }

    /// The same for a client's question, from its own session if it names none.
    pub fn expect_for(
        &self,
        client: u64,
        session: Option<&str>,
        id: i32,
    ) -> Result<(i32, SessionId), Unasked> {
        let mut state = self.state.lock();
        let state = &mut *state;
        let share = state.clients.get_mut(&client).ok_or(Unasked::Closed)?;
        let session = session.map_or_else(|| share.session.clone(), SessionId::from);
        if state.sessions.owner(session.as_str()) != Some(Owner::Client(client)) {
            return Err(Unasked::Foreign);
        }
        if share.unanswered >= MAX_UNANSWERED {
            return Err(Unasked::TooMany);
        }
        share.unanswered += 1;
        let number = state.number();
        let asker = Asker::Client { client, id };
        state.calls.insert(number, Call { session: Some(session.clone()), asker });
        Ok((number, session))
    }

    /// Nobody waits for this answer any more.
    pub fn forget(&self, id: i32) {
        self.state.lock().take_call(id);
    }

    /// Registers somebody who listens to a session of ours, or to the browser itself.
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

    /// Makes a session that we attached the first one of a new client.
    pub fn admit(&self, session: &SessionId, outbox: Arc<Outbox>) -> Result<u64, CdpError> {
        let mut state = self.state.lock();
        if state.gone {
            return Err(CdpError::BrowserGone);
        }
        let client = state.last_client + 1;
        if !state.sessions.give(session, client) {
            return Err(CdpError::TargetGone);
        }
        state.last_client = client;
        state.clients.insert(client, Share { session: session.clone(), outbox, unanswered: 0 });
        Ok(client)
    }

    /// Gives a client an answer in the browser's place.
    pub fn answer_for(&self, client: u64, answer: String) {
        self.state.lock().hand(client, answer, &self.posts);
    }

    /// Ends a client: its sessions are detached, and what it had asked is forgotten.
    pub fn dismiss(&self, client: u64) {
        self.state.lock().dismiss(client, Ended::Dropped, &self.posts);
    }

    /// The pipe is closed: whoever waits learns it now.
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

    /// Hands a message of the browser to whom it concerns. What makes no sense is passed over,
    /// except that whoever waits for it is told.
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

    /// Tells whoever waits for a message that begins like this that it cannot be read.
    fn fail(&self, head: &[u8], error: CdpError) {
        let mut state = self.state.lock();
        match id_at_start(head).and_then(|id| state.take_call(id)).map(|call| call.asker) {
            Some(Asker::Us(sender)) => {
                let _ = sender.send(Err(error));
            }
            Some(Asker::Client { client, id }) => {
                let answer = refusal(Some(id), None, peek::SERVER_ERROR, &error.to_string());
                state.hand(client, answer, &self.posts);
            }
            None => {}
        }
    }
}

impl State {
    /// A number that no unanswered question has. The browser knows no larger ones than these.
    fn number(&mut self) -> i32 {
        loop {
            self.last_call = self.last_call.checked_add(1).unwrap_or(1);
            if !self.calls.contains_key(&self.last_call) {
                return self.last_call;
            }
        }
    }

    fn take_call(&mut self, id: i32) -> Option<Call> {
        let call = self.calls.remove(&id)?;
        if let Asker::Client { client, .. } = call.asker
            && let Some(share) = self.clients.get_mut(&client)
        {
            share.unanswered -= 1;
        }
        Some(call)
    }

    fn answer(&mut self, id: i32, envelope: Envelope<'_>, posts: &Posts) {
        // The browser itself answers without a session where there is no such session.
        let from = envelope.session.as_deref();
        let asked = self.calls.get(&id).map(|call| call.session.as_ref().map(SessionId::as_str));
        if asked.is_none_or(|session| from.is_some() && from != session) {
            return;
        }
        match self.take_call(id).map(|call| call.asker) {
            Some(Asker::Us(sender)) => {
                let _ = sender.send(match (envelope.result, envelope.error) {
                    (_, Some(error)) => Ok(Answer::No(error.to_owned())),
                    (Some(result), None) => Ok(Answer::Yes(result.to_owned())),
                    (None, None) => {
                        let error = serde_json::Error::missing_field("result");
                        Err(CdpError::Nonsense(error))
                    }
                });
            }
            Some(Asker::Client { client, id }) => {
                self.pass_on(client, Envelope { id: Some(id), ..envelope }, posts);
            }
            None => {}
        }
    }

    fn event(&mut self, envelope: Envelope<'_>, posts: &Posts) {
        let method = envelope.method.as_deref().unwrap_or_default();
        let session = envelope.session.as_deref();
        let owner = session.map_or(Some(Owner::Us), |session| self.sessions.owner(session));
        let Some(owner) = owner else { return };
        let params = envelope.params.map_or("null", RawValue::get);
        let other = || serde_json::from_str::<Attachment<'_>>(params).ok();
        let gone = match method {
            "Target.attachedToTarget" => {
                if let Some(attachment) = other() {
                    self.sessions.attach(session, &attachment.session, attachment.waiting);
                }
                HashSet::new()
            }
            "Target.detachedFromTarget" => other()
                .map(|attachment| self.sessions.detach(session, &attachment.session))
                .unwrap_or_default(),
            // The session lives on and the page may be loaded again, but what was asked of it is
            // not answered before that. Clients may wait for it, as they would without us.
            "Inspector.targetCrashed" if owner == Owner::Us => {
                self.lose_calls(|call| call.session.as_ref().map(SessionId::as_str) == session);
                HashSet::new()
            }
            _ => HashSet::new(),
        };
        match owner {
            Owner::Us => self.tell(session, method, envelope.params),
            Owner::Client(client) => self.pass_on(client, envelope, posts),
        }
        if !gone.is_empty() {
            self.bury(&gone);
        }
    }

    /// Tells our own listeners.
    fn tell(&mut self, session: Option<&str>, method: &str, params: Option<&RawValue>) {
        let mut event = None;
        for listener in &self.listeners {
            if listener.session.as_ref().map(SessionId::as_str) != session {
                continue;
            }
            let Some(inbox) = listener.inbox.upgrade().filter(|inbox| inbox.wants(method)) else {
                continue;
            };
            let event = event.get_or_insert_with(|| Arc::new(Event::new(method, params)));
            inbox.add(Arc::clone(event));
        }
    }

    /// Sends a client an answer or event, as if it had the pipe for itself.
    fn pass_on(&mut self, client: u64, mut envelope: Envelope<'_>, posts: &Posts) {
        let own = self.clients.get(&client).map(|share| share.session.as_str());
        if envelope.session.as_deref() == own {
            envelope.session = None;
        }
        if let Ok(message) = envelope.write() {
            self.hand(client, message, posts);
        }
    }

    fn hand(&mut self, client: u64, message: String, posts: &Posts) {
        let length = message.len();
        let Some(share) = self.clients.get(&client) else { return };
        if share.outbox.push(message, length).is_err() {
            self.dismiss(client, Ended::TooSlow, posts);
        }
    }

    fn dismiss(&mut self, client: u64, why: Ended, posts: &Posts) {
        let Some(share) = self.clients.remove(&client) else { return };
        share.outbox.cut(why);
        // Chromium would leave a page waiting for ever that nobody was left to start, and its
        // opener with it.
        let waiting: Vec<_> = self.sessions.waiting(client).cloned().collect();
        for session in waiting {
            posts.resume(self.number(), &session);
        }
        posts.detach(self.number(), &share.session);
        self.sessions.detach(None, share.session.as_str());
        self.calls.retain(
            |_, call| !matches!(call.asker, Asker::Client { client: asker, .. } if asker == client),
        );
    }

    /// Ends whatever is left of sessions that are gone.
    fn bury(&mut self, gone: &HashSet<SessionId>) {
        self.lose_calls(|call| call.session.as_ref().is_some_and(|session| gone.contains(session)));
        self.listeners.retain(|listener| {
            let buried = listener.session.as_ref().is_some_and(|session| gone.contains(session));
            if let Some(inbox) = listener.inbox.upgrade().filter(|_| buried) {
                inbox.end();
            }
            !buried
        });
        self.clients.retain(|_, share| {
            let buried = gone.contains(&share.session);
            if buried {
                share.outbox.end(Ended::Detached);
            }
            !buried
        });
    }

    /// Gives up on questions. Clients are told nothing, as the browser would tell them nothing.
    fn lose_calls(&mut self, lost: impl Fn(&Call) -> bool) {
        let ids: Vec<_> =
            self.calls.iter().filter(|(_, call)| lost(call)).map(|(id, _)| *id).collect();
        for call in ids.into_iter().filter_map(|id| self.take_call(id)) {
            if let Asker::Us(sender) = call.asker {
                let _ = sender.send(Err(CdpError::TargetGone));
            }
        }
    }
}
