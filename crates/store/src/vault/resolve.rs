//! Uses credentials: finds the one that a caller means, checks grant and destination, and records
//! the attempt.

use std::collections::HashMap;

use helmdeck_wire::{
    Caller,
    audit::Severity,
    vault::{Credential, CredentialSource, CredentialType, UsageResult},
};
use time::OffsetDateTime;

use super::{
    Destination, Encoding, Redactor, Secret, Vault, VaultError,
    destination::precision,
    environment::{EnvironmentCredential, spellings},
    placeholder::{Part, parts},
    redactor::remember,
    rows::{self, Attempt, Candidate, Row, Wanted},
    totp::Totp,
};
use crate::AuditEntry;

/// How many credentials one text may name.
const MOST_NAMES: usize = 32;

/// A credential that a caller could use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usable {
    /// Its id.
    pub id: String,
    /// Where it is kept.
    pub source: CredentialSource,
    /// When its secret last changed.
    pub updated_at: OffsetDateTime,
}

impl Vault {
    /// The credential that [`Vault::resolve`] would use, without using it.
    pub async fn usable(
        &self,
        caller: &Caller,
        name: &str,
        to: impl Into<Destination<'_>>,
    ) -> Result<Option<Usable>, VaultError> {
        let to = to.into();
        let attempt = attempt(caller, &to);
        for spelling in spellings(name) {
            let found = self.candidates(Wanted::Named(spelling), &attempt).await?;
            let mut granted = found.into_iter().filter(|it| it.granted).peekable();
            if granted.peek().is_none() {
                continue;
            }
            let fits = granted.map(|it| it.row.credential).find(|it| is_for(it, &to));
            let source = CredentialSource::Vault;
            return Ok(fits.map(|it| Usable { id: it.id, source, updated_at: it.updated_at }));
        }
        let found = self.shared.environment.iter().find(|it| it.is(name) && it.fits(&to));
        let source = CredentialSource::Environment;
        Ok(found.map(|it| Usable { id: it.id(), source, updated_at: it.read_at }))
    }

    /// The secret of the credential with this name, if it is granted to the caller and is for this
    /// destination. The caller's own credentials come before those of others, then the oldest; a
    /// variable of the server is used if the caller has no credential with this name. Every attempt
    /// is recorded, and the secret is removed from logs from now on.
    pub async fn resolve(
        &self,
        caller: &Caller,
        name: &str,
        to: impl Into<Destination<'_>>,
    ) -> Result<Secret, VaultError> {
        let to = to.into();
        let attempt = attempt(caller, &to);
        let mut refused = Vec::new();
        for spelling in spellings(name) {
            let found = self.candidates(Wanted::Named(spelling), &attempt).await?;
            let (granted, others): (Vec<_>, Vec<_>) = found.into_iter().partition(|it| it.granted);
            let fits = granted.iter().find(|it| is_for(&it.row.credential, &to));
            match (fits, granted.first()) {
                (Some(found), _) => return self.use_row(&found.row, &attempt).await,
                (None, Some(first)) => {
                    let it = &first.row.credential;
                    self.record(it, &attempt, UsageResult::NoMatch).await?;
                    let allowed = patterns(it);
                    let (name, host) = (name.to_owned(), to.host());
                    return Err(VaultError::NotForHost { name, host, allowed });
                }
                (None, None) => refused.extend(others),
            }
        }
        if let Some(found) = self.shared.environment.iter().find(|it| it.is(name)) {
            return self.use_variable(found, name, &attempt);
        }
        for candidate in refused {
            self.record(&candidate.row.credential, &attempt, UsageResult::Denied).await?;
        }
        Err(VaultError::NotFound { name: name.to_owned() })
    }

    /// The secret of one credential that the caller manages, if it is for this destination. The attempt
    /// is recorded, and the secret is removed from logs from now on.
    pub async fn resolve_by_id(
        &self,
        caller: &Caller,
        id: &str,
        to: impl Into<Destination<'_>>,
    ) -> Result<Secret, VaultError> {
        let to = to.into();
        let attempt = attempt(caller, &to);
        if let Some(found) = self.shared.environment.iter().find(|it| it.id() == id) {
            return self.use_variable(found, found.known.name, &attempt);
        }
        let row = self.managed(caller, id).await?;
        if is_for(&row.credential, &to) {
            return self.use_row(&row, &attempt).await;
        }
        self.record(&row.credential, &attempt, UsageResult::NoMatch).await?;
        let (allowed, host) = (patterns(&row.credential), to.host());
        Err(VaultError::NotForHost { name: row.credential.name, host, allowed })
    }

    /// The secret of a credential of this type that is granted to the caller and is for this
    /// destination: the one with the most exact pattern.
    pub async fn resolve_by_host(
        &self,
        caller: &Caller,
        kind: CredentialType,
        to: impl Into<Destination<'_>>,
    ) -> Result<Secret, VaultError> {
        let to = to.into();
        let attempt = attempt(caller, &to);
        let found = self.candidates(Wanted::OfType(kind), &attempt).await?;
        let mut best: Option<Candidate> = None;
        for it in found.into_iter().filter(|it| it.granted && is_for(&it.row.credential, &to)) {
            let exact = |it: &Candidate| {
                let it = &it.row.credential;
                precision(&it.host_pattern, it.path_pattern.as_deref())
            };
            // Of equals, the first stays: the caller's own, or the oldest.
            if best.as_ref().is_none_or(|best| exact(&it) > exact(best)) {
                best = Some(it);
            }
        }
        match best {
            Some(found) => self.use_row(&found.row, &attempt).await,
            None => Err(VaultError::NoneForHost { kind: kind.as_str(), host: to.host() }),
        }
    }

    /// Replaces every `${vault:NAME}` in a text, and adds the secrets to the redactor. The host of a
    /// URL must not come from a placeholder: it decides which secrets may be used.
    pub async fn substitute(
        &self,
        caller: &Caller,
        text: &str,
        encoding: Encoding,
        to: Destination<'_>,
        redactor: &mut Redactor,
    ) -> Result<String, VaultError> {
        let parts = parts(text);
        let mut known: HashMap<&str, String> = HashMap::new();
        for part in &parts {
            let Part::Name(name) = part else { continue };
            if known.contains_key(name) {
                continue;
            }
            if known.len() == MOST_NAMES {
                return Err(VaultError::TooManyNames { limit: MOST_NAMES });
            }
            let secret = self.resolve(caller, name, to).await?;
            redactor.add(&secret);
            known.insert(name, encoding.encode(secret.text()?));
        }
        let written = parts.iter().map(|part| match part {
            Part::Text(text) => text,
            Part::Name(name) => known.get(name).map_or("", String::as_str),
        });
        Ok(written.collect())
    }

    async fn candidates(
        &self,
        wanted: Wanted<'_>,
        attempt: &Attempt<'_>,
    ) -> Result<Vec<Candidate>, VaultError> {
        rows::candidates(&self.shared.pool, wanted, attempt.subject, attempt.client).await
    }

    async fn record(
        &self,
        credential: &Credential,
        attempt: &Attempt<'_>,
        result: UsageResult,
    ) -> Result<(), VaultError> {
        let (id, now) = (&credential.id, OffsetDateTime::now_utc());
        rows::record(&self.shared.pool, id, attempt, result, now).await?;
        self.audit_use(&credential.name, attempt, result);
        Ok(())
    }

    fn audit_use(&self, name: &str, attempt: &Attempt<'_>, result: UsageResult) {
        let entry = match result {
            UsageResult::Allowed => AuditEntry::new("credential.used"),
            UsageResult::Denied | UsageResult::NoMatch => {
                AuditEntry::new("credential.refused").severity(Severity::Warning)
            }
        };
        self.audit(entry.actor(attempt.caller).target(name).detail("host", attempt.to.host()));
    }

    /// The secret of a variable of the server.
    fn use_variable(
        &self,
        found: &EnvironmentCredential,
        name: &str,
        attempt: &Attempt<'_>,
    ) -> Result<Secret, VaultError> {
        if found.fits(attempt.to) {
            let secret = found.secret();
            remember(&secret);
            self.audit_use(name, attempt, UsageResult::Allowed);
            return Ok(secret);
        }
        self.audit_use(name, attempt, UsageResult::NoMatch);
        let (allowed, name) = (found.host.clone(), name.to_owned());
        Err(VaultError::NotForHost { name, host: attempt.to.host(), allowed })
    }

    /// Opens a credential and records its use. A use that cannot be recorded fails.
    async fn use_row(&self, row: &Row, attempt: &Attempt<'_>) -> Result<Secret, VaultError> {
        let Credential { id, name, kind, metadata, .. } = &row.credential;
        let bytes = self.open_row(row)?;
        self.record(&row.credential, attempt, UsageResult::Allowed).await?;
        if *kind != CredentialType::Totp {
            let secret = Secret::new(name, *kind, bytes).with_metadata(metadata.as_ref());
            remember(&secret);
            return Ok(secret);
        }
        let damaged = || VaultError::Damaged { id: id.clone() };
        let totp = std::str::from_utf8(&bytes).ok().and_then(Totp::parse).ok_or_else(damaged)?;
        let code = totp.code(OffsetDateTime::now_utc());
        Ok(Secret::new(name, *kind, code.into_bytes()))
    }
}

fn attempt<'a>(caller: &'a Caller, to: &'a Destination<'a>) -> Attempt<'a> {
    let client = caller.label.as_deref().unwrap_or_default();
    Attempt { caller, subject: &caller.subject, client, to }
}

fn is_for(credential: &Credential, to: &Destination<'_>) -> bool {
    to.fits(&credential.host_pattern, credential.path_pattern.as_deref())
}

/// Host and path patterns, for people.
fn patterns(credential: &Credential) -> String {
    let path = credential.path_pattern.as_deref().unwrap_or_default();
    format!("{}{path}", credential.host_pattern)
}
