//! The handle to a browser: ask, listen, and learn that it is gone.

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

/// How long pages may take to undo what clients have set.
const SETTLE: Duration = Duration::from_secs(2);

/// A cheap handle to one browser. The last one closes the pipe, which ends the browser; one that was
/// connected to lives on.
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
    /// Speaks over the pipe of a browser from now on, in a task of its own.
    pub fn new<R, W>(reader: R, writer: W) -> Self
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        Self::over(|posted, dispatcher| pipe::carry(reader, writer, posted, dispatcher))
    }

    /// Connects to a browser that runs already: `ws://host:port/path` is its own address,
    /// `http://host:port` its debugging port, where that address is asked for.
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
        let pipe = tokio::spawn(carry(posted, Arc::clone(&dispatcher)));
        let shared = Shared { dispatcher, posts, pipe: pipe.abort_handle() };
        Self { shared: Arc::new(shared) }
    }

    /// Whether both are handles to the same connection.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Asks the browser, or one of its sessions, to do something.
    ///
    /// `T` needs the fields that matter only; [`serde::de::IgnoredAny`] is for answers that do not.
    /// Dropping the future forgets the call, which does not undo it. The deadline is for all of it,
    /// waiting until the browser reads included.
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

    /// What happens in a session from now on; without one, in the browser itself. The stream has
    /// ended already if the session is not one of our own.
    pub fn events(&self, session: Option<&SessionId>) -> EventStream {
        let (stream, inbox) = EventStream::new();
        self.dispatcher().listen(session, &inbox);
        stream
    }

    /// A share of the pipe for a client from outside. Its label says whose client it is:
    /// [`Self::hand_over`] leaves the clients of the person who drives alone.
    pub async fn client(&self, label: &str, deadline: Duration) -> Result<Client, CdpError> {
        // A task of its own: of a client that nobody waits for any more, nothing is left either.
        let opening = tokio::spawn(Client::open(self.clone(), label.to_owned()));
        let opening = timeout(deadline, opening);
        match opening.await {
            Ok(opened) => opened.unwrap_or(Err(CdpError::BrowserGone)),
            Err(_) => Err(CdpError::Deadline { method: Client::OPEN.to_owned() }),
        }
    }

    /// Control changed hands: to the person whose clients have this label, or back to agents. What
    /// other clients have set in a person's way is undone, and set again when agents drive. The future
    /// waits until the pages have done it, or are too busy; without it, it is done as well.
    pub fn hand_over(&self, driver: Option<&str>) -> impl Future<Output = ()> + Send + use<> {
        let settling = self.dispatcher().hand_over(driver.map(str::to_owned));
        async move {
            let settled = async {
                for answer in settling {
                    // A page that is gone has nothing set.
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

/// Forgets a call that nobody waits for.
pub(crate) struct Forget<'a> {
    pub dispatcher: &'a Dispatcher,
    pub id: i32,
}

impl Forget<'_> {
    /// The call stays.
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
