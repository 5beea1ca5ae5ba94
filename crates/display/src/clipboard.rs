//! The clipboard: a thread with a separate connection, which answers programs at any time.

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

/// Longer texts are neither read nor kept.
const MAX_BYTES: usize = 16 << 20;
/// Time limit for another program to send its text.
const READ_DEADLINE: Duration = Duration::from_secs(2);
/// Time limit for the thread, which may have to finish another read first.
const THREAD_DEADLINE: Duration = Duration::from_secs(10);
/// How often the thread checks for stuck transfers.
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

/// A request to the thread: the new text, or none to read.
struct Question {
    text: Option<String>,
    reply: Reply,
}

/// The handle to the thread. Dropping it ends the thread.
pub(crate) struct ClipboardThread {
    /// When full, callers wait.
    questions: mpsc::Sender<Question>,
    /// Signalled after every request, and when the sender is dropped.
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
        // Close the channel before waking the thread.
        self.questions = mpsc::channel(1).0;
        ring(&self.bell);
    }
}

fn ring(bell: &OwnedFd) {
    // Fails only if it is already signalled.
    let _ = rustix::io::write(bell, &1_u64.to_ne_bytes());
}

/// The state of the thread.
struct Thread {
    display: String,
    inbox: mpsc::Receiver<Question>,
    bell: Arc<OwnedFd>,
    /// `None` after the connection broke, until the next request.
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
            // Any program can make the server close our connection, because the window is public.
            self.owner = None;
            answer = self.answer_once(question.text.as_deref());
        }
        // The caller may be gone.
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
