//! All sessions of this server.

mod listing;

use std::{ops::RangeInclusive, sync::Arc, time::Duration};

use helmdeck_egress::Policy;
use helmdeck_runtime::{Runtime, RuntimeError, Sandbox, SandboxId};
use helmdeck_store::{Audit, Extensions, Profiles, Store};
use helmdeck_wire::{
    SessionId,
    session::{EndReason, ProfileName, SessionSpec},
    size::Bytes,
};
use parking_lot::Mutex;
use tokio::time::timeout;
use tracing::{info, warn};

use crate::{
    AttachClaim, Attachment, Caller, Ceilings, Clock, Session, SessionError, Starting, ToAttach,
    audit, driver,
    events::{EventKind, Events},
    forwards::Permission,
    journal::Journal,
    profiles,
    record::Record,
    resource_limits::check_memory,
    session::{Common, Driven},
    spec,
};

/// Number of ended sessions that are kept.
const REMEMBERED: usize = 100;
/// All sandboxes are killed at once, which takes milliseconds each.
const END_ALL_DEADLINE: Duration = Duration::from_secs(20);

/// Limits of the registry.
#[derive(Clone)]
pub struct Config {
    /// Maximum number of sessions.
    pub max_sessions: usize,
    /// Maximum number of sessions per caller.
    pub max_sessions_per_caller: usize,
    /// Default idle limit of sessions; 0 for never.
    pub idle_timeout_s: u64,
    /// What the memory limits of a caller's running sessions may add up to.
    pub max_memory_per_caller: Bytes,
    /// Maximum resources of one session.
    pub ceilings: Ceilings,
    /// Size limit of a session's workspace on disk. Without it, the workspace is in memory.
    pub workspace_bytes: Option<u64>,
    /// Egress policy.
    pub policy: Policy,
    /// Ports of this machine that every caller may forward into sessions.
    pub forward_allow: Vec<RangeInclusive<u16>>,
    /// Stored browser profiles.
    pub profiles: Profiles,
    /// Stored browser extensions.
    pub extensions: Extensions,
    /// Clock for limits and leases.
    pub clock: Clock,
    /// Where starts, ends and other uses of sessions are recorded.
    pub audit: Audit,
}

/// A cheap handle to all sessions.
#[derive(Clone)]
pub struct Sessions {
    shared: Arc<Shared>,
}

struct Shared {
    common: Common,
    config: Config,
    /// Oldest first.
    sessions: Mutex<Vec<Session>>,
}

impl Sessions {
    /// An empty registry on a runtime.
    pub fn new(runtime: Arc<dyn Runtime>, store: Store, journal: Journal, config: Config) -> Self {
        let common = Common {
            runtime,
            events: Events::default(),
            journal,
            profiles: config.profiles.clone(),
            extensions: config.extensions.clone(),
            clock: config.clock.clone(),
            audit: config.audit.clone(),
            forward_permission: Permission::new(
                config.forward_allow.clone(),
                config.policy.clone(),
                store,
            ),
        };
        Self { shared: Arc::new(Shared { common, config, sessions: Mutex::default() }) }
    }

    /// Events of all sessions.
    pub fn events(&self) -> &Events {
        &self.shared.common.events
    }

    /// Waits until all actions so far are recorded.
    pub async fn flush(&self) {
        self.shared.common.journal.flush().await;
    }

    pub(crate) fn profile_store(&self) -> &Profiles {
        &self.shared.common.profiles
    }

    pub(crate) fn extension_store(&self) -> &Extensions {
        &self.shared.common.extensions
    }

    /// Fails if a session uses this profile of the caller.
    pub(crate) fn ensure_profile_free(
        &self,
        caller: &Caller,
        name: &ProfileName,
    ) -> Result<(), SessionError> {
        profiles::ensure_free(&self.shared.sessions.lock(), &caller.subject, Some(name))
    }

    fn runtime(&self) -> &Arc<dyn Runtime> {
        &self.shared.common.runtime
    }

    /// Adopts sessions that an earlier server left running, and removes sandboxes that have ended.
    /// Returns at once; calls for a session wait until it is adopted.
    pub async fn adopt(&self) -> Result<(), SessionError> {
        self.profile_store().sweep().await;
        self.extension_store().sweep().await;
        let sandboxes = self.runtime().list().await?;
        self.forget_forwards(&sandboxes).await;
        for sandbox in sandboxes {
            if !sandbox.running {
                info!(sandbox = %sandbox.id, "Removing a sandbox that has ended");
                if let Some(record) = Record::from_labels(&sandbox.labels) {
                    let id = SessionId::new(sandbox.id.as_str());
                    let found = self.shared.common.journal.ends().add_found(id, record).await;
                    found.iter().for_each(|end| audit::found(&self.shared.common.audit, end));
                }
                if let Err(error) = self.runtime().stop(&sandbox.id).await {
                    warn!(sandbox = %sandbox.id, %error, "Failed to remove sandbox");
                }
                continue;
            }
            let Some(record) = Record::from_labels(&sandbox.labels) else {
                warn!(sandbox = %sandbox.id, "Unknown sandbox; it ends when its guest times out");
                continue;
            };
            let session = Session::adopted(sandbox.id, record, self.shared.common.clone());
            self.shared.sessions.lock().push(session.clone());
            let (runtime, policy) = (self.runtime().clone(), self.shared.config.policy.clone());
            helmdeck_task::spawn(driver::drive_adopted(session, runtime, policy));
        }
        self.shared.sessions.lock().sort_by_key(|session| session.inner.record.created_at);
        Ok(())
    }

    /// Removes the forwards of sessions that ended while no server was running.
    async fn forget_forwards(&self, sandboxes: &[Sandbox]) {
        let store = self.shared.common.forward_permission.store();
        for id in store.sessions_with_forwards().await.unwrap_or_default() {
            if !sandboxes.iter().any(|it| it.running && it.id.as_str() == id.as_str()) {
                // Errors are harmless: ids are never reused.
                let _ = store.remove_forwards(&id).await;
            }
        }
    }

    /// Creates a session for `caller`. With `wait`, returns when it is ready, and dropping the
    /// future ends the session.
    pub async fn create(
        &self,
        caller: &Caller,
        spec: SessionSpec,
        wait: bool,
    ) -> Result<Session, SessionError> {
        let session = self.begin(caller, spec).await?;
        if wait { Starting::new(self.clone(), session).ready().await } else { Ok(session) }
    }

    /// Creates a session for `caller` whose id is known before it is ready.
    pub async fn start(
        &self,
        caller: &Caller,
        spec: SessionSpec,
    ) -> Result<Starting, SessionError> {
        Ok(Starting::new(self.clone(), self.begin(caller, spec).await?))
    }

    async fn begin(&self, caller: &Caller, mut spec: SessionSpec) -> Result<Session, SessionError> {
        self.shared.config.ceilings.apply(caller, &mut spec)?;
        let spec = spec::complete(spec, self.shared.config.idle_timeout_s)?;
        self.ensure_extensions(caller, &spec)?;
        self.shared.common.forward_permission.check(caller, &spec.forward)?;
        self.let_profile_go(caller, &spec).await;
        let id = new_id()?;
        let sandbox = SandboxId::new(id.as_str())?;
        let session = Session::new(id, sandbox, caller, spec, self.shared.common.clone());
        self.admit(&mut self.shared.sessions.lock(), caller, session.clone())?;
        let (runtime, policy) = (self.runtime().clone(), self.shared.config.policy.clone());
        session.audit_created(caller);
        session.tell(EventKind::Changed);
        let workspace_bytes = self.shared.config.workspace_bytes;
        helmdeck_task::spawn(driver::drive(session.clone(), runtime, policy, workspace_bytes));
        Ok(session)
    }

    /// Attaches a session of `caller`, or resumes one. If several programs resume the same session,
    /// only one succeeds.
    pub fn attach(
        &self,
        caller: &Caller,
        wanted: ToAttach,
    ) -> Result<(Session, AttachClaim), SessionError> {
        let spec = SessionSpec {
            geometry: None,
            shm_size: None,
            ..spec::complete(wanted.spec()?, self.shared.config.idle_timeout_s)?
        };
        let mut record = Record::new(caller.subject.clone(), spec);
        record.attached = Some(wanted.attached);
        let id = match wanted.back {
            Some((id, created_at)) => {
                (record.created_at, record.created_uptime_s) = (created_at, None);
                id
            }
            None => new_id()?,
        };
        // Held during check and insert, so that two programs cannot both create the session.
        let mut sessions = self.shared.sessions.lock();
        if let Some(known) = sessions.iter().find(|session| *session.id() == id) {
            known.ensure_alive()?;
            return Ok((known.clone(), bring(known)?));
        }
        let attachment = Attachment::new(SandboxId::new(id.as_str())?);
        let session = Session::attached(attachment.clone(), record, self.shared.common.clone());
        let brought = bring(&session)?;
        self.admit(&mut sessions, caller, session.clone())?;
        drop(sessions);
        session.audit_created(caller);
        session.tell(EventKind::Changed);
        helmdeck_task::spawn(driver::drive_attached(session.clone(), attachment));
        Ok((session, brought))
    }

    /// A session of the caller. An admin may get any session; for others it does not exist.
    pub fn get(&self, caller: &Caller, id: &SessionId) -> Result<Session, SessionError> {
        let sessions = self.shared.sessions.lock();
        let mut visible = sessions.iter().filter(|session| session.belongs_to(caller));
        visible.find(|session| session.id() == id).cloned().ok_or_else(|| self.missing(caller, id))
    }

    /// Whether a session exists and has not ended, for any owner.
    pub fn is_alive(&self, id: &SessionId) -> bool {
        self.shared.sessions.lock().iter().any(|session| session.id() == id && session.is_alive())
    }

    /// Why the caller has no such session.
    fn missing(&self, caller: &Caller, id: &SessionId) -> SessionError {
        let id = id.clone();
        match self.shared.common.journal.ends().of(caller, &id) {
            Some(ending) => SessionError::Gone { id, ending },
            None => SessionError::NotFound(id),
        }
    }

    /// Ends a session of the caller and forgets it. Does nothing if it has already ended.
    pub async fn end(&self, caller: &Caller, id: &SessionId) -> Result<(), SessionError> {
        match self.get(caller, id) {
            Ok(session) => {
                session.inner.ended_by.lock().get_or_insert_with(|| caller.actor());
                session.end(EndReason::Requested).await;
                self.forget(id);
                Ok(())
            }
            Err(SessionError::Gone { .. }) => Ok(()),
            Err(missing) => Err(missing),
        }
    }

    /// Number of running sessions.
    pub fn count(&self) -> usize {
        self.shared.sessions.lock().iter().filter(|session| session.is_alive()).count()
    }

    /// Ends every session, and waits until they are completely removed.
    pub async fn end_all(&self, reason: EndReason) {
        let all: Vec<Session> = self.shared.sessions.lock().iter().cloned().collect();
        for session in &all {
            session.request_end(reason);
        }
        let ended = async {
            for session in &all {
                session.driven_to(Driven::Stopped).await;
            }
        };
        if timeout(END_ALL_DEADLINE, ended).await.is_err() {
            warn!("Some sessions did not end in time");
        }
    }

    /// Waits for an ended session that is still saving the requested profile.
    async fn let_profile_go(&self, caller: &Caller, spec: &SessionSpec) {
        let Some(name) = &spec.profile else { return };
        let holder = {
            let sessions = self.shared.sessions.lock();
            let holds = |session: &&Session| session.holds_profile(&caller.subject, name);
            sessions.iter().find(holds).filter(|session| !session.is_alive()).cloned()
        };
        if let Some(holder) = holder {
            let _ = timeout(END_ALL_DEADLINE, holder.driven_to(Driven::Stopped)).await;
        }
    }

    /// Checks the limits and makes room for a session.
    fn admit(
        &self,
        sessions: &mut Vec<Session>,
        caller: &Caller,
        session: Session,
    ) -> Result<(), SessionError> {
        let alive = sessions.iter().filter(|session| session.is_alive()).count();
        let limit = self.shared.config.max_sessions;
        if alive >= limit {
            return Err(SessionError::CapacityReached { limit });
        }
        let owner = &caller.subject;
        let own = sessions.iter().filter(|s| s.is_alive() && s.inner.record.owner == *owner);
        let limit = self.shared.config.max_sessions_per_caller;
        if own.count() >= limit {
            return Err(SessionError::QuotaReached { owner: owner.clone(), limit });
        }
        let record = &session.inner.record;
        if record.attached.is_none() {
            let running = sessions.iter().filter(|session| session.is_alive());
            let own = running.map(|session| &session.inner.record);
            let own = own.filter(|other| other.owner == *owner && other.attached.is_none());
            let most = self.shared.config.max_memory_per_caller;
            check_memory(most, caller, &record.spec, own.map(|other| &other.spec))?;
        }
        profiles::ensure_free(sessions, owner, record.spec.profile.as_ref())?;
        let mut excess = (sessions.len() - alive).saturating_sub(REMEMBERED);
        sessions.retain(|session| {
            let forgotten = excess > 0 && !session.is_alive();
            excess -= usize::from(forgotten);
            if forgotten {
                session.tell(EventKind::Gone(session.ended()));
            }
            !forgotten
        });
        sessions.push(session);
        Ok(())
    }

    pub(crate) fn forget(&self, id: &SessionId) {
        let mut sessions = self.shared.sessions.lock();
        let forgotten: Vec<_> = sessions.extract_if(.., |session| session.id() == id).collect();
        drop(sessions);
        for session in forgotten {
            session.tell(EventKind::Gone(session.ended()));
        }
    }
}

/// Claims an attached session for the caller.
fn bring(session: &Session) -> Result<AttachClaim, SessionError> {
    let brought = session.attachment().and_then(Attachment::bring);
    brought.ok_or_else(|| SessionError::AlreadyAttached(session.id().clone()))
}

fn new_id() -> Result<SessionId, SessionError> {
    let mut bytes = [0; 12];
    getrandom::fill(&mut bytes)
        .map_err(|e| RuntimeError::System("no randomness", std::io::Error::other(e)))?;
    Ok(SessionId::from_random(bytes))
}
