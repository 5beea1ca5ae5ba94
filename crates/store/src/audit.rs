//! The audit log: who did what. Rows form a chain of hashes (`chain.rs`), are added by one task of
//! the server (`writer.rs`), and are removed at the oldest end only.

mod chain;
mod entry;
mod repeats;
mod verify;
mod writer;

use std::time::Duration;

use helmdeck_task::BoxFuture;
use helmdeck_wire::{
    SessionId,
    audit::{AuditRecord, Severity, format_at},
};
use sqlx::{QueryBuilder, Row as _, Sqlite};
use time::OffsetDateTime;

use crate::{Store, StoreError};

use chain::{Head, Row};
pub use entry::AuditEntry;
pub use verify::{AuditBreak, AuditReport, BreakReason};
pub use writer::{Audit, AuditStatus};

/// How often to try to append rows while other processes append theirs.
const APPEND_TRIES: u64 = 50;

/// Which rows to read. Every given condition must hold.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    /// Not before this time.
    pub from: Option<OffsetDateTime>,
    /// Before this time.
    pub to: Option<OffsetDateTime>,
    /// This type, or all types of a noun: `session.*`.
    pub event_type: Option<String>,
    /// About this session.
    pub session_id: Option<SessionId>,
    /// By this subject.
    pub actor_subject: Option<String>,
    /// Of this severity.
    pub severity: Option<Severity>,
}

impl AuditFilter {
    fn push(&self, query: &mut QueryBuilder<Sqlite>) {
        if let Some(from) = self.from {
            query.push(" AND at >= ").push_bind(format_at(from));
        }
        if let Some(to) = self.to {
            query.push(" AND at < ").push_bind(format_at(to));
        }
        match self.event_type.as_deref().map(|name| (name, name.strip_suffix(".*"))) {
            // All texts that begin with the noun and a dot: a slash follows the dot in ASCII.
            Some((_, Some(noun))) => {
                query.push(" AND event_type >= ").push_bind(format!("{noun}."));
                query.push(" AND event_type < ").push_bind(format!("{noun}/"));
            }
            Some((name, None)) => {
                query.push(" AND event_type = ").push_bind(name.to_owned());
            }
            None => {}
        }
        if let Some(id) = &self.session_id {
            query.push(" AND session_id = ").push_bind(id.as_str().to_owned());
        }
        if let Some(subject) = &self.actor_subject {
            query.push(" AND actor_subject = ").push_bind(subject.clone());
        }
        if let Some(severity) = self.severity {
            query.push(" AND severity = ").push_bind(severity.as_str());
        }
    }
}

impl Store {
    /// Appends rows atomically, and returns the id of the newest. Other processes may append at the
    /// same time.
    pub fn append_audit<'a>(
        &'a self,
        entries: &'a [AuditEntry],
    ) -> BoxFuture<'a, Result<u64, StoreError>> {
        Box::pin(async move {
            let mut tries = 0;
            loop {
                let head = self.audit_head().await?;
                let rows = chain::link(&head, entries);
                let newest = rows.last().map_or(head.id, |row| row.id);
                match self.insert_audit(&rows).await {
                    Ok(()) => return Ok(newest.unsigned_abs()),
                    // Another process took the same ids.
                    Err(error) if is_conflict(&error) && tries < APPEND_TRIES => {
                        tries += 1;
                        // Longer after each conflict, so that the other process gets past it.
                        tokio::time::sleep(Duration::from_millis(tries)).await;
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        })
    }

    async fn audit_head(&self) -> Result<Head, StoreError> {
        let row =
            sqlx::query("SELECT head_id, head_hash FROM audit_chain").fetch_one(&self.pool).await?;
        Ok(Head { id: row.try_get("head_id")?, hash: row.try_get("head_hash")? })
    }

    /// A single statement needs no transaction, which a full disk could leave open.
    async fn insert_audit(&self, rows: &[Row]) -> Result<(), sqlx::Error> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut insert = QueryBuilder::<Sqlite>::new("INSERT INTO audit ");
        insert.push_values(rows, |mut values, row| {
            values
                .push_bind(row.id)
                .push_bind(&row.at)
                .push_bind(&row.event_type)
                .push_bind(&row.severity)
                .push_bind(&row.actor_subject)
                .push_bind(&row.actor_label)
                .push_bind(row.human)
                .push_bind(&row.session_id)
                .push_bind(&row.target)
                .push_bind(&row.details)
                .push_bind(&row.remote_address)
                .push_bind(&row.previous_hash)
                .push_bind(&row.hash);
        });
        insert.build().execute(&self.pool).await?;
        Ok(())
    }

    /// The id of the newest row; 0 if there has never been one.
    pub fn newest_audit(&self) -> BoxFuture<'_, Result<u64, StoreError>> {
        Box::pin(async move { Ok(self.audit_head().await?.id.unsigned_abs()) })
    }

    /// At most `limit` rows before row `before`, newest first.
    pub async fn audit_before(
        &self,
        filter: &AuditFilter,
        before: u64,
        limit: u32,
    ) -> Result<Vec<AuditRecord>, StoreError> {
        let mut query = QueryBuilder::<Sqlite>::new("SELECT * FROM audit WHERE id < ");
        query.push_bind(i64::try_from(before).unwrap_or(i64::MAX));
        filter.push(&mut query);
        query.push(" ORDER BY id DESC LIMIT ").push_bind(limit);
        self.audit_rows(query).await
    }

    /// At most `limit` rows after row `after`, oldest first.
    pub fn audit_after<'a>(
        &'a self,
        filter: &'a AuditFilter,
        after: u64,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<AuditRecord>, StoreError>> {
        Box::pin(async move {
            let mut query = QueryBuilder::<Sqlite>::new("SELECT * FROM audit WHERE id > ");
            query.push_bind(i64::try_from(after).unwrap_or(i64::MAX));
            filter.push(&mut query);
            query.push(" ORDER BY id LIMIT ").push_bind(limit);
            self.audit_rows(query).await
        })
    }

    async fn audit_rows(
        &self,
        mut query: QueryBuilder<Sqlite>,
    ) -> Result<Vec<AuditRecord>, StoreError> {
        let rows = query.build().fetch_all(&self.pool).await?;
        rows.iter().map(|row| Row::read(row)?.into_record()).collect()
    }

    /// Removes rows at the oldest end that are older than `before`, at most `most` per call, and
    /// returns their number. The last removed row is kept as the anchor of the chain.
    pub async fn remove_old_audit(
        &self,
        before: OffsetDateTime,
        most: u32,
    ) -> Result<u64, StoreError> {
        let before = format_at(before);
        let oldest = sqlx::query("SELECT id, hash, at FROM audit ORDER BY id LIMIT ?")
            .bind(most)
            .fetch_all(&self.pool)
            .await?;
        let mut last: Option<(i64, String)> = None;
        for row in &oldest {
            if row.try_get::<String, _>("at")? >= before {
                break;
            }
            last = Some((row.try_get("id")?, row.try_get("hash")?));
        }
        let Some((id, hash)) = last else { return Ok(0) };
        // The anchor first: rows before it are ignored, so an interruption here breaks nothing.
        sqlx::query("UPDATE audit_chain SET anchor_id = ?1, anchor_hash = ?2 WHERE anchor_id < ?1")
            .bind(id)
            .bind(hash)
            .execute(&self.pool)
            .await?;
        let removed =
            sqlx::query("DELETE FROM audit WHERE id <= ?").bind(id).execute(&self.pool).await?;
        Ok(removed.rows_affected())
    }
}

fn is_conflict(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|error| error.is_unique_violation())
}

#[cfg(test)]
mod tests;
