//! Databases written by other versions.

use std::{collections::HashMap, path::Path};

use helmdeck_store::{End, EndDetails, Store, StoreError};
use helmdeck_wire::{
    SessionId,
    forward::ForwardRule,
    history::{ActionRecord, Actor, ActorKind},
    session::EndReason,
    token::TokenInfo,
};
use serde_json::json;
use sqlx::{
    ConnectOptions, Connection, SqliteConnection, migrate::Migrator, sqlite::SqliteConnectOptions,
};
use time::{Duration, OffsetDateTime};

/// A database with schema 7 and rows in every table, as that version wrote it.
const SCHEMA_7: &str = include_str!("../fixtures/schema-7.sql");

/// A time this many seconds after a fixed one.
pub fn at(seconds: i64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(1_760_000_000 + seconds).unwrap()
}

async fn database(dir: &Path) -> SqliteConnection {
    let file = dir.join("helmdeck.db");
    SqliteConnectOptions::new().filename(file).create_if_missing(true).connect().await.unwrap()
}

pub async fn run(dir: &Path, sql: &'static str) {
    let mut database = database(dir).await;
    sqlx::raw_sql(sql).execute(&mut database).await.unwrap();
    database.close().await.unwrap();
}

fn token(id: &str, subject: &str, scopes: &[&str], created: i64) -> TokenInfo {
    TokenInfo {
        id: id.into(),
        subject: subject.into(),
        client: None,
        human: false,
        scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
        created_at: at(created),
        expires_at: at(created + 3600),
        revoked_at: None,
        made_for: None,
        last_used_at: None,
        mcp_client: None,
    }
}

fn action(seq: u64, by: Actor, action: &str, detail: serde_json::Value) -> ActionRecord {
    ActionRecord {
        seq,
        at: at(10 + i64::try_from(seq).unwrap()),
        session_id: SessionId::new("ses_1"),
        by,
        action: action.into(),
        detail,
        outcome: "ok".into(),
        duration_ms: 7,
    }
}

fn by(kind: ActorKind, subject: &str, label: Option<&str>) -> Actor {
    Actor { kind, subject: subject.into(), label: label.map(Into::into), address: None }
}

fn end(id: &str, owner: &str, reason: EndReason, seconds: i64) -> End {
    let (session_id, owner) = (SessionId::new(id), owner.into());
    End { session_id, owner, reason, ended_at: at(seconds) }
}

#[tokio::test]
async fn every_row_of_a_schema_7_database_is_read_by_this_version() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), SCHEMA_7).await;
    let store = Store::open(dir.path()).await.unwrap();

    assert_eq!(store.instance_id().await.unwrap(), "3512799111d056cd");
    let admin = store.admin().await.unwrap().unwrap();
    let hash = "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA";
    assert_eq!((admin.username.as_str(), admin.password_hash.as_str()), ("admin", hash));
    assert_eq!(admin.updated_at, at(1));
    assert_eq!(store.setting("browser_passthrough").await.unwrap().as_deref(), Some("on"));

    let agents = TokenInfo {
        client: Some("price checker".into()),
        revoked_at: Some(at(5)),
        ..token("tok_2", "bot", &["sessions:read", "sessions:write"], 4)
    };
    let persons = TokenInfo { human: true, ..token("tok_1", "ann", &["admin:*"], 3) };
    assert_eq!(store.tokens(None).await.unwrap(), [agents, persons]);
    let revoked = [("tok_2".to_owned(), at(3604)), ("ticket_1".to_owned(), at(306))];
    assert_eq!(store.revoked().await.unwrap(), HashMap::from(revoked));

    let session = SessionId::new("ses_1");
    let agent = by(ActorKind::Agent, "bot", Some("price checker"));
    let link = by(ActorKind::Link, "guest", Some("for Bob"));
    let actions = [
        action(1, agent, "click", json!({ "x": 1, "y": 2 })),
        action(2, by(ActorKind::Human, "ann", None), "take_control", json!({})),
        ActionRecord {
            outcome: "control_held".into(),
            ..action(3, link, "type", json!({ "length": 5 }))
        },
    ];
    assert_eq!(store.actions(&session, Some("bot"), u64::MAX, 9).await.unwrap(), actions);
    assert_eq!(store.last_action().await.unwrap(), 3);
    assert_eq!(store.last_agent_action(&session).await.unwrap(), Some(at(11)));

    let other = SessionId::new("ses_2");
    let rules = [ForwardRule { port: 3000, to: 80 }, ForwardRule { port: 5173, to: 5173 }];
    assert_eq!(store.forwards(&other).await.unwrap(), rules);
    assert_eq!(store.sessions_with_forwards().await.unwrap(), [other]);

    let ends =
        [end("ses_0", "ann", EndReason::GuestLost, 20), end("ses_1", "bot", EndReason::Idle, 30)];
    assert_eq!(store.ends().await.unwrap(), ends);
    let described = r#"{"id":"ses_1","label":"it's é"}"#;
    assert_eq!(store.ended_sessions(None, 9).await.unwrap(), [described]);
    let picture = store.last_picture(&session, Some("bot")).await.unwrap();
    assert_eq!(picture, Some(vec![0xff, 0xd8, 0, 1, 0xff, 0xd9]));

    // Numbering continues.
    let third = end("ses_3", "ann", EndReason::Requested, 40);
    store.add_end(&third, &EndDetails::default(), 2).await.unwrap();
    assert_eq!(store.ends().await.unwrap(), [ends[1].clone(), third]);
}

#[tokio::test]
async fn a_schema_4_database_is_migrated_and_its_rows_get_the_defaults_of_later_columns() {
    let dir = tempfile::tempdir().unwrap();
    let all = Migrator::new(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations"))).await;
    let first = all.unwrap().iter().filter(|migration| migration.version <= 4).cloned().collect();
    let mut database = database(dir.path()).await;
    Migrator::with_migrations(first).run_direct(None, &mut database, false).await.unwrap();
    database.close().await.unwrap();
    run(
        dir.path(),
        "INSERT INTO token VALUES
             ('tok_1', 'ann', NULL, 'admin:*', '2025-10-09T08:53:23Z', '2025-10-09T09:53:23Z');
         INSERT INTO action VALUES
             (1, '2025-10-09T08:53:31Z', 'ses_1', 'bot', 'agent', 'bot', 'click', '{}', 'ok', 7);
         INSERT INTO ended VALUES (1, 'ses_1', 'bot', 'idle', '2025-10-09T08:53:50Z');",
    )
    .await;

    let store = Store::open(dir.path()).await.unwrap();
    assert_eq!(store.tokens(None).await.unwrap(), [token("tok_1", "ann", &["admin:*"], 3)]);
    let session = SessionId::new("ses_1");
    let clicked = action(1, by(ActorKind::Agent, "bot", None), "click", json!({}));
    assert_eq!(store.actions(&session, None, u64::MAX, 9).await.unwrap(), [clicked]);
    assert_eq!(store.ends().await.unwrap(), [end("ses_1", "bot", EndReason::Idle, 30)]);
    assert!(store.ended_sessions(None, 9).await.unwrap().is_empty());
    assert_eq!(store.last_picture(&session, None).await.unwrap(), None);
    assert!(store.forwards(&session).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused_by_name_and_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).await.unwrap();
    store.set_admin("admin", "hash", at(0) + Duration::SECOND).await.unwrap();
    store.close().await;
    let newer =
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
                 VALUES (9000, 'from the future', 1, x'00', 1)";
    run(dir.path(), newer).await;

    let refused = Store::open(dir.path()).await.unwrap_err();
    let StoreError::Newer { found: 9000, known, .. } = &refused else { panic!("{refused}") };
    let message = refused.to_string();
    let file = dir.path().join("helmdeck.db");
    for part in [&file.display().to_string(), "newer helmdeck", "9000", &known.to_string()] {
        assert!(message.contains(part), "{message}");
    }

    run(dir.path(), "DELETE FROM _sqlx_migrations WHERE version = 9000").await;
    let store = Store::open(dir.path()).await.unwrap();
    assert_eq!(store.admin().await.unwrap().unwrap().password_hash, "hash");
}
