//! Commands and terminals of callers in a session. The guest owns them; this module requests them,
//! and kills commands whose callers disconnected.

mod kills;
mod terminal;
mod text;

use std::time::{Duration, Instant};

use helmdeck_link::{ByteStream, Link, exec::Message};
use helmdeck_wire::exec::{Exec, ExecId, ExecList, ExecState};
use serde_json::json;
use tokio::sync::oneshot;

use crate::{
    Caller, Session, SessionError,
    history::Attempt,
    lifecycle::Lifecycle,
    session::{Inner, Task},
    spec,
};

pub(crate) use kills::Kills;
pub use terminal::{FromTerminal, Terminal, TerminalInput, TerminalOutput};
use text::Decoder;

/// How long one wait request to the guest lasts.
const WAIT: Duration = Duration::from_secs(30);

/// A command whose caller waits for it. Dropping it kills the command and everything it started.
pub struct Running {
    session: Session,
    id: ExecId,
    kill: bool,
    attempt: Attempt,
    _busy: Task,
}

/// Output of a command as it is written.
pub struct ExecStream {
    messages: helmdeck_link::exec::Receiver<Box<dyn ByteStream>>,
    stdout: Decoder,
    stderr: Decoder,
    ended: Option<ExecState>,
}

/// Output of a command, or its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExecEvent {
    /// To standard output.
    Stdout(Written),
    /// To standard error.
    Stderr(Written),
    /// How it ended, without output.
    Ended(ExecState),
}

/// Output of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Written {
    /// The text. Characters are never split.
    pub text: String,
    /// Number of missing bytes before it: they were written faster than read.
    pub left_out: u64,
}

impl Session {
    /// Starts a command for a caller with control.
    pub async fn exec(&self, caller: &Caller, exec: Exec) -> Result<Running, SessionError> {
        let mut attempt = Attempt::named(self, caller.actor(), "exec", exec.detail());
        let started = self.try_exec(caller, exec).await;
        match started {
            Ok((started, busy)) => {
                let (session, id) = (self.clone(), started.disarm());
                self.audit_exec(&attempt, &id);
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
        // Checked before it counts as a task: an agent that waits for a person must not use up its
        // tasks.
        self.may_drive(caller)?;
        let busy = self.begin(Lifecycle::begin_task)?;
        let (tell, told) = oneshot::channel();
        let (link, kills) = (self.inner.link.clone(), self.inner.kills.clone());
        let under_way = kills.begin();
        // Continues when the caller disconnects: a command with an unknown id could not be killed.
        helmdeck_task::spawn(async move {
            let started = link.start_exec(&exec).await;
            // If the caller has left, this kills the command, which is then under way, too.
            let _ = tell.send(started.map(|id| Started { id: Some(id), link, kills }));
            drop(under_way);
        });
        let started = told.await.unwrap_or_else(|_| {
            Err(helmdeck_link::LinkError::Nonsense("the start was cancelled".to_owned()))
        });
        Ok((started.map_err(|error| self.link_failed(error))?, busy))
    }

    /// Running commands, and the last that ended.
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

    /// Output of a command: what is kept, and then what it writes.
    pub async fn exec_stream(&self, id: &ExecId) -> Result<ExecStream, SessionError> {
        self.adoption().await;
        self.ensure_alive()?;
        let messages = self.inner.link.exec_output(id).await;
        let messages = messages.map_err(|error| self.link_failed(error))?;
        let (stdout, stderr) = (Decoder::default(), Decoder::default());
        Ok(ExecStream { messages, stdout, stderr, ended: None })
    }

    /// Kills a command and everything it started, for a caller with control.
    pub async fn kill_exec(&self, caller: &Caller, id: &ExecId) -> Result<(), SessionError> {
        let detail = json!({ "exec_id": id });
        let mut attempt = Attempt::named(self, caller.actor(), "kill_exec", detail);
        self.adoption().await;
        let killed = async {
            self.may_drive(caller)?;
            let _busy = self.begin(Lifecycle::begin_use)?;
            self.inner.link.kill_exec(id).await.map_err(|error| self.link_failed(error))
        };
        let killed = killed.await;
        attempt.outcome = killed.as_ref().map_or_else(SessionError::code, |()| "ok");
        killed
    }

    /// Waits until the commands are dead whose callers have left.
    pub async fn kills_done(&self) {
        self.inner.kills.done().await;
    }

    /// Records whether commands are running.
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

    /// Waits until it ends.
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

    /// Its output, from the beginning.
    pub async fn stream(&self) -> Result<ExecStream, SessionError> {
        self.session.exec_stream(&self.id).await
    }

    /// Disarms the kill on drop. Background programs keep running.
    pub fn is_over(&mut self, state: &ExecState) {
        self.kill = false;
        self.attempt.outcome = if state.timed_out { "timeout" } else { "ok" };
    }

    /// Lets it run after its caller disconnects.
    pub fn leave(&mut self) {
        self.kill = false;
        self.attempt.outcome = "ok";
    }

    /// Its current state.
    pub async fn state(&self) -> Result<ExecState, SessionError> {
        self.session.show_exec(&self.id, Duration::ZERO).await
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.kill && self.session.is_alive() {
            let Inner { kills, link, .. } = &*self.session.inner;
            kills.kill(link.clone(), self.id.clone());
        }
    }
}

/// A started command. Dropping it kills it.
struct Started {
    id: Option<ExecId>,
    link: Link,
    kills: Kills,
}

impl Started {
    fn disarm(mut self) -> ExecId {
        self.id.take().unwrap_or_else(|| ExecId::new(""))
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            self.kills.kill(self.link.clone(), id);
        }
    }
}

impl ExecStream {
    /// The next event; `None` if the guest is gone before the end. Cancel-safe.
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
    /// The rest of an incomplete character, or else the end.
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
