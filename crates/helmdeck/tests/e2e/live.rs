//! Live views: access, pictures, and the limits of view-only viewers.

use std::time::Duration;

use helmdeck_testkit::{Client, Desk, Server, Watcher};
use serde_json::{Value, json};

const LETTER_X: u32 = 'x' as u32;
const RETURN: u32 = 0xff0d;
/// Scan code of the letter x.
const CODE_X: u32 = 45;

async fn ticket(client: &Client, id: &str, wanted: Value) -> Value {
    client.post(&format!("/api/v1/sessions/{id}/tickets"), &wanted).await.expect(201).json()
}

fn path(id: &str, ticket: &Value) -> String {
    format!("/api/v1/sessions/{id}/vnc?ticket={}", ticket["ticket"].as_str().unwrap())
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
    // Next to the pointer, which is part of the picture.
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
async fn a_view_only_viewer_cannot_type_click_or_read_the_clipboard() {
    let server = Server::start();
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    let line = desk.open_field().await;
    desk.act("clipboard", json!({ "text": "secret of the desktop" })).await;

    // A malicious viewer, one with the role but without control, and one with control.
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
    // Its own keys use the same path: when they arrive, so have all earlier ones.
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
