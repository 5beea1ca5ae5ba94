//! Tests of the chain, of retention and of reading.

use helmdeck_wire::{
    audit::Severity,
    history::{Actor, ActorKind},
};
use time::Duration;

use super::*;
use crate::audit::verify::{AuditBreak, BreakReason};

fn day(n: i64) -> OffsetDateTime {
    OffsetDateTime::UNIX_EPOCH + Duration::days(20_000 + n)
}

/// A store with this many rows, one for each day.
async fn with_rows(count: i64) -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).await.unwrap();
    let entry = |n: i64| {
        let actor =
            Actor { kind: ActorKind::Human, subject: format!("user{}", n % 3), ..Actor::default() };
        let kind = if n % 2 == 0 { "session.created" } else { "token.created" };
        AuditEntry::new(kind).at(day(n)).actor(&actor).target(n.to_string()).detail("n", n)
    };
    let entries: Vec<_> = (1..=count).map(entry).collect();
    for some in entries.chunks(500) {
        store.append_audit(some).await.unwrap();
    }
    (dir, store)
}

async fn run(store: &Store, sql: &'static str) {
    sqlx::query(sql).execute(&store.pool).await.unwrap();
}

async fn broken(store: &Store) -> Option<AuditBreak> {
    store.verify_audit().await.unwrap().broken
}

fn at(id: u64, reason: BreakReason) -> Option<AuditBreak> {
    Some(AuditBreak { id, reason })
}

async fn ids(store: &Store, filter: &AuditFilter) -> Vec<u64> {
    let rows = store.audit_before(filter, u64::MAX, 1000).await.unwrap();
    rows.iter().map(|row| row.id).collect()
}

#[tokio::test]
async fn an_untouched_log_is_verified_and_continues_after_a_restart() {
    let (dir, store) = with_rows(1100).await;
    let report = store.verify_audit().await.unwrap();
    assert_eq!((report.rows, report.newest, report.broken), (1100, 1100, None));
    store.close().await;
    let store = Store::open(dir.path()).await.unwrap();
    assert_eq!(store.append_audit(&[AuditEntry::new("server.started")]).await.unwrap(), 1101);
    let row = store.audit_before(&AuditFilter::default(), u64::MAX, 1).await.unwrap().remove(0);
    assert_eq!(row.previous_hash, report.newest_hash);
    assert_eq!(store.verify_audit().await.unwrap().newest_hash, row.hash);
}

#[tokio::test]
async fn the_first_altered_row_is_named_in_every_column() {
    for change in [
        "UPDATE audit SET at = '2020-01-01T00:00:00.000000Z' WHERE id IN (4, 7)",
        "UPDATE audit SET event_type = 'x.y' WHERE id IN (4, 7)",
        "UPDATE audit SET severity = 'error' WHERE id IN (4, 7)",
        "UPDATE audit SET actor_subject = 'mallory' WHERE id IN (4, 7)",
        "UPDATE audit SET actor_label = 'x' WHERE id IN (4, 7)",
        "UPDATE audit SET human = 0 WHERE id IN (4, 7)",
        "UPDATE audit SET session_id = 'x' WHERE id IN (4, 7)",
        "UPDATE audit SET target = NULL WHERE id IN (4, 7)",
        "UPDATE audit SET details = '{}' WHERE id IN (4, 7)",
        "UPDATE audit SET remote_address = '::1' WHERE id IN (4, 7)",
        "UPDATE audit SET hash = previous_hash WHERE id IN (4, 7)",
    ] {
        let (_dir, store) = with_rows(9).await;
        run(&store, change).await;
        assert_eq!(broken(&store).await, at(4, BreakReason::Changed), "{change}");
    }
}

#[tokio::test]
async fn a_row_that_was_replaced_together_with_its_hash_breaks_the_next_one() {
    let (_dir, store) = with_rows(9).await;
    run(&store, "UPDATE audit SET target = 'other' WHERE id = 4").await;
    let row = sqlx::query("SELECT * FROM audit WHERE id = 4").fetch_one(&store.pool).await.unwrap();
    let hash = Row::read(&row).unwrap().expected_hash();
    sqlx::query("UPDATE audit SET hash = ? WHERE id = 4")
        .bind(hash)
        .execute(&store.pool)
        .await
        .unwrap();
    assert_eq!(broken(&store).await, at(5, BreakReason::Unlinked));
}

#[tokio::test]
async fn deleted_rows_are_named_also_at_both_ends() {
    for (deletion, id) in [
        ("DELETE FROM audit WHERE id IN (5, 8)", 5),
        ("DELETE FROM audit WHERE id = 1", 1),
        ("DELETE FROM audit WHERE id > 7", 8),
        ("DELETE FROM audit", 1),
    ] {
        let (_dir, store) = with_rows(9).await;
        run(&store, deletion).await;
        assert_eq!(broken(&store).await, at(id, BreakReason::Missing), "{deletion}");
    }
}

#[tokio::test]
async fn an_inserted_row_is_named() {
    let (_dir, store) = with_rows(9).await;
    // Makes room after row 3, and repeats row 3 there.
    run(&store, "UPDATE audit SET id = -id - 1 WHERE id > 3").await;
    run(&store, "UPDATE audit SET id = -id WHERE id < 0").await;
    run(
        &store,
        "INSERT INTO audit SELECT 4, at, event_type, severity, actor_subject, actor_label, human,
             session_id, target, details, remote_address, hash, hash FROM audit WHERE id = 3",
    )
    .await;
    assert_eq!(broken(&store).await, at(4, BreakReason::Changed));
}

#[tokio::test]
async fn reordered_rows_are_named() {
    let (_dir, store) = with_rows(9).await;
    run(&store, "UPDATE audit SET id = -1 WHERE id = 4").await;
    run(&store, "UPDATE audit SET id = 4 WHERE id = 6").await;
    run(&store, "UPDATE audit SET id = 6 WHERE id = -1").await;
    assert_eq!(broken(&store).await, at(4, BreakReason::Changed));
}

#[tokio::test]
async fn retention_removes_the_oldest_rows_and_the_rest_stays_verifiable() {
    let (_dir, store) = with_rows(20).await;
    assert_eq!(store.remove_old_audit(day(11), 4).await.unwrap(), 4);
    assert_eq!(store.remove_old_audit(day(11), 100).await.unwrap(), 6);
    assert_eq!(store.remove_old_audit(day(11), 100).await.unwrap(), 0);
    let report = store.verify_audit().await.unwrap();
    assert_eq!((report.rows, report.anchor, report.newest, report.broken), (10, 10, 20, None));

    run(&store, "DELETE FROM audit WHERE id = 11").await;
    assert_eq!(broken(&store).await, at(11, BreakReason::Missing), "others may not remove rows");

    let (_dir, store) = with_rows(5).await;
    assert_eq!(store.remove_old_audit(day(100), 100).await.unwrap(), 5);
    assert_eq!(broken(&store).await, None);
    assert_eq!(store.append_audit(&[AuditEntry::new("a.b")]).await.unwrap(), 6);
    assert_eq!(broken(&store).await, None);
}

#[tokio::test]
async fn retention_that_is_interrupted_breaks_nothing() {
    let (_dir, store) = with_rows(9).await;
    run(
        &store,
        "UPDATE audit_chain SET anchor_id = 3, anchor_hash = (SELECT hash FROM audit WHERE id = 3)",
    )
    .await;
    assert_eq!(broken(&store).await, None);
    assert_eq!(store.remove_old_audit(day(5), 100).await.unwrap(), 4);
    assert_eq!(broken(&store).await, None);
}

#[tokio::test]
async fn a_row_out_of_the_order_of_time_keeps_what_is_after_it() {
    let (_dir, store) = with_rows(3).await;
    // The clock was set back.
    store.append_audit(&[AuditEntry::new("a.b").at(day(0))]).await.unwrap();
    assert_eq!(store.remove_old_audit(day(2), 100).await.unwrap(), 1);
    assert_eq!(ids(&store, &AuditFilter::default()).await, [4, 3, 2]);
}

#[tokio::test]
async fn filters_narrow_what_is_read() {
    let (_dir, store) = with_rows(12).await;
    let entry = AuditEntry::new("egress.denied")
        .at(day(13))
        .severity(Severity::Warning)
        .session(&SessionId::new("sess-1"));
    store.append_audit(&[entry]).await.unwrap();
    let none = AuditFilter::default();
    let filter = AuditFilter { event_type: Some("session.created".into()), ..none.clone() };
    assert_eq!(ids(&store, &filter).await, [12, 10, 8, 6, 4, 2]);
    let filter = AuditFilter { event_type: Some("session.*".into()), ..none.clone() };
    assert_eq!(ids(&store, &filter).await, [12, 10, 8, 6, 4, 2]);
    let filter = AuditFilter { event_type: Some("sess.*".into()), ..none.clone() };
    assert!(ids(&store, &filter).await.is_empty());
    let filter = AuditFilter { actor_subject: Some("user1".into()), ..none.clone() };
    assert_eq!(ids(&store, &filter).await, [10, 7, 4, 1]);
    let filter = AuditFilter { from: Some(day(3)), to: Some(day(5)), ..none.clone() };
    assert_eq!(ids(&store, &filter).await, [4, 3]);
    let filter = AuditFilter { severity: Some(Severity::Warning), ..none.clone() };
    assert_eq!(ids(&store, &filter).await, [13]);
    let filter = AuditFilter { session_id: Some(SessionId::new("sess-1")), ..none.clone() };
    assert_eq!(ids(&store, &filter).await, [13]);

    let page = store.audit_before(&none, 5, 2).await.unwrap();
    assert_eq!(page.iter().map(|row| row.id).collect::<Vec<_>>(), [4, 3]);
    let later = store.audit_after(&none, 11, 9).await.unwrap();
    assert_eq!(later.iter().map(|row| row.id).collect::<Vec<_>>(), [12, 13]);
}

#[tokio::test]
async fn two_processes_append_to_one_chain_and_a_third_verifies_it_meanwhile() {
    let (dir, store) = with_rows(1).await;
    let other = Store::open(dir.path()).await.unwrap();
    let reader = Store::open_to_read(dir.path()).await.unwrap();
    let append = async |store: &Store| {
        for _ in 0..20 {
            store.append_audit(&[AuditEntry::new("a.b"), AuditEntry::new("a.c")]).await.unwrap();
        }
    };
    let verify = async {
        for _ in 0..10 {
            assert_eq!(broken(&reader).await, None);
        }
    };
    tokio::join!(append(&store), append(&other), verify);
    let report = reader.verify_audit().await.unwrap();
    assert_eq!((report.rows, report.broken), (81, None));
    assert!(reader.append_audit(&[AuditEntry::new("a.b")]).await.is_err(), "it only reads");
}
