//! Browser profiles of sessions: loaded at the start, and saved from then on.

use std::{io, time::Duration};

use helmdeck_store::Profiles;
use helmdeck_wire::{profile::Profile, session::ProfileName};
use tokio::time::timeout;
use tracing::{info, warn};

use crate::{Caller, Session, SessionError, Sessions, upload_body};

/// Deadline to transfer a profile from or to a guest.
const DEADLINE: Duration = Duration::from_secs(60);
/// How long the end of a session waits for its profile.
const LAST_DEADLINE: Duration = Duration::from_secs(18);

impl Session {
    fn profile(&self) -> Option<&ProfileName> {
        self.inner.record.spec.profile.as_ref()
    }

    /// Whether the session uses this profile. True until the session is completely removed.
    pub(crate) fn holds_profile(&self, owner: &str, name: &ProfileName) -> bool {
        self.inner.record.owner == owner && self.profile() == Some(name) && !self.is_stopped()
    }

    /// Sends the profile to the guest before it starts. A new profile is empty.
    pub(crate) async fn load_profile(&self, profiles: &Profiles) -> Result<(), String> {
        let Some(name) = self.profile() else { return Ok(()) };
        let failed = |why: String| format!("profile {name:?} cannot be used: {why}");
        let reader = profiles.open(&self.inner.record.owner, name).await;
        let Some(reader) = reader.map_err(|error| failed(error.to_string()))? else {
            return Ok(());
        };
        let (sender, body) = upload_body::body();
        let sending = self.inner.link.load_profile(body);
        upload_body::send(reader, sender, sending, DEADLINE).await.map_err(failed)
    }

    /// Saves the current profile. With `last`, the browser is closed first.
    pub(crate) async fn save_profile(&self, profiles: &Profiles, last: bool) {
        let Some(name) = self.profile() else { return };
        let deadline = if last { LAST_DEADLINE } else { DEADLINE };
        let id = self.id().as_str();
        match timeout(deadline, self.try_save(profiles, name, last)).await {
            Ok(Ok(bytes)) => info!(session.id = id, profile = name.as_str(), bytes, "Profile kept"),
            Ok(Err(error)) => {
                warn!(
                    session.id = id,
                    profile = name.as_str(),
                    error,
                    "Failed to save the profile"
                );
            }
            Err(_) => warn!(
                session.id = id,
                profile = name.as_str(),
                "Failed to save the profile in time"
            ),
        }
    }

    async fn try_save(
        &self,
        profiles: &Profiles,
        name: &ProfileName,
        last: bool,
    ) -> Result<u64, String> {
        let said = |error: io::Error| error.to_string();
        let download = self.inner.link.save_profile(last).await;
        let mut download = download.map_err(|error| error.to_string())?;
        // No other session uses this profile, so there is no other writer.
        let mut writer = profiles.create(&self.inner.record.owner, name).await.map_err(said)?;
        while let Some(piece) = download.next().await.map_err(|error| error.to_string())? {
            writer.add(&piece).await.map_err(said)?;
        }
        writer.finish().await.map_err(said)
    }
}

impl Sessions {
    /// The caller's profiles.
    pub async fn profiles(&self, caller: &Caller) -> Result<Vec<Profile>, SessionError> {
        Ok(self.profile_store().list(&caller.subject).await?)
    }

    /// Deletes a profile of the caller, unless a session uses it.
    pub async fn delete_profile(
        &self,
        caller: &Caller,
        name: &ProfileName,
    ) -> Result<(), SessionError> {
        self.ensure_profile_free(caller, name)?;
        Ok(self.profile_store().delete(&caller.subject, name).await?)
    }
}

/// Fails if a session uses the profile.
pub(crate) fn ensure_free(
    sessions: &[Session],
    owner: &str,
    wanted: Option<&ProfileName>,
) -> Result<(), SessionError> {
    let Some(name) = wanted else { return Ok(()) };
    match sessions.iter().find(|session| session.holds_profile(owner, name)) {
        Some(session) => {
            Err(SessionError::ProfileInUse { name: name.clone(), id: session.id().clone() })
        }
        None => Ok(()),
    }
}
