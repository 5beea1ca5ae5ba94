//! Errors of sessions.

use helmdeck_link::LinkError;
use helmdeck_runtime::RuntimeError;
use helmdeck_store::StoreError;
use helmdeck_wire::{
    ErrorBody, ErrorCode, SessionId,
    forward::Forward,
    session::{EndReason, ProfileName},
    size::Bytes,
};

use crate::{lifecycle::Ending, session::Failure};

/// A failure of a session or of the registry.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The session does not exist or belongs to another owner.
    #[error("session {0} does not exist")]
    NotFound(SessionId),
    /// A field of the spec has a value that is not allowed.
    #[error("{field}: {reason}")]
    InvalidSpec {
        /// The field.
        field: &'static str,
        /// What is wrong, and what is allowed.
        reason: String,
    },
    /// The action needs a desktop and the session is headless.
    #[error(
        "session {0} is headless and has no desktop: create one with \"mode\": \"desktop\" or \
         \"env\": {{\"HELMDECK_MODE\": \"desktop\"}}"
    )]
    NotDesktop(SessionId),
    /// The session is not ready yet.
    #[error("session {0} is still starting: try again in a second")]
    Starting(SessionId),
    /// The session's guest has another version.
    #[error(
        "session {0} was created by another version of helmdeck: it can only be watched or ended"
    )]
    Outdated(SessionId),
    /// The session has ended.
    #[error("session {id} has ended ({}): create a new one", .ending.reason.as_str())]
    Ended {
        /// Which session.
        id: SessionId,
        /// Reason and time.
        ending: Ending,
    },
    /// The session has ended, and nothing else about it is known.
    #[error("session {id} has ended ({}) and is gone: create a new one", .ending.reason.as_str())]
    Gone {
        /// Which session.
        id: SessionId,
        /// Reason and time.
        ending: Ending,
    },
    /// Another program is connected to the attached session.
    #[error(
        "another `helmdeck attach` is connected as session {0}: stop that one, wait until it \
         disconnects, or attach a new session"
    )]
    AlreadyAttached(SessionId),
    /// The session has reached its `max_tasks`.
    #[error("session {id} has reached its limit of {limit} tasks: create a new one")]
    TaskLimit {
        /// Which session.
        id: SessionId,
        /// Its `max_tasks`.
        limit: u64,
    },
    /// The server has reached its limit of sessions.
    #[error("all {limit} sessions are in use: end one, or raise max_sessions")]
    CapacityReached {
        /// The configured number.
        limit: usize,
    },
    /// The caller has reached its limit of sessions.
    #[error("{owner} has reached the limit of {limit} sessions per caller: end one first")]
    QuotaReached {
        /// Owner of the sessions.
        owner: String,
        /// The configured number.
        limit: usize,
    },
    /// The caller's sessions have reached their limit of memory.
    #[error(
        "memory_limit: {asked} is too much: your running sessions have {used} of at most {most}, \
         set by the server's HELMDECK_MAX_MEMORY_PER_CALLER: end one, or ask for less"
    )]
    MemoryQuotaReached {
        /// The limit of the new session.
        asked: Bytes,
        /// The limits of the running sessions together.
        used: Bytes,
        /// What they may add up to.
        most: Bytes,
    },
    /// Another session uses the profile.
    #[error("profile {:?} is in use by session {id}: end that one first", .name.as_str())]
    ProfileInUse {
        /// Which profile.
        name: ProfileName,
        /// The session that uses it.
        id: SessionId,
    },
    /// The store could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A stage of the start failed.
    #[error("the session {sentence}{}", tail(.log_tail))]
    StartFailed {
        /// The stage, and what happened.
        sentence: String,
        /// The last lines of the session's log.
        log_tail: String,
    },
    /// A person has control of the session.
    #[error("{holder} has control of session {id}; wait, or watch the screen meanwhile")]
    ControlHeld {
        /// Which session.
        id: SessionId,
        /// The person.
        holder: String,
    },
    /// A person took control during the action.
    #[error("{holder} took control of session {id} while the action was under way")]
    ControlTaken {
        /// Which session.
        id: SessionId,
        /// The person.
        holder: String,
    },
    /// This requires control of the session.
    #[error("you do not have control of session {0}: take control first")]
    NotDriving(SessionId),
    /// Only a person may do this.
    #[error("only a person can do this: log in, or use a token made with `helmdeck token --human`")]
    PersonRequired,
    /// A view-only viewer requested control.
    #[error("this viewer may only watch: connect with a token, or with a ticket of role control")]
    ViewOnly,
    /// The session has reached its limit of viewers.
    #[error("session {id} has reached its limit of {limit} viewers: close one")]
    TooManyViewers {
        /// Which session.
        id: SessionId,
        /// The limit.
        limit: usize,
    },
    /// The session's browser has reached its limit of clients.
    #[error("the browser of session {id} has reached its limit of {limit} clients: close one")]
    TooManyClients {
        /// Which session.
        id: SessionId,
        /// The limit.
        limit: u64,
    },
    /// The caller may not forward this port of the server's machine.
    #[error(
        "you may not forward port {0} of the server's machine: ask the operator to add it to \
         HELMDECK_FORWARD_ALLOW, or use an admin's token. A port of your own machine needs no \
         permission: `helmdeck forward SESSION {0}`"
    )]
    ForwardDenied(u16),
    /// helmdeck itself listens on the port.
    #[error("port {0} belongs to helmdeck and cannot be forwarded into a session")]
    ForwardsServer(u16),
    /// The port inside is already forwarded to another port.
    #[error(
        "port {} of the session is already forwarded to port {}: remove that forward first, or \
         use another port",
        .0.port, .0.to_port
    )]
    ForwardExists(Forward),
    /// The session has reached its limit of forwarded ports.
    #[error("the session has reached its limit of {limit} forwarded ports: remove one")]
    TooManyForwards {
        /// The limit.
        limit: usize,
    },
    /// The port is not forwarded.
    #[error("port {0} of the session is not forwarded")]
    NoForward(u16),
    /// The guest refused the action.
    #[error("{0}")]
    Refused(ErrorBody),
    /// The range lies outside the file.
    #[error("range: outside the file, which has {size} bytes")]
    RangeNotSatisfiable {
        /// Size of the file in bytes.
        size: u64,
    },
    /// The caller's request body ended early.
    #[error("the request body ended early")]
    BrokeOff,
    /// The guest did not answer in time.
    #[error("the session did not answer within {seconds} s")]
    Timeout {
        /// How long the server waited.
        seconds: u64,
    },
    /// The connection to the guest broke.
    #[error("the session's guest no longer answers")]
    GuestLost(#[source] LinkError),
    /// The runtime failed.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
}

impl SessionError {
    /// The public code, for histories. Without a wildcard, so that new variants need a code.
    pub fn code(&self) -> &'static str {
        self.public_code().as_str()
    }

    /// The public error code.
    pub fn public_code(&self) -> ErrorCode {
        match self {
            Self::NotFound(_) | Self::Gone { .. } => ErrorCode::NotFound,
            Self::AlreadyAttached(_) => ErrorCode::AlreadyAttached,
            Self::InvalidSpec { .. } | Self::BrokeOff => ErrorCode::InvalidInput,
            Self::NotDesktop(_) => ErrorCode::NotDesktopMode,
            Self::Starting(_) => ErrorCode::SessionStarting,
            Self::Outdated(_) => ErrorCode::SessionOutdated,
            Self::Ended { ending, .. } => ended(ending.reason),
            Self::TaskLimit { .. } => ErrorCode::TaskLimitReached,
            Self::CapacityReached { .. } => ErrorCode::CapacityReached,
            Self::Store(error) => error.public_code(),
            Self::ProfileInUse { .. } => ErrorCode::ProfileInUse,
            Self::QuotaReached { .. } | Self::MemoryQuotaReached { .. } => ErrorCode::QuotaReached,
            Self::StartFailed { .. } | Self::Runtime(_) => ErrorCode::CreateFailed,
            Self::ControlHeld { .. } => ErrorCode::ControlHeld,
            Self::ControlTaken { .. } => ErrorCode::ControlTaken,
            Self::NotDriving(_) => ErrorCode::NotDriving,
            Self::PersonRequired => ErrorCode::PersonRequired,
            Self::ViewOnly => ErrorCode::Forbidden,
            Self::TooManyViewers { .. } | Self::TooManyClients { .. } => ErrorCode::Overloaded,
            Self::ForwardDenied(_) | Self::ForwardsServer(_) => ErrorCode::ForwardDenied,
            Self::ForwardExists(_) => ErrorCode::PortInUse,
            Self::TooManyForwards { .. } => ErrorCode::QuotaReached,
            Self::NoForward(_) => ErrorCode::NotFound,
            Self::Refused(body) => body.error,
            Self::RangeNotSatisfiable { .. } => ErrorCode::RangeNotSatisfiable,
            Self::Timeout { .. } => ErrorCode::Timeout,
            Self::GuestLost(_) => ErrorCode::GuestLost,
        }
    }
}

impl SessionError {
    /// How the session ended, if that is the reason.
    pub fn ending(&self) -> Option<Ending> {
        if let Self::Ended { ending, .. } | Self::Gone { ending, .. } = self {
            return Some(*ending);
        }
        None
    }
}

impl From<Failure> for SessionError {
    fn from(failure: Failure) -> Self {
        Self::StartFailed { sentence: failure.sentence(), log_tail: failure.log_tail }
    }
}

/// Public code for calls to a session that has ended.
fn ended(reason: EndReason) -> ErrorCode {
    match reason {
        EndReason::GuestLost => ErrorCode::GuestLost,
        EndReason::DisplayLost => ErrorCode::DisplayLost,
        EndReason::BrowserLost => ErrorCode::BrowserLost,
        EndReason::OutOfMemory => ErrorCode::OutOfMemory,
        EndReason::StartFailed => ErrorCode::CreateFailed,
        EndReason::Requested
        | EndReason::WallClock
        | EndReason::Idle
        | EndReason::MaxTasks
        | EndReason::ServerStopped => ErrorCode::SessionEnded,
    }
}

fn tail(log: &str) -> String {
    if log.is_empty() { String::new() } else { format!("\n{log}") }
}
