//! The rows of the vault in the database.

use helmdeck_wire::{
    Caller,
    vault::{
        Credential, CredentialGrant, CredentialSource, CredentialType, CredentialUsage, UsageResult,
    },
};
use sqlx::{Row as _, SqliteConnection, SqlitePool, sqlite::SqliteRow};
use time::OffsetDateTime;

use super::{Destination, VaultError, key::Place};
use crate::{StoreError, moment};

/// How many attempts of each credential are kept.
const USAGE_KEPT: u32 = 1000;

/// A credential with its sealed secret.
pub(super) struct Row {
    pub credential: Credential,
    pub sealed: Vec<u8>,
    pub key_version: u32,
}

impl Row {
    pub fn place(&self) -> Place<'_> {
        place(&self.credential)
    }
}

/// What a credential's secret is bound to.
pub(super) fn place(credential: &Credential) -> Place<'_> {
    Place {
        id: &credential.id,
        owner: &credential.owner,
        name: &credential.name,
        kind: credential.kind.as_str(),
        host_pattern: &credential.host_pattern,
        path_pattern: credential.path_pattern.as_deref(),
    }
}

const COLUMNS: &str = "id, owner, name, kind, host_pattern, path_pattern, metadata, fingerprint, \
                       sealed, key_version, created_at, updated_at, last_used_at";

fn read(row: &SqliteRow) -> Result<Row, VaultError> {
    let kind: String = row.try_get("kind")?;
    let kind = CredentialType::named(&kind)
        .ok_or(StoreError::Nonsense { field: "credential.kind", value: kind })?;
    let metadata: Option<String> = row.try_get("metadata")?;
    let metadata = metadata.map(|text| {
        let nonsense = |_| StoreError::Nonsense { field: "metadata", value: text.clone() };
        serde_json::from_str(&text).map_err(nonsense)
    });
    let last_used_at: Option<String> = row.try_get("last_used_at")?;
    let credential = Credential {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        kind,
        owner: row.try_get("owner")?,
        source: CredentialSource::Vault,
        host_pattern: row.try_get("host_pattern")?,
        path_pattern: row.try_get("path_pattern")?,
        fingerprint: row.try_get("fingerprint")?,
        metadata: metadata.transpose()?,
        created_at: moment::read("created_at", row.try_get("created_at")?)?,
        updated_at: moment::read("updated_at", row.try_get("updated_at")?)?,
        last_used_at: last_used_at.map(|at| moment::read("last_used_at", at)).transpose()?,
    };
    let (sealed, key_version) = (row.try_get("sealed")?, row.try_get("key_version")?);
    Ok(Row { credential, sealed, key_version })
}

/// Adds a credential. `false` if its owner has one with this name.
pub(super) async fn add(pool: &SqlitePool, row: &Row) -> Result<bool, VaultError> {
    let it = &row.credential;
    let metadata = it.metadata.as_ref().map(|it| serde_json::Value::Object(it.clone()).to_string());
    let added = sqlx::query(
        "INSERT INTO credential (id, owner, name, kind, host_pattern, path_pattern, metadata,
             fingerprint, sealed, key_version, created_at, updated_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (owner, name) DO NOTHING",
    )
    .bind(&it.id)
    .bind(&it.owner)
    .bind(&it.name)
    .bind(it.kind.as_str())
    .bind(&it.host_pattern)
    .bind(&it.path_pattern)
    .bind(metadata)
    .bind(&it.fingerprint)
    .bind(&row.sealed)
    .bind(row.key_version)
    .bind(moment::write("created_at", it.created_at)?)
    .bind(moment::write("updated_at", it.updated_at)?)
    .execute(pool)
    .await?;
    Ok(added.rows_affected() > 0)
}

/// The credentials of an owner, or all; by name.
pub(super) async fn list(pool: &SqlitePool, owner: Option<&str>) -> Result<Vec<Row>, VaultError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM credential WHERE ?1 IS NULL OR owner = ?1 ORDER BY name, owner"
    );
    let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(owner).fetch_all(pool).await?;
    rows.iter().map(read).collect()
}

/// The credential with this id, if it exists and has this owner.
pub(super) async fn find(
    pool: &SqlitePool,
    id: &str,
    owner: Option<&str>,
) -> Result<Option<Row>, VaultError> {
    let sql =
        format!("SELECT {COLUMNS} FROM credential WHERE id = ?1 AND (?2 IS NULL OR owner = ?2)");
    let row =
        sqlx::query(sqlx::AssertSqlSafe(sql)).bind(id).bind(owner).fetch_optional(pool).await?;
    row.as_ref().map(read).transpose()
}

/// A credential that a caller asks for, and whether it is granted to it.
pub(super) struct Candidate {
    pub row: Row,
    pub granted: bool,
}

/// Which credentials a caller asks for.
pub(super) enum Wanted<'a> {
    Named(&'a str),
    OfType(CredentialType),
}

/// The credentials that a caller may mean: its own first, then the oldest.
pub(super) async fn candidates(
    pool: &SqlitePool,
    wanted: Wanted<'_>,
    subject: &str,
    client: &str,
) -> Result<Vec<Candidate>, VaultError> {
    let (column, value) = match wanted {
        Wanted::Named(name) => ("name", name),
        Wanted::OfType(kind) => ("kind", kind.as_str()),
    };
    let sql = format!(
        "SELECT {COLUMNS}, EXISTS (
             SELECT 1 FROM credential_grant g WHERE g.credential_id = credential.id
             AND g.subject IN (?2, '*') AND g.client IN ('', ?3)
         ) AS granted
         FROM credential WHERE {column} = ?1 ORDER BY owner = ?2 DESC, created_at, id"
    );
    let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(value).bind(subject).bind(client);
    let rows = query.fetch_all(pool).await?;
    rows.iter()
        .map(|row| Ok(Candidate { row: read(row)?, granted: row.try_get("granted")? }))
        .collect()
}

/// Replaces a credential's secret.
pub(super) async fn reseal(
    connection: &mut SqliteConnection,
    row: &Row,
    updated_at: OffsetDateTime,
) -> Result<(), VaultError> {
    sqlx::query(
        "UPDATE credential SET sealed = ?, fingerprint = ?, key_version = ?, updated_at = ?
         WHERE id = ?",
    )
    .bind(&row.sealed)
    .bind(&row.credential.fingerprint)
    .bind(row.key_version)
    .bind(moment::write("updated_at", updated_at)?)
    .bind(&row.credential.id)
    .execute(connection)
    .await?;
    Ok(())
}

pub(super) async fn delete(pool: &SqlitePool, id: &str) -> Result<(), VaultError> {
    sqlx::query("DELETE FROM credential WHERE id = ?").bind(id).execute(pool).await?;
    Ok(())
}

/// Grants a credential. Granting it again changes nothing.
pub(super) async fn grant(
    pool: &SqlitePool,
    id: &str,
    grant: &CredentialGrant,
) -> Result<(), VaultError> {
    sqlx::query(
        "INSERT INTO credential_grant (credential_id, subject, client, created_at, created_by)
         VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    )
    .bind(id)
    .bind(&grant.actor_subject)
    .bind(grant.actor_client.as_deref().unwrap_or_default())
    .bind(moment::write("created_at", grant.created_at)?)
    .bind(&grant.created_by)
    .execute(pool)
    .await?;
    Ok(())
}

/// Removes a grant. `false` if there is none.
pub(super) async fn revoke(
    pool: &SqlitePool,
    id: &str,
    subject: &str,
    client: &str,
) -> Result<bool, VaultError> {
    let removed = sqlx::query(
        "DELETE FROM credential_grant WHERE credential_id = ? AND subject = ? AND client = ?",
    )
    .bind(id)
    .bind(subject)
    .bind(client)
    .execute(pool)
    .await?;
    Ok(removed.rows_affected() > 0)
}

pub(super) async fn grants(
    pool: &SqlitePool,
    id: &str,
) -> Result<Vec<CredentialGrant>, VaultError> {
    let rows = sqlx::query(
        "SELECT subject, client, created_at, created_by FROM credential_grant
         WHERE credential_id = ? ORDER BY created_at, subject, client",
    )
    .bind(id)
    .fetch_all(pool)
    .await?;
    let read = |row: &SqliteRow| {
        let client: String = row.try_get("client")?;
        Ok(CredentialGrant {
            actor_subject: row.try_get("subject")?,
            actor_client: Some(client).filter(|client| !client.is_empty()),
            created_at: moment::read("created_at", row.try_get("created_at")?)?,
            created_by: row.try_get("created_by")?,
        })
    };
    rows.iter().map(read).collect()
}

/// Who attempted to use a credential, and for what.
pub(super) struct Attempt<'a> {
    pub caller: &'a Caller,
    pub subject: &'a str,
    pub client: &'a str,
    pub to: &'a Destination<'a>,
}

/// Records an attempt, and removes the oldest ones.
pub(super) async fn record(
    pool: &SqlitePool,
    id: &str,
    attempt: &Attempt<'_>,
    result: UsageResult,
    now: OffsetDateTime,
) -> Result<(), VaultError> {
    let at = moment::write("at", now)?;
    let mut work = pool.begin().await?;
    sqlx::query(
        "INSERT INTO credential_usage (credential_id, subject, client, host, path, result, at)
         VALUES (?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(id)
    .bind(attempt.subject)
    .bind(attempt.client)
    .bind(attempt.to.host())
    .bind(attempt.to.path())
    .bind(result.as_str())
    .bind(&at)
    .execute(&mut *work)
    .await?;
    if result == UsageResult::Allowed {
        let used = sqlx::query("UPDATE credential SET last_used_at = ? WHERE id = ?");
        used.bind(&at).bind(id).execute(&mut *work).await?;
    }
    sqlx::query(
        "DELETE FROM credential_usage WHERE credential_id = ?1 AND number <= (
             SELECT number FROM credential_usage WHERE credential_id = ?1
             ORDER BY number DESC LIMIT 1 OFFSET ?2)",
    )
    .bind(id)
    .bind(USAGE_KEPT)
    .execute(&mut *work)
    .await?;
    work.commit().await?;
    Ok(())
}

/// The newest attempts.
pub(super) async fn usage(
    pool: &SqlitePool,
    id: &str,
    most: u32,
) -> Result<Vec<CredentialUsage>, VaultError> {
    let rows = sqlx::query(
        "SELECT number, credential_id, subject, client, host, path, result, at
         FROM credential_usage WHERE credential_id = ? ORDER BY number DESC LIMIT ?",
    )
    .bind(id)
    .bind(most)
    .fetch_all(pool)
    .await?;
    let read = |row: &SqliteRow| {
        let result: String = row.try_get("result")?;
        let result = UsageResult::named(&result)
            .ok_or(StoreError::Nonsense { field: "credential_usage.result", value: result })?;
        Ok(CredentialUsage {
            id: row.try_get::<i64, _>("number")?.unsigned_abs(),
            credential_id: row.try_get("credential_id")?,
            actor_subject: row.try_get("subject")?,
            actor_client: row.try_get("client")?,
            host_matched: row.try_get("host")?,
            path_matched: row.try_get("path")?,
            result,
            timestamp: moment::read("at", row.try_get("at")?)?,
        })
    };
    rows.iter().map(read).collect()
}

/// Version and id of the key that the vault is sealed with, if there is one.
pub(super) async fn newest_key(pool: &SqlitePool) -> Result<Option<(u32, String)>, VaultError> {
    let row = sqlx::query("SELECT version, key_id FROM vault_key ORDER BY version DESC LIMIT 1")
        .fetch_optional(pool)
        .await?;
    row.map(|row| Ok((row.try_get("version")?, row.try_get("key_id")?))).transpose()
}

/// Adds a key that the vault is sealed with from now on.
pub(super) async fn add_key(
    connection: &mut SqliteConnection,
    version: u32,
    key_id: &str,
    now: OffsetDateTime,
) -> Result<(), VaultError> {
    sqlx::query("INSERT INTO vault_key (version, key_id, created_at) VALUES (?, ?, ?)")
        .bind(version)
        .bind(key_id)
        .bind(moment::write("created_at", now)?)
        .execute(connection)
        .await?;
    Ok(())
}

/// Deletes all credentials and the record of their keys.
pub(super) async fn clear(pool: &SqlitePool) -> Result<u64, VaultError> {
    let mut work = pool.begin().await?;
    let deleted = sqlx::query("DELETE FROM credential").execute(&mut *work).await?;
    sqlx::query("DELETE FROM vault_key").execute(&mut *work).await?;
    work.commit().await?;
    Ok(deleted.rows_affected())
}
