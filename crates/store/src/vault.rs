//! The vault: credentials that are sealed on disk, and used only for their host by callers they are
//! granted to.
//!
//! This file manages credentials; `vault/resolve.rs` uses them. Management follows ownership: a
//! caller manages its own credentials, and an admin manages all. Use follows grants alone: an admin's
//! token uses nothing that was not granted to its subject.

mod destination;
mod environment;
mod error;
mod key;
mod placeholder;
mod redactor;
mod resolve;
mod rows;
mod secret;
#[cfg(test)]
mod tests;
mod totp;
mod webhook;

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use helmdeck_wire::{
    Caller,
    vault::{
        Credential, CredentialGrant, CredentialSource, CredentialType, CredentialUsage,
        MAX_METADATA, NewCredential, Rekeyed,
    },
};
use parking_lot::RwLock;
use sqlx::{SqliteConnection, SqlitePool};
use time::OffsetDateTime;
use tokio::sync::Mutex;

use crate::{Audit, AuditEntry, Store, StoreError};
use key::hex;
use rows::Row;
use secret::check;

pub use destination::Destination;
pub use environment::{EnvironmentCredential, KNOWN as KNOWN_CREDENTIALS, KnownCredential};
pub use error::VaultError;
pub use key::{KeySource, VaultKey};
pub use placeholder::Encoding;
#[cfg(test)]
pub(crate) use redactor::remember;
pub use redactor::{MASK, RedactedStream, Redactor, redact_used, redact_used_json};
pub use resolve::Usable;
pub use secret::Secret;
pub use webhook::KeyGuard;

/// How many attempts are listed.
const USAGE_LISTED: u32 = 100;
/// The subject that stands for every caller.
const EVERYONE: &str = "*";

/// Where keys and credentials outside the database come from.
pub struct VaultSetup {
    /// The key.
    pub key: KeySource,
    /// The key before, if it is to be replaced.
    pub old: Option<VaultKey>,
    /// Credentials in variables of the server.
    pub environment: Vec<EnvironmentCredential>,
}

/// A cheap handle to the vault.
#[derive(Clone)]
pub struct Vault {
    shared: Arc<Shared>,
}

struct Shared {
    pool: SqlitePool,
    keys: RwLock<Keys>,
    /// The file with the key; `None` if it is configured.
    file: Option<PathBuf>,
    environment: Vec<EnvironmentCredential>,
    /// Held while a secret or the key changes, so that none is sealed with a key that goes.
    changing: Mutex<()>,
    audit: OnceLock<Audit>,
}

/// The keys that rows may be sealed with.
struct Keys {
    current: (u32, Arc<VaultKey>),
    by_version: HashMap<u32, Arc<VaultKey>>,
}

impl Vault {
    /// Opens the vault. Fails if its credentials were sealed with another key. If `setup` names that
    /// key as the old one, seals them again.
    pub async fn open(store: &Store, setup: VaultSetup) -> Result<Self, VaultError> {
        let pool = store.pool.clone();
        let newest = rows::newest_key(&pool).await?;
        let used = !rows::list(&pool, None).await?.is_empty();
        let (key, file) = match setup.key {
            KeySource::Configured(key) => (*key, None),
            KeySource::File(path) => {
                let id = newest.as_ref().map(|(_, id)| id.as_str());
                let key = match key::kept(&path, id)? {
                    Some(key) => key,
                    None if used && setup.old.is_none() => {
                        return Err(VaultError::KeyMissing { path });
                    }
                    None => key::create(&path)?,
                };
                (key, Some(path))
            }
        };
        let (key, now) = (Arc::new(key), OffsetDateTime::now_utc());
        let current = match newest {
            Some((version, id)) if id == key.id => version,
            Some((version, id)) if used => {
                let old = setup.old.ok_or(VaultError::WrongKey)?;
                if old.id != id {
                    return Err(VaultError::WrongOldKey);
                }
                let resealed = seal_again(&pool, &old, &key, version + 1, now).await?;
                tracing::info!(credentials = resealed, "The vault is sealed with a new key");
                version + 1
            }
            other => {
                let version = other.map_or(1, |(version, _)| version + 1);
                rows::add_key(&mut *pool.acquire().await?, version, &key.id, now).await?;
                version
            }
        };
        let by_version = HashMap::from([(current, key.clone())]);
        let keys = RwLock::new(Keys { current: (current, key), by_version });
        let (environment, changing) = (setup.environment, Mutex::default());
        let audit = OnceLock::new();
        Ok(Self { shared: Arc::new(Shared { pool, keys, file, environment, changing, audit }) })
    }

    /// Records uses of credentials in the audit log from now on.
    pub fn audited(self, audit: Audit) -> Self {
        // Only the first log is kept.
        let _ = self.shared.audit.set(audit);
        self
    }

    fn audit(&self, entry: AuditEntry) {
        if let Some(audit) = self.shared.audit.get() {
            audit.record(entry);
        }
    }

    /// Deletes every credential, for a vault whose key is lost. Returns how many there were.
    pub async fn clear(store: &Store) -> Result<u64, VaultError> {
        rows::clear(&store.pool).await
    }

    /// Adds a credential. It is granted to its owner only.
    pub async fn add(
        &self,
        caller: &Caller,
        new: NewCredential,
        secret: Vec<u8>,
    ) -> Result<Credential, VaultError> {
        let owner = new.owner.unwrap_or_else(|| caller.subject.clone());
        if !caller.owns(&owner) {
            return Err(VaultError::AdminOnly(
                "only an admin can add credentials for another owner: leave out owner",
            ));
        }
        check(new.kind, &secret)?;
        let metadata = new.metadata.filter(|metadata| !metadata.is_empty());
        let size = metadata.as_ref().map_or(0, |it| serde_json::json!(it).to_string().len());
        if size > MAX_METADATA {
            return Err(VaultError::Invalid { field: "metadata", reason: "more than 8 KiB" });
        }
        let _changing = self.shared.changing.lock().await;
        let (key_version, key) = self.current_key();
        let now = OffsetDateTime::now_utc();
        let credential = Credential {
            id: new_id()?,
            name: new.name,
            kind: new.kind,
            owner,
            source: CredentialSource::Vault,
            host_pattern: new.host_pattern.to_ascii_lowercase(),
            path_pattern: new.path_pattern,
            fingerprint: key.fingerprint(&secret),
            metadata,
            created_at: now,
            updated_at: now,
            last_used_at: None,
        };
        let sealed = key.seal(&rows::place(&credential), &secret)?;
        let row = Row { credential, sealed, key_version };
        if !rows::add(&self.shared.pool, &row).await? {
            let Credential { owner, name, .. } = row.credential;
            return Err(VaultError::Duplicate { owner, name });
        }
        let credential = row.credential;
        let own = CredentialGrant {
            actor_subject: credential.owner.clone(),
            actor_client: None,
            created_at: now,
            created_by: caller.subject.clone(),
        };
        rows::grant(&self.shared.pool, &credential.id, &own).await?;
        tracing::info!(credential = credential.id, by = caller.subject, "Credential added");
        Ok(credential)
    }

    /// The credentials that the caller may manage, and those of the environment.
    pub async fn list(
        &self,
        caller: &Caller,
        kind: Option<CredentialType>,
    ) -> Result<Vec<Credential>, VaultError> {
        let rows = rows::list(&self.shared.pool, caller.limited_to()).await?;
        let kept = rows.into_iter().map(|row| row.credential);
        let all = kept.chain(self.shared.environment.iter().map(|it| self.describe(it)));
        Ok(all.filter(|it| kind.is_none_or(|kind| it.kind == kind)).collect())
    }

    /// One credential.
    pub async fn show(&self, caller: &Caller, id: &str) -> Result<Credential, VaultError> {
        let from_environment = self.shared.environment.iter().find(|it| it.id() == id);
        match from_environment {
            Some(found) => Ok(self.describe(found)),
            None => Ok(self.managed(caller, id).await?.credential),
        }
    }

    /// Replaces the secret of a credential.
    pub async fn rotate(
        &self,
        caller: &Caller,
        id: &str,
        secret: Vec<u8>,
    ) -> Result<Credential, VaultError> {
        let _changing = self.shared.changing.lock().await;
        let mut row = self.managed(caller, id).await?;
        check(row.credential.kind, &secret)?;
        let (key_version, key) = self.current_key();
        let now = OffsetDateTime::now_utc();
        row.sealed = key.seal(&row.place(), &secret)?;
        row.key_version = key_version;
        row.credential.fingerprint = key.fingerprint(&secret);
        row.credential.updated_at = now;
        rows::reseal(&mut *self.shared.pool.acquire().await?, &row, now).await?;
        tracing::info!(credential = id, by = caller.subject, "Credential rotated");
        Ok(row.credential)
    }

    /// Deletes a credential with its grants and usage.
    pub async fn delete(&self, caller: &Caller, id: &str) -> Result<(), VaultError> {
        self.managed(caller, id).await?;
        rows::delete(&self.shared.pool, id).await?;
        tracing::info!(credential = id, by = caller.subject, "Credential deleted");
        Ok(())
    }

    /// Lets a subject use a credential, or only its tokens with a label.
    pub async fn grant(
        &self,
        caller: &Caller,
        id: &str,
        subject: &str,
        client: Option<&str>,
    ) -> Result<(), VaultError> {
        self.managed(caller, id).await?;
        if subject == EVERYONE && !caller.is_admin() {
            return Err(VaultError::AdminOnly("only an admin can grant a credential to everyone"));
        }
        let grant = CredentialGrant {
            actor_subject: subject.to_owned(),
            actor_client: client.filter(|client| !client.is_empty()).map(str::to_owned),
            created_at: OffsetDateTime::now_utc(),
            created_by: caller.subject.clone(),
        };
        rows::grant(&self.shared.pool, id, &grant).await?;
        tracing::info!(credential = id, subject, by = caller.subject, "Credential granted");
        Ok(())
    }

    /// Removes a grant.
    pub async fn revoke(
        &self,
        caller: &Caller,
        id: &str,
        subject: &str,
        client: Option<&str>,
    ) -> Result<(), VaultError> {
        self.managed(caller, id).await?;
        if !rows::revoke(&self.shared.pool, id, subject, client.unwrap_or_default()).await? {
            return Err(VaultError::UnknownGrant);
        }
        tracing::info!(credential = id, subject, by = caller.subject, "Grant revoked");
        Ok(())
    }

    /// Who may use a credential.
    pub async fn grants(
        &self,
        caller: &Caller,
        id: &str,
    ) -> Result<Vec<CredentialGrant>, VaultError> {
        self.managed(caller, id).await?;
        rows::grants(&self.shared.pool, id).await
    }

    /// The newest attempts to use a credential.
    pub async fn usage(
        &self,
        caller: &Caller,
        id: &str,
    ) -> Result<Vec<CredentialUsage>, VaultError> {
        self.managed(caller, id).await?;
        rows::usage(&self.shared.pool, id, USAGE_LISTED).await
    }

    /// Replaces the key in its file, and seals every credential again.
    pub async fn rekey(&self) -> Result<Rekeyed, VaultError> {
        let file = self.shared.file.as_deref().ok_or(VaultError::KeyConfigured)?;
        let _changing = self.shared.changing.lock().await;
        let (version, old) = self.current_key();
        let (next, new) = (version + 1, Arc::new(VaultKey::generate()?));
        key::write_next(file, &new)?;
        // Rows can be read with either key while they change.
        self.shared.keys.write().by_version.insert(next, new.clone());
        let now = OffsetDateTime::now_utc();
        let credentials = seal_again(&self.shared.pool, &old, &new, next, now).await?;
        self.shared.keys.write().current = (next, new);
        key::replace(file)?;
        tracing::info!(credentials, "The vault is sealed with a new key");
        Ok(Rekeyed { key_version: next, credentials })
    }

    /// A credential that the caller may manage.
    async fn managed(&self, caller: &Caller, id: &str) -> Result<Row, VaultError> {
        if let Some(found) = self.shared.environment.iter().find(|it| it.id() == id) {
            let (name, variable) = (found.known.name.to_owned(), found.known.variable);
            return Err(VaultError::FromEnvironment { name, variable });
        }
        let found = rows::find(&self.shared.pool, id, caller.limited_to()).await?;
        found.ok_or(VaultError::Unknown)
    }

    fn current_key(&self) -> (u32, Arc<VaultKey>) {
        self.shared.keys.read().current.clone()
    }

    /// The secret of a row.
    fn open_row(&self, row: &Row) -> Result<Vec<u8>, VaultError> {
        let key = self.shared.keys.read().by_version.get(&row.key_version).cloned();
        let damaged = || VaultError::Damaged { id: row.credential.id.clone() };
        key.ok_or_else(damaged)?.open(&row.place(), &row.sealed)
    }

    /// A credential of the environment, as it is listed.
    fn describe(&self, it: &EnvironmentCredential) -> Credential {
        Credential {
            id: it.id(),
            name: it.known.name.to_owned(),
            kind: CredentialType::ApiKey,
            owner: String::new(),
            source: CredentialSource::Environment,
            host_pattern: it.host.clone(),
            path_pattern: None,
            fingerprint: self.current_key().1.fingerprint(it.secret().reveal()),
            metadata: None,
            created_at: it.read_at,
            updated_at: it.read_at,
            last_used_at: None,
        }
    }
}

/// Seals every credential with another key, or none of them.
async fn seal_again(
    pool: &SqlitePool,
    old: &VaultKey,
    new: &VaultKey,
    version: u32,
    now: OffsetDateTime,
) -> Result<usize, VaultError> {
    let rows = rows::list(pool, None).await?;
    let mut work = pool.begin().await?;
    let connection: &mut SqliteConnection = &mut work;
    rows::add_key(connection, version, &new.id, now).await?;
    for row in &rows {
        let secret = old.open(&row.place(), &row.sealed)?;
        let mut credential = row.credential.clone();
        credential.fingerprint = new.fingerprint(&secret);
        let sealed = new.seal(&row.place(), &secret)?;
        let row = Row { credential, sealed, key_version: version };
        rows::reseal(connection, &row, row.credential.updated_at).await?;
    }
    webhook::seal_again(connection, old, (version, new)).await?;
    work.commit().await?;
    Ok(rows.len())
}

fn new_id() -> Result<String, VaultError> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(StoreError::Random)?;
    Ok(format!("cred_{}", hex(&bytes)))
}

/// The file in the data directory that holds the key, unless one is configured.
pub fn key_file(data_dir: &Path) -> PathBuf {
    data_dir.join("vault.key")
}
