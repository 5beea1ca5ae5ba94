//! Watching: who may connect, what a viewer sees, and that one who may only look cannot do more.

use std::time::Duration;

use helmdeck_testkit::{Caster, Client, Desk, Refused, Server, Watcher};
use serde_json::{Value, json};

const LETTER_X: u32 = 'x' as u32;
const RETURN: u32 = 0xff0d;
/// Where the letter x is on every PC keyboard.
const CODE_X: u32 = 45;

async fn ticket(client: &Client, id: &str, wanted: Value) -> Value {
    client.post(&format!("/api/v1/sessions/{id}/tickets"), &wanted).await.expect(201).json()
}

fn path(id: &str, ticket: &Value) -> String {
    format!("/api/v1/sessions/{id}/vnc?ticket={}", ticket["ticket"].as_str().unwrap())
}

async fn refused(server: &Server, path: &str, headers: &[(&'static str, &str)]) -> Refused {
    Watcher::socket(server, path, headers).await.map(|_| ()).unwrap_err()
}

#[tokio::test]
async fn two_viewers_see_what_the_agent_does() {
    let server = Server::start();
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    desk.browse(
        "<title>calm</title><body style='background:white' \
         onclick=\"document.body.style.background='rgb(255,0,0)';document.title='clicked'\">",
        "calm",
    )
    .await;
    let one = ticket(&client, &desk.id, json!({})).await;
    let two = ticket(&client, &desk.id, json!({ "role": "control" })).await;
    assert_eq!(one["role"], "view");
    let mut one = Watcher::open(&server, &path(&desk.id, &one), &[]).await.unwrap();
    let mut two = Watcher::open(&server, &path(&desk.id, &two), &[]).await.unwrap();
    assert_eq!(one.size, (1280, 800));
    // Beside the pointer, which is part of the picture.
    let pixel = |picture: &[u8]| picture[(400 * 1280 + 600) * 4..][..3].to_vec();
    assert_eq!(pixel(&one.picture().await), [255, 255, 255]);
    desk.act("click", json!({ "x": 640, "y": 500 })).await;
    desk.titled("clicked").await;
    for viewer in [&mut one, &mut two] {
        let red = async || (pixel(&viewer.picture().await) == [0, 0, 255]).then_some(());
        helmdeck_testkit::eventually(Duration::from_secs(10), red)
            .await
            .expect("the click is seen");
    }
}

#[tokio::test]
async fn one_who_may_only_look_cannot_type_click_or_read_the_clipboard_whatever_it_sends() {
    let server = Server::start();
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    let line = desk.open_field().await;
    desk.act("clipboard", json!({ "text": "secret of the desktop" })).await;

    // A viewer that lies, one with the right role and without control, and one that drives.
    let look = ticket(&client, &desk.id, json!({ "role": "view" })).await;
    let mut liar = Watcher::open(&server, &path(&desk.id, &look), &[]).await.unwrap();
    let may = ticket(&client, &desk.id, json!({ "role": "control" })).await;
    let mut idle = Watcher::open(&server, &path(&desk.id, &may), &[]).await.unwrap();
    let y = u16::try_from(line).unwrap();
    for viewer in [&mut liar, &mut idle] {
        viewer.key(LETTER_X).await;
        viewer.qemu_key(LETTER_X, CODE_X).await;
        viewer.pointer(600, y + 200, 1).await;
        viewer.pointer(600, y + 200, 0).await;
        viewer.send(b"\x06\0\0\0\0\0\0\x05stolen"[..13].as_ref()).await;
        viewer.settled().await;
    }
    assert_eq!(desk.clipboard().await, "secret of the desktop");
    desk.act("clipboard", json!({ "text": "a new secret" })).await;
    let heard = liar.listen(Duration::from_secs(1)).await;
    assert!(!heard.windows(6).any(|part| part == b"secret"), "the clipboard is not for viewers");

    let drives = ticket(&client, &desk.id, json!({ "role": "control" })).await;
    let drive = format!("{}&take=true", path(&desk.id, &drives));
    let mut driver = Watcher::open(&server, &drive, &[]).await.unwrap();
    for letter in "only this".chars() {
        driver.key(letter as u32).await;
    }
    driver.settled().await;
    // Its own keys, on the same way: when these are in, all before them are.
    driver.key(RETURN).await;
    driver.settled().await;
    drop(driver);
    let control = format!("/api/v1/sessions/{}/control/take", desk.id);
    let person = server.person();
    person.post(&control, &json!({ "force": true })).await.expect(200);
    let desk = Desk { client: &person, id: desk.id.clone() };
    desk.copy_all().await;
    desk.expect_clipboard("only this\n").await;
}

#[tokio::test]
async fn a_ticket_is_good_for_its_session_its_role_its_time_and_one_connection() {
    let server = Server::start();
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    let other = Desk::create(&client, &json!({ "mode": "desktop", "geometry": "800x600" })).await;
    let look = ticket(&client, &desk.id, json!({})).await;
    let invalid = Refused(401, "invalid_ticket".into());

    let vnc = format!("/api/v1/sessions/{}/vnc", desk.id);
    assert_eq!(refused(&server, &vnc, &[]).await, Refused(401, "missing_bearer".into()));
    assert_eq!(refused(&server, &format!("{vnc}?ticket=nonsense"), &[]).await, invalid);
    assert_eq!(refused(&server, &path(&other.id, &look), &[]).await, invalid, "foreign");
    let text = look["ticket"].as_str().unwrap();
    let tampered = format!("{vnc}?ticket={}A", &text[..text.len() - 1]);
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
    // A ticket is no token, and a token no ticket.
    let bearer = format!("Bearer {text}");
    let sessions = client.send(http::Method::GET, "/api/v1/sessions", &[], Default::default());
    sessions.await.expect(200);
    let as_token = [("authorization", bearer.as_str())];
    assert_eq!(refused(&server, &vnc, &as_token).await, Refused(401, "invalid_token".into()));

    let open = Watcher::open(&server, &path(&desk.id, &look), &[]).await.unwrap();
    let twice = refused(&server, &path(&desk.id, &look), &[]).await;
    assert_eq!(twice, Refused(409, "ticket_in_use".into()));
    drop(open);
    let again = async || Watcher::open(&server, &path(&desk.id, &look), &[]).await.ok();
    helmdeck_testkit::eventually(Duration::from_secs(10), again).await.expect("free again");
    let many = ticket(&client, &desk.id, json!({ "reusable": true })).await;
    let protocol = format!("binary, helmdeck.ticket.{}", many["ticket"].as_str().unwrap());
    let by_protocol = [("sec-websocket-protocol", protocol.as_str())];
    let _one = Watcher::open(&server, &vnc, &by_protocol).await.unwrap();
    let _two = Watcher::open(&server, &vnc.replace("/v1", ""), &by_protocol).await.unwrap();

    // It does not outlive the token that it was made with.
    let token = server.run(["token", "--sub", "brief", "--scopes", "admin", "--ttl", "90s"]);
    let brief = server.bearer(token.trim().to_owned());
    let week = ticket(&brief, &desk.id, json!({ "ttl_seconds": 604_800 })).await;
    let listed = client.get("/api/v1/tokens").await.json();
    let listed = listed["tokens"].as_array().unwrap();
    let made = listed.iter().find(|token| token["subject"] == "brief").unwrap();
    assert_eq!(week["expires_at"], made["expires_at"]);

    // Its connections end after `max_connection_s`.
    let brief = ticket(&client, &desk.id, json!({ "max_connection_s": 1 })).await;
    let viewer = Watcher::open(&server, &path(&desk.id, &brief), &[]).await.unwrap();
    assert_eq!(viewer.closed().await.0, 4001);

    let short = ticket(&client, &desk.id, json!({ "ttl_seconds": 1 })).await;
    let late = async || {
        let refused = Watcher::socket(&server, &path(&desk.id, &short), &[]).await.err();
        refused.filter(|refused| *refused == invalid)
    };
    helmdeck_testkit::eventually(Duration::from_secs(15), late).await.expect("it expires");
}

#[tokio::test]
async fn viewers_are_told_why_their_view_ends() {
    let server = Server::start();
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
async fn the_address_of_a_desktop_has_the_fields_of_old_and_works_without_a_login() {
    let server = Server::start();
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
    // Several operators watch by the same address.
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

    // A ticket has an address all the same, where the browser is seen.
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
    let server = Server::start_with(&base);
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
async fn published_sessions_have_a_port_each_with_nothing_else_on_it() {
    let server = Server::start_with(&[("HELMDECK_PUBLISH_VNC_PORTS", "true")]);
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    let port = async || {
        let path = format!("/api/v1/desktop/vnc-url?session_id={}", desk.id);
        let notes = client.get(&path).await.json()["notes"].as_str().unwrap().to_owned();
        notes.split_once("at port ")?.1.split(':').next()?.parse::<u16>().ok()
    };
    let port = helmdeck_testkit::eventually(Duration::from_secs(10), port).await.expect("a port");
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
    helmdeck_testkit::eventually(Duration::from_secs(10), closed).await.expect("the port closes");
}
