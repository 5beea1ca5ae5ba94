//! Tests of stored jobs.

use helmdeck_wire::webhook::{DeliveryId, DeliveryState};
use serde_json::json;
use time::Duration;

use super::*;
use crate::DeliveryFilter;

fn job(number: u8, owner: &str, key: Option<&str>) -> StoredJob {
    StoredJob {
        id: JobId::from_random([number; 12]),
        owner: owner.to_owned(),
        caller: "{}".to_owned(),
        pack: "fs.read".to_owned(),
        version: 1,
        input: json!({ "path": "a" }),
        state: JobState::Working,
        progress: 0,
        message: None,
        output: None,
        artifacts: Vec::new(),
        error: None,
        session_id: None,
        own_session_id: None,
        idempotency_key: key.map(str::to_owned),
        attempts: 0,
        created_at: OffsetDateTime::UNIX_EPOCH + Duration::seconds(i64::from(number)),
        started_at: None,
        ended_at: None,
    }
}

async fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).await.unwrap();
    (dir, store)
}

#[tokio::test]
async fn a_job_is_read_as_it_was_saved() {
    let (_dir, store) = store().await;
    let mut job = job(1, "ann", None);
    assert!(store.add_job(&job, None).await.unwrap().is_none());
    job.state = JobState::Completed;
    job.output = Some(json!({ "content": "x" }));
    job.started_at = Some(job.created_at);
    job.ended_at = Some(job.created_at + Duration::milliseconds(1500));
    store.save_job(&job).await.unwrap();
    let view = store.job(&job.id).await.unwrap().unwrap().view(OffsetDateTime::UNIX_EPOCH);
    assert_eq!((view.state, view.duration_ms), (JobState::Completed, 1500));
    assert_eq!(view.output, Some(json!({ "content": "x" })));
    let later = job.created_at + Duration::seconds(2);
    store.forget_jobs(later, later).await.unwrap();
    assert!(store.job(&job.id).await.unwrap().is_none());
}

#[tokio::test]
async fn a_list_has_neither_inputs_nor_outputs() {
    let (_dir, store) = store().await;
    let mut job = job(1, "ann", None);
    store.add_job(&job, None).await.unwrap();
    (job.output, job.attempts) = (Some(json!({ "content": "x" })), 2);
    store.save_job(&job).await.unwrap();
    let listed = store.jobs(&JobFilter { limit: 9, ..Default::default() }).await.unwrap();
    assert_eq!((&listed[0].input, &listed[0].output), (&Value::Null, &None));
    let whole = store.job(&job.id).await.unwrap().unwrap();
    assert_eq!((whole.input, whole.output, whole.attempts), (job.input, job.output, 2));
}

#[tokio::test]
async fn a_full_disk_has_its_own_error() {
    let (_dir, store) = store().await;
    let limit = "PRAGMA max_page_count = 1";
    for _ in 0..store.pool.size() {
        sqlx::query(limit).fetch_one(&store.pool).await.unwrap();
    }
    let large = StoredJob { input: json!("x".repeat(1 << 20)), ..job(1, "ann", None) };
    let error = store.add_job(&large, None).await.unwrap_err();
    assert_eq!(error.public_code(), helmdeck_wire::ErrorCode::DiskFull, "{error:?}");
}

#[tokio::test]
async fn an_earlier_result_is_that_of_the_same_caller_and_call() {
    let (_dir, store) = store().await;
    let mut done = job(10, "ann", None);
    store.add_job(&done, None).await.unwrap();
    let since = done.created_at;
    assert!(store.earlier_job(&done, since).await.unwrap().is_none(), "it has not ended");
    done.state = JobState::Completed;
    done.ended_at = Some(since + Duration::seconds(5));
    store.save_job(&done).await.unwrap();
    let found = store.earlier_job(&job(20, "ann", None), since).await.unwrap();
    assert_eq!(found.map(|found| found.id), Some(done.id));
    let late = since + Duration::seconds(6);
    assert!(store.earlier_job(&job(20, "ann", None), late).await.unwrap().is_none(), "too old");
    let like = job(20, "ann", None);
    for other in [
        job(20, "bob", None),
        StoredJob { caller: "{\"token\":\"2\"}".to_owned(), ..like.clone() },
        StoredJob { pack: "fs.list".to_owned(), ..like.clone() },
        StoredJob { version: 2, ..like.clone() },
        StoredJob { input: json!({ "path": "b" }), ..like },
    ] {
        assert!(store.earlier_job(&other, since).await.unwrap().is_none(), "{other:?}");
    }
}

#[tokio::test]
async fn an_idempotency_key_names_one_job_of_its_owner() {
    let (_dir, store) = store().await;
    assert!(store.add_job(&job(1, "ann", Some("k")), None).await.unwrap().is_none());
    let first = store.add_job(&job(2, "ann", Some("k")), None).await.unwrap().unwrap();
    assert_eq!(first.id, job(1, "ann", None).id);
    assert!(store.add_job(&job(3, "bob", Some("k")), None).await.unwrap().is_none());
    assert!(store.add_job(&job(4, "ann", None), None).await.unwrap().is_none());
}

#[tokio::test]
async fn jobs_are_listed_newest_first_and_page_by_page() {
    let (_dir, store) = store().await;
    for number in 1..=5 {
        let owner = if number == 3 { "bob" } else { "ann" };
        store.add_job(&job(number, owner, None), None).await.unwrap();
    }
    let filter = JobFilter { owner: Some("ann".to_owned()), limit: 2, ..JobFilter::default() };
    let page = store.jobs(&filter).await.unwrap();
    let ids = |jobs: &[StoredJob]| jobs.iter().map(|job| job.id.clone()).collect::<Vec<_>>();
    let id = |number| job(number, "", None).id;
    assert_eq!(ids(&page), [id(5), id(4)]);
    let filter = JobFilter { before: Some(id(4)), ..filter };
    assert_eq!(ids(&store.jobs(&filter).await.unwrap()), [id(2), id(1)]);
    let none = JobFilter { state: Some(JobState::Failed), ..filter };
    assert!(store.jobs(&none).await.unwrap().is_empty());
}

fn webhook(number: u8) -> NewDelivery {
    let url = "https://a.example/done".to_owned();
    NewDelivery { id: DeliveryId::from_random([number; 12]), url, secret: None }
}

async fn end(store: &Store, mut job: StoredJob) -> StoredJob {
    job.state = JobState::Completed;
    job.ended_at = Some(job.created_at + Duration::seconds(1));
    store.end_job(&job).await.unwrap();
    job
}

#[tokio::test]
async fn a_webhook_is_due_when_its_job_has_ended_and_once() {
    let (_dir, store) = store().await;
    let ann = job(1, "ann", Some("k"));
    store.add_job(&ann, Some(&webhook(1))).await.unwrap();
    assert!(store.add_job(&job(2, "ann", Some("k")), Some(&webhook(2))).await.unwrap().is_some());
    let now = ann.created_at;
    assert!(store.pending_deliveries(10, 10).await.unwrap().is_empty());
    assert!(!store.replay_delivery(&webhook(1).id, now).await.unwrap());
    let ended = end(&store, ann).await;
    let pending = store.pending_deliveries(10, 10).await.unwrap();
    assert_eq!(pending.len(), 1, "a repeated call adds none");
    let delivery = &pending[0].delivery;
    assert_eq!((&delivery.id, delivery.pack.as_str()), (&webhook(1).id, "fs.read"));
    assert_eq!(delivery.next_attempt_at, ended.ended_at);
}

#[tokio::test]
async fn many_deliveries_of_one_owner_leave_room_for_those_of_others() {
    let (_dir, store) = store().await;
    for number in 1..=6 {
        let new = job(number, if number == 6 { "bob" } else { "ann" }, None);
        store.add_job(&new, Some(&webhook(number))).await.unwrap();
        end(&store, new).await;
    }
    let pending = store.pending_deliveries(3, 2).await.unwrap();
    let ids: Vec<_> = pending.iter().map(|stored| stored.delivery.id.clone()).collect();
    assert_eq!(ids, [1, 2, 6].map(|number| webhook(number).id));
}

#[tokio::test]
async fn the_result_of_an_attempt_does_not_undo_a_replay() {
    let (_dir, store) = store().await;
    let first = job(1, "ann", None);
    store.add_job(&first, Some(&webhook(1))).await.unwrap();
    let first = end(&store, first).await;
    let state = async || store.delivery(&webhook(1).id).await.unwrap().unwrap().delivery;
    let mut tried = state().await;
    for attempt in 1..=2 {
        tried.attempts = attempt;
        store.save_attempt(&tried).await.unwrap();
    }
    assert_eq!(state().await.attempts, 2);
    store.replay_delivery(&tried.id, first.created_at).await.unwrap();
    let late = helmdeck_wire::webhook::Delivery {
        attempts: 3,
        state: DeliveryState::Dead,
        ..tried.clone()
    };
    store.save_attempt(&late).await.unwrap();
    assert_eq!((state().await.state, state().await.attempts), (DeliveryState::Pending, 0));
}

#[tokio::test]
async fn jobs_with_an_undelivered_webhook_are_kept_longer() {
    let (_dir, store) = store().await;
    for number in 1..=2 {
        let new = job(number, "ann", None);
        store.add_job(&new, (number == 1).then(|| webhook(number)).as_ref()).await.unwrap();
        end(&store, new).await;
    }
    let start = OffsetDateTime::UNIX_EPOCH;
    let left = async || store.jobs(&JobFilter { limit: 9, ..Default::default() }).await.unwrap();
    store.forget_jobs(start + Duration::hours(1), start).await.unwrap();
    assert_eq!(left().await.len(), 1);
    store.forget_jobs(start + Duration::hours(1), start + Duration::hours(1)).await.unwrap();
    assert!(left().await.is_empty());
    let filter = DeliveryFilter { limit: 9, ..Default::default() };
    assert!(store.deliveries(&filter).await.unwrap().is_empty(), "they go with their job");
}

#[tokio::test]
async fn workspaces_of_an_ended_session_are_removed() {
    let (_dir, store) = store().await;
    let (gone, alive) = (SessionId::new("sess-1"), SessionId::new("sess-2"));
    for (name, session) in [("a", &gone), ("b", &gone), ("c", &alive)] {
        store.set_workspace("ann", name, session).await.unwrap();
    }
    assert_eq!(store.workspace_sessions().await.unwrap().len(), 2);
    store.forget_workspaces(&gone).await.unwrap();
    assert_eq!(store.workspace_sessions().await.unwrap(), [alive]);
}
