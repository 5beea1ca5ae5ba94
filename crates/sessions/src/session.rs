//! One session, as a cheap handle.

mod action;

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64},
    },
    time::{Duration, Instant},
};

use async_trait::async_trait;
use helmdeck_link::{ByteStream, Connect, Link, LinkError};
use helmdeck_runtime::{Runtime, SandboxId};
use helmdeck_store::{Audit, Extensions, Profiles};
use helmdeck_wire::{
    SessionId,
    guest::Stage,
    history::Actor,
    nature::Style,
    session::{EndReason, Mode, SessionSpec},
    window::BrowserWindow,
};
use parking_lot::Mutex;
use time::OffsetDateTime;
use tokio::{
    sync::{Notify, watch},
    time::timeout,
};

pub(crate) use self::action::{ACTION_DEADLINE, Task};
use crate::{
    Attachment, Caller, SessionError,
    cast::Watched,
    clock::Clock,
    control_lease::Lease,
    egress::Decisions,
    events::Events,
    exec::Kills,
    forwards::{Forwards, Permission},
    journal::Journal,
    lifecycle::{Ending, Lifecycle, Phase},
    private::SignIn,
    record::Record,
    spec,
};

/// How long to wait for a guest to report its usage.
pub(crate) const HELLO_DEADLINE: Duration = Duration::from_secs(1);
/// How long a call waits for a session that is being adopted.
pub(crate) const ADOPTION_DEADLINE: Duration = Duration::from_secs(5);

/// State shared by all sessions.
#[derive(Clone)]
pub(crate) struct Common {
    pub runtime: Arc<dyn Runtime>,
    pub events: Events,
    pub journal: Journal,
    pub profiles: Profiles,
    pub extensions: Extensions,
    pub forward_permission: Permission,
    pub clock: Clock,
    pub audit: Audit,
}

/// A handle to one session, obtained from [`crate::Sessions::get`].
#[derive(Clone)]
pub struct Session {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub id: SessionId,
    pub sandbox: SandboxId,
    /// The spec may hold secrets: never show it whole.
    pub record: Record,
    pub began: Instant,
    /// Clock for limits.
    pub clock: Clock,
    /// Whether another server started it.
    adopted: bool,
    pub attachment: Option<Attachment>,
    pub link: Link,
    pub kills: Kills,
    pub life: Mutex<Lifecycle>,
    /// Time from creation to the end of each start stage.
    pub timings: Mutex<Vec<(Stage, Duration)>>,
    pub failure: Mutex<Option<Failure>>,
    /// End of the log of a session that has ended.
    pub kept_log: Mutex<Option<String>>,
    pub egress: Arc<Decisions>,
    pub forwards: Arc<Forwards>,
    pub forward_permission: Permission,
    pub agent_status: Mutex<String>,
    /// How it is used.
    pub action_mode: Mutex<Style>,
    /// When an agent last acted.
    pub agent_acted: Mutex<Option<OffsetDateTime>>,
    /// Who created it; unknown for an adopted session.
    pub creator: Option<Caller>,
    /// Who requested its end.
    pub ended_by: Mutex<Option<Actor>>,
    /// Remark about the start page.
    pub start_note: Mutex<Option<String>>,
    /// Whether a last picture is stored.
    pub has_last_picture: AtomicBool,
    pub browser_window: Mutex<Option<BrowserWindow>>,
    /// Control of the session. Tasks that wait for a change watch it.
    pub lease: watch::Sender<Lease>,
    /// Number of open viewers by token or ticket.
    pub viewers: Mutex<HashMap<String, usize>>,
    /// Number of open connections to the browser.
    pub cdp_clients: AtomicU64,
    /// State of the browser view.
    pub cast: Mutex<Watched>,
    /// The private sign-in in progress.
    pub private: Mutex<Option<SignIn>>,
    pub events: Events,
    pub journal: Journal,
    pub audit: Audit,
    pub profiles: Profiles,
    pub extensions: Extensions,
    /// Wakes the driver when the lifecycle may have changed.
    pub changed: Notify,
    /// Progress of the driver.
    pub progress: watch::Sender<Driven>,
}

/// Where a session comes from.
#[derive(Default)]
struct Origin {
    creator: Option<Caller>,
    adopted: bool,
    attachment: Option<Attachment>,
}

/// Progress of the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Driven {
    Starting,
    Running,
    /// The sandbox is gone and completely removed.
    Stopped,
}

/// Why a session failed.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    /// The start stage that failed; `None` if it had started.
    pub stage: Option<Stage>,
    pub reason: String,
    pub log_tail: String,
}

impl Failure {
    pub fn sentence(&self) -> String {
        match self.stage {
            Some(stage) => format!("failed to start at stage {}: {}", stage.as_str(), self.reason),
            None => self.reason.clone(),
        }
    }
}

impl Session {
    /// A session that `caller` creates.
    pub(crate) fn new(
        id: SessionId,
        sandbox: SandboxId,
        caller: &Caller,
        spec: SessionSpec,
        shared: Common,
    ) -> Self {
        let record = Record::new(caller.subject.clone(), spec);
        let creator = Some(caller.clone());
        Self::with_record(id, sandbox, record, shared, Origin { creator, ..Origin::default() })
    }

    /// A session that an earlier server left running.
    pub(crate) fn adopted(sandbox: SandboxId, record: Record, shared: Common) -> Self {
        let id = SessionId::new(sandbox.as_str());
        let origin = Origin { adopted: true, ..Origin::default() };
        Self::with_record(id, sandbox, record, shared, origin)
    }

    /// A session that a program attaches.
    pub(crate) fn attached(attachment: Attachment, record: Record, shared: Common) -> Self {
        let sandbox = attachment.sandbox().id;
        let id = SessionId::new(sandbox.as_str());
        let shared = Common { runtime: Arc::new(attachment.clone()), ..shared };
        let origin = Origin { adopted: true, attachment: Some(attachment), creator: None };
        Self::with_record(id, sandbox, record, shared, origin)
    }

    fn with_record(
        id: SessionId,
        sandbox: SandboxId,
        record: Record,
        Common {
            runtime,
            events,
            journal,
            profiles,
            extensions,
            forward_permission,
            clock,
            audit,
        }: Common,
        Origin { creator, adopted, attachment }: Origin,
    ) -> Self {
        let link = Link::new(ToSandbox { runtime, sandbox: sandbox.clone() });
        let now = clock.now();
        let began = if adopted { now.checked_sub(record.age()).unwrap_or(now) } else { now };
        let life = Lifecycle::new(spec::limits(&record.spec), began);
        Self {
            inner: Arc::new(Inner {
                id,
                sandbox,
                record,
                began,
                clock,
                adopted,
                attachment,
                link,
                kills: Kills::default(),
                life: Mutex::new(life),
                timings: Mutex::default(),
                failure: Mutex::default(),
                kept_log: Mutex::default(),
                egress: Arc::default(),
                forwards: Arc::default(),
                forward_permission,
                agent_status: Mutex::default(),
                action_mode: Mutex::default(),
                agent_acted: Mutex::default(),
                creator,
                ended_by: Mutex::default(),
                start_note: Mutex::default(),
                has_last_picture: AtomicBool::default(),
                browser_window: Mutex::default(),
                lease: watch::Sender::default(),
                viewers: Mutex::default(),
                cdp_clients: AtomicU64::default(),
                cast: Mutex::default(),
                private: Mutex::default(),
                events,
                journal,
                audit,
                profiles,
                extensions,
                changed: Notify::new(),
                progress: watch::Sender::new(Driven::Starting),
            }),
        }
    }

    /// Its id.
    pub fn id(&self) -> &SessionId {
        &self.inner.id
    }

    /// Turns a failed call to the guest into an error.
    pub(crate) fn link_failed(&self, error: LinkError) -> SessionError {
        match error {
            LinkError::Refused(body) => SessionError::Refused(body),
            LinkError::Deadline(waited) => SessionError::Timeout { seconds: waited.as_secs() },
            LinkError::BrokeOff => SessionError::BrokeOff,
            lost => self.ensure_alive().err().unwrap_or(SessionError::GuestLost(lost)),
        }
    }

    /// Whether it is completely removed.
    pub(crate) fn is_stopped(&self) -> bool {
        *self.inner.progress.borrow() == Driven::Stopped
    }

    /// Whether it has not ended.
    pub fn is_alive(&self) -> bool {
        self.ensure_alive().is_ok()
    }

    pub(crate) fn ensure_alive(&self) -> Result<(), SessionError> {
        match self.inner.life.lock().phase() {
            Phase::Over(ending) => {
                Err(SessionError::Ended { id: self.inner.id.clone(), ending: *ending })
            }
            Phase::Starting | Phase::Running | Phase::Outdated => Ok(()),
        }
    }

    /// How it ended.
    pub(crate) fn ended(&self) -> Option<Ending> {
        self.inner.life.lock().ending()
    }

    pub(crate) fn belongs_to(&self, caller: &Caller) -> bool {
        caller.owns(&self.inner.record.owner)
    }

    /// Ends it and waits until it is completely removed.
    pub(crate) async fn end(&self, reason: EndReason) {
        self.request_end(reason);
        self.driven_to(Driven::Stopped).await;
    }

    /// Ends it without waiting.
    pub(crate) fn request_end(&self, reason: EndReason) {
        self.inner.life.lock().end(reason, OffsetDateTime::now_utc());
        self.inner.changed.notify_one();
    }

    /// Waits until an adopted session is known, with a deadline.
    pub(crate) async fn adoption(&self) {
        if self.inner.adopted {
            let _ = timeout(ADOPTION_DEADLINE, self.driven_to(Driven::Running)).await;
        }
    }

    /// Waits until the driver has reached this state.
    pub(crate) async fn driven_to(&self, wanted: Driven) {
        // The sender lives in `inner`, so this cannot fail here.
        let _ = self.inner.progress.subscribe().wait_for(|at| *at >= wanted).await;
    }

    /// Whether it has a desktop.
    pub fn mode(&self) -> Mode {
        self.inner.record.spec.mode.unwrap_or_default()
    }

    /// Fails if it has no desktop.
    pub fn ensure_desktop(&self) -> Result<(), SessionError> {
        match self.mode() {
            Mode::Desktop => Ok(()),
            Mode::Headless => Err(SessionError::NotDesktop(self.inner.id.clone())),
        }
    }
}

/// Opens the link's connections through the runtime.
struct ToSandbox {
    runtime: Arc<dyn Runtime>,
    sandbox: SandboxId,
}

#[async_trait]
impl Connect for ToSandbox {
    async fn connect(&self) -> std::io::Result<Box<dyn ByteStream>> {
        let stream = self.runtime.connect(&self.sandbox).await.map_err(std::io::Error::other)?;
        Ok(Box::new(stream))
    }
}
