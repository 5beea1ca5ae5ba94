//! Commands and terminals of callers in a session. The guest owns them; what is here asks for them, and
//! has those killed whose callers left.

mod terminal;
mod text;

use std::time::{Duration, Instant};

use helmdeck_link::{ByteStream, Link, exec::Message};
use helmdeck_wire::{
    error::with_causes,
    exec::{Exec, ExecId, ExecList, ExecState},
};
use serde_json::json;
use tokio::sync::oneshot;
use tracing::warn;

use crate::{
    Caller, Session, SessionError, history::Attempt, lifecycle::Lifecycle, session::Task, spec,
};

pub use terminal::{FromTerminal, Terminal, TerminalInput, TerminalOutput};
use text::Decoder;

/// How long the guest is asked to wait for an end at a time.
const WAIT: Duration = Duration::from_secs(30);

/// A command that was started for a caller who waits for it. Dropping it kills it, with everything it
/// started.
pub struct Running {
    session: Session,
    id: ExecId,
    kill: bool,
    attempt: Attempt,
    _busy: Task,
}

/// What a command writes, as it does.
pub struct ExecStream {
    messages: helmdeck_link::exec::Receiver<Box<dyn ByteStream>>,
    stdout: Decoder,
    stderr: Decoder,
    ended: Option<ExecState>,
}

/// Something that a command wrote, or its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExecEvent {
    /// To standard output.
    Stdout(Written),
    /// To standard error.
    Stderr(Written),
    /// How it ended, without its output.
    Ended(ExecState),
}

/// Something that a command wrote.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Written {
    /// The text. A character is never cut in two.
    pub text: String,
    /// How many bytes before it are missing: it was written faster than it was read.
    pub left_out: u64,
}

impl Session {
    /// Starts a command for a caller who may drive.
    pub async fn exec(&self, caller: &Caller, exec: Exec) -> Result<Running, SessionError> {
        let mut attempt = Attempt::named(self, caller.actor(), "exec", exec.detail());
        let started = self.try_exec(caller, exec).await;
        match started {
            Ok((started, busy)) => {
                let (session, id) = (self.clone(), started.disarm());
                if let Some(detail) = attempt.detail.as_object_mut() {
                    detail.insert("exec_id".to_owned(), json!(id));
                }
                Ok(Running { session, id, kill: true, attempt, _busy: busy })
            }
            Err(error) => {
                attempt.outcome = error.code();
                Err(error)
            }
        }
    }

    async fn try_exec(&self, caller: &Caller, exec: Exec) -> Result<(Started, Task), SessionError> {
        spec::environment(&exec.env)?;
        directory(exec.cwd.as_deref())?;
        self.adoption().await;
        // Before it counts as a task: an agent that waits for a person must not use them up.
        self.may_drive(caller)?;
        let busy = self.begin(Lifecycle::begin_task)?;
        let (tell, told) = oneshot::channel();
        let link = self.inner.link.clone();
        // Goes on when the caller leaves: a command that nobody knows could not be killed.
        tokio::spawn(async move {
            let started = link.start_exec(&exec).await;
            let _ = tell.send(started.map(|id| Started { id: Some(id), link }));
        });
        let started = told.await.unwrap_or_else(|_| {
            Err(helmdeck_link::LinkError::Nonsense("the start was given up".to_owned()))
        });
        Ok((started.map_err(|error| self.link_failed(error))?, busy))
    }

    /// The commands that run, and the last that ended.
    pub async fn execs(&self) -> Result<ExecList, SessionError> {
        self.adoption().await;
        self.ensure_alive()?;
        self.inner.link.execs().await.map_err(|error| self.link_failed(error))
    }

    /// A command, once it has ended or after this time.
    pub async fn show_exec(&self, id: &ExecId, wait: Duration) -> Result<ExecState, SessionError> {
        self.adoption().await;
        self.ensure_alive()?;
        self.inner.link.exec(id, wait).await.map_err(|error| self.link_failed(error))
    }

    /// What a command wrote, as far as it is kept, and what it writes.
    pub async fn exec_stream(&self, id: &ExecId) -> Result<ExecStream, SessionError> {
        self.adoption().await;
        self.ensure_alive()?;
        let messages = self.inner.link.exec_output(id).await;
        let messages = messages.map_err(|error| self.link_failed(error))?;
        let (stdout, stderr) = (Decoder::default(), Decoder::default());
        Ok(ExecStream { messages, stdout, stderr, ended: None })
    }

    /// Kills a command with everything it started. Also while a person drives: it only ends something.
    pub async fn kill_exec(&self, caller: &Caller, id: &ExecId) -> Result<(), SessionError> {
        let detail = json!({ "exec_id": id });
        let mut attempt = Attempt::named(self, caller.actor(), "kill_exec", detail);
        self.adoption().await;
        let killed = async {
            let _busy = self.begin(Lifecycle::begin_use)?;
            self.inner.link.kill_exec(id).await.map_err(|error| self.link_failed(error))
        };
        let killed = killed.await;
        attempt.outcome = killed.as_ref().map_or_else(SessionError::code, |()| "ok");
        killed
    }

    /// Commands run in it, or none do any more.
    pub(crate) fn executing(&self, executing: bool) {
        self.inner.life.lock().execute(executing, Instant::now());
        self.inner.changed.notify_one();
    }
}

impl Running {
    /// Its id.
    pub fn id(&self) -> &ExecId {
        &self.id
    }

    /// Waits for its end.
    pub async fn ended(&mut self) -> Result<ExecState, SessionError> {
        loop {
            match self.session.show_exec(&self.id, WAIT).await {
                Ok(state) if state.running => {}
                Ok(state) => {
                    self.is_over(&state);
                    return Ok(state);
                }
                Err(error) => {
                    self.attempt.outcome = error.code();
                    return Err(error);
                }
            }
        }
    }

    /// What it writes, from its beginning on.
    pub async fn stream(&self) -> Result<ExecStream, SessionError> {
        self.session.exec_stream(&self.id).await
    }

    /// It has ended: there is nothing to kill. What it left in the background lives on.
    pub fn is_over(&mut self, state: &ExecState) {
        self.kill = false;
        self.attempt.outcome = if state.timed_out { "timeout" } else { "ok" };
    }

    /// Lets it run, whoever leaves.
    pub fn leave(&mut self) {
        self.kill = false;
        self.attempt.outcome = "ok";
    }

    /// How it is.
    pub async fn state(&self) -> Result<ExecState, SessionError> {
        self.session.show_exec(&self.id, Duration::ZERO).await
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.kill && self.session.is_alive() {
            kill(self.session.inner.link.clone(), self.id.clone());
        }
    }
}

/// A command that was started. Dropping it kills it.
struct Started {
    id: Option<ExecId>,
    link: Link,
}

impl Started {
    fn disarm(mut self) -> ExecId {
        self.id.take().unwrap_or_else(|| ExecId::new(""))
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            kill(self.link.clone(), id);
        }
    }
}

/// Kills a command whose caller has left; the link has the deadline.
fn kill(link: Link, id: ExecId) {
    tokio::spawn(async move {
        if let Err(error) = link.kill_exec(&id).await {
            warn!(exec.id = id.as_str(), error = with_causes(&error), "Command is not killed");
        }
    });
}

impl ExecStream {
    /// What comes next; nothing if the guest is gone before the end. Cancel-safe.
    pub async fn next(&mut self) -> Option<ExecEvent> {
        loop {
            if let Some(state) = self.ended.take() {
                return Some(self.last(state));
            }
            let event = match self.messages.next().await? {
                Message::Stdout(piece) => {
                    ExecEvent::Stdout(self.stdout.feed(&piece.bytes, piece.left_out))
                }
                Message::Stderr(piece) => {
                    ExecEvent::Stderr(self.stderr.feed(&piece.bytes, piece.left_out))
                }
                Message::Ended(state) => {
                    self.ended = Some(state);
                    continue;
                }
                Message::Typed(_) | Message::Resized(_) => return None,
            };
            match &event {
                ExecEvent::Stdout(written) | ExecEvent::Stderr(written) if written.is_nothing() => {
                }
                _ => return Some(event),
            }
        }
    }
}

impl ExecStream {
    /// The beginning of a character that never came to its end, or else the end.
    fn last(&mut self, state: ExecState) -> ExecEvent {
        let (stdout, stderr) = (self.stdout.finish(), self.stderr.finish());
        if stdout.is_nothing() && stderr.is_nothing() {
            return ExecEvent::Ended(state);
        }
        self.ended = Some(state);
        if stdout.is_nothing() { ExecEvent::Stderr(stderr) } else { ExecEvent::Stdout(stdout) }
    }
}

impl Written {
    fn is_nothing(&self) -> bool {
        self.text.is_empty() && self.left_out == 0
    }
}

fn directory(cwd: Option<&str>) -> Result<(), SessionError> {
    match cwd {
        Some(cwd) if !cwd.starts_with('/') || cwd.contains('\0') => {
            let reason = format!("{cwd:?} is not an absolute path, such as /workspace");
            Err(spec::invalid("cwd", reason))
        }
        _ => Ok(()),
    }
}
