//! The clipboard: a thread with a connection of its own, which answers programs at any time.

mod owner;
mod transfer;

use std::{
    os::fd::OwnedFd,
    sync::Arc,
    time::{Duration, Instant},
};

use helmdeck_wire::clipboard::{Clipboard, ClipboardText};
use rustix::event::{EventfdFlags, PollFd, PollFlags};
use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};

use crate::{connection::Connection, display::Display, error::DisplayError, stream::wait};
use owner::Owner;

/// More text than this is neither read nor kept.
const MAX_BYTES: usize = 16 << 20;
/// Time for another program to hand over what it copied.
const READ_DEADLINE: Duration = Duration::from_secs(2);
/// Time for the thread to answer, which may have to finish another read first.
const THREAD_DEADLINE: Duration = Duration::from_secs(10);
/// The thread looks after transfers that got stuck at least this often.
const IDLE: Duration = Duration::from_secs(5);

impl Display {
    /// Reads the clipboard, or sets it if there is a text.
    pub async fn clipboard(&self, action: &Clipboard) -> Result<ClipboardText, DisplayError> {
        if action.text.as_ref().is_some_and(|text| text.len() > MAX_BYTES) {
            return Err(DisplayError::TextTooLong { limit: MAX_BYTES, unit: "bytes" });
        }
        let text = self.shared.clipboard.ask(action.text.clone()).await?;
        Ok(ClipboardText { text })
    }
}

type Reply = oneshot::Sender<Result<String, DisplayError>>;

/// A question to the thread: the new text, or none to read.
struct Question {
    text: Option<String>,
    reply: Reply,
}

/// The handle to the thread, which ends when this is dropped.
pub(crate) struct ClipboardThread {
    /// When full, callers wait for their turn.
    questions: mpsc::Sender<Question>,
    /// Rung after every question, and when the sender is gone.
    bell: Arc<OwnedFd>,
}

impl ClipboardThread {
    pub(crate) fn start(display: &str) -> Result<Self, DisplayError> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let bell = rustix::event::eventfd(0, flags);
        let bell = Arc::new(bell.map_err(|error| DisplayError::Lost(error.into()))?);
        let (questions, inbox) = mpsc::channel(16);
        let owner = Owner::new(Connection::open(display)?)?;
        let thread =
            Thread { display: display.to_owned(), inbox, bell: bell.clone(), owner: Some(owner) };
        std::thread::Builder::new()
            .name("clipboard".to_owned())
            .spawn(|| thread.run())
            .map_err(DisplayError::Lost)?;
        Ok(Self { questions, bell })
    }

    async fn ask(&self, text: Option<String>) -> Result<String, DisplayError> {
        let (reply, answer) = oneshot::channel();
        let gone = || DisplayError::Lost(std::io::Error::other("the clipboard's thread ended"));
        let asking = async {
            self.questions.send(Question { text, reply }).await.map_err(|_| gone())?;
            ring(&self.bell);
            answer.await.map_err(|_| gone())?
        };
        timeout(THREAD_DEADLINE, asking).await.unwrap_or_else(|_| {
            Err(DisplayError::Timeout {
                what: "an answer of the clipboard".to_owned(),
                waited: THREAD_DEADLINE,
            })
        })
    }
}

impl Drop for ClipboardThread {
    fn drop(&mut self) {
        // Closes the channel before the bell wakes the thread.
        self.questions = mpsc::channel(1).0;
        ring(&self.bell);
    }
}

fn ring(bell: &OwnedFd) {
    // Fails only if it rings already.
    let _ = rustix::io::write(bell, &1_u64.to_ne_bytes());
}

/// What runs in the thread.
struct Thread {
    display: String,
    inbox: mpsc::Receiver<Question>,
    bell: Arc<OwnedFd>,
    /// Nothing after the connection broke, until the next question.
    owner: Option<Owner>,
}

impl Thread {
    fn run(mut self) {
        loop {
            let _ = rustix::io::read(&*self.bell, &mut [0; 8]);
            loop {
                match self.inbox.try_recv() {
                    Ok(question) => self.answer(question),
                    Err(mpsc::error::TryRecvError::Empty) => break,
                    Err(mpsc::error::TryRecvError::Disconnected) => return,
                }
            }
            if let Some(owner) = &mut self.owner
                && owner.serve().is_err()
            {
                self.owner = None;
            }
            let mut fds = vec![PollFd::new(&*self.bell, PollFlags::IN)];
            if let Some(owner) = &self.owner {
                fds.push(PollFd::new(owner.connection(), PollFlags::IN));
            }
            if wait(&mut fds, Instant::now() + IDLE).is_err() {
                return;
            }
        }
    }

    fn answer(&mut self, question: Question) {
        let mut answer = self.answer_once(question.text.as_deref());
        if let Err(DisplayError::Lost(_)) = answer {
            // Any program can have the server cut our connection: the window is known to all.
            self.owner = None;
            answer = self.answer_once(question.text.as_deref());
        }
        // A caller that is gone does not need it.
        let _ = question.reply.send(answer);
    }

    fn answer_once(&mut self, text: Option<&str>) -> Result<String, DisplayError> {
        let owner = match self.owner.take() {
            Some(owner) => self.owner.insert(owner),
            None => self.owner.insert(Owner::new(Connection::open(&self.display)?)?),
        };
        match text {
            Some(text) => owner.set(text),
            None => owner.read(Instant::now() + READ_DEADLINE),
        }
    }
}
