//! The admin account: created on the first start, or as configured.

use helmdeck_store::{AuditEntry, Store, Vault};
use helmdeck_task::BoxFuture;
use helmdeck_wire::{audit::Severity, error::with_causes};
use secrecy::SecretString;
use time::OffsetDateTime;

use crate::{
    Config, ServerError,
    instance::make_data_dir,
    lock::Lock,
    password::{self, Checker},
};

/// An account with a generated password. Show it to the operator now; it is not stored.
#[derive(Debug, Clone)]
pub struct NewAdmin {
    /// The name to log in with.
    pub username: String,
    /// The password; masked in debug output.
    pub password: SecretString,
}

/// Ensures that there is an admin: as configured, otherwise the stored one, otherwise a new one,
/// which is returned.
pub async fn ensure(store: &Store, config: &Config) -> Result<Option<NewAdmin>, ServerError> {
    let kept = store.admin().await?;
    match (&config.admin_password, kept) {
        (Some(password), kept) => {
            let username = &config.admin_username;
            let unchanged = match kept {
                Some(kept) if kept.username == *username => {
                    Checker::default().fits(password.clone(), kept.password_hash, ()).await?
                }
                _ => false,
            };
            if !unchanged {
                set(store, username, password.clone()).await?;
            }
            Ok(None)
        }
        (None, Some(kept)) => {
            if kept.username != config.admin_username {
                let now = OffsetDateTime::now_utc();
                store.set_admin(&config.admin_username, &kept.password_hash, now).await?;
            }
            Ok(None)
        }
        (None, None) => make(store, config).await.map(Some),
    }
}

/// [`ensure`] without a server, for scripts that start one in the background.
pub fn init(config: &Config) -> BoxFuture<'_, Result<Option<NewAdmin>, ServerError>> {
    Box::pin(async move {
        let store = open_store(config).await?;
        let made = ensure(&store, config).await?;
        store.close().await;
        Ok(made)
    })
}

/// Resets the admin's password. Works while a server runs; its sessions and tokens stay valid.
pub fn reset_password(config: &Config) -> BoxFuture<'_, Result<NewAdmin, ServerError>> {
    Box::pin(async move {
        if config.admin_password.is_some() {
            return Err(ServerError::PasswordConfigured);
        }
        let store = open_store(config).await?;
        let admin = make(&store, config).await?;
        let reset = AuditEntry::new("admin.password_reset").severity(Severity::Warning);
        if let Err(error) = store.append_audit(&[reset.target(&admin.username)]).await {
            // The new password is already valid.
            tracing::warn!(error = with_causes(&error), "Failed to write the audit log");
        }
        store.close().await;
        Ok(admin)
    })
}

/// Deletes all credentials, for a vault whose key is lost. Returns how many there were.
pub fn clear_vault(config: &Config) -> BoxFuture<'_, Result<u64, ServerError>> {
    Box::pin(async move {
        // A running server would seal new credentials with a key that is no longer recorded.
        let _lock = Lock::take(&config.data_dir)?;
        let store = open_store(config).await?;
        let deleted = Vault::clear(&store).await?;
        store.close().await;
        Ok(deleted)
    })
}

async fn open_store(config: &Config) -> Result<Store, ServerError> {
    make_data_dir(&config.data_dir)
        .map_err(|source| ServerError::File { path: config.data_dir.clone(), source })?;
    Ok(Store::open(&config.data_dir).await?)
}

async fn make(store: &Store, config: &Config) -> Result<NewAdmin, ServerError> {
    let password = password::generate()?;
    set(store, &config.admin_username, password.clone()).await?;
    Ok(NewAdmin { username: config.admin_username.clone(), password })
}

async fn set(store: &Store, username: &str, password: SecretString) -> Result<(), ServerError> {
    let hash = password::hash(password).await?;
    Ok(store.set_admin(username, &hash, OffsetDateTime::now_utc()).await?)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn config(dir: &Path, env: &[(&str, &str)]) -> Config {
        let dir = ("HELMDECK_DATA_DIR".to_owned(), dir.to_str().unwrap().to_owned());
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Config::load(None, env.chain([dir])).unwrap()
    }

    async fn lets_in(store: &Store, password: SecretString) -> bool {
        let kept = store.admin().await.unwrap().unwrap();
        Checker::default().fits(password, kept.password_hash, ()).await.unwrap()
    }

    #[tokio::test]
    async fn the_first_start_makes_an_admin_and_the_second_keeps_it() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let new = ensure(&store, &config(dir.path(), &[])).await.unwrap().unwrap();
        assert!(lets_in(&store, new.password.clone()).await);
        assert!(ensure(&store, &config(dir.path(), &[])).await.unwrap().is_none());
        assert!(lets_in(&store, new.password).await);
    }

    #[tokio::test]
    async fn a_configured_password_replaces_the_kept_one() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let env = [("HELMDECK_ADMIN_USERNAME", "ada"), ("HELMDECK_ADMIN_PASSWORD", "first")];
        assert!(ensure(&store, &config(dir.path(), &env)).await.unwrap().is_none());
        assert!(lets_in(&store, SecretString::from("first")).await);

        let kept = store.admin().await.unwrap().unwrap();
        ensure(&store, &config(dir.path(), &env)).await.unwrap();
        assert!(store.admin().await.unwrap() == Some(kept), "an unchanged password is left alone");

        let env = [("HELMDECK_ADMIN_USERNAME", "ada"), ("HELMDECK_ADMIN_PASSWORD", "second")];
        ensure(&store, &config(dir.path(), &env)).await.unwrap();
        assert!(lets_in(&store, SecretString::from("second")).await);
        assert_eq!(store.admin().await.unwrap().unwrap().username, "ada");
    }

    #[tokio::test]
    async fn a_reset_makes_a_new_password_unless_one_is_configured() {
        let dir = tempfile::tempdir().unwrap();
        let new = reset_password(&config(dir.path(), &[])).await.unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        assert!(lets_in(&store, new.password).await);

        let configured = config(dir.path(), &[("HELMDECK_ADMIN_PASSWORD", "x")]);
        let refused = reset_password(&configured).await.unwrap_err();
        assert!(matches!(refused, ServerError::PasswordConfigured));
    }
}
