//! Live views: tickets, access, and why a view ends.

use std::time::Duration;

use helmdeck_store::Store;
use helmdeck_testkit::{Caster, Client, Desk, Refused, Watcher, eventually, fake::FakeServer};
use http::Method;
use jsonwebtoken::{EncodingKey, Header, encode};
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::{
    client::{SECRET, TestServer},
    nowhere::Nowhere,
};

const SOON: Duration = Duration::from_secs(20);
const DESKTOP: &str = r#"{"mode": "desktop"}"#;

async fn start() -> TestServer {
    TestServer::start_with(&[], Nowhere { slow: true, ..Nowhere::default() }).await
}

async fn desktop(server: &TestServer, token: &str) -> String {
    let made = server.post("/api/v1/sessions?wait=false", token, DESKTOP).await;
    made.json()["id"].as_str().unwrap().to_owned()
}

fn upgrade(server: &TestServer, path: &str, token: &str) -> http::request::Builder {
    server
        .request(Method::GET, path, token)
        .header("connection", "upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==")
}

#[tokio::test]
async fn the_desktop_of_a_session_that_is_starting_is_a_503() {
    let server = start().await;
    let token = server.token(&["sessions:*"]);
    let id = desktop(&server, &token).await;
    let path = format!("/api/v1/sessions/{id}/vnc");
    let answer = server.send(upgrade(&server, &path, &token), "").await;
    answer.assert_error(503, "unavailable");
    assert_eq!(answer.header("retry-after"), "1");
}

#[tokio::test]
async fn the_address_of_a_desktop_asks_to_resize_it() {
    let server = start().await;
    let token = server.token(&["sessions:*"]);
    let id = desktop(&server, &token).await;
    let answer = server.get(&format!("/api/v1/desktop/vnc-url?session_id={id}"), &token).await;
    let url = answer.json()["url"].as_str().unwrap().to_owned();
    assert!(url.contains("/vnc.html?autoconnect=true&resize=remote&"), "{url}");
}

#[tokio::test]
async fn a_ticket_is_revoked_by_its_own_session_only_and_made_up_ids_are_not_stored() {
    let server = start().await;
    let token = server.token(&["sessions:*"]);
    let (one, two) = (desktop(&server, &token).await, desktop(&server, &token).await);
    let tickets = |id: &str| format!("/api/v1/sessions/{id}/tickets");
    let ticket = server.post(&tickets(&one), &token, "{}").await.json();
    let id = ticket["id"].as_str().unwrap();

    let elsewhere = server.delete(&format!("{}/{id}", tickets(&two)), &token).await;
    elsewhere.assert_error(404, "not_found");
    for n in 0..100 {
        let made_up = format!("{}/tick-{n:032x}", tickets(&one));
        server.delete(&made_up, &token).await.assert_error(404, "not_found");
        let made_up = format!("{made_up}-AAAAAAAAAAAAAAAA");
        server.delete(&made_up, &token).await.assert_error(404, "not_found");
    }
    let store = Store::open(&server.config.data_dir).await.unwrap();
    assert!(store.revoked().await.unwrap().is_empty());

    let revoked = server.delete(&format!("{}/{id}", tickets(&one)), &token).await;
    assert_eq!(revoked.status, 204);
    assert_eq!(store.revoked().await.unwrap().len(), 1);
    let text = ticket["ticket"].as_str().unwrap();
    let events = format!("/api/v1/events?session_id={one}&ticket={text}");
    server.get(&events, "").await.assert_error(401, "invalid_ticket");
}

#[tokio::test]
async fn a_page_of_an_allowed_origin_opens_a_live_view_with_a_ticket() {
    let env = [("HELMDECK_ALLOWED_ORIGINS", "https://novnc.example, http://other.example:8080")];
    let server = TestServer::start_with(&env, Nowhere { slow: true, ..Nowhere::default() }).await;
    let token = server.token(&["sessions:*"]);
    let id = desktop(&server, &token).await;
    let ticket = server.post(&format!("/api/v1/sessions/{id}/tickets"), &token, "{}").await.json();
    let path = format!("/api/v1/sessions/{id}/vnc?ticket={}", ticket["ticket"].as_str().unwrap());
    let from = async |path: &str, origin: &str, cookie: &str| {
        let request = upgrade(&server, path, "").header("origin", origin).header("cookie", cookie);
        server.send(request, "").await
    };
    // The session is starting: admitted requests are told to retry.
    for allowed in ["https://novnc.example", "http://other.example:8080"] {
        from(&path, allowed, "").await.assert_error(503, "unavailable");
    }
    from(&path, "https://evil.example", "").await.assert_error(403, "foreign_origin");
    let cookie = format!("helmdeck-{}={token}", server.addr.port());
    let path = format!("/api/v1/sessions/{id}/vnc");
    let refused = from(&path, "https://novnc.example", &cookie).await;
    refused.assert_error(403, "foreign_origin");
}

#[tokio::test]
async fn a_ticket_can_limit_its_connections_and_carry_a_label() {
    let server = start().await;
    let token = server.token(&["sessions:*"]);
    let id = desktop(&server, &token).await;
    let path = format!("/api/v1/sessions/{id}/tickets");
    let wanted = json!({ "max_connection_s": 60, "label": "for Ann" });
    assert_eq!(server.post(&path, &token, wanted).await.status, 201);
    for bad in [json!({ "max_connection_s": 0 }), json!({ "label": "x".repeat(101) })] {
        server.post(&path, &token, bad).await.assert_error(400, "invalid_input");
    }
}

async fn ticket(client: &Client, id: &str, wanted: Value) -> Value {
    client.post(&format!("/api/v1/sessions/{id}/tickets"), &wanted).await.expect(201).json()
}

fn path(id: &str, ticket: &Value) -> String {
    format!("/api/v1/sessions/{id}/vnc?ticket={}", ticket["ticket"].as_str().unwrap())
}

async fn refused(server: &FakeServer, path: &str, headers: &[(&'static str, &str)]) -> Refused {
    Watcher::socket(server, path, headers).await.map(|_| ()).unwrap_err()
}

#[tokio::test]
async fn a_ticket_is_valid_for_its_session_and_role_only() {
    let server = FakeServer::start().await;
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    let other = Desk::create(&client, &json!({ "mode": "desktop", "geometry": "800x600" })).await;
    let look = ticket(&client, &desk.id, json!({})).await;
    assert_eq!(look["role"], "view");
    let invalid = Refused(401, "invalid_ticket".into());

    let vnc = format!("/api/v1/sessions/{}/vnc", desk.id);
    assert_eq!(refused(&server, &vnc, &[]).await, Refused(401, "missing_bearer".into()));
    assert_eq!(refused(&server, &format!("{vnc}?ticket=nonsense"), &[]).await, invalid);
    assert_eq!(refused(&server, &path(&other.id, &look), &[]).await, invalid, "foreign");
    let text = look["ticket"].as_str().unwrap();
    let last = if text.ends_with('A') { 'E' } else { 'A' };
    let tampered = format!("{vnc}?ticket={}{last}", &text[..text.len() - 1]);
    assert_eq!(refused(&server, &tampered, &[]).await, invalid, "tampered");
    let more = format!("{}&role=control", path(&desk.id, &look));
    assert_eq!(refused(&server, &more, &[]).await, Refused(403, "forbidden".into()));
    let take = format!("{}&take=true", path(&desk.id, &look));
    assert_eq!(refused(&server, &take, &[]).await, Refused(403, "forbidden".into()));
    let control = client.get(&format!("/api/v1/sessions/{}/control", desk.id)).await.json();
    assert_eq!((&control["driver"], &control["epoch"]), (&json!("agent"), &json!(0)));
    let foreign = [("origin", "http://evil.example")];
    let origin = Refused(403, "foreign_origin".into());
    assert_eq!(refused(&server, &path(&desk.id, &look), &foreign).await, origin);
    // A ticket is not a token, and a token is not a ticket.
    let bearer = format!("Bearer {text}");
    let as_token = [("authorization", bearer.as_str())];
    assert_eq!(refused(&server, &vnc, &as_token).await, Refused(401, "invalid_token".into()));
    let token = server.token("admin", "admin");
    assert_eq!(refused(&server, &format!("{vnc}?ticket={token}"), &[]).await, invalid);
}

#[tokio::test]
async fn a_ticket_allows_one_connection_unless_it_is_reusable() {
    let server = FakeServer::start().await;
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    let look = ticket(&client, &desk.id, json!({})).await;
    let open = Watcher::open(&server, &path(&desk.id, &look), &[]).await.unwrap();
    assert_eq!(open.size, (1280, 800));
    let twice = refused(&server, &path(&desk.id, &look), &[]).await;
    assert_eq!(twice, Refused(409, "ticket_in_use".into()));
    drop(open);
    let again = async || Watcher::open(&server, &path(&desk.id, &look), &[]).await.ok();
    eventually(SOON, again).await.expect("free again");
    let many = ticket(&client, &desk.id, json!({ "reusable": true })).await;
    let protocol = format!("binary, helmdeck.ticket.{}", many["ticket"].as_str().unwrap());
    let by_protocol = [("sec-websocket-protocol", protocol.as_str())];
    let vnc = format!("/api/v1/sessions/{}/vnc", desk.id);
    let _one = Watcher::open(&server, &vnc, &by_protocol).await.unwrap();
    let _two = Watcher::open(&server, &vnc.replace("/v1", ""), &by_protocol).await.unwrap();
}

#[tokio::test]
async fn a_ticket_expires_no_later_than_the_token_that_created_it() {
    let server = FakeServer::start().await;
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    let life = Duration::from_secs(90);
    let (token, _) = server.listed_token("brief", false, "admin", life).await;
    let brief = server.bearer(token);
    let week = ticket(&brief, &desk.id, json!({ "ttl_seconds": 604_800 })).await;
    let listed = client.get("/api/v1/tokens").await.json();
    let listed = listed["tokens"].as_array().unwrap();
    let made = listed.iter().find(|token| token["subject"] == "brief").unwrap();
    assert_eq!(week["expires_at"], made["expires_at"]);

    // Its connections end after `max_connection_s`.
    let brief = ticket(&client, &desk.id, json!({ "max_connection_s": 1 })).await;
    let viewer = Watcher::open(&server, &path(&desk.id, &brief), &[]).await.unwrap();
    assert_eq!(viewer.closed().await.0, 4001);

    // Signed like the server's, one expired a minute ago and one valid for a minute.
    let at = |seconds: i64| {
        let exp = OffsetDateTime::now_utc().unix_timestamp() + seconds;
        let claims = json!({
            "sub": "admin", "token": "t", "session": desk.id, "role": "view", "reusable": true,
            "jti": "tick-1", "exp": exp, "iss": "helmdeck-ticket",
        });
        let key = EncodingKey::from_secret(SECRET.as_bytes());
        let text = encode(&Header::default(), &claims, &key).unwrap();
        path(&desk.id, &json!({ "ticket": text }))
    };
    Watcher::open(&server, &at(60), &[]).await.unwrap();
    let late = refused(&server, &at(-60), &[]).await;
    assert_eq!(late, Refused(401, "invalid_ticket".into()));
}

#[tokio::test]
async fn viewers_are_told_why_their_view_ends() {
    let server = FakeServer::start().await;
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    let open =
        async |ticket: &Value| Watcher::open(&server, &path(&desk.id, ticket), &[]).await.unwrap();
    let revoked = ticket(&client, &desk.id, json!({})).await;
    let viewer = open(&revoked).await;
    let id = revoked["id"].as_str().unwrap();
    let elsewhere = Desk::create(&client, &json!({})).await;
    let foreign = format!("/api/v1/sessions/{}/tickets/{id}", elsewhere.id);
    client.delete(&foreign).await.expect_error(404, "not_found");
    client.delete(&format!("/api/v1/sessions/{}/tickets/{id}", desk.id)).await.expect(204);
    assert_eq!(viewer.closed().await.0, 4001);
    let after = refused(&server, &path(&desk.id, &revoked), &[]).await;
    assert_eq!(after, Refused(401, "invalid_ticket".into()));

    let mut hostile = open(&ticket(&client, &desk.id, json!({})).await).await;
    hostile.send(&[99, 1, 2, 3]).await;
    assert_eq!(hostile.closed().await.0, 4002);

    let viewer = open(&ticket(&client, &desk.id, json!({})).await).await;
    desk.end().await;
    let (code, reason) = viewer.closed().await;
    assert_eq!(code, 4000);
    assert!(reason.contains("requested"), "{reason}");
}

#[tokio::test]
async fn input_of_a_viewer_reaches_the_screen_only_with_the_role_and_control() {
    let server = FakeServer::start().await;
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    let look = ticket(&client, &desk.id, json!({ "role": "view" })).await;
    let may = ticket(&client, &desk.id, json!({ "role": "control", "reusable": true })).await;
    let mut liar = Watcher::open(&server, &path(&desk.id, &look), &[]).await.unwrap();
    let mut idle = Watcher::open(&server, &path(&desk.id, &may), &[]).await.unwrap();
    for viewer in [&mut liar, &mut idle] {
        viewer.key('x' as u32).await;
        viewer.qemu_key('x' as u32, 45).await;
        viewer.pointer(600, 200, 1).await;
        viewer.pointer(600, 200, 0).await;
        viewer.send(b"\x06\0\0\0\0\0\0\x05stolen"[..13].as_ref()).await;
        viewer.settled().await;
    }
    let guest = server.runtime.guest(&desk.id);
    let pressed =
        || guest.asked().iter().any(|it| ["rfb_key", "rfb_text"].contains(&it.call.as_str()));
    assert!(!pressed(), "{:?}", guest.asked());
    assert!(guest.bodies("rfb_pointer").iter().all(|pointer| pointer["buttons"] == 0));

    let drive = format!("{}&take=true", path(&desk.id, &may));
    let mut driver = Watcher::open(&server, &drive, &[]).await.unwrap();
    driver.key('y' as u32).await;
    driver.settled().await;
    let keys = guest.bodies("rfb_key");
    let expected = [true, false].map(|down| json!({ "symbol": 'y' as u32, "down": down }));
    assert_eq!(keys, expected);
}

#[tokio::test]
async fn the_address_of_a_desktop_keeps_its_old_fields_and_works_without_a_login() {
    let server = FakeServer::start().await;
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    desk.act("agent_status", json!({ "status": "step 1" })).await;
    let ask = async |query: &str| client.get(&format!("/api/v1/desktop/vnc-url?{query}")).await;
    let answer = ask(&format!("session_id={}", desk.id)).await.expect(200).json();
    assert_eq!(answer["agent_status"], "step 1");
    assert_eq!((&answer["path"], &answer["role"]), (&json!("/vnc.html"), &json!("view")));
    assert_eq!(answer["port"], server.address.port().to_string());
    let url = answer["url"].as_str().unwrap();
    let door = |url: &str| {
        let (_, query) = url.split_once("&path=").unwrap();
        format!("/{}", query.replace("%3F", "?").replace("%3D", "=").replace("%26", "&"))
    };
    assert!(url.contains("autoconnect=true&resize=remote&"), "{url}");
    // Several operators use the same address.
    let _one = Watcher::open(&server, &door(url), &[]).await.unwrap();
    let _two = Watcher::open(&server, &door(url), &[]).await.unwrap();

    ask("").await.expect_error(400, "missing_session_id");
    ask("session_id=sess-none").await.expect_error(404, "not_found");
    ask(&format!("session_id={}&role=king", desk.id)).await.expect_error(400, "invalid_role");
    let headless = Desk::create(&client, &json!({})).await;
    let none = ask(&format!("session_id={}", headless.id)).await;
    let hint = none.expect_error(400, "not_desktop_mode");
    let instead = format!("POST /api/v1/sessions/{}/tickets", headless.id);
    assert!(hint.ends_with(&instead), "{hint}");

    // A ticket has an address that shows the browser.
    let ticket = ticket(&client, &headless.id, json!({ "role": "control" })).await;
    let url = ticket["url"].as_str().unwrap();
    assert!(url.contains("/vnc.html?"), "{url}");
    let refused = refused(&server, &path(&headless.id, &ticket), &[]).await;
    assert_eq!(refused, Refused(400, "not_desktop_mode".into()));
    let drive = format!("{}&take=true", door(url));
    let mut viewer = Caster::open(&server, &drive, &[]).await.unwrap();
    viewer
        .until(|view| view.last("control")["may_drive"] == true && !view.pictures.is_empty())
        .await;
}

#[tokio::test]
async fn behind_a_proxy_the_address_is_the_public_one() {
    let base = [("HELMDECK_VNC_PUBLIC_BASE", "https://desk.example.com/helm/")];
    let server = FakeServer::start_with(&base).await;
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    let path = format!("/api/v1/desktop/vnc-url?session_id={}", desk.id);
    let answer = client.get(&path).await.expect(200).json();
    let url = answer["url"].as_str().unwrap();
    assert!(url.starts_with("https://desk.example.com/helm/vnc.html?autoconnect=true"), "{url}");
    assert_eq!((&answer["host"], &answer["port"]), (&json!("desk.example.com"), &json!("443")));
    let look = ticket(&client, &desk.id, json!({})).await;
    let origin = [("origin", "https://desk.example.com")];
    Watcher::open(&server, &self::path(&desk.id, &look), &origin).await.unwrap();
}

#[tokio::test]
async fn each_published_session_has_a_port_that_serves_nothing_else() {
    let server = FakeServer::start_with(&[("HELMDECK_PUBLISH_VNC_PORTS", "true")]).await;
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    let port = async || {
        let path = format!("/api/v1/desktop/vnc-url?session_id={}", desk.id);
        let notes = client.get(&path).await.json()["notes"].as_str().unwrap().to_owned();
        notes.split_once("at port ")?.1.split(':').next()?.parse::<u16>().ok()
    };
    let port = eventually(SOON, port).await.expect("a port");
    assert!(port >= 6080, "{port}");
    let there = Client::new((server.address.ip(), port).into(), None);
    let page = there.get("/vnc.html").await;
    assert_eq!(page.status, 307);
    assert!(page.headers["location"].to_str().unwrap().contains(&desk.id));
    there.get("/vnc.html?autoconnect=true").await.expect(200);
    there.get("/api/v1/sessions").await.expect_error(404, "not_found");
    let vnc = format!("/api/v1/sessions/{}/vnc", desk.id);
    there.get(&vnc).await.expect_error(401, "missing_bearer");
    desk.end().await;
    let closed = async || tokio::net::TcpStream::connect((server.address.ip(), port)).await.err();
    eventually(SOON, closed).await.expect("the port closes");
}
