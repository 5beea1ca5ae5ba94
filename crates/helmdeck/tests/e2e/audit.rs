//! `helmdeck audit`, beside a running server and without one.

use std::process::Stdio;

use helmdeck_testkit::{Installation, Server};
use serde_json::Value;
use sqlx::{ConnectOptions, Connection, sqlite::SqliteConnectOptions};
use tokio::io::{AsyncBufReadExt, BufReader};

fn make_token(installation: &Installation, label: &str) {
    installation.run(["token", "--sub", "agent", "--label", label]);
}

async fn run_sql(installation: &Installation, sql: &'static str) {
    let file = installation.data_dir().join("helmdeck.db");
    let mut database = SqliteConnectOptions::new().filename(file).connect().await.unwrap();
    sqlx::query(sql).execute(&mut database).await.unwrap();
    database.close().await.unwrap();
}

#[tokio::test]
async fn the_log_is_verified_exported_and_followed_beside_a_running_server() {
    let server = Server::start();
    let installation = &server.installation;
    make_token(installation, "=one");
    let verified = installation.run(["audit", "verify"]);
    assert!(verified.starts_with("The audit log is intact: "), "{verified}");
    let known = verified.lines().find_map(|line| line.strip_prefix("Newest row: ")).unwrap();

    let csv = installation.run(["audit", "export", "--format", "csv", "--from", "2026-01-01"]);
    assert!(csv.starts_with("id,at,event_type,") && csv.contains("token.created"), "{csv}");
    let none = installation.run(["audit", "export", "--to", "2020-01-01"]);
    assert_eq!(none, "");

    let mut tail =
        tokio::process::Command::from(installation.command(["audit", "tail", "--json", "-n", "1"]))
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
    let mut lines = BufReader::new(tail.stdout.take().unwrap()).lines();
    let mut label = async || {
        let row: Value = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
        row["details"]["label"].clone()
    };
    assert_eq!(label().await, "=one");
    make_token(installation, "two");
    assert_eq!(label().await, "two");
    tail.kill().await.unwrap();
    assert!(installation.attempt(["audit", "verify", "--known", known], &[]).success);
}

#[tokio::test]
async fn the_first_broken_row_is_named_and_verification_fails() {
    let installation = Installation::new();
    for label in ["one", "two", "three", "four"] {
        make_token(&installation, label);
    }
    let verified = installation.run(["audit", "verify"]);
    let known = verified.lines().find_map(|line| line.strip_prefix("Newest row: ")).unwrap();
    let other = known.replace("4:", "3:");
    let outcome = installation.attempt(["audit", "verify", "--known", &other], &[]);
    assert!(!outcome.success && outcome.stdout.contains("row 3 does not have"), "{outcome:?}");

    run_sql(&installation, "UPDATE audit SET details = '{}' WHERE id > 1").await;
    let outcome = installation.attempt(["audit", "verify"], &[]);
    assert!(!outcome.success && outcome.stdout.contains("row 2 was changed"), "{outcome:?}");
    run_sql(&installation, "DELETE FROM audit").await;
    let outcome = installation.attempt(["audit", "verify"], &[]);
    assert!(!outcome.success && outcome.stdout.contains("row 1 is missing"), "{outcome:?}");
}
