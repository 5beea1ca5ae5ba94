//! The audit log: what is recorded, and how it is read.

use std::time::Duration;

use bytes::Bytes;
use helmdeck_store::{AuditEntry, Store};
use helmdeck_testkit::{Client, Desk, Listener, fake::FakeServer};
use helmdeck_wire::SessionId;
use http::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const AUDIT: &str = "/api/v1/audit";
const PASSWORD: &str = "correct horse battery";
const HOUR: Duration = Duration::from_secs(3600);

/// Rows that match a query, newest first.
async fn rows(client: &Client, query: &str) -> Vec<Value> {
    let page = client.get(&format!("{AUDIT}?{query}")).await.expect(200).json();
    let entries = page["entries"].as_array().unwrap().clone();
    assert_eq!(page["count"], entries.len());
    entries
}

/// The newest row of a type.
async fn row(client: &Client, event_type: &str) -> Value {
    let rows = rows(client, &format!("event_type={event_type}&limit=1")).await;
    rows.first().unwrap_or_else(|| panic!("no row of {event_type}")).clone()
}

fn ids(rows: &[Value]) -> Vec<u64> {
    rows.iter().map(|row| row["id"].as_u64().unwrap()).collect()
}

/// Adds rows beside the running server.
async fn append(server: &FakeServer, entries: &[AuditEntry]) {
    let store = Store::open(&server.data_dir()).await.unwrap();
    store.append_audit(entries).await.unwrap();
    store.close().await;
}

fn many(count: usize) -> Vec<AuditEntry> {
    (0..count).map(|n| AuditEntry::new("test.counted").target(n.to_string())).collect()
}

#[tokio::test]
async fn logins_are_recorded_with_their_address_and_without_secrets() {
    let server = FakeServer::start_with(&[("HELMDECK_ADMIN_PASSWORD", PASSWORD)]).await;
    let nobody = server.stranger();
    let login = async |username: &str, password: &str| {
        let body = json!({ "username": username, "password": password });
        nobody.post("/api/v1/auth/login", &body).await
    };
    login("admin", "a wrong password").await.expect_error(401, "invalid_credentials");
    // The password in the field of the name.
    login(PASSWORD, "admin").await.expect_error(401, "invalid_credentials");
    let token =
        login("admin", PASSWORD).await.expect(200).json()["token"].as_str().unwrap().to_owned();

    let admin = server.bearer(token.clone());
    let succeeded = row(&admin, "login.succeeded").await;
    assert_eq!(succeeded["actor_subject"], "admin");
    assert_eq!((&succeeded["human"], &succeeded["severity"]), (&json!(true), &json!("info")));
    assert_eq!(succeeded["remote_address"], "127.0.0.1");
    let failed = rows(&admin, "event_type=login.failed").await;
    assert_eq!(failed.len(), 2);
    assert_eq!((&failed[0]["target"], &failed[1]["target"]), (&Value::Null, &json!("admin")));
    assert_eq!(failed[1]["severity"], "warning");

    let made = json!({ "label": "my agent" });
    let made = admin.post("/api/v1/tokens", &made).await.expect(201).json();
    let (id, secret) = (made["id"].as_str().unwrap(), made["token"].as_str().unwrap());
    admin.delete(&format!("/api/v1/tokens/{id}")).await.expect(204);
    let created = row(&admin, "token.created").await;
    assert_eq!(
        (&created["target"], &created["details"]["label"]),
        (&json!(id), &json!("my agent"))
    );
    assert_eq!(created["details"]["scopes"], json!(["sessions:*"]));
    assert_eq!(row(&admin, "token.revoked").await["target"], id);

    let everything = rows(&admin, "limit=1000").await;
    assert!(everything.len() >= 6, "{everything:?}");
    let text = serde_json::to_string(&everything).unwrap();
    for secret in [PASSWORD, "a wrong password", &token, secret] {
        assert!(!text.contains(secret), "{secret} is in {text}");
    }
}

#[tokio::test]
async fn throttled_logins_are_counted_in_few_rows() {
    let server = FakeServer::start_with(&[("HELMDECK_ADMIN_PASSWORD", PASSWORD)]).await;
    let nobody = server.stranger();
    let mut throttled = 0;
    for _ in 0..30 {
        let body = json!({ "username": "admin", "password": "wrong" });
        let answer = nobody.post("/api/v1/auth/login", &body).await;
        throttled += usize::from(answer.status == 429);
    }
    assert!(throttled > 3, "{throttled} were throttled");
    let recorded = rows(&server.admin(), "event_type=login.throttled").await;
    assert_eq!(recorded.len(), 1);
    assert_eq!(
        (&recorded[0]["remote_address"], &recorded[0]["details"]["count"]),
        (&json!("127.0.0.1"), &json!(1))
    );
}

#[tokio::test]
async fn the_life_of_a_session_is_recorded_and_its_clicks_are_not() {
    let server = FakeServer::start().await;
    let (admin, agent) = (server.admin(), server.client("agent", "sessions:*"));
    let person = server.bearer(server.person_token("agent", "sessions:*"));
    let desk =
        Desk::create(&agent, &json!({ "mode": "desktop", "label": "prices", "profile": "shop" }))
            .await;
    let path = format!("/api/v1/sessions/{}", desk.id);
    desk.act("click", json!({ "x": 3, "y": 4 })).await;
    desk.exec(json!({ "command": ["curl", "--header", "secret-argument"] })).await;
    person.post(&format!("{path}/control/take"), &json!({})).await.expect(200);
    let file = format!("{path}/files/report.txt");
    person.send(Method::PUT, &file, &[], Bytes::from_static(b"secret content")).await.expect(201);
    person.get(&file).await.expect(200);
    person.post(&format!("{path}/control/release"), &json!({})).await.expect(200);
    agent
        .send(Method::PUT, &format!("{path}/files/own.txt"), &[], Bytes::from_static(b"x"))
        .await
        .expect(201);
    desk.end().await;

    let mut of_session = rows(&admin, &format!("session_id={}", desk.id)).await;
    of_session.reverse();
    let told: Vec<_> = of_session
        .iter()
        .map(|row| {
            let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
            (text("event_type"), text("target"), row["human"].as_bool().unwrap())
        })
        .collect();
    let expected = [
        ("session.created", "prices", false),
        ("profile.used", "shop", false),
        ("exec.started", "curl", false),
        ("control.taken", "", true),
        ("file.uploaded", "report.txt", true),
        ("file.downloaded", "report.txt", true),
        ("control.released", "", true),
        ("session.ended", "prices", false),
    ];
    let expected =
        expected.map(|(event, target, human)| (event.to_owned(), target.to_owned(), human));
    assert_eq!(told, expected);
    assert!(of_session.iter().all(|row| row["actor_subject"] == "agent"), "{of_session:?}");
    assert!(of_session.iter().all(|row| row["remote_address"] == "127.0.0.1"), "{of_session:?}");
    assert_eq!(of_session[7]["details"]["reason"], "requested");
    let text = serde_json::to_string(&of_session).unwrap();
    assert!(!text.contains("secret"), "{text}");
}

#[tokio::test]
async fn a_session_that_ends_without_a_server_is_recorded_by_the_next_one() {
    let mut server = FakeServer::start().await;
    let agent = server.client("agent", "sessions:*");
    let id = Desk::desktop(&agent).await.id;
    server.leave().await;
    server.runtime.guest(&id).die();
    server.restart().await;
    let ended = row(&server.admin(), "session.ended").await;
    assert_eq!((&ended["session_id"], &ended["severity"]), (&json!(id), &json!("warning")));
    assert_eq!(
        (&ended["details"]["owner"], &ended["details"]["reason"]),
        (&json!("agent"), &json!("guest_lost"))
    );
}

#[tokio::test]
async fn refused_connections_of_a_session_are_recorded_once_with_a_count() {
    let server = FakeServer::start().await;
    let agent = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&agent).await;
    let guest = server.runtime.guest(&desk.id);
    for _ in 0..5 {
        let mut program = guest.dial(None).await;
        program.write_all(b"CONNECT 10.0.0.1:80 HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        let mut answer = [0; 12];
        program.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 403");
    }
    let denied = rows(&server.admin(), "event_type=egress.denied").await;
    assert_eq!(denied.len(), 1);
    assert_eq!(
        (&denied[0]["target"], &denied[0]["severity"]),
        (&json!("10.0.0.1:80"), &json!("warning"))
    );
    assert_eq!(
        (&denied[0]["session_id"], &denied[0]["details"]["count"]),
        (&json!(desk.id), &json!(1))
    );
}

#[tokio::test]
async fn settings_profiles_and_the_server_itself_are_recorded() {
    let mut server = FakeServer::start().await;
    let person = server.person();
    let change = Bytes::from_static(br#"{"browser_passthrough": true}"#);
    person.send(Method::PATCH, "/api/v1/settings", &[], change).await.expect(200);
    let changed = row(&person, "settings.changed").await;
    assert_eq!(
        (&changed["target"], &changed["details"]["value"]),
        (&json!("browser_passthrough"), &json!(true))
    );
    server.leave().await;
    server.restart().await;
    let person = server.person();
    let all: Vec<_> = rows(&person, "event_type=server.*").await;
    let types: Vec<_> = all.iter().map(|row| row["event_type"].as_str().unwrap()).collect();
    assert_eq!(types, ["server.started", "server.stopped", "server.started"]);
    let store = Store::open_to_read(&server.data_dir()).await.unwrap();
    assert_eq!(store.verify_audit().await.unwrap().broken, None);
}

#[tokio::test]
async fn pages_do_not_shift_while_rows_arrive() {
    let server = FakeServer::start().await;
    append(&server, &many(25)).await;
    let reader = server.client("auditor", "audit:read");
    let query = "event_type=test.counted&limit=10";
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = reader.get(&format!("{AUDIT}?{query}{cursor}")).await.expect(200).json();
        let entries = page["entries"].as_array().unwrap();
        assert_eq!(page["count"], entries.len());
        seen.extend(entries.iter().map(|row| row["target"].as_str().unwrap().to_owned()));
        append(&server, &many(7)).await;
        match page["next_cursor"].as_u64() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    let expected: Vec<_> = (0..25).rev().map(|n| n.to_string()).collect();
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn filters_narrow_the_list_and_wrong_ones_are_refused() {
    let server = FakeServer::start().await;
    let admin = server.admin();
    append(&server, &many(3)).await;
    let all = rows(&admin, "event_type=test.*").await;
    assert_eq!(all.len(), 3);
    let at = |index: usize| all[index]["at"].as_str().unwrap().to_owned();
    let between = format!("event_type=test.*&from={}&to={}", at(2), at(0));
    let between = rows(&admin, &between).await;
    assert!(ids(&between).contains(&ids(&all)[2]) || at(2) == at(0), "{between:?}");
    assert!(rows(&admin, "to=2020-01-01T00:00:00Z").await.is_empty());
    assert!(rows(&admin, "from=9999-12-31T23:59:59-01:00").await.is_empty());
    assert!(rows(&admin, "actor_subject=nobody").await.is_empty());
    assert!(rows(&admin, "severity=error").await.is_empty());
    for wrong in ["from=yesterday", "limit=0", "limit=1001", "severity=bad", "cursor=x", "other=1"]
    {
        admin.get(&format!("{AUDIT}?{wrong}")).await.expect_error(400, "invalid_input");
    }
}

#[tokio::test]
async fn a_session_filter_has_the_form_of_session_ids() {
    let server = FakeServer::start().await;
    let admin = server.admin();
    let digits: Vec<u8> = (0..36).collect();
    for bytes in digits.as_chunks().0 {
        let id = SessionId::from_random(*bytes);
        assert!(rows(&admin, &format!("session_id={id}")).await.is_empty());
    }
    for wrong in ["", "7", "null", "sess-", "sess-0123456789ai", "sess-0123456789abc"] {
        for path in [AUDIT, "/api/v1/audit/export", "/api/v1/audit/stream", "/api/v1/events"] {
            let answer = admin.get(&format!("{path}?session_id={wrong}")).await;
            let message = answer.expect_error(400, "invalid_input");
            assert!(message.contains("the id of a session"), "{message}");
        }
    }
}

#[tokio::test]
async fn only_the_scope_admits_readers() {
    let server = FakeServer::start().await;
    for path in [AUDIT, "/api/v1/audit/export", "/api/v1/audit/stream"] {
        let agent = server.client("agent", "sessions:*");
        let message = agent.get(path).await.expect_error(403, "forbidden");
        assert!(message.contains("audit:read"), "{message}");
    }
    let auditor = server.client("auditor", "audit:read");
    auditor.get(AUDIT).await.expect(200);
    auditor.get("/api/v1/sessions").await.expect_error(403, "forbidden");
}

#[tokio::test]
async fn a_tail_gets_new_rows_and_continues_after_a_restart() {
    let mut server = FakeServer::start().await;
    let stream = "/api/v1/audit/stream?event_type=token.*";
    let token = server.token("auditor", "audit:read");
    let mut tail = Listener::open_at(&server, stream, &token, None).await;
    let make = async |server: &FakeServer, label: &str| {
        let body = json!({ "label": label });
        server.person().post("/api/v1/tokens", &body).await.expect(201);
    };
    make(&server, "one").await;
    let first = tail.next().await;
    assert_eq!((first.name.as_str(), &first.data["details"]["label"]), ("audit", &json!("one")));
    assert_eq!(first.id, first.data["id"].to_string());
    make(&server, "two").await;
    server.leave().await;
    server.restart().await;
    make(&server, "three").await;
    let mut again = Listener::open_at(&server, stream, &token, Some(&first.id)).await;
    assert_eq!(again.next().await.data["details"]["label"], "two");
    assert_eq!(again.next().await.data["details"]["label"], "three");
}

#[tokio::test]
async fn an_export_has_every_row_in_order_and_is_recorded_itself() {
    let server = FakeServer::start().await;
    append(&server, &many(1200)).await;
    let formula = AuditEntry::new("test.formula").target("=HYPERLINK(\"x\",1)");
    append(&server, &[formula]).await;
    let (token, _) = server.listed_token("auditor", true, "audit:read", HOUR).await;
    let auditor = server.bearer(token);

    let answer = auditor.get("/api/v1/audit/export").await.expect(200);
    assert_eq!(answer.header("content-type"), "application/x-ndjson");
    assert!(answer.header("content-disposition").ends_with(".jsonl\""));
    let lines: Vec<Value> =
        answer.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let expected: Vec<_> = (1..=lines.len() as u64).collect();
    assert_eq!(ids(&lines), expected);
    assert!(lines.len() > 1201);
    for pair in lines.windows(2) {
        assert_eq!(pair[1]["previous_hash"], pair[0]["hash"]);
    }
    let exported = lines.last().unwrap();
    assert_eq!(
        (&exported["event_type"], &exported["actor_subject"]),
        (&json!("audit.exported"), &json!("auditor"))
    );

    let query = "/api/v1/audit/export?format=csv&event_type=test.formula";
    let answer = auditor.get(query).await.expect(200);
    assert_eq!(answer.header("content-type"), "text/csv; charset=utf-8");
    let text = answer.text();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].starts_with("id,at,event_type,severity,"), "{text}");
    assert!(lines[1].contains(r#","'=HYPERLINK(""x"",1)","#), "{text}");
    auditor.get("/api/v1/audit/export?format=xml").await.expect_error(400, "invalid_input");
}

#[tokio::test]
async fn packs_their_ends_and_refused_connections_and_artifacts_are_recorded() {
    let server = FakeServer::start().await;
    let (ann, admin) = (server.client("ann", "sessions:*"), server.admin());
    let fetch = json!({ "url": "http://169.254.169.254/latest" });
    ann.post("/api/v1/packs/http.fetch", &fetch).await.expect_error(403, "egress_denied");
    let ended = row(&admin, "pack.ended").await;
    assert_eq!((&ended["actor_subject"], &ended["target"]), (&json!("ann"), &json!("http.fetch")));
    let details = &ended["details"];
    assert_eq!((&details["state"], &details["error"]), (&json!("failed"), &json!("egress_denied")));
    assert!(details["duration_ms"].is_u64(), "{ended}");
    let started = row(&admin, "pack.started").await;
    assert_eq!(started["details"]["job_id"], details["job_id"]);
    let denied = row(&admin, "egress.denied").await;
    assert_eq!(
        (&denied["actor_subject"], &denied["target"], &denied["details"]["pack"]),
        (&json!("ann"), &json!("169.254.169.254:80"), &json!("http.fetch"))
    );

    let session = crate::packs::headless(&ann).await;
    let mut sleep = crate::packs::sleep(&session);
    sleep["wait_s"] = json!(0);
    let job = ann.post("/api/v1/packs/cmd.run", &sleep).await.expect(202).json();
    let id = job["job_id"].as_str().unwrap();
    admin.delete(&format!("/api/v1/jobs/{id}")).await.expect(200);
    let cancelled = row(&admin, "job.cancelled").await;
    assert_ne!(cancelled["actor_subject"], "ann", "the admin did it");
    let details = json!({ "job_id": id, "owner": "ann" });
    assert_eq!((&cancelled["target"], &cancelled["details"]), (&json!("cmd.run"), &details));

    let owner = server.client("owner", "artifacts:*");
    let (path, body) = ("/api/v1/artifacts/upload?filename=a.txt", Bytes::from_static(b"content"));
    let uploaded = owner.send(Method::POST, path, &[], body).await.expect(201).json();
    let key = &uploaded["artifact_key"];
    owner.post("/api/v1/artifacts/link", &json!({ "key": key })).await.expect(201);
    owner.delete(&format!("/api/v1/artifacts/{}", key.as_str().unwrap())).await.expect(204);
    for event in ["artifact.uploaded", "artifact.linked", "artifact.deleted"] {
        let row = row(&admin, event).await;
        assert_eq!((&row["actor_subject"], &row["target"]), (&json!("owner"), key), "{event}");
    }
}
