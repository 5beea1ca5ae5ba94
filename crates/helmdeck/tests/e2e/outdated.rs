//! Sessions whose guest has another version: an upgraded server can show and end them, and nothing
//! else.
//!
//! The guest is real. Only the version number in its greeting is changed on the way to the server.

use std::{
    fs,
    path::{Path, PathBuf},
};

use helmdeck_testkit::{Desk, Server, Watcher};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        UnixListener, UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
};

const FIELD: &[u8] = br#""link_version":"#;

/// A desktop that the next server takes for one of another version.
async fn outdated(server: &mut Server) -> String {
    let client = server.client("agent", "sessions:*");
    let id = Desk::desktop(&client).await.id;
    server.kill();
    disguise(&socket_of(server, &id));
    server.restart();
    id
}

fn socket_of(server: &Server, id: &str) -> PathBuf {
    let instances = fs::read_dir(server.run_dir()).unwrap().map(|entry| entry.unwrap().path());
    let mut sockets = instances.map(|dir| dir.join("sandboxes").join(id).join("guest.sock"));
    sockets.find(|socket| socket.exists()).expect("the guest listens")
}

/// Replaces a guest's socket by a relay that changes the version.
fn disguise(socket: &Path) {
    let real = socket.with_extension("real");
    fs::rename(socket, &real).unwrap();
    let listener = UnixListener::bind(socket).unwrap();
    tokio::spawn(async move {
        while let Ok((server, _)) = listener.accept().await {
            // If the guest is gone, the relay does not answer, either.
            let Ok(guest) = UnixStream::connect(&real).await else { continue };
            let (from_server, to_server) = server.into_split();
            let (from_guest, to_guest) = guest.into_split();
            tokio::spawn(pass(from_server, to_guest, |_| {}));
            tokio::spawn(pass(from_guest, to_server, change_version));
        }
    });
}

async fn pass(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, change: fn(&mut [u8])) {
    let mut bytes = vec![0; 64 << 10];
    while let Ok(read @ 1..) = from.read(&mut bytes).await {
        change(&mut bytes[..read]);
        if to.write_all(&bytes[..read]).await.is_err() {
            return;
        }
    }
}

/// Same length as the original, so that the rest of the reply is unchanged.
fn change_version(bytes: &mut [u8]) {
    if let Some(at) = bytes.windows(FIELD.len()).position(|part| part == FIELD) {
        let digit = &mut bytes[at + FIELD.len()];
        *digit = if *digit == b'9' { b'8' } else { b'9' };
    }
}

#[tokio::test]
async fn a_session_of_another_version_is_shown_and_cannot_act() {
    let mut server = Server::start();
    let id = outdated(&mut server).await;
    let client = server.client("agent", "sessions:*");
    let desk = Desk { client: &client, id };
    let session = desk.describe().await;
    assert_eq!(session["status"], "outdated", "{session}");
    assert_eq!(session["end_reason"], Value::Null, "{session}");
    let listed = client.get("/api/v1/sessions").await.expect(200).json();
    assert_eq!(listed["sessions"][0]["status"], "outdated", "{listed}");
    assert!(desk.log().await.contains("xvnc"), "its log can be read");
    for (action, body) in [
        ("click", json!({ "x": 1, "y": 1 })),
        ("screenshot", json!({})),
        ("launch", json!({ "command": "true" })),
    ] {
        desk.ask(action, body).await.expect_error(409, "session_outdated");
    }
    // People can still watch it.
    let tickets = format!("/api/v1/sessions/{}/tickets", desk.id);
    let ticket = client.post(&tickets, &json!({})).await.expect(201).json();
    let ticket = ticket["ticket"].as_str().unwrap();
    let vnc = format!("/api/v1/sessions/{}/vnc?ticket={ticket}", desk.id);
    let mut watcher = Watcher::open(&server, &vnc, &[]).await.unwrap();
    assert!(watcher.picture().await.iter().any(|byte| *byte != 0));
    // New sessions have the server's own version.
    let new = Desk::desktop(&client).await;
    new.act("click", json!({ "x": 300, "y": 300 })).await;
    assert_eq!(desk.describe().await["status"], "outdated");
}
