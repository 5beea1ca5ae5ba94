//! Why a session could not do what was asked.

use helmdeck_link::LinkError;
use helmdeck_runtime::RuntimeError;
use helmdeck_store::StoreError;
use helmdeck_wire::{
    ErrorBody, ErrorCode, SessionId,
    forward::Forward,
    session::{EndReason, ProfileName},
};

use crate::{lifecycle::Ending, session::Failure};

/// A failure of a session or of the registry.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// No such session, or not the caller's.
    #[error("session {0} does not exist")]
    NotFound(SessionId),
    /// A field of the spec has a value that is not allowed.
    #[error("{field}: {reason}")]
    InvalidSpec {
        /// Which field.
        field: &'static str,
        /// What is wrong with it, and what is allowed.
        reason: String,
    },
    /// The action needs a screen and the session has none.
    #[error(
        "session {0} is headless and has no desktop: create one with \"mode\": \"desktop\" or \
         \"env\": {{\"HELMDECK_MODE\": \"desktop\"}}"
    )]
    NotDesktop(SessionId),
    /// The session is not ready yet.
    #[error("session {0} is still starting: ask again in a second")]
    Starting(SessionId),
    /// The session's guest is of another version.
    #[error("session {0} was made by another version of helmdeck: it can be watched and ended")]
    Outdated(SessionId),
    /// The session is over.
    #[error("session {id} has ended ({}): create a new one", .ending.reason.as_str())]
    Ended {
        /// Which session.
        id: SessionId,
        /// Why and when.
        ending: Ending,
    },
    /// The session is over, and nothing else is known of it any more.
    #[error("session {id} has ended ({}) and is gone: create a new one", .ending.reason.as_str())]
    Gone {
        /// Which session.
        id: SessionId,
        /// Why and when.
        ending: Ending,
    },
    /// The program that brought a session is still connected.
    #[error(
        "another `helmdeck attach` is connected as session {0}: stop that one, or wait until it is \
         gone, or attach anew to have another session"
    )]
    AlreadyAttached(SessionId),
    /// The session did all the actions it may.
    #[error("session {id} has done its {limit} tasks: create a new one")]
    TaskLimit {
        /// Which session.
        id: SessionId,
        /// Its `max_tasks`.
        limit: u64,
    },
    /// No room for another session.
    #[error("all {limit} sessions are in use: end one, or raise max_sessions")]
    CapacityReached {
        /// The configured number.
        limit: usize,
    },
    /// The caller has enough sessions.
    #[error("{owner} has {limit} sessions, as many as one caller may: end one first")]
    QuotaReached {
        /// Whose sessions.
        owner: String,
        /// The configured number.
        limit: usize,
    },
    /// Another session has the profile.
    #[error("profile {:?} is in use by session {id}: end that one first", .name.as_str())]
    ProfileInUse {
        /// Which profile.
        name: ProfileName,
        /// Which session has it.
        id: SessionId,
    },
    /// What is kept between sessions could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A stage of the start failed.
    #[error("the session {sentence}{}", tail(.log_tail))]
    StartFailed {
        /// Which stage, and what happened.
        sentence: String,
        /// The last lines of the session's log.
        log_tail: String,
    },
    /// A person drives the session.
    #[error("{holder} drives session {id} by hand; wait, or look at the screen meanwhile")]
    ControlHeld {
        /// Which session.
        id: SessionId,
        /// Who drives.
        holder: String,
    },
    /// A person took control during the action.
    #[error("{holder} took control of session {id} while the action was under way")]
    ControlTaken {
        /// Which session.
        id: SessionId,
        /// Who drives.
        holder: String,
    },
    /// A person must drive for this, and the caller does not.
    #[error("you do not drive session {0}: take control first")]
    NotDriving(SessionId),
    /// Only a person may.
    #[error("only a person can do this: log in, or use a token made with `helmdeck token --human`")]
    PersonRequired,
    /// A viewer that may only look wants control.
    #[error("this viewer may only look: connect with a token, or with a ticket of role control")]
    ViewOnly,
    /// The session has as many viewers as it may.
    #[error("session {id} has {limit} viewers, as many as it may: close one")]
    TooManyViewers {
        /// Which session.
        id: SessionId,
        /// How many there may be.
        limit: usize,
    },
    /// The session's browser has as many clients as it may.
    #[error("the browser of session {id} has {limit} clients, as many as it may: close one")]
    TooManyClients {
        /// Which session.
        id: SessionId,
        /// How many there may be.
        limit: u64,
    },
    /// The caller may not forward this port of the server's machine.
    #[error(
        "port {0} of the server's machine is not yours to forward: ask the operator to add it to \
         HELMDECK_FORWARD_ALLOW, or use an admin's token. A port of your own machine needs no \
         permission: `helmdeck forward SESSION {0}`"
    )]
    ForwardDenied(u16),
    /// helmdeck itself listens on the port.
    #[error("port {0} is helmdeck's own: it cannot be forwarded into a session")]
    ForwardsServer(u16),
    /// The port inside leads elsewhere already.
    #[error(
        "port {} of the session is forwarded to port {} already: remove that forward first, or \
         map another port",
        .0.port, .0.to_port
    )]
    ForwardExists(Forward),
    /// Enough ports are forwarded.
    #[error("{limit} ports are forwarded into the session, as many as may be: remove one")]
    TooManyForwards {
        /// How many there may be.
        limit: usize,
    },
    /// The port is not forwarded.
    #[error("port {0} of the session is not forwarded")]
    NoForward(u16),
    /// The guest refused the action, and says why.
    #[error("{0}")]
    Refused(ErrorBody),
    /// The file has no such bytes.
    #[error("range: the file has {size} bytes, and none of those that were asked for")]
    RangeNotSatisfiable {
        /// How many bytes the file has.
        size: u64,
    },
    /// The caller stopped sending.
    #[error("the body broke off before its end")]
    BrokeOff,
    /// The guest did not answer in time.
    #[error("the session did not answer within {seconds} s")]
    Timeout {
        /// How long was waited.
        seconds: u64,
    },
    /// The connection to the guest broke.
    #[error("the session's guest does not answer any more")]
    GuestLost(#[source] LinkError),
    /// The runtime failed.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
}

impl SessionError {
    /// The public code, for histories. A wildcard would hide a new variant.
    pub fn code(&self) -> &'static str {
        self.public_code().as_str()
    }

    /// What a client is told went wrong.
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
            Self::Store(error) => store_code(error),
            Self::ProfileInUse { .. } => ErrorCode::ProfileInUse,
            Self::QuotaReached { .. } => ErrorCode::QuotaReached,
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

/// What a caller is told of a failure of the store.
fn store_code(error: &StoreError) -> ErrorCode {
    match error {
        StoreError::BadExtension(_) => ErrorCode::InvalidExtension,
        StoreError::ExtensionTooLarge { .. } => ErrorCode::PayloadTooLarge,
        StoreError::TooManyExtensions | StoreError::TooManyUploads { .. } => {
            ErrorCode::QuotaReached
        }
        StoreError::UploadBrokeOff => ErrorCode::InvalidInput,
        StoreError::Open { .. }
        | StoreError::Unusable { .. }
        | StoreError::Newer { .. }
        | StoreError::Migrate(_)
        | StoreError::Query(_)
        | StoreError::Nonsense { .. }
        | StoreError::Random(_)
        | StoreError::Profiles(_)
        | StoreError::Extensions(_) => ErrorCode::Internal,
    }
}

/// What a caller of a session that is over is told.
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
