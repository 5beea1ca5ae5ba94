//! Verification of the chain of hashes.

use std::fmt;

use helmdeck_task::BoxFuture;
use sqlx::Row as _;

use super::chain::Row;
use crate::{Store, StoreError};

/// Number of rows that are read at once.
const PAGE: u32 = 1000;

/// The result of [`Store::verify_audit`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditReport {
    /// Number of rows that are intact, up to the first broken one.
    pub rows: u64,
    /// The last row that was removed for its age; 0 if none was.
    pub anchor: u64,
    /// The newest intact row.
    pub newest: u64,
    /// Its hash. It changes if the whole chain is rewritten.
    pub newest_hash: String,
    /// The first broken row.
    pub broken: Option<AuditBreak>,
}

/// A broken row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditBreak {
    /// The row.
    pub id: u64,
    /// What is wrong with it.
    pub reason: BreakReason,
}

/// What is wrong with a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakReason {
    /// It does not exist, although the chain goes on after it.
    Missing,
    /// Its content does not match its hash.
    Changed,
    /// It does not hold the hash of the row before.
    Unlinked,
}

impl fmt::Display for AuditBreak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, reason } = self;
        match reason {
            BreakReason::Missing => write!(f, "row {id} is missing"),
            BreakReason::Changed => write!(f, "row {id} was changed: it does not match its hash"),
            BreakReason::Unlinked => {
                let before = id.saturating_sub(1);
                write!(f, "row {id} does not hold the hash of row {before}: one was replaced")
            }
        }
    }
}

impl Store {
    /// Verifies every row. Reads one state of the database, so that a running server may add rows
    /// and remove old ones meanwhile.
    pub fn verify_audit(&self) -> BoxFuture<'_, Result<AuditReport, StoreError>> {
        Box::pin(async move {
            let mut snapshot = self.pool.begin().await?;
            let ends = sqlx::query("SELECT * FROM audit_chain").fetch_one(&mut *snapshot).await?;
            let anchor: i64 = ends.try_get("anchor_id")?;
            let mut chain = Chain { id: anchor, hash: ends.try_get("anchor_hash")?, rows: 0 };
            let mut broken = None;
            while broken.is_none() {
                let page = sqlx::query("SELECT * FROM audit WHERE id > ? ORDER BY id LIMIT ?")
                    .bind(chain.id)
                    .bind(PAGE)
                    .fetch_all(&mut *snapshot)
                    .await?;
                if page.is_empty() {
                    break;
                }
                for row in &page {
                    broken = chain.add(Row::read(row)?);
                    if broken.is_some() {
                        break;
                    }
                }
            }
            let (head, head_hash): (i64, String) =
                (ends.try_get("head_id")?, ends.try_get("head_hash")?);
            let broken = broken.or_else(|| chain.end(head, &head_hash));
            snapshot.rollback().await?;
            Ok(AuditReport {
                rows: chain.rows,
                anchor: anchor.unsigned_abs(),
                newest: chain.id.unsigned_abs(),
                newest_hash: chain.hash,
                broken,
            })
        })
    }
}

/// The chain up to a row.
struct Chain {
    id: i64,
    hash: String,
    rows: u64,
}

impl Chain {
    /// Continues with this row, unless the chain breaks.
    fn add(&mut self, row: Row) -> Option<AuditBreak> {
        let next = self.id + 1;
        if row.id != next {
            return at(next, BreakReason::Missing);
        }
        if row.expected_hash() != row.hash {
            return at(next, BreakReason::Changed);
        }
        if row.previous_hash != self.hash {
            return at(next, BreakReason::Unlinked);
        }
        *self = Self { id: next, hash: row.hash, rows: self.rows + 1 };
        None
    }

    /// Whether the chain ends where its newest row was added.
    fn end(&self, head: i64, head_hash: &str) -> Option<AuditBreak> {
        if self.id < head {
            return at(self.id + 1, BreakReason::Missing);
        }
        if self.hash != head_hash {
            return at(self.id, BreakReason::Changed);
        }
        None
    }
}

fn at(id: i64, reason: BreakReason) -> Option<AuditBreak> {
    Some(AuditBreak { id: id.unsigned_abs(), reason })
}
