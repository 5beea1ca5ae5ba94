//! Secrets that sign webhooks: sealed like credentials, and opened only to sign.

use helmdeck_wire::{vault::CredentialType, webhook::DeliveryId};
use sqlx::SqliteConnection;
use tokio::sync::MutexGuard;

use super::{Secret, Vault, VaultError, VaultKey, key::Place, redactor::remember};
use crate::{SealedSecret, StoredDelivery, webhooks};

/// The name of such a secret in messages.
const NAME: &str = "webhook_secret";

/// Keeps the vault's key from being replaced until a sealed secret is stored.
pub struct KeyGuard<'a> {
    vault: &'a Vault,
    _changing: MutexGuard<'a, ()>,
}

/// A secret is bound to its delivery and its receiver.
fn place<'a>(id: &'a DeliveryId, owner: &'a str, url: &'a str) -> Place<'a> {
    let (name, kind) = (NAME, "webhook");
    Place { id: id.as_str(), owner, name, kind, host_pattern: url, path_pattern: None }
}

impl Vault {
    /// Holds the key until the guard is dropped.
    pub async fn hold_key(&self) -> KeyGuard<'_> {
        KeyGuard { vault: self, _changing: self.shared.changing.lock().await }
    }

    /// The secret that signs a delivery.
    pub fn open_webhook(&self, stored: &StoredDelivery) -> Result<Option<Secret>, VaultError> {
        let Some(sealed) = &stored.secret else { return Ok(None) };
        let (id, url) = (&stored.delivery.id, &stored.delivery.url);
        let key = self.shared.keys.read().by_version.get(&sealed.key_version).cloned();
        let damaged = || VaultError::Damaged { id: id.to_string() };
        let bytes = key.ok_or_else(damaged)?.open(&place(id, &stored.owner, url), &sealed.bytes)?;
        let secret = Secret::new(NAME, CredentialType::ApiKey, bytes);
        remember(&secret);
        Ok(Some(secret))
    }
}

impl KeyGuard<'_> {
    /// Seals the secret of a new delivery. From now on, log lines never contain it.
    pub fn seal_webhook(
        &self,
        id: &DeliveryId,
        owner: &str,
        url: &str,
        secret: &str,
    ) -> Result<SealedSecret, VaultError> {
        remember(&Secret::new(NAME, CredentialType::ApiKey, secret.as_bytes().to_vec()));
        let (key_version, key) = self.vault.current_key();
        let bytes = key.seal(&place(id, owner, url), secret.as_bytes())?;
        Ok(SealedSecret { bytes, key_version })
    }
}

/// Seals every secret with another key. One that cannot be opened stays as it is: its delivery fails
/// and says so.
pub(super) async fn seal_again(
    connection: &mut SqliteConnection,
    old: &VaultKey,
    (version, new): (u32, &VaultKey),
) -> Result<(), VaultError> {
    for stored in webhooks::sealed(connection).await? {
        let place = place(&stored.delivery.id, &stored.owner, &stored.delivery.url);
        let sealed = stored.secret.iter().find_map(|it| old.open(&place, &it.bytes).ok());
        if let Some(secret) = sealed {
            let bytes = new.seal(&place, &secret)?;
            let resealed = SealedSecret { bytes, key_version: version };
            webhooks::reseal(connection, &stored.delivery.id, &resealed).await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use helmdeck_wire::job::{JobId, JobState};
    use time::OffsetDateTime;

    use super::*;
    use crate::{
        NewDelivery, Store, StoredJob,
        vault::{KeySource, VaultSetup, key_file, redact_used},
    };

    const SECRET: &str = "whsec-of-the-tests-0123456789";

    fn job() -> StoredJob {
        StoredJob {
            id: JobId::new("job-1"),
            owner: "ann".to_owned(),
            caller: "{}".to_owned(),
            pack: "fs.read".to_owned(),
            version: 1,
            input: serde_json::json!({}),
            state: JobState::Working,
            progress: 0,
            message: None,
            output: None,
            artifacts: Vec::new(),
            error: None,
            session_id: None,
            own_session_id: None,
            idempotency_key: None,
            attempts: 0,
            created_at: OffsetDateTime::UNIX_EPOCH,
            started_at: None,
            ended_at: None,
        }
    }

    #[tokio::test]
    async fn a_webhook_secret_is_sealed_survives_a_new_key_and_opens_for_its_receiver_only() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let setup = || VaultSetup {
            key: KeySource::File(key_file(dir.path())),
            old: None,
            environment: Vec::new(),
        };
        let vault = Vault::open(&store, setup()).await.unwrap();
        let (id, url) = (DeliveryId::new("msg-1"), "https://a.example/done");
        let guard = vault.hold_key().await;
        let secret = guard.seal_webhook(&id, "ann", url, SECRET).unwrap();
        let new = NewDelivery { id: id.clone(), url: url.to_owned(), secret: Some(secret) };
        store.add_job(&job(), Some(&new)).await.unwrap();
        drop(guard);

        vault.rekey().await.unwrap();
        let vault = Vault::open(&store, setup()).await.unwrap();
        let mut stored = store.delivery(&id).await.unwrap().unwrap();
        let opened = vault.open_webhook(&stored).unwrap().unwrap();
        assert_eq!(opened.text().unwrap(), SECRET);
        stored.delivery.url = "https://evil.example/".to_owned();
        assert!(vault.open_webhook(&stored).is_err());
        stored.secret = None;
        assert!(vault.open_webhook(&stored).unwrap().is_none());

        store.close().await;
        let file = std::fs::read(dir.path().join("helmdeck.db")).unwrap();
        assert!(!String::from_utf8_lossy(&file).contains(SECRET));
        let line = format!("a log line with {SECRET}");
        assert!(!String::from_utf8_lossy(&redact_used(line.as_bytes())).contains(SECRET));
    }
}
