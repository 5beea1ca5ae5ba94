//! Secrets that a job uses.

use std::sync::Arc;

use helmdeck_sessions::Caller;
use helmdeck_store::vault::{Destination, Encoding, Redactor, Secret, Vault};
use helmdeck_wire::vault::CredentialType;
use parking_lot::Mutex;

use crate::PackResult;

/// The vault, for a job's caller. Secrets that the job used are replaced in its output, its error,
/// its messages and its artifacts.
#[derive(Clone)]
pub struct Secrets {
    vault: Vault,
    caller: Caller,
    used: Arc<Mutex<Redactor>>,
}

impl Secrets {
    pub(crate) fn new(vault: Vault, caller: Caller) -> Self {
        Self { vault, caller, used: Arc::default() }
    }

    /// The secret with this name, for this destination.
    pub async fn named(&self, name: &str, to: Destination<'_>) -> PackResult<Secret> {
        let secret = self.vault.resolve(&self.caller, name, to).await?;
        self.used.lock().add(&secret);
        Ok(secret)
    }

    /// The secret of this type that is for this destination.
    pub async fn for_host(&self, kind: CredentialType, to: Destination<'_>) -> PackResult<Secret> {
        let secret = self.vault.resolve_by_host(&self.caller, kind, to).await?;
        self.used.lock().add(&secret);
        Ok(secret)
    }

    /// Replaces every `${vault:NAME}` in a text.
    pub async fn substitute(
        &self,
        text: &str,
        encoding: Encoding,
        to: Destination<'_>,
    ) -> PackResult<String> {
        let mut used = Redactor::default();
        let text = self.vault.substitute(&self.caller, text, encoding, to, &mut used).await;
        self.used.lock().extend(used);
        Ok(text?)
    }

    /// Adds a secret that is not in the vault.
    pub fn add(&self, secret: &str) {
        self.used.lock().add_bytes(secret.as_bytes());
    }

    /// Replaces the secrets that were used so far.
    pub fn redactor(&self) -> Redactor {
        self.used.lock().clone()
    }
}
