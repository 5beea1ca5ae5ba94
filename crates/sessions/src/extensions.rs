//! Browser extensions of sessions and of callers.

use std::time::Duration;

use helmdeck_link::Outgoing;
use helmdeck_store::Extensions;
use helmdeck_wire::{
    extension::{Extension, ExtensionName},
    session::SessionSpec,
};

use crate::{
    Caller, Session, SessionError, Sessions,
    spec::invalid,
    upload_body::{self, Received},
};

/// Deadline to send an extension to a guest.
const DEADLINE: Duration = Duration::from_secs(60);

impl Session {
    /// Sends the session's extensions to the guest, before it starts.
    pub(crate) async fn load_extensions(&self, extensions: &Extensions) -> Result<(), String> {
        for name in &self.inner.record.spec.extensions {
            let failed =
                |why: String| format!("extension {:?} cannot be used: {why}", name.as_str());
            let archive = extensions.open(&self.inner.record.owner, name).await;
            let archive = archive.map_err(|error| failed(error.to_string()))?;
            let (sender, body) = upload_body::body();
            let sending = self.inner.link.load_extension(name, body);
            upload_body::send(archive, sender, sending, DEADLINE).await.map_err(failed)?;
        }
        Ok(())
    }
}

impl Sessions {
    /// The caller's extensions.
    pub async fn extensions(&self, caller: &Caller) -> Result<Vec<Extension>, SessionError> {
        Ok(self.extension_store().list(&caller.subject).await?)
    }

    /// Adds an extension of the caller, or replaces it.
    pub async fn add_extension(
        &self,
        caller: &Caller,
        name: &ExtensionName,
        upload: Outgoing,
    ) -> Result<Extension, SessionError> {
        Ok(self.extension_store().add(&caller.subject, name, Received(upload)).await?)
    }

    /// Deletes an extension of the caller. Sessions that use it keep it.
    pub async fn delete_extension(
        &self,
        caller: &Caller,
        name: &ExtensionName,
    ) -> Result<(), SessionError> {
        Ok(self.extension_store().delete(&caller.subject, name).await?)
    }

    /// Fails if the spec names an extension that the caller does not have.
    pub(crate) fn ensure_extensions(
        &self,
        caller: &Caller,
        spec: &SessionSpec,
    ) -> Result<(), SessionError> {
        let store = self.extension_store();
        let missing = |name: &&ExtensionName| !store.contains(&caller.subject, name);
        match spec.extensions.iter().find(missing) {
            None => Ok(()),
            Some(name) => {
                let name = name.as_str();
                Err(invalid(
                    "extensions",
                    format!("you have no extension called {name:?}: add it first"),
                ))
            }
        }
    }
}
