//! Periodic tasks of the server: folding metrics, saving the use of tokens, and removing old records and
//! expired artifacts.

use std::time::Duration;

use helmdeck_store::{AuditEntry, Store, StoreError};
use helmdeck_wire::error::with_causes;
use time::OffsetDateTime;
use tokio::time::{interval, sleep};

use crate::{App, Config};

/// How often to fold metrics.
const FOLD_EVERY: Duration = Duration::from_secs(5);
/// How often the folder of the operator's packs is checked.
const RELOAD_EVERY: Duration = Duration::from_secs(2);
/// How often the use of tokens is saved.
const SAVE_USE_EVERY: Duration = Duration::from_secs(60);
/// How often to prune actions.
const PRUNE_EVERY: Duration = Duration::from_secs(3600);
/// Maximum number of rows per deletion, because other queries wait meanwhile.
const BATCH: u32 = 1000;
/// How long MCP sessions are kept after they began.
const MCP_SESSIONS_KEPT: time::Duration = time::Duration::days(90);
/// Pause between two deletions, for waiting queries.
const PAUSE: Duration = Duration::from_millis(20);

/// How many records to keep, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct Kept {
    /// Forever if `None`.
    age: Option<time::Duration>,
    /// All if `None`.
    per_session: Option<u32>,
    /// Of the audit log: forever if `None`.
    audit: Option<time::Duration>,
    /// Of calls of models: forever if `None`.
    models: Option<Duration>,
}

impl Kept {
    pub fn new(config: &Config) -> Self {
        let log = config.action_log;
        let days = Some(log.days).filter(|days| *days > 0);
        Self {
            age: days.map(|days| time::Duration::days(days.into())),
            per_session: Some(log.per_session).filter(|most| *most > 0),
            audit: config.audit_log.retention.duration(),
            models: config.models.retention,
        }
    }
}

/// Runs until the server ends.
pub async fn run(app: App, kept: Kept, janitor_interval: Duration) {
    let fold = async {
        let mut ticks = interval(FOLD_EVERY);
        loop {
            ticks.tick().await;
            app.metrics.tidy();
        }
    };
    let save = async {
        let mut ticks = interval(SAVE_USE_EVERY);
        loop {
            ticks.tick().await;
            save_token_use(&app).await;
        }
    };
    let prune = async {
        let mut ticks = interval(PRUNE_EVERY);
        loop {
            ticks.tick().await;
            match prune(&app.store, kept, OffsetDateTime::now_utc()).await {
                Ok(0) => {}
                Ok(actions) => tracing::info!(actions, "Removed old actions"),
                Err(problem) => {
                    let error = with_causes(&problem);
                    tracing::warn!(error, "Failed to remove old actions; retrying later");
                }
            }
            app.vision_runs.forget(|session| !app.sessions.is_alive(session));
            if let Err(error) = app.packs.forget().await {
                tracing::warn!(%error, "Failed to remove old jobs; retrying later");
            }
            if let Err(problem) = prune_models(&app.store, kept, app.clock.now_utc()).await {
                let error = with_causes(&problem);
                tracing::warn!(error, "Failed to remove old calls of models; retrying later");
            }
            match prune_audit(&app.store, kept, OffsetDateTime::now_utc()).await {
                Ok(0) => {}
                Ok(rows) => app.audit.record(AuditEntry::new("audit.pruned").detail("count", rows)),
                Err(problem) => {
                    let error = with_causes(&problem);
                    tracing::warn!(error, "Failed to shorten the audit log; retrying later");
                }
            }
        }
    };
    let sweep = async {
        loop {
            sweep_artifacts(&app).await;
            app.clock.sleep_until(app.clock.now() + janitor_interval).await;
        }
    };
    let packs = async {
        while app.packs.has_command_packs() {
            sleep(RELOAD_EVERY).await;
            let app = app.clone();
            // A panic is logged, and the next turn tries again.
            let _ = tokio::task::spawn_blocking(move || app.reload_packs()).await;
        }
    };
    tokio::join!(fold, save, prune, sweep, packs);
}

async fn sweep_artifacts(app: &App) {
    match app.artifacts.sweep().await {
        Ok(0) => {}
        Ok(artifacts) => tracing::info!(artifacts, "Deleted expired artifacts"),
        Err(problem) => {
            let error = with_causes(&problem);
            tracing::warn!(error, "Failed to delete expired artifacts; retrying later");
        }
    }
}

/// Writes down which tokens were used, and by which MCP clients. What fails is tried the next time.
pub async fn save_token_use(app: &App) {
    let saved = async {
        app.token_use.save(&app.store).await?;
        app.mcp_clients.save(&app.store).await
    };
    if let Err(problem) = saved.await {
        tracing::warn!(error = with_causes(&problem), "The use of tokens cannot be written down");
    }
}

/// Removes actions that are too old or too many, and old last pictures. Returns the number of
/// removed actions.
async fn prune(store: &Store, kept: Kept, now: OffsetDateTime) -> Result<u64, StoreError> {
    let mut all = 0;
    if let Some(before) = now.checked_sub(MCP_SESSIONS_KEPT) {
        store.forget_mcp(before).await?;
    }
    if let Some(before) = kept.age.and_then(|age| now.checked_sub(age)) {
        store.remove_old_pictures(before).await?;
        loop {
            let removed = store.remove_old_actions(before, BATCH).await?;
            all += removed;
            if !more(removed).await {
                break;
            }
        }
    }
    if let Some(most) = kept.per_session {
        for session in store.busiest_sessions(most).await? {
            loop {
                let removed = store.remove_excess_actions(&session, most, BATCH).await?;
                all += removed;
                if !more(removed).await {
                    break;
                }
            }
        }
    }
    Ok(all)
}

/// Removes old rows of the audit log, and returns their number.
async fn prune_audit(store: &Store, kept: Kept, now: OffsetDateTime) -> Result<u64, StoreError> {
    let Some(before) = kept.audit.and_then(|age| now.checked_sub(age)) else { return Ok(0) };
    let mut all = 0;
    loop {
        let removed = store.remove_old_audit(before, BATCH).await?;
        all += removed;
        if !more(removed).await {
            return Ok(all);
        }
    }
}

/// Removes old calls of models.
async fn prune_models(store: &Store, kept: Kept, now: OffsetDateTime) -> Result<(), StoreError> {
    let Some(age) = kept.models else { return Ok(()) };
    loop {
        let removed = store.remove_old_model_calls(now - age, BATCH).await?;
        if !more(removed).await {
            return Ok(());
        }
    }
}

/// Whether there may be more to remove. If so, pauses first.
async fn more(removed: u64) -> bool {
    let more = removed >= u64::from(BATCH);
    if more {
        sleep(PAUSE).await;
    }
    more
}

#[cfg(test)]
mod tests {
    use helmdeck_wire::{
        SessionId,
        history::{ActionRecord, Actor},
    };
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn records_beyond_the_limits_are_removed_and_none_without_limits() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let now = OffsetDateTime::UNIX_EPOCH + time::Duration::days(100);
        let record = |seq: u64| {
            let record = ActionRecord {
                seq,
                at: now - time::Duration::days(if seq <= 1500 { 31 } else { 29 }),
                session_id: SessionId::new(if seq.is_multiple_of(2) { "even" } else { "odd" }),
                by: Actor { subject: "ann".into(), ..Actor::default() },
                action: "click".into(),
                detail: json!({}),
                outcome: "ok".into(),
                duration_ms: 1,
            };
            ("ann".to_owned(), record)
        };
        let records: Vec<_> = (1..=3000).map(record).collect();
        for some in records.chunks(500) {
            store.add_actions(some).await.unwrap();
        }
        let kept = |days: Option<i64>, per_session| {
            let age = days.map(time::Duration::days);
            prune(&store, Kept { age, per_session, audit: None, models: None }, now)
        };
        assert_eq!(kept(None, None).await.unwrap(), 0);
        assert_eq!(kept(Some(30), Some(750)).await.unwrap(), 1500);
        assert_eq!(kept(None, Some(700)).await.unwrap(), 100);
        let left = store.actions(&SessionId::new("odd"), None, u64::MAX, 1000).await.unwrap();
        assert_eq!((left.len(), left.last().unwrap().seq), (700, 2999));
    }

    #[tokio::test]
    async fn the_audit_log_is_shortened_to_its_retention_and_stays_verifiable() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let entries: Vec<_> = (0..10).map(|_| AuditEntry::new("server.started")).collect();
        store.append_audit(&entries).await.unwrap();
        let later = |days| OffsetDateTime::now_utc() + time::Duration::days(days);
        let kept = |audit| Kept { age: None, per_session: None, audit, models: None };
        let year = kept(Some(time::Duration::days(365)));
        assert_eq!(prune_audit(&store, kept(None), later(9999)).await.unwrap(), 0);
        assert_eq!(prune_audit(&store, year, later(364)).await.unwrap(), 0);
        assert_eq!(prune_audit(&store, year, later(366)).await.unwrap(), 10);
        store.append_audit(&entries).await.unwrap();
        let report = store.verify_audit().await.unwrap();
        assert_eq!((report.anchor, report.rows, report.broken), (10, 10, None));
    }
}
