//! An outside client on our pipe, limited to its own sessions.

use std::{sync::Arc, time::Duration};

use serde_json::{json, value::RawValue};
use tokio::time::timeout;

use crate::{
    Cdp, CdpError,
    cdp::Forget,
    client_message::{ClientMessage, INVALID_PARAMS, NO_SESSION, SERVER_ERROR, refusal},
    contexts::Named,
    dispatcher::{NotSent, Question},
    envelope::Envelope,
    internal_pages::is_browser_part,
    pipe::MAX_REQUEST,
    queue::{Next, Queue},
    session::SessionId,
};

/// Limit on bytes queued for one client. A client that exceeds it is closed.
const MAX_WAITING: usize = 64 << 20;
/// How long a message may wait for a browser that does not read.
const SEND_DEADLINE: Duration = Duration::from_secs(30);
/// How long to wait for a new session, even if the caller gave up, so that it can be detached.
const OPEN_DEADLINE: Duration = Duration::from_secs(60);

pub(crate) type Outbox = Queue<String, Ended>;

/// A client's share of the pipe. To the client it looks like a separate connection to the browser.
///
/// Dropping it detaches its sessions; pages it opened stay. Browser contexts it created are private
/// to it until then, and shared afterwards.
pub struct Client {
    cdp: Cdp,
    number: u64,
    outbox: Arc<Outbox>,
}

/// Why a client receives nothing more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Ended {
    /// The client did not read its messages.
    #[error("the client is too slow")]
    TooSlow,
    /// The pipe is closed.
    #[error("the browser is gone")]
    BrowserGone,
    /// The browser has ended the client's session.
    #[error("the browser has closed the session")]
    Detached,
    /// The client itself is gone.
    #[error("the client is gone")]
    Dropped,
}

impl Client {
    pub(crate) const OPEN: &str = "Target.attachToBrowserTarget";

    pub(crate) async fn open(cdp: Cdp, label: String) -> Result<Self, CdpError> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Attached {
            session_id: SessionId,
        }
        let attached: Attached = cdp.call(None, Self::OPEN, json!({}), OPEN_DEADLINE).await?;
        let outbox = Arc::new(Outbox::new(MAX_WAITING));
        let number = cdp.dispatcher().admit(&attached.session_id, label, Arc::clone(&outbox))?;
        Ok(Self { cdp, number, outbox })
    }

    /// Handles one message of the client. An invalid one is answered with an error, as the browser
    /// would do. An error here means that the client cannot continue. Cancel-safe: nothing is sent
    /// then.
    pub async fn send(&self, text: &str) -> Result<(), CdpError> {
        let message = match ClientMessage::at(text) {
            Ok(message) => message,
            Err(malformed) => return self.answer(malformed.answer()),
        };
        let refuse = |code, why| self.answer(refusal(Some(message.id), None, code, why));
        if text.len() > MAX_REQUEST {
            return refuse(SERVER_ERROR, "Message is too large");
        }
        let Ok(named) = Named::by(&message.method, message.params) else {
            return refuse(INVALID_PARAMS, "Invalid parameters");
        };
        if let Some(target) = &named.target
            && !self.reaches(target).await?
        {
            return refuse(INVALID_PARAMS, "No target with given id found");
        }
        let question = Question {
            id: message.id,
            session: message.session_id.as_deref(),
            method: &message.method,
            params: message.params.map_or("{}", RawValue::get),
            named: &named,
        };
        let expected = match self.cdp.dispatcher().expect_for(self.number, &question) {
            Ok(expected) => expected,
            Err(NotSent::Foreign) => {
                return refuse(NO_SESSION, "Session with given id not found.");
            }
            Err(NotSent::ForeignContext) => {
                return refuse(INVALID_PARAMS, "Failed to find browser context for id");
            }
            Err(NotSent::SharedContext) => {
                let why =
                    "Other clients use this context: turn downloads off in one that you created";
                return refuse(SERVER_ERROR, why);
            }
            Err(NotSent::TooMany) => return refuse(SERVER_ERROR, "Too many calls are unanswered"),
            Err(NotSent::TooManyContexts) => {
                return refuse(SERVER_ERROR, "Too many browser contexts: dispose of some first");
            }
            Err(NotSent::TooMuchSet) => {
                return refuse(SERVER_ERROR, "Too much is set to be kept for a change of control");
            }
            Err(NotSent::Later) => {
                let id = message.id;
                let mut done = json!({ "id": id, "result": {} });
                if let (Some(done), Some(session)) = (done.as_object_mut(), &message.session_id) {
                    done.insert("sessionId".to_owned(), session.as_ref().into());
                }
                return self.answer(done.to_string());
            }
            Err(NotSent::Closed) => return Err(self.failure()),
        };
        let unsent = Forget { dispatcher: self.cdp.dispatcher(), id: expected.id };
        let method = message.method.clone().into_owned();
        let params = expected.params.and_then(|params| RawValue::from_string(params).ok());
        let envelope = Envelope {
            id: Some(expected.id),
            method: Some(message.method.clone()),
            params: params.as_deref().or(message.params),
            session: Some(expected.session.as_str().into()),
            ..Envelope::default()
        };
        let spliced = envelope.write().map_err(CdpError::Parameters)?;
        let sent = timeout(SEND_DEADLINE, self.cdp.posts().send(spliced)).await;
        sent.unwrap_or(Err(CdpError::Deadline { method }))?;
        unsent.keep();
        if let Some(step) = expected.then {
            self.cdp.dispatcher().step(&step);
        }
        Ok(())
    }

    /// Whether a client may reach a target: not if it belongs to another client or to the browser
    /// itself. The browser is asked for its context and type.
    async fn reaches(&self, target: &str) -> Result<bool, CdpError> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Found {
            target_info: Info,
        }
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Info {
            browser_context_id: Option<String>,
            #[serde(default, rename = "type")]
            kind: String,
            #[serde(default)]
            url: String,
        }
        let (method, params) = ("Target.getTargetInfo", json!({ "targetId": target }));
        match self.cdp.call::<Found>(None, method, params, SEND_DEADLINE).await {
            Ok(Found { target_info }) => {
                let Info { browser_context_id, kind, url } = target_info;
                let shown = self.cdp.dispatcher().shows(self.number, browser_context_id.as_deref());
                Ok(shown && !is_browser_part(&kind, &url))
            }
            // The browser itself tells the client that the target does not exist.
            Err(CdpError::Refused { .. }) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// The next answer or event for the client; `None` after the end, for which [`Self::ended`]
    /// gives the reason. Cancel-safe; meant for one reader.
    pub async fn next(&self) -> Option<String> {
        loop {
            match self.outbox.next().await {
                Next::Item(message) => return Some(message),
                Next::Ended(_) => return None,
                Next::Lost(_) => {}
            }
        }
    }

    /// The reason why the client receives nothing more, once it is so.
    pub fn ended(&self) -> Option<Ended> {
        self.outbox.ended()
    }

    /// Answers in place of the browser.
    fn answer(&self, answer: String) -> Result<(), CdpError> {
        self.cdp.dispatcher().answer_for(self.number, answer);
        match self.ended() {
            None => Ok(()),
            Some(_) => Err(self.failure()),
        }
    }

    fn failure(&self) -> CdpError {
        match self.ended() {
            Some(Ended::BrowserGone) => CdpError::BrowserGone,
            _ => CdpError::TargetGone,
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.cdp.dispatcher().dismiss(self.number);
    }
}
