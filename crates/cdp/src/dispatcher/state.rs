//! The state of one pipe: sessions, clients, and unanswered calls.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Weak},
};

use serde::de::Error as _;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::{
    CdpError,
    client::{Ended, Outbox},
    contexts::{Contexts, EventVisibility, Expectation},
    envelope::{Attachment, Envelope},
    events::{Event, Inbox},
    handover::Settings,
    pipe::Posts,
    session::SessionId,
    tree::{Owner, Tree},
};

/// The state of one pipe.
#[derive(Default)]
pub(super) struct State {
    pub gone: bool,
    last_call: i32,
    pub last_client: u64,
    pub calls: HashMap<i32, Call>,
    pub sessions: Tree,
    pub contexts: Contexts,
    pub clients: HashMap<u64, Share>,
    pub listeners: Vec<Listener>,
    /// The label of the person in control, if any.
    pub driven_by: Option<String>,
}

/// An unanswered call.
pub(super) struct Call {
    /// The session of the call. Answers from other sessions are ignored.
    pub session: Option<SessionId>,
    pub asker: Asker,
    /// What the answer says about contexts.
    pub expectation: Expectation,
}

pub(super) enum Asker {
    Us(oneshot::Sender<Result<Answer, CdpError>>),
    Client { client: u64, id: i32 },
}

/// A pending answer.
pub(crate) type Settling = oneshot::Receiver<Result<Answer, CdpError>>;

/// An answer of the browser, not parsed.
pub(crate) enum Answer {
    Yes(Box<RawValue>),
    No(Box<RawValue>),
}

/// A client's share of the pipe.
pub(super) struct Share {
    pub session: SessionId,
    /// Identifies the client's user.
    pub label: String,
    pub outbox: Arc<Outbox>,
    pub unanswered: usize,
    pub settings: Settings,
}

pub(super) struct Listener {
    pub session: Option<SessionId>,
    pub inbox: Weak<Inbox>,
}

impl State {
    /// An unused call id. The browser accepts no larger ones.
    pub fn number(&mut self) -> i32 {
        loop {
            self.last_call = self.last_call.checked_add(1).unwrap_or(1);
            if !self.calls.contains_key(&self.last_call) {
                return self.last_call;
            }
        }
    }

    pub fn take_call(&mut self, id: i32) -> Option<Call> {
        let call = self.calls.remove(&id)?;
        if let Asker::Client { client, .. } = call.asker
            && let Some(share) = self.clients.get_mut(&client)
        {
            share.unanswered -= 1;
        }
        Some(call)
    }

    pub fn answer(&mut self, id: i32, envelope: Envelope<'_>, posts: &Posts) {
        // The browser answers without a session id if the session does not exist.
        let from = envelope.session.as_deref();
        let asked = self.calls.get(&id).map(|call| call.session.as_ref().map(SessionId::as_str));
        if asked.is_none_or(|session| from.is_some() && from != session) {
            return;
        }
        let Some(call) = self.take_call(id) else { return };
        let owner = match call.asker {
            Asker::Us(_) => Owner::Us,
            Asker::Client { client, .. } => Owner::Client(client),
        };
        let other = self.contexts.answered(owner, &call.expectation, envelope.result);
        let envelope = Envelope { result: other.as_deref().or(envelope.result), ..envelope };
        match call.asker {
            Asker::Us(sender) => {
                let _ = sender.send(match (envelope.result, envelope.error) {
                    (_, Some(error)) => Ok(Answer::No(error.to_owned())),
                    (Some(result), None) => Ok(Answer::Yes(result.to_owned())),
                    (None, None) => {
                        let error = serde_json::Error::missing_field("result");
                        Err(CdpError::Nonsense(error))
                    }
                });
            }
            Asker::Client { client, id } => {
                self.pass_on(client, Envelope { id: Some(id), ..envelope }, posts);
            }
        }
    }

    pub fn event(&mut self, envelope: Envelope<'_>, posts: &Posts) {
        let method = envelope.method.as_deref().unwrap_or_default();
        let session = envelope.session.as_deref();
        let owner = session.map_or(Some(Owner::Us), |session| self.sessions.owner(session));
        let Some(owner) = owner else { return };
        let params = envelope.params.map_or("null", RawValue::get);
        if let Owner::Client(client) = owner
            && !self.concerns(client, session, method, params, posts)
        {
            return;
        }
        let other = || serde_json::from_str::<Attachment<'_>>(params).ok();
        let gone = match method {
            "Target.attachedToTarget" => {
                if let Some(attachment) = other() {
                    self.sessions.attach(session, &attachment.session, attachment.waiting);
                    // Chromium makes windows that pages open wait, even with waiting turned off.
                    if self.is_fenced(owner) {
                        posts.resume(self.number(), &SessionId::from(&*attachment.session));
                    }
                }
                HashSet::new()
            }
            "Target.detachedFromTarget" => other()
                .map(|attachment| self.sessions.detach(session, &attachment.session))
                .unwrap_or_default(),
            // The session continues and the page may be reloaded, but pending calls are not
            // answered before that. Clients may still wait, as they would without us.
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

    /// Whether a client may receive an event. If the browser attached it to a target it must not
    /// reach, the session is detached and the target continues.
    fn concerns(
        &mut self,
        client: u64,
        session: Option<&str>,
        method: &str,
        params: &str,
        posts: &Posts,
    ) -> bool {
        match self.contexts.judge(client, method, params) {
            EventVisibility::Shown if method == "Target.detachedFromTarget" => {
                // A client gets the end only of sessions it knows.
                let attachment = serde_json::from_str::<Attachment<'_>>(params);
                attachment.is_ok_and(|it| self.sessions.owner(&it.session).is_some())
            }
            EventVisibility::Shown => true,
            EventVisibility::Hidden => false,
            EventVisibility::Detached { session: child, waiting } => {
                let child = SessionId::from(child.as_str());
                if waiting {
                    posts.resume(self.number(), &child);
                }
                posts.detach(self.number(), session, &child);
                false
            }
        }
    }

    /// Whether a client is restricted because another person has control.
    pub fn is_fenced(&self, owner: Owner) -> bool {
        match owner {
            Owner::Us => false,
            Owner::Client(client) => self.clients.get(&client).is_some_and(|share| {
                self.driven_by.as_ref().is_some_and(|driver| *driver != share.label)
            }),
        }
    }

    /// Control changed. Undoes or restores settings of clients that interfere with a person. The
    /// returned answers arrive when that is done.
    pub fn hand_over(&mut self, driver: Option<String>, posts: &Posts) -> Vec<Settling> {
        let fenced = |state: &Self| -> HashSet<u64> {
            let clients = state.clients.keys().copied();
            clients.filter(|client| state.is_fenced(Owner::Client(*client))).collect()
        };
        let before = fenced(self);
        self.driven_by = driver;
        let now = fenced(self);
        let (mut steps, mut resumed) = (Vec::new(), Vec::new());
        for client in now.difference(&before) {
            resumed.extend(self.sessions.waiting(*client).cloned());
            steps.extend(self.clients.get(client).map(|share| share.settings.undo()));
        }
        for client in before.difference(&now) {
            steps.extend(self.clients.get(client).map(|share| share.settings.redo()));
        }
        let mut settling = Vec::new();
        for step in steps.into_iter().flatten() {
            let (sender, answer) = oneshot::channel();
            let (id, session) = (self.number(), Some(step.session.clone()));
            let asker = Asker::Us(sender);
            self.calls.insert(id, Call { session, asker, expectation: Expectation::Nothing });
            posts.step(id, &step);
            settling.push(answer);
        }
        for session in resumed {
            posts.resume(self.number(), &session);
        }
        settling
    }

    /// Sends an event to our own listeners.
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

    pub fn hand(&mut self, client: u64, message: String, posts: &Posts) {
        let length = message.len();
        let Some(share) = self.clients.get(&client) else { return };
        if share.outbox.push(message, length).is_err() {
            self.dismiss(client, Ended::TooSlow, posts);
        }
    }

    pub fn dismiss(&mut self, client: u64, why: Ended, posts: &Posts) {
        let Some(share) = self.clients.remove(&client) else { return };
        share.outbox.cut(why);
        // Otherwise a page that waits for this client, and its opener, would wait forever.
        let waiting: Vec<_> = self.sessions.waiting(client).cloned().collect();
        for session in waiting {
            posts.resume(self.number(), &session);
        }
        posts.detach(self.number(), None, &share.session);
        self.contexts.left(client);
        self.sessions.detach(None, share.session.as_str());
        self.calls.retain(
            |_, call| !matches!(call.asker, Asker::Client { client: asker, .. } if asker == client),
        );
    }

    /// Removes everything that belongs to ended sessions.
    fn bury(&mut self, gone: &HashSet<SessionId>) {
        self.lose_calls(|call| call.session.as_ref().is_some_and(|session| gone.contains(session)));
        self.listeners.retain(|listener| {
            let buried = listener.session.as_ref().is_some_and(|session| gone.contains(session));
            if let Some(inbox) = listener.inbox.upgrade().filter(|_| buried) {
                inbox.end();
            }
            !buried
        });
        let mut buried_clients = Vec::new();
        self.clients.retain(|client, share| {
            share.settings.lost(gone);
            let buried = gone.contains(&share.session);
            if buried {
                share.outbox.end(Ended::Detached);
                buried_clients.push(*client);
            }
            !buried
        });
        for client in buried_clients {
            self.contexts.left(client);
        }
    }

    /// Fails pending calls of ours. Clients get no answer, as the browser would give none.
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
