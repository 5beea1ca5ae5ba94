//! The pipe: one task reads and writes, everything else posts messages to it.

use std::{future::pending, sync::Arc};

use serde_json::{json, value::RawValue};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    select,
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
};

use crate::{
    CdpError, dispatcher::Dispatcher, envelope::Envelope, handover::Step,
    pipe_messages::MessageSplitter, session::SessionId,
};

/// The largest message we read; large enough for a screenshot of a very long page.
pub const MAX_MESSAGE: usize = 256 << 20;
/// The largest message we write. Chromium stops reading its pipe after one of 100 MiB.
pub const MAX_REQUEST: usize = 64 << 20;
/// Limit on bytes waiting to be written; senders wait for room, up to their deadline.
const MAX_WAITING: usize = 64 << 20;
/// The fixed cost of a message, so that many small ones count.
const POST: usize = 64;
/// The most bytes read at once.
const CHUNK: usize = 64 << 10;

/// The queue of messages to the browser.
#[derive(Clone)]
pub(crate) struct Posts {
    /// Bounded by `room`.
    queue: mpsc::UnboundedSender<Post>,
    room: Arc<Semaphore>,
}

pub(crate) struct Post {
    pub message: String,
    /// Returned when the message is written.
    pub _room: Option<OwnedSemaphorePermit>,
}

impl Posts {
    pub fn new() -> (Self, mpsc::UnboundedReceiver<Post>) {
        let (queue, posted) = mpsc::unbounded_channel();
        (Self { queue, room: Arc::new(Semaphore::new(MAX_WAITING)) }, posted)
    }

    /// Queues a message once there is room. Dropping the future queues nothing.
    pub async fn send(&self, message: String) -> Result<(), CdpError> {
        if message.len() > MAX_REQUEST {
            return Err(CdpError::TooLarge);
        }
        let size = (message.len() + POST).min(MAX_WAITING);
        let size = u32::try_from(size).map_err(|_| CdpError::TooLarge)?;
        let room = Arc::clone(&self.room).acquire_many_owned(size);
        let room = room.await.map_err(|_| CdpError::BrowserGone)?;
        let post = Post { message, _room: Some(room) };
        self.queue.send(post).map_err(|_| CdpError::BrowserGone)
    }

    /// Detaches a session and its children. It was attached from `parent`, or by us.
    pub fn detach(&self, id: i32, parent: Option<&str>, session: &SessionId) {
        let params = serde_json::value::to_raw_value(&json!({ "sessionId": session })).ok();
        let (method, id) = (Some("Target.detachFromTarget".into()), Some(id));
        let (params, session) = (params.as_deref(), parent.map(Into::into));
        self.leave(&Envelope { id, method, params, session, ..Envelope::default() });
    }

    /// Makes a call on behalf of a client. Each client has a limited number of them.
    pub fn step(&self, id: i32, step: &Step) {
        let params = RawValue::from_string(step.params.clone()).ok();
        let envelope = Envelope {
            id: Some(id),
            method: Some(step.method.into()),
            params: params.as_deref(),
            session: Some(step.session.as_str().into()),
            ..Envelope::default()
        };
        self.leave(&envelope);
    }

    /// Resumes a page or worker that waits for its debugger.
    pub fn resume(&self, id: i32, session: &SessionId) {
        let method = Some("Runtime.runIfWaitingForDebugger".into());
        let session = Some(session.as_str().into());
        self.leave(&Envelope { id: Some(id), method, session, ..Envelope::default() });
    }

    /// Queues a short message without waiting. Their number is limited per session.
    fn leave(&self, envelope: &Envelope<'_>) {
        if let Ok(message) = envelope.write() {
            let _ = self.queue.send(Post { message, _room: None });
        }
    }

    /// Closes the queue: senders that wait for room fail now.
    pub fn close(&self) {
        self.room.close();
    }

    pub fn is_closed(&self) -> bool {
        self.queue.is_closed()
    }

    pub async fn closed(&self) {
        self.queue.closed().await;
    }
}

/// Transfers messages both ways until the browser closes its end.
pub(crate) async fn carry(
    reader: impl AsyncRead + Unpin,
    writer: impl AsyncWrite + Unpin,
    posted: mpsc::UnboundedReceiver<Post>,
    dispatcher: Arc<Dispatcher>,
) {
    let writing = async {
        write(writer, posted).await;
        // Answers may still arrive.
        pending().await
    };
    select! {
        () = read(reader, &dispatcher) => {}
        () = writing => {}
    }
    dispatcher.close();
}

async fn read(mut reader: impl AsyncRead + Unpin, dispatcher: &Dispatcher) {
    let mut splitter = MessageSplitter::new(MAX_MESSAGE);
    while let Ok(1..) = reader.read_buf(splitter.room(CHUNK)).await {
        while let Some(frame) = splitter.next() {
            dispatcher.receive(frame);
        }
    }
}

async fn write(mut writer: impl AsyncWrite + Unpin, mut posted: mpsc::UnboundedReceiver<Post>) {
    while let Some(post) = posted.recv().await {
        let mut message = post.message.into_bytes();
        message.push(0);
        if writer.write_all(&message).await.is_err() || writer.flush().await.is_err() {
            return;
        }
    }
}
