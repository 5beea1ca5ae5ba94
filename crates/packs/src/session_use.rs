//! The session of a job: the one its caller names, or a new one.

use helmdeck_sessions::{Caller, Session, Sessions, Starting};
use helmdeck_store::Store;
use helmdeck_wire::{
    ErrorCode, SessionId,
    nature::Style,
    session::{Mode, SessionSpec},
};

use crate::{Pack, PackError, PackResult, pack::SessionNeed};

/// How long a session stays after the last call, in seconds.
const IDLE_S: u64 = 300;

/// How the caller names a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedSession {
    /// `_session_id`.
    pub id: Option<SessionId>,
    /// `workspace`.
    pub workspace: Option<String>,
}

/// The session of a job.
pub struct SessionUse {
    /// The session.
    pub session: Session,
    /// When it ends.
    pub ends: Ends,
}

/// Whether a session ends with its job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// No.
    Never,
    /// Only if the job does not complete.
    OnFailure,
    /// Yes.
    Always,
}

impl Ends {
    /// Whether it ends after a job with this outcome.
    pub fn after<T>(self, outcome: &PackResult<T>) -> bool {
        match self {
            Self::Never => false,
            Self::OnFailure => outcome.is_err(),
            Self::Always => true,
        }
    }
}

/// The session of a job, or one that is starting for it.
pub enum Obtained {
    /// It runs.
    Ready(SessionUse),
    /// It is starting.
    Starting {
        /// The session.
        starting: Starting,
        /// When it ends.
        ends: Ends,
    },
}

/// Refuses two names for one session, and any for a pack that runs in a private one.
pub fn check_named(pack: &Pack, named: &NamedSession) -> PackResult<()> {
    if named.id.is_some() && named.workspace.is_some() {
        let message = "workspace: `_session_id` names the session already: pass only one of them";
        return Err(PackError::invalid("workspace", message));
    }
    if !matches!(pack.needs.session, SessionNeed::Private(_)) || *named == NamedSession::default() {
        return Ok(());
    }
    let field = if named.id.is_some() { "_session_id" } else { "workspace" };
    let message = format!(
        "{field}: {} gets values of the server, and always runs in a new session: leave it out",
        pack.name
    );
    Err(PackError::invalid(field, message))
}

/// Finds or creates the session that a pack needs.
pub async fn obtain(
    sessions: &Sessions,
    store: &Store,
    caller: &Caller,
    pack: &Pack,
    style: Style,
    named: &NamedSession,
) -> PackResult<Option<Obtained>> {
    let (mode, ends) = match pack.needs.session {
        SessionNeed::None => return Ok(None),
        SessionNeed::OneShot(mode) => (mode, Ends::Always),
        SessionNeed::Keeps(mode) => (mode, Ends::OnFailure),
        SessionNeed::Private(mode) => return private(sessions, caller, pack, mode).await.map(Some),
        SessionNeed::Existing => {
            let found = find(sessions, store, caller, named).await?;
            let session = found.ok_or_else(|| nothing_named(pack))?;
            return Ok(Some(Obtained::Ready(SessionUse { session, ends: Ends::Never })));
        }
    };
    // Pictures need a desktop.
    let mode = if pack.mode.is_some() && style == Style::Vision { Mode::Desktop } else { mode };
    if let Some(session) = find(sessions, store, caller, named).await? {
        if mode == Mode::Desktop {
            session.ensure_desktop()?;
        }
        return Ok(Some(Obtained::Ready(SessionUse { session, ends: Ends::Never })));
    }
    // A workspace is found again by its name.
    let ends = if named.workspace.is_some() { Ends::Never } else { ends };
    let spec = SessionSpec {
        mode: Some(mode),
        label: named.workspace.clone().unwrap_or_else(|| pack.name.clone()),
        idle_timeout_s: Some(IDLE_S),
        ..SessionSpec::default()
    };
    let starting = sessions.start(caller, spec).await?;
    Ok(Some(Obtained::Starting { starting, ends }))
}

/// Starts a session that belongs to the caller's packs, so that the caller cannot enter it.
async fn private(
    sessions: &Sessions,
    caller: &Caller,
    pack: &Pack,
    mode: Mode,
) -> PackResult<Obtained> {
    let owner = Caller { subject: format!("packs of {}", caller.subject), ..caller.clone() };
    let spec = SessionSpec {
        mode: Some(mode),
        label: pack.name.clone(),
        idle_timeout_s: Some(IDLE_S),
        ..SessionSpec::default()
    };
    let starting = sessions.start(&owner, spec).await?;
    Ok(Obtained::Starting { starting, ends: Ends::Always })
}

/// The named session; `None` for a workspace without a running session.
async fn find(
    sessions: &Sessions,
    store: &Store,
    caller: &Caller,
    named: &NamedSession,
) -> PackResult<Option<Session>> {
    if let Some(id) = &named.id {
        // The same call would fail again.
        let session = sessions.get(caller, id).map_err(|e| PackError::from(e).permanent())?;
        if !session.is_alive() {
            let message = format!("session {id} has ended: call repo.fetch again for a new one");
            return Err(PackError::new(ErrorCode::SessionUnavailable, message).permanent());
        }
        return Ok(Some(session));
    }
    let Some(name) = &named.workspace else { return Ok(None) };
    let Some(id) = store.workspace(&caller.subject, name).await? else { return Ok(None) };
    Ok(sessions.get(caller, &id).ok().filter(Session::is_alive))
}

fn nothing_named(pack: &Pack) -> PackError {
    let message = format!(
        "{} works in an existing session, and the call names none: pass `_session_id` from the reply \
         of repo.fetch or session.create, or the same `workspace` name",
        pack.name
    );
    let mut error = PackError::invalid("_session_id", message);
    error = error.hint("without it, each call would start in an empty session");
    error
}
