//! A running or ended command: its output, and how it ended.

use std::time::{Duration, Instant};

use bytes::Bytes;
use helmdeck_spawn::Ending;
use helmdeck_wire::{
    ErrorBody,
    exec::{ExecId, ExecState, ExecSummary},
};
use parking_lot::Mutex;
use time::OffsetDateTime;
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::{output::Output, tree::Tree};

/// One of the two output streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
}

/// A running or ended command.
pub struct Command {
    id: ExecId,
    name: String,
    began: Instant,
    started_at: OffsetDateTime,
    tree: Tree,
    outputs: Mutex<Outputs>,
    ended: watch::Sender<Option<Ended>>,
    /// Notified on new output, and at the end.
    changed: watch::Sender<()>,
    /// Why it is to be killed; the first reason counts.
    kill: watch::Sender<Option<Killed>>,
    /// Its share of the output memory.
    _budget: OwnedSemaphorePermit,
}

struct Outputs {
    stdout: Output,
    stderr: Output,
}

/// How a command ended.
#[derive(Debug, Clone)]
struct Ended {
    ending: Ending,
    took: Duration,
    killed: Option<Killed>,
}

/// Why a command is killed.
#[derive(Debug, Clone)]
pub enum Killed {
    /// A caller requested it or disconnected.
    Asked,
    /// It reached its timeout.
    TimedOut,
    /// The session exceeded its disk limit.
    DiskFull(ErrorBody),
}

impl Command {
    pub fn new(
        id: ExecId,
        name: String,
        tree: Tree,
        max_output_bytes: u32,
        budget: OwnedSemaphorePermit,
    ) -> Self {
        let output = || Output::new(usize::try_from(max_output_bytes).unwrap_or(usize::MAX));
        Self {
            id,
            name,
            began: Instant::now(),
            started_at: OffsetDateTime::now_utc(),
            tree,
            outputs: Mutex::new(Outputs { stdout: output(), stderr: output() }),
            ended: watch::Sender::new(None),
            changed: watch::Sender::new(()),
            kill: watch::Sender::new(None),
            _budget: budget,
        }
    }

    pub fn id(&self) -> &ExecId {
        &self.id
    }

    /// The program, without its arguments.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its processes.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Requests that it is killed, unless it has ended.
    pub fn kill(&self, why: Killed) {
        self.kill.send_if_modified(|killed| {
            let first = killed.is_none();
            killed.get_or_insert(why);
            first
        });
    }

    /// Waits until it is to be killed.
    pub async fn killed(&self) -> Killed {
        let mut kill = self.kill.subscribe();
        // We own the sender, so this does not fail.
        let _ = kill.wait_for(Option::is_some).await;
        kill.borrow().clone().unwrap_or(Killed::Asked)
    }

    pub fn is_running(&self) -> bool {
        self.ended.borrow().is_none()
    }

    /// The time since it ended.
    pub fn ended_since(&self) -> Duration {
        let ended = self.ended.borrow();
        ended.as_ref().map_or(Duration::ZERO, |ended| self.began.elapsed() - ended.took)
    }

    /// Waits until it has ended.
    pub async fn over(&self) {
        // We own the sender, so this does not fail.
        let _ = self.ended.subscribe().wait_for(Option::is_some).await;
    }

    /// Subscribes to new output and the end.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Adds output.
    pub fn push(&self, stream: Stream, bytes: &[u8]) {
        let mut outputs = self.outputs.lock();
        match stream {
            Stream::Stdout => outputs.stdout.push(bytes),
            Stream::Stderr => outputs.stderr.push(bytes),
        }
        drop(outputs);
        self.changed.send_replace(());
    }

    /// See [`Output::from`].
    pub fn output(&self, stream: Stream, at: u64, most: usize) -> Option<(u64, Bytes)> {
        let outputs = self.outputs.lock();
        match stream {
            Stream::Stdout => outputs.stdout.from(at, most),
            Stream::Stderr => outputs.stderr.from(at, most),
        }
    }

    /// Marks it as ended, after all its output.
    pub fn end(&self, ending: Ending, killed: Option<Killed>) {
        let mut outputs = self.outputs.lock();
        outputs.stdout.shrink();
        outputs.stderr.shrink();
        drop(outputs);
        let took = self.began.elapsed();
        self.ended.send_replace(Some(Ended { ending, took, killed }));
        self.changed.send_replace(());
    }

    /// Its current state.
    pub fn state(&self, with_output: bool) -> ExecState {
        // Read first: all output from before the end is recorded by then.
        let ended = self.ended.borrow().clone();
        let outputs = self.outputs.lock();
        let ending = ended.as_ref().map(|ended| ended.ending);
        let took = ended.as_ref().map_or_else(|| self.began.elapsed(), |ended| ended.took);
        let killed = ended.as_ref().and_then(|ended| ended.killed.clone());
        ExecState {
            exec_id: self.id.clone(),
            running: ended.is_none(),
            exit_code: exit_code(ending),
            signal: ending.and_then(signal),
            stdout: with_output.then(|| outputs.stdout.text()),
            stderr: with_output.then(|| outputs.stderr.text()),
            stdout_truncated: outputs.stdout.is_truncated(),
            stderr_truncated: outputs.stderr.is_truncated(),
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            timed_out: matches!(killed, Some(Killed::TimedOut)),
            error: match killed {
                Some(Killed::DiskFull(error)) => Some(error),
                Some(Killed::Asked | Killed::TimedOut) | None => None,
            },
        }
    }

    /// The state for a list.
    pub fn summary(&self) -> ExecSummary {
        let ExecState { exec_id, running, exit_code, signal, timed_out, duration_ms, .. } =
            self.state(false);
        ExecSummary {
            exec_id,
            command: self.name.clone(),
            started_at: self.started_at,
            running,
            exit_code,
            signal,
            timed_out,
            duration_ms,
        }
    }
}

/// The exit code, if it exited.
pub fn exit_code(ending: Option<Ending>) -> Option<i32> {
    match ending {
        Some(Ending::Exited(code)) => Some(code),
        Some(Ending::Signaled(_)) | None => None,
    }
}

/// The name of the signal, if one ended it.
pub fn signal(ending: Ending) -> Option<String> {
    const NAMES: [&str; 32] = [
        "", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV",
        "USR2", "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU",
        "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
    ];
    let Ending::Signaled(number) = ending else { return None };
    let name = usize::try_from(number).ok().and_then(|number| NAMES.get(number));
    Some(name.map_or_else(|| format!("SIG{number}"), |name| format!("SIG{name}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_their_usual_names() {
        let name = |number| signal(Ending::Signaled(number)).unwrap();
        assert_eq!(
            (name(9), name(15), name(31)),
            ("SIGKILL".into(), "SIGTERM".into(), "SIGSYS".into())
        );
        assert_eq!(name(34), "SIG34");
        assert_eq!(signal(Ending::Exited(0)), None);
        assert_eq!(exit_code(Some(Ending::Signaled(9))), None);
    }
}
