//! A guest that does nothing, reports success, and records its calls.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use helmdeck_link::{ByteStream, route};
use helmdeck_wire::{
    ErrorBody,
    exec::Exec,
    guest::{Begin, LINK_VERSION, Part, Progress, Stage},
    session::Mode,
};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::{
    io::DuplexStream,
    sync::{mpsc, watch},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use super::files::Home;

/// How long a test waits. In one process everything is faster.
const PATIENCE: Duration = Duration::from_secs(20);
/// Buffer of a program's connection.
const PIPE: usize = 64 << 10;
/// Maximum number of pending connections of programs inside.
const MAX_DIALS: usize = 16;

/// A cheap handle to one guest.
#[derive(Clone)]
pub struct FakeGuest {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub id: String,
    pub state: Mutex<Inside>,
    pub home: Mutex<Home>,
    asked: watch::Sender<Vec<GuestCall>>,
    pub reports: watch::Sender<Vec<Progress>>,
    held: watch::Sender<HashSet<String>>,
    /// Number of screen changes.
    pub changes: watch::Sender<u64>,
    dials: mpsc::Sender<Dial>,
    pub dialled: tokio::sync::Mutex<mpsc::Receiver<Dial>>,
    pub dead: CancellationToken,
}

/// State of a guest.
pub(super) struct Inside {
    pub begin: Option<Begin>,
    pub link_version: u32,
    pub actions: u64,
    pub log: String,
    pub last_words: String,
    remembers: bool,
    start: Start,
    refusals: HashMap<String, ErrorBody>,
    answers: HashMap<String, Value>,
    /// Results of programs that a test set, by a part of their command.
    pub programs: Vec<(String, Outcome)>,
    /// Programs that were started.
    pub started: Vec<Exec>,
}

/// How a program ends.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// Exit code.
    pub exit_code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// How a guest starts.
#[derive(Debug, Clone, Default)]
pub(super) enum Start {
    /// It becomes ready at once.
    #[default]
    Ready,
    /// It never becomes ready.
    Never,
    /// A stage fails.
    Fails(Stage, String),
}

/// A program inside that opens a connection.
pub(super) struct Dial {
    pub stream: DuplexStream,
    pub forwarded_port: Option<u16>,
}

/// One call from the server.
#[derive(Debug, Clone, PartialEq)]
pub struct GuestCall {
    /// Name of the action, or of the link's route without its slash.
    pub call: String,
    /// Its body.
    pub body: Value,
    /// The `hands` header of the call: who has control.
    pub hands: String,
    /// State of the call.
    pub state: State,
}

/// State of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// In progress.
    UnderWay,
    /// Answered.
    Answered,
    /// The server disconnected before the answer.
    Cancelled,
}

impl FakeGuest {
    pub(super) fn new(id: &str, start: Start) -> Self {
        let (dials, dialled) = mpsc::channel(MAX_DIALS);
        let inside = Inside {
            begin: None,
            link_version: LINK_VERSION,
            actions: 0,
            log: "    0.000 guest: a fake one\n".to_owned(),
            last_words: "the guest hung up".to_owned(),
            remembers: true,
            start,
            refusals: HashMap::new(),
            answers: HashMap::new(),
            programs: Vec::new(),
            started: Vec::new(),
        };
        Self {
            shared: Arc::new(Shared {
                id: id.to_owned(),
                state: Mutex::new(inside),
                home: Mutex::default(),
                asked: watch::Sender::default(),
                reports: watch::Sender::default(),
                held: watch::Sender::default(),
                changes: watch::Sender::default(),
                dials,
                dialled: tokio::sync::Mutex::new(dialled),
                dead: CancellationToken::new(),
            }),
        }
    }

    /// The session's id.
    pub fn id(&self) -> &str {
        &self.shared.id
    }

    /// The message it was started with.
    pub fn begun_with(&self) -> Option<Begin> {
        self.shared.state.lock().begin.clone()
    }

    /// All calls so far.
    pub fn asked(&self) -> Vec<GuestCall> {
        self.shared.asked.borrow().clone()
    }

    /// The bodies of all calls of this name.
    pub fn bodies(&self, call: &str) -> Vec<Value> {
        let asked = self.shared.asked.borrow();
        asked.iter().filter(|asked| asked.call == call).map(|asked| asked.body.clone()).collect()
    }

    /// Waits until the last call of this name has this state.
    pub async fn until(&self, call: &str, state: State) {
        let last = |asked: &Vec<GuestCall>| asked.iter().rfind(|asked| asked.call == call).cloned();
        let mut asked = self.shared.asked.subscribe();
        let waiting = asked.wait_for(|asked| last(asked).is_some_and(|it| it.state == state));
        if timeout(PATIENCE, waiting).await.is_err() {
            panic!("{call} is not {state:?}: {:?}", self.asked());
        }
    }

    /// From now on, calls of this name are not answered.
    pub fn hold(&self, call: &str) {
        self.shared.held.send_modify(|held| {
            held.insert(call.to_owned());
        });
    }

    /// Answers calls of this name again, including held ones.
    pub fn release(&self, call: &str) {
        self.shared.held.send_modify(|held| {
            held.remove(call);
        });
    }

    /// From now on, calls of this name get this refusal.
    pub fn refuse(&self, call: &str, refusal: ErrorBody) {
        self.shared.state.lock().refusals.insert(call.to_owned(), refusal);
    }

    /// Ends what `answer` began, and says whether there was something.
    pub(super) fn forget_answer(&self, action: &str) -> bool {
        self.shared.state.lock().answers.remove(action).is_some()
    }

    /// From now on, actions of this name get this reply.
    pub fn answer(&self, action: &str, answer: Value) {
        self.shared.state.lock().answers.insert(action.to_owned(), answer);
    }

    /// From now on, programs whose command contains this text end like this.
    pub fn end_program(&self, part: &str, exit_code: i32, stdout: &str, stderr: &str) {
        let (stdout, stderr) = (stdout.to_owned(), stderr.to_owned());
        let outcome = Outcome { exit_code, stdout, stderr };
        self.shared.state.lock().programs.push((part.to_owned(), outcome));
    }

    /// The programs that were started.
    pub fn started(&self) -> Vec<Exec> {
        self.shared.state.lock().started.clone()
    }

    /// From now on, calls are not recorded.
    pub fn forget_calls(&self) {
        self.shared.state.lock().remembers = false;
    }

    /// From now on, it reports this version of the link.
    pub fn speak_link(&self, version: u32) {
        self.shared.state.lock().link_version = version;
    }

    /// Adds a line to its log.
    pub fn log(&self, line: &str) {
        let mut state = self.shared.state.lock();
        state.log = format!("{}{line}\n", state.log);
    }

    /// Reports something to the server.
    pub fn report(&self, progress: Progress) {
        self.shared.reports.send_modify(|reports| reports.push(progress));
    }

    /// Reports the loss of a required part.
    pub fn lose(&self, part: Part) {
        let log_tail = self.shared.state.lock().log.clone();
        self.report(Progress::Lost { part, log_tail });
    }

    /// Changes the screen.
    pub fn repaint(&self) {
        self.shared.changes.send_modify(|changes| *changes += 1);
    }

    /// Connects as a program inside, to the proxy or to a forwarded port.
    pub async fn dial(&self, forwarded_port: Option<u16>) -> impl ByteStream + use<> {
        let (stream, theirs) = tokio::io::duplex(PIPE);
        let dial = Dial { stream: theirs, forwarded_port };
        assert!(self.shared.dials.send(dial).await.is_ok(), "the guest lives");
        stream
    }

    /// Ends its processes and all connections.
    pub fn die(&self) {
        self.shared.dead.cancel();
    }

    /// Whether it still runs.
    pub fn is_alive(&self) -> bool {
        !self.shared.dead.is_cancelled()
    }

    /// Starts a session. Returns false if it was already started.
    pub(super) fn begin(&self, begin: Begin) -> bool {
        let mut state = self.shared.state.lock();
        if state.begin.is_some() {
            return false;
        }
        let stages: &[Stage] = match begin.mode {
            Mode::Desktop => &[Stage::Sandbox, Stage::Display, Stage::Desktop, Stage::Browser],
            Mode::Headless => &[Stage::Sandbox, Stage::Browser],
        };
        state.begin = Some(begin);
        let done = |stages: &[Stage]| stages.iter().copied().map(Progress::Done).collect();
        let reports: Vec<_> = match state.start.clone() {
            Start::Never => Vec::new(),
            Start::Ready => [done(stages), vec![Progress::Ready]].concat(),
            Start::Fails(failed, reason) => {
                let before: Vec<_> =
                    stages.iter().copied().take_while(|it| *it != failed).collect();
                let log_tail = state.log.clone();
                [done(&before), vec![Progress::Failed { stage: failed, reason, log_tail }]].concat()
            }
        };
        self.shared.reports.send_modify(|told| told.extend(reports));
        true
    }

    /// Whether it is a session that can act.
    pub(super) fn is_ready(&self) -> bool {
        self.shared.reports.borrow().iter().any(|report| matches!(report, Progress::Ready))
    }

    /// Records a call until the returned guard is dropped.
    pub(super) fn note(&self, call: &str, body: Value, hands: &str) -> Noted {
        let (call, hands) = (call.to_owned(), hands.to_owned());
        let mut index = usize::MAX;
        if !self.shared.state.lock().remembers {
            return Noted { guest: self.clone(), index, state: State::Cancelled };
        }
        self.shared.asked.send_modify(|all| {
            index = all.len();
            all.push(GuestCall { call, body, hands, state: State::UnderWay });
        });
        Noted { guest: self.clone(), index, state: State::Cancelled }
    }

    /// Waits while calls of this name are held. Returns the refusal or reply that a test set.
    pub(super) async fn decide(&self, call: &str) -> Result<Option<Value>, ErrorBody> {
        let _ = self.shared.held.subscribe().wait_for(|held| !held.contains(call)).await;
        let state = self.shared.state.lock();
        match state.refusals.get(call) {
            Some(refusal) => Err(refusal.clone()),
            None => Ok(state.answers.get(call).cloned()),
        }
    }
}

/// A call that is being answered.
pub(super) struct Noted {
    guest: FakeGuest,
    index: usize,
    state: State,
}

impl Noted {
    /// Marks the call as answered.
    pub fn answered(mut self) {
        self.state = State::Answered;
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        self.guest.shared.asked.send_modify(|all| {
            if let Some(asked) = all.get_mut(self.index) {
                asked.state = self.state;
            }
        });
    }
}

/// The name of a route in [`GuestCall`].
pub(super) fn call_of(path: &str) -> &str {
    path.strip_prefix(&route::act("")).unwrap_or(path.trim_start_matches('/'))
}
