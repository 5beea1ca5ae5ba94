//! Backup and restore of the data directory.

use std::{
    io::{Read, Write},
    path::PathBuf,
    pin::Pin,
};

use helmdeck_store::{
    backup::{self, BackupSize, ContentPlace, Contents},
    vault::key_file,
};

use crate::{Config, ServerError, instance::make_data_dir, lock::Lock};

/// A file or setting that a backup leaves out, and what it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The file, or the name of the setting.
    pub what: String,
    /// What it is for.
    pub purpose: &'static str,
}

/// A future that stays on its thread.
type Local<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Writes a backup, also while the server runs.
pub fn back_up<'a>(
    config: &'a Config,
    out: &'a mut dyn Write,
) -> Local<'a, Result<BackupSize, ServerError>> {
    let place = match config.s3.bucket {
        Some(_) => ContentPlace::Bucket,
        None => ContentPlace::DataDir,
    };
    Box::pin(async move { Ok(backup::back_up(&config.data_dir, place, out).await?) })
}

/// Restores a backup. Fails if a server uses the data directory.
pub fn restore<'a>(
    config: &'a Config,
    from: &'a mut dyn Read,
    force: bool,
) -> Local<'a, Result<Contents, ServerError>> {
    Box::pin(async move {
        make_data_dir(&config.data_dir)
            .map_err(|source| ServerError::File { path: config.data_dir.clone(), source })?;
        let _lock = Lock::take(&config.data_dir)?;
        Ok(backup::restore(&config.data_dir, from, force).await?)
    })
}

/// Keys and settings that this installation has and that a backup leaves out.
pub fn left_out(config: &Config) -> Vec<LeftOut> {
    let mut found = Vec::new();
    let mut add = |what: String, purpose| found.push(LeftOut { what, purpose });
    let setting = |name: &str, file: &Option<PathBuf>| match file {
        Some(file) => file.display().to_string(),
        None => name.to_owned(),
    };
    let vault = &config.vault.key;
    if vault.value.is_some() || vault.file.is_some() {
        add(setting("HELMDECK_VAULT_KEY", &vault.file), OPENS_VAULT);
    }
    if config.jwt_secret.is_some() {
        add("HELMDECK_JWT_SECRET".to_owned(), SIGNS_TOKENS);
    }
    if config.profile_key.is_some() {
        add("HELMDECK_PROFILE_KEY".to_owned(), "opens browser profiles");
    }
    let s3 = &config.s3.secret_key;
    if config.s3.bucket.is_some() {
        add(setting("HELMDECK_S3_SECRET_KEY", &s3.file), "opens the bucket with artifacts");
    }
    let files = [
        (key_file(&config.data_dir), OPENS_VAULT),
        (config.data_dir.join("jwt.secret"), SIGNS_TOKENS),
        (config.data_dir.join("tls"), "proves who this server is, to clients that trust it"),
        (config.data_dir.join("helmdeck.toml"), "has the settings"),
    ];
    for (file, purpose) in files {
        if file.exists() {
            add(file.display().to_string(), purpose);
        }
    }
    found
}

/// Whether the vault's key is here.
pub fn has_vault_key(config: &Config) -> bool {
    left_out(config).iter().any(|it| it.purpose == OPENS_VAULT)
}

/// Whether the key that signs tokens is here.
pub fn has_token_key(config: &Config) -> bool {
    left_out(config).iter().any(|it| it.purpose == SIGNS_TOKENS)
}

const OPENS_VAULT: &str = "opens the credentials of the vault";
const SIGNS_TOKENS: &str = "signs tokens and links; without it, they stop working";
