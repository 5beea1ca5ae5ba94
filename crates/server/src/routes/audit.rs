//! The audit log: pages, a live tail, and files.

use std::{convert::Infallible, time::Duration};

use axum::{
    Extension,
    body::Body,
    extract::State,
    response::sse::{Event, KeepAlive, Sse},
};
use futures_util::{Stream, stream};
use helmdeck_store::{AuditEntry, AuditFilter, Store, StoreError};
use helmdeck_wire::{
    SessionId,
    audit::{AuditPage, AuditRecord, Severity},
};
use http::{HeaderMap, HeaderValue, header};
use schemars::JsonSchema;
use serde::Deserialize;
use time::OffsetDateTime;
use tokio::sync::watch;

use crate::{
    App,
    audit::ExportFormat,
    auth::caller,
    closing::until,
    error::{ApiError, ApiResult},
    query::Params,
    token::Claims,
    tool::{Call, Outcome, Payload},
};

/// Keeps connections alive through proxies.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Number of rows on a page.
const PAGE: u32 = 100;
/// Number of rows that a file or a tail reads at once.
const BATCH: u32 = 500;

/// Which rows to follow, list or export.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RowQuery {
    /// A type such as `login.failed`, or all types of a noun: `session.*`.
    event_type: Option<String>,
    /// Rows about this session.
    #[schemars(regex(pattern = SessionId::PATTERN), extend("x-expected" = SessionId::EXPECTED))]
    session_id: Option<String>,
    /// Rows of this subject.
    actor_subject: Option<String>,
    /// Rows of this severity.
    severity: Option<Severity>,
}

/// A time range.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RangeQuery {
    /// Not before this time.
    #[serde(default, with = "time::serde::rfc3339::option")]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    from: Option<OffsetDateTime>,
    /// Before this time.
    #[serde(default, with = "time::serde::rfc3339::option")]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    to: Option<OffsetDateTime>,
}

/// Which rows to list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListQuery {
    #[serde(flatten)]
    range: RangeQuery,
    #[serde(flatten)]
    rows: RowQuery,
    /// Number of rows; defaults to 100.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    cursor: Option<u64>,
}

/// Which rows to export.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportQuery {
    /// Format of the file.
    #[serde(default)]
    format: ExportFormat,
    #[serde(flatten)]
    range: RangeQuery,
    #[serde(flatten)]
    rows: RowQuery,
}

impl RowQuery {
    /// The matching rows within a range, or at any time.
    fn filter(self, range: Option<RangeQuery>) -> AuditFilter {
        let Self { event_type, session_id, actor_subject, severity } = self;
        let session_id = session_id.map(SessionId::new);
        let (from, to) = range.map_or((None, None), |range| (range.from, range.to));
        AuditFilter { from, to, event_type, session_id, actor_subject, severity }
    }
}

/// Lists rows, newest first.
pub async fn list_audit(call: Call, query: ListQuery) -> ApiResult<AuditPage> {
    let filter = query.rows.filter(Some(query.range));
    let limit = query.limit.unwrap_or(PAGE);
    call.app.audit.flush().await;
    let before = query.cursor.unwrap_or(u64::MAX);
    // One more row shows whether there is a next page.
    let mut entries = call.app.store.audit_before(&filter, before, limit + 1).await?;
    let more = entries.len() > limit as usize;
    entries.truncate(limit as usize);
    let next_cursor = entries.last().filter(|_| more).map(|row| row.id);
    Ok(AuditPage { count: entries.len() as u64, entries, next_cursor })
}

/// All matching rows as a file, oldest first.
pub async fn export_audit(call: Call, query: ExportQuery) -> ApiResult<Outcome> {
    let format = query.format;
    let filter = query.rows.filter(Some(query.range));
    let Call { app, caller, .. } = &call;
    let exported = AuditEntry::new("audit.exported").actor(caller);
    app.audit.record(exported.detail("format", format.extension()));
    app.audit.flush().await;
    let last = app.store.newest_audit().await?;
    let file = File { store: app.store.clone(), filter, format, after: 0, last, begun: false };
    let pieces = stream::try_unfold(file, async |mut file| {
        let piece = file.next().await?;
        Ok::<_, StoreError>(piece.map(|piece| (piece, file)))
    });
    let name =
        format!("helmdeck-audit-{}.{}", OffsetDateTime::now_utc().date(), format.extension());
    let disposition = HeaderValue::try_from(format!("attachment; filename=\"{name}\""));
    let media_type = HeaderValue::from_static(format.media_type());
    let body = Body::from_stream(pieces);
    Ok(Outcome::new(Payload::Stream { media_type, size: None, body })
        .with(header::CONTENT_DISPOSITION, disposition.map_err(ApiError::internal)?))
}

/// A file that is read while it is sent. Rows that are added meanwhile are not a part of it.
struct File {
    store: Store,
    filter: AuditFilter,
    format: ExportFormat,
    after: u64,
    last: u64,
    begun: bool,
}

impl File {
    async fn next(&mut self) -> Result<Option<String>, StoreError> {
        let mut piece = if self.begun { String::new() } else { self.format.head().to_owned() };
        let rows = self.store.audit_after(&self.filter, self.after, BATCH).await?;
        let rows: Vec<_> = rows.into_iter().filter(|row| row.id <= self.last).collect();
        piece.extend(rows.iter().map(|row| self.format.line(row)));
        self.after = rows.last().map_or(self.last, |row| row.id);
        self.begun = true;
        Ok(Some(piece).filter(|piece| !piece.is_empty()))
    }
}

/// New rows as server-sent events. The stream ends with the server or the caller's token.
pub async fn stream_audit(
    State(app): State<App>,
    Extension(token): Extension<Claims>,
    headers: HeaderMap,
    Params(query): Params<RowQuery>,
) -> ApiResult<Sse<impl Stream<Item = Result<Event, Infallible>>>> {
    let filter = query.filter(None);
    let last_id = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let after = match last_id.and_then(|id| id.parse().ok()) {
        Some(heard) => heard,
        None => app.store.newest_audit().await?,
    };
    let (credentials, expires) = (vec![caller(&token).token], Some(token.info().expires_at));
    let newest = app.audit.newest();
    let tail = Tail { app, filter, after, read: Vec::new(), newest, credentials, expires };
    let events = stream::unfold(tail, async |mut tail| {
        let row = tail.next().await?;
        // Our own types always serialize without line breaks.
        let data = serde_json::to_string(&row).unwrap_or_default();
        Some((Ok(Event::default().id(row.id.to_string()).event("audit").data(data)), tail))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

/// The rows after a certain one. They come from the store, so none is lost.
struct Tail {
    app: App,
    filter: AuditFilter,
    after: u64,
    /// Rows that are read and not sent, newest first.
    read: Vec<AuditRecord>,
    newest: watch::Receiver<u64>,
    /// Credentials whose revocation ends it.
    credentials: Vec<String>,
    expires: Option<OffsetDateTime>,
}

impl Tail {
    async fn next(&mut self) -> Option<AuditRecord> {
        loop {
            if let Some(row) = self.read.pop() {
                self.after = row.id;
                return Some(row);
            }
            self.newest.mark_unchanged();
            let rows = self.app.store.audit_after(&self.filter, self.after, BATCH).await;
            // The client connects again, and continues after the last row.
            self.read = rows.ok()?.into_iter().rev().collect();
            if self.read.is_empty() {
                let app = self.app.clone();
                tokio::select! {
                    changed = self.newest.changed() => changed.ok()?,
                    () = app.closing.cancelled() => return None,
                    () = app.revoked.any_of(&self.credentials) => return None,
                    () = until(self.expires) => return None,
                }
            }
        }
    }
}
