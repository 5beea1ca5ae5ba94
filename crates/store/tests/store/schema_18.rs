//! A database with schema 18 and rows in the tables that schema 7 lacks, as that version wrote it. Its
//! key and its secrets are used nowhere else.

use std::path::Path;

use helmdeck_store::{
    ArtifactFilter, ArtifactRules, Artifacts, AuditFilter, DeliveryFilter, JobFilter,
    ModelBudgetRow, Store, StoredJob, TokenClient, Vault,
    vault::{Destination, KeySource, VaultKey, VaultSetup},
};
use helmdeck_wire::{
    Caller, SessionId,
    job::{JobArtifact, JobId, JobState},
    token::McpClient,
    vault::UsageResult,
    webhook::DeliveryState,
};
use serde_json::json;
use tempfile::TempDir;

use crate::migration::{at, run};

const SCHEMA_18: &str = include_str!("../fixtures/schema-18.sql");
const SECRET: &str = "nothing-that-is-secret-0123456789";
const JOB: &str = "job-000000000001";
const RECEIVER: &str = "https://receiver.example/done";

fn caller(subject: &str) -> Caller {
    Caller { subject: subject.into(), scopes: vec!["vault:*".to_owned()], ..Caller::default() }
}

async fn vault(store: &Store) -> Vault {
    let key = KeySource::Configured(VaultKey::parse(&"7".repeat(64)).unwrap().into());
    let setup = VaultSetup { key, old: None, environment: Vec::new() };
    Vault::open(store, setup).await.unwrap()
}

async fn artifacts(store: &Store, dir: &Path) -> Artifacts {
    let rules = ArtifactRules {
        ttl: None,
        quota: None,
        link_secret: b"of this test".to_vec(),
        now: Box::new(|| at(50)),
    };
    Artifacts::open(store.clone(), dir.join("artifacts"), rules).await
}

fn client() -> McpClient {
    McpClient {
        name: "inspector".into(),
        version: "1.2".into(),
        protocol_version: "2025-11-25".into(),
        transport: "http".into(),
        first_seen: at(60),
        last_seen: at(61),
    }
}

const BUDGET: ModelBudgetRow = ModelBudgetRow { tokens: Some(5000), cost_nanos: None };

fn job() -> StoredJob {
    let artifact = JobArtifact {
        key: "fs.read/0000-notes.txt".into(),
        url: "/api/v1/artifacts/fs.read/0000-notes.txt".into(),
        size: 9,
        content_type: "text/plain".into(),
    };
    StoredJob {
        id: JobId::new(JOB),
        owner: "bot".into(),
        caller: r#"{"subject":"bot"}"#.into(),
        pack: "fs.read".into(),
        version: 2,
        input: json!({ "path": "notes.txt" }),
        state: JobState::Completed,
        progress: 100,
        message: Some("reading".into()),
        output: Some(json!({ "content": "buy milk\n" })),
        artifacts: vec![artifact],
        error: None,
        session_id: Some(SessionId::new("ses_1")),
        own_session_id: None,
        idempotency_key: Some("once".into()),
        attempts: 1,
        created_at: at(80),
        started_at: Some(at(81)),
        ended_at: Some(at(82)),
    }
}

async fn open() -> (TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), SCHEMA_18).await;
    let store = Store::open(dir.path()).await.unwrap();
    (dir, store)
}

#[tokio::test]
async fn clients_of_mcp_and_artifacts_of_schema_18_are_read_by_this_version() {
    let (dir, store) = open().await;
    let tokens = store.tokens(Some("bot")).await.unwrap();
    assert_eq!(tokens.len(), 1);
    assert_eq!(tokens[0].made_for.as_deref(), Some("claude-code"));
    assert_eq!(tokens[0].last_used_at, Some(at(62)));
    let known = TokenClient { token: "tok_1".into(), expires_at: at(9000), client: client() };
    assert_eq!(store.mcp_clients().await.unwrap(), [known]);
    let begun = store.mcp_session("mcp-1", "bot").await.unwrap();
    assert_eq!(begun.as_deref(), Some(r#"{"capabilities":{}}"#));
    assert_eq!(store.current_session("bot", "mcp-1").await.unwrap(), Some(SessionId::new("ses_1")));

    let filter = ArtifactFilter { limit: 9, ..ArtifactFilter::default() };
    let listed = artifacts(&store, dir.path()).await.list(&caller("bot"), &filter).await.unwrap();
    let [artifact] = listed.artifacts.as_slice() else { panic!("{listed:?}") };
    assert_eq!((artifact.filename.as_str(), artifact.size), ("notes.txt", 9));
    assert_eq!((artifact.pack.as_str(), artifact.job_id.as_deref()), ("fs.read", Some(JOB)));
    assert_eq!((artifact.owner.as_str(), artifact.created_at), ("bot", at(50)));
    let hash = "409baa381eaebfc8c71676ecb0eed6659ea7510b4b42f101b152c7f0696150c5";
    assert_eq!((artifact.sha256.as_str(), artifact.expires_at), (hash, None));
}

#[tokio::test]
async fn a_secret_that_schema_18_sealed_opens_for_those_it_was_granted_to() {
    let (_dir, store) = open().await;
    let (vault, ann) = (vault(&store).await, caller("ann"));
    let credentials = vault.list(&ann, None).await.unwrap();
    let [credential] = credentials.as_slice() else { panic!("{credentials:?}") };
    assert_eq!(
        (credential.name.as_str(), credential.host_pattern.as_str()),
        ("shop", "shop.example")
    );
    assert_eq!(credential.path_pattern.as_deref(), Some("/v1"));
    assert_eq!(json!(credential.metadata), json!({ "team": "a" }));
    let grants = vault.grants(&ann, &credential.id).await.unwrap();
    let granted: Vec<_> =
        grants.iter().map(|it| (&*it.actor_subject, it.actor_client.as_deref())).collect();
    assert_eq!(granted, [("ann", None), ("bot", Some("price checker"))]);
    let usage = vault.usage(&ann, &credential.id).await.unwrap();
    assert_eq!((usage.len(), usage[0].result), (1, UsageResult::Denied));
    assert_eq!(
        (usage[0].actor_subject.as_str(), usage[0].host_matched.as_str()),
        ("eve", "shop.example")
    );
    let labelled = Caller { label: Some("price checker".into()), ..caller("bot") };
    let to = Destination { path: "/v1/prices", .."shop.example".into() };
    assert_eq!(vault.resolve(&labelled, "shop", to).await.unwrap().text().unwrap(), SECRET);
}

#[tokio::test]
async fn jobs_and_webhooks_of_schema_18_are_read_by_this_version() {
    let (_dir, store) = open().await;
    let stored = store.job(&JobId::new(JOB)).await.unwrap().unwrap();
    let now = at(100);
    assert_eq!(stored.view(now), job().view(now));
    assert_eq!((stored.caller, stored.input), (job().caller, job().input));
    assert_eq!((stored.idempotency_key.as_deref(), stored.attempts), (Some("once"), 1));
    let completed =
        JobFilter { state: Some(JobState::Completed), limit: 9, ..JobFilter::default() };
    assert_eq!(store.jobs(&completed).await.unwrap().len(), 1);
    assert_eq!(store.workspace("bot", "shop").await.unwrap(), Some(SessionId::new("ses_1")));

    let filter = DeliveryFilter { limit: 9, ..DeliveryFilter::default() };
    let deliveries = store.deliveries(&filter).await.unwrap();
    let [stored] = deliveries.as_slice() else { panic!("{deliveries:?}") };
    let delivery = &stored.delivery;
    assert_eq!((delivery.state, delivery.attempts), (DeliveryState::Pending, 1));
    assert_eq!((delivery.last_status, delivery.next_attempt_at), (Some(503), Some(at(90))));
    assert_eq!(delivery.last_error.as_deref(), Some("the receiver answered 503"));
    assert_eq!((delivery.url.as_str(), stored.owner.as_str()), (RECEIVER, "bot"));
    let vault = vault(&store).await;
    assert_eq!(vault.open_webhook(stored).unwrap().unwrap().text().unwrap(), SECRET);
}

#[tokio::test]
async fn the_audit_log_of_schema_18_is_intact_and_its_calls_of_models_are_counted() {
    let (_dir, store) = open().await;
    let report = store.verify_audit().await.unwrap();
    assert_eq!((report.newest, report.broken), (2, None));
    let rows = store.audit_after(&AuditFilter::default(), 0, 9).await.unwrap();
    assert_eq!(
        (rows[0].event_type.as_str(), rows[0].target.as_deref()),
        ("token.created", Some("tok_1"))
    );
    assert_eq!(rows[0].details, json!({ "scopes": "sessions:*" }));
    assert_eq!(
        (rows[1].event_type.as_str(), &rows[1].session_id),
        ("vault.used", &Some(SessionId::new("ses_1")))
    );

    let usage = store.model_usage(Some("bot"), at(0)).await.unwrap();
    let of = |model: &str| usage.iter().find(|row| row.model == model).unwrap();
    assert_eq!(
        (of("small").success, of("small").input_tokens, of("small").cached_tokens),
        (1, 100, 40)
    );
    assert_eq!((of("large").errors, of("large").unpriced, of("large").output_tokens), (1, 1, 7));
    let spend = store.model_spend("bot", at(0), Some("run-1")).await.unwrap();
    assert_eq!((spend.tokens, spend.cost_nanos), (214, 1200));
    assert_eq!(store.model_budget("bot").await.unwrap(), Some(BUDGET));
}
