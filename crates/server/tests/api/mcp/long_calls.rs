//! Calls that take long, and clients that come often.

use std::time::Duration;

use helmdeck_testkit::fake::{FakeGuest, FakeServer, State};
use http::{Method, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::{Value, json};

use super::{
    client::{MODERN, McpClient, events},
    legacy, modern, session_of,
};

const SOON: Duration = Duration::from_secs(20);
/// How long a reply may be silent.
const SILENCE: Duration = Duration::from_secs(16);

/// Holds a key down until it is let go.
fn hold_key() -> Value {
    json!({ "name": "desktop-hold_key", "arguments": { "keys": "shift", "seconds": 20 } })
}

async fn desktop(server: &FakeServer, client: &McpClient) -> FakeGuest {
    let session = session_of(&client.ok("session-create", json!({ "mode": "desktop" })).await);
    server.runtime.guest(&session)
}

async fn read_until(body: &mut Incoming, read: &mut String, wanted: &str) {
    let reading = async {
        while !read.contains(wanted) {
            let frame = body.frame().await.expect("the stream goes on").unwrap();
            read.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
        }
    };
    let reading = tokio::time::timeout(SOON, reading).await;
    reading.unwrap_or_else(|_| panic!("{wanted} did not come: {read}"));
}

/// A call of the stateless protocol, with or without a token for progress.
fn stateless(mut params: Value, progress: Option<&str>) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    if let Some(token) = progress {
        params["_meta"]["progressToken"] = json!(token);
    }
    json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params })
}

/// Opens the stream of a held call, which nothing was answered to for a while.
async fn silent(server: &FakeServer, client: &McpClient, guest: &FakeGuest) -> Incoming {
    let body = stateless(hold_key(), None);
    let headers = [("mcp-method", "tools/call"), ("mcp-name", "desktop-hold_key")];
    let waiting = async {
        guest.until("hold_key", State::UnderWay).await;
        loop {
            server.clock.advance(SILENCE);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::select! {
        (status, _, stream) = client.open(Method::POST, Some(&body), &headers) => {
            assert_eq!(status, StatusCode::OK);
            stream
        }
        () = waiting => unreachable!(),
    }
}

#[tokio::test]
async fn a_call_without_progress_keeps_its_connection_alive_until_the_answer() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    let guest = desktop(&server, &client).await;
    guest.hold("hold_key");
    let mut stream = silent(&server, &client, &guest).await;
    let mut read = String::new();
    read_until(&mut stream, &mut read, ": working\n").await;
    guest.release("hold_key");
    read_until(&mut stream, &mut read, "\n\nevent: message").await;
    let rest = stream.collect().await.unwrap().to_bytes();
    read.push_str(std::str::from_utf8(&rest).unwrap());
    let answers = events(&read);
    assert_eq!((answers.len(), &answers[0]["id"]), (1, &json!(7)), "{read}");
    assert!(answers[0]["result"]["structuredContent"]["_session_id"].is_string(), "{read}");
}

#[tokio::test]
async fn a_command_is_answered_while_it_runs_before_a_client_without_progress_gives_up() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    let session = session_of(&client.ok("session-create", json!({})).await);
    let guest = server.runtime.guest(&session);
    let call = json!({ "name": "session-exec", "arguments": { "command": ["sleep", "99"] } });
    let headers = [("mcp-method", "tools/call"), ("mcp-name", "session-exec")];
    let past_patience = async |started: usize| {
        helmdeck_testkit::eventually(SOON, async || {
            (guest.started().len() == started).then_some(())
        })
        .await;
        for _ in 0..4 {
            server.clock.advance(SILENCE);
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    let (answer, ()) = tokio::join!(client.request("tools/call", call.clone()), past_patience(1));
    let answer = answer.result();
    let state = &answer["structuredContent"];
    assert_eq!((&state["running"], &state["exec_id"]), (&json!(true), &json!("exec-sleep")));
    let told = answer["content"].to_string();
    assert!(told.contains("session-show_exec") && told.contains("session-kill_exec"), "{told}");

    // A client that hears of progress waits.
    let body = stateless(call, Some("p"));
    let (_, _, mut stream) = client.open(Method::POST, Some(&body), &headers).await;
    past_patience(2).await;
    let mut read = String::new();
    read_until(&mut stream, &mut read, "session-exec has been running").await;
    assert!(!read.contains("structuredContent"), "{read}");
}

#[tokio::test]
async fn hanging_up_on_a_connection_that_was_kept_alive_cancels_the_call() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    let guest = desktop(&server, &client).await;
    guest.hold("hold_key");
    drop(silent(&server, &client, &guest).await);
    guest.until("hold_key", State::Cancelled).await;
}

#[tokio::test]
async fn a_pack_says_how_far_it_is() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    let session = session_of(&client.ok("session-create", json!({})).await);
    let guest = server.runtime.guest(&session);
    guest.hold("browser_navigate");
    let arguments = json!({ "url": "https://example.com/", "_session_id": session });
    let call = json!({ "name": "browser-screenshot_url", "arguments": arguments });
    let body = stateless(call, Some("p"));
    let headers = [("mcp-method", "tools/call"), ("mcp-name", "browser-screenshot_url")];
    let (status, _, mut stream) = client.open(Method::POST, Some(&body), &headers).await;
    assert_eq!(status, StatusCode::OK);
    let mut read = String::new();
    read_until(&mut stream, &mut read, "loading the page").await;
    guest.release("browser_navigate");
    read_until(&mut stream, &mut read, "structuredContent").await;
    let told: Vec<_> =
        events(&read).into_iter().filter(|it| it["method"] == "notifications/progress").collect();
    let params = &told[0]["params"];
    assert_eq!(
        (&params["progressToken"], &params["total"]),
        (&json!("p"), &json!(100.0)),
        "{read}"
    );
    let progress: Vec<_> =
        told.iter().map(|it| it["params"]["progress"].as_f64().unwrap()).collect();
    assert!(*progress.last().unwrap() >= 20.0 && progress.is_sorted(), "{progress:?}");
}

#[tokio::test]
async fn many_short_connections_end_no_call_of_a_long_one() {
    let server = FakeServer::start().await;
    let client = legacy(&server, "ann").await;
    let guest = desktop(&server, &client).await;
    guest.hold("hold_key");
    let others = async {
        guest.until("hold_key", State::UnderWay).await;
        for _ in 0..101 {
            legacy(&server, "ann").await;
        }
        // What gives way is ended at once, and a call that is ended is cancelled.
        tokio::time::sleep(Duration::from_millis(300)).await;
        guest.release("hold_key");
    };
    let (reply, ()) = tokio::join!(client.request("tools/call", hold_key()), others);
    assert_ne!(reply.result()["isError"], true, "{}", reply.text);
}
