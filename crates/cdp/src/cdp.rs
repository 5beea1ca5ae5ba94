//! The handle to a browser: calls, events, and its end.

use std::{sync::Arc, time::Duration};

use serde::{Serialize, de::DeserializeOwned};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::mpsc,
    task::AbortHandle,
    time::timeout,
};

use crate::{
    CdpError, Client, EventStream,
    client_message::NO_SESSION,
    dispatcher::{Answer, Dispatcher},
    envelope::{Envelope, Refusal},
    pipe::{self, Post, Posts},
    session::SessionId,
    socket,
};

/// How long pages may take to undo clients' settings.
const SETTLE: Duration = Duration::from_secs(2);

/// A cheap handle to one browser. Dropping the last one closes the pipe, which ends the browser. A
/// browser connected by its port lives on.
#[derive(Clone)]
pub struct Cdp {
    shared: Arc<Shared>,
}

struct Shared {
    dispatcher: Arc<Dispatcher>,
    posts: Posts,
    pipe: AbortHandle,
}

impl Cdp {
    /// Starts a task that speaks over the pipe of a browser.
    pub fn new<R, W>(reader: R, writer: W) -> Self
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        Self::over(|posted, dispatcher| pipe::carry(reader, writer, posted, dispatcher))
    }

    /// Connects to a running browser: `ws://host:port/path` is the browser's own address,
    /// `http://host:port` its debugging port, which is asked for that address.
    pub async fn connect(address: &str, deadline: Duration) -> Result<Self, CdpError> {
        let socket = timeout(deadline, socket::open(address)).await;
        let late = |_| CdpError::Deadline { method: "the connection".to_owned() };
        let socket = socket.map_err(late)??;
        Ok(Self::over(|posted, dispatcher| socket::carry(socket, posted, dispatcher)))
    }

    fn over<F>(carry: impl FnOnce(mpsc::UnboundedReceiver<Post>, Arc<Dispatcher>) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (posts, posted) = Posts::new();
        let dispatcher = Arc::new(Dispatcher::new(posts.clone()));
        let pipe = helmdeck_task::spawn(carry(posted, Arc::clone(&dispatcher)));
        let shared = Shared { dispatcher, posts, pipe: pipe.abort_handle() };
        Self { shared: Arc::new(shared) }
    }

    /// Whether both are handles to the same connection.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Calls a method of the browser, or of one of its sessions.
    ///
    /// `T` needs only the fields of interest; use [`serde::de::IgnoredAny`] to ignore the answer.
    /// Dropping the future forgets the call but does not undo it. The deadline includes the time
    /// until the browser reads the call.
    pub async fn call<T: DeserializeOwned>(
        &self,
        session: Option<&SessionId>,
        method: &str,
        params: impl Serialize,
        deadline: Duration,
    ) -> Result<T, CdpError> {
        let answer = timeout(deadline, self.ask(session, method, params)).await;
        let answer = answer.map_err(|_| CdpError::Deadline { method: method.to_owned() })??;
        match answer {
            Answer::Yes(result) => serde_json::from_str(result.get()).map_err(CdpError::Nonsense),
            Answer::No(error) => Err(refused(method, error.get())),
        }
    }

    async fn ask(
        &self,
        session: Option<&SessionId>,
        method: &str,
        params: impl Serialize,
    ) -> Result<Answer, CdpError> {
        let params = serde_json::value::to_raw_value(&params).map_err(CdpError::Parameters)?;
        let (id, answer) = self.dispatcher().expect(session, method)?;
        let _forget = Forget { dispatcher: self.dispatcher(), id };
        let envelope = Envelope {
            id: Some(id),
            method: Some(method.into()),
            params: Some(&params),
            session: session.map(|session| session.as_str().into()),
            ..Envelope::default()
        };
        let message = envelope.write().map_err(CdpError::Parameters)?;
        drop(params);
        self.shared.posts.send(message).await?;
        answer.await.unwrap_or(Err(CdpError::BrowserGone))
    }

    /// The events of a session from now on; without one, of the browser itself. The stream ends at
    /// once if the session is not ours.
    pub fn events(&self, session: Option<&SessionId>) -> EventStream {
        let (stream, inbox) = EventStream::new();
        self.dispatcher().listen(session, &inbox);
        stream
    }

    /// Opens a share of the pipe for an outside client. The label identifies its user:
    /// [`Self::hand_over`] exempts the clients of the person in control.
    pub async fn client(&self, label: &str, deadline: Duration) -> Result<Client, CdpError> {
        // A separate task, so that a cancelled call leaves no half-open client.
        let opening = helmdeck_task::spawn(Client::open(self.clone(), label.to_owned()));
        let opening = timeout(deadline, opening);
        match opening.await {
            Ok(opened) => opened.unwrap_or(Err(CdpError::BrowserGone)),
            Err(_) => Err(CdpError::Deadline { method: Client::OPEN.to_owned() }),
        }
    }

    /// Control changed: to the person whose clients have this label, or back to agents. Settings of
    /// other clients that interfere with a person are undone, and restored when agents have
    /// control. The future waits until the pages have done so, or are too busy. Dropping it does
    /// not stop the change.
    pub fn hand_over(&self, driver: Option<&str>) -> impl Future<Output = ()> + Send + use<> {
        let settling = self.dispatcher().hand_over(driver.map(str::to_owned));
        async move {
            let settled = async {
                for answer in settling {
                    // A page that is gone has no settings.
                    let _ = answer.await;
                }
            };
            let _ = timeout(SETTLE, settled).await;
        }
    }

    /// Whether the browser is gone.
    pub fn is_closed(&self) -> bool {
        self.shared.posts.is_closed()
    }

    /// Waits until the browser is gone.
    pub async fn closed(&self) {
        self.shared.posts.closed().await;
    }

    pub(crate) fn dispatcher(&self) -> &Dispatcher {
        &self.shared.dispatcher
    }

    pub(crate) fn posts(&self) -> &Posts {
        &self.shared.posts
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.pipe.abort();
        self.dispatcher.close();
    }
}

/// Forgets a call when dropped, unless it is kept.
pub(crate) struct Forget<'a> {
    pub dispatcher: &'a Dispatcher,
    pub id: i32,
}

impl Forget<'_> {
    /// Keeps the call.
    pub fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.dispatcher.forget(self.id);
    }
}

fn refused(method: &str, error: &str) -> CdpError {
    match serde_json::from_str::<Refusal>(error) {
        Ok(Refusal { code: NO_SESSION, .. }) => CdpError::TargetGone,
        Ok(Refusal { code, message }) => {
            CdpError::Refused { method: method.to_owned(), code, message }
        }
        Err(error) => CdpError::Nonsense(error),
    }
}
