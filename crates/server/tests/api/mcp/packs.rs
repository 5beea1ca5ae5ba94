//! Packs at the MCP door: the session they work in, and what they show.

use helmdeck_testkit::fake::FakeServer;
use helmdeck_wire::{ErrorBody, ErrorCode};
use serde_json::{Value, json};

use super::{client::McpClient, modern, session_of};

fn echo() -> Value {
    json!({ "clone_path": "/workspace/app", "command": ["echo", "x"] })
}

fn app() -> Value {
    json!({ "command": "sleep", "args": ["99"], "wait_ms": 0 })
}

/// The blocks of this type in a reply.
fn blocks<'a>(result: &'a Value, kind: &str) -> Vec<&'a Value> {
    let content = result["content"].as_array().unwrap_or_else(|| panic!("{result}"));
    content.iter().filter(|block| block["type"] == kind).collect()
}

async fn current(client: &McpClient, mode: &str) -> String {
    session_of(&client.ok("session-create", json!({ "mode": mode })).await)
}

#[tokio::test]
async fn packs_work_in_the_current_session() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    let error = client.error("cmd-run", echo()).await;
    assert_eq!(error["field"], "_session_id", "without one, they say how to name one: {error}");

    let session = current(&client, "desktop").await;
    let run = client.ok("cmd-run", echo()).await;
    assert_eq!((session_of(&run), &run["output"]["exit_code"]), (session.clone(), &json!(0)));
    assert!(run["_live_view"].as_str().unwrap().ends_with(&session), "{run}");
    assert_eq!(session_of(&client.ok("desktop-run_app_and_screenshot", app()).await), session);

    let start = json!({ "pack": "cmd.run", "input": echo() });
    let job = client.ok("pack-start", start).await["job_id"].clone();
    let result = async || {
        let result = client.call("pack-result", json!({ "job_id": job })).await;
        (result["isError"] != true).then(|| session_of(&result["structuredContent"]))
    };
    let soon = std::time::Duration::from_secs(20);
    assert_eq!(helmdeck_testkit::eventually(soon, result).await, Some(session));
    assert_eq!(server.runtime.guests().len(), 1);
}

#[tokio::test]
async fn an_empty_text_reaches_a_pack() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    let session = current(&client, "headless").await;
    let guest = server.runtime.guest(&session);
    guest.end_program("base64 -w0", 0, "b25lIHR3bw==", "");
    let call = async |tool: &str, own: Value| {
        let mut input = json!({ "clone_path": "/workspace/app", "path": "a", "_session_id": "" });
        input.as_object_mut().unwrap().extend(own.as_object().cloned().unwrap());
        client.ok(tool, input).await;
        guest.started().last().unwrap().stdin.clone().unwrap()
    };
    let patched = call("fs-patch", json!({ "search": " two", "replace": "" })).await;
    assert_eq!(patched, "b25l", "base64 of \"one\"");
    assert_eq!(call("fs-write", json!({ "content": "" })).await, "");
}

#[tokio::test]
async fn the_session_that_a_pack_starts_becomes_current_if_there_is_none() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    let session = session_of(&client.ok("desktop-run_app_and_screenshot", app()).await);
    assert_eq!(session_of(&client.ok("cmd-run", echo()).await), session);
    assert_eq!(session_of(&client.ok("session-show", json!({})).await), session);
}

#[tokio::test]
async fn a_pack_for_desktops_leaves_a_headless_current_session_alone() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    let headless = current(&client, "headless").await;
    let desktop = session_of(&client.ok("desktop-run_app_and_screenshot", app()).await);
    assert_ne!(desktop, headless);
    assert_eq!(session_of(&client.ok("session-show", json!({})).await), headless);
    let page = json!({ "url": "https://example.com/" });
    client.ok("browser-screenshot_url", page).await;
    assert_eq!(
        server.runtime.guest(&headless).bodies("browser_navigate").len(),
        0,
        "one of its own"
    );
}

#[tokio::test]
async fn a_failed_call_says_in_which_session_and_where_to_watch() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    let session = current(&client, "desktop").await;
    let guest = server.runtime.guest(&session);
    guest.refuse("browser_click", ErrorBody::new(ErrorCode::ElementNotFound, "no such button"));
    guest.end_program("no-such-program", 3, "", "cannot open display");
    let broken = json!({ "command": "no-such-program", "wait_ms": 0 });
    for (tool, input) in [
        ("browser-click", json!({ "selector": "#go" })),
        ("desktop-click", json!({ "x": "left", "y": 2 })),
        ("desktop-run_app_and_screenshot", broken),
    ] {
        let result = client.call(tool, input).await;
        let error = &result["_meta"]["error"];
        assert_eq!(result["isError"], true, "{tool}: {result}");
        assert_eq!(session_of(error), session, "{tool}");
        let watch = error["_live_view"].as_str().unwrap();
        let last = result["content"].as_array().unwrap().last().unwrap();
        assert!(last["text"].as_str().unwrap().contains(watch), "{tool}: {last}");
    }
    let foreign = modern(&server, "bob")
        .error("desktop-click", json!({ "x": 1, "y": 2, "_session_id": session }))
        .await;
    assert_eq!((&foreign["error"], foreign.get("_live_view")), (&json!("not_found"), None));
}

#[tokio::test]
async fn pictures_of_packs_are_seen_and_other_files_are_linked_and_can_be_read() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    current(&client, "headless").await;
    let page = json!({ "url": "https://example.com/" });
    let result = client.call("browser-screenshot_url", page).await;
    let pictures = blocks(&result, "image");
    assert_eq!((pictures.len(), &pictures[0]["mimeType"]), (1, &json!("image/png")), "{result}");
    let seen = pictures[0]["data"].clone();
    let key = result["structuredContent"]["output"]["artifact_key"].clone();
    let got = client.call("artifact-get", json!({ "artifact_key": key })).await;
    assert_eq!(blocks(&got, "image")[0]["data"], seen, "{got}");
    assert!(!blocks(&got, "text")[0]["text"].as_str().unwrap().contains(seen.as_str().unwrap()));

    let put = json!({
        "content": "/wAB", "encoding": "base64", "kind": "binary", "filename": "My numbers.bin",
    });
    let put = client.call("artifact-put", put).await;
    let links = blocks(&put, "resource_link");
    assert_eq!((links.len(), &links[0]["size"]), (1, &json!(3)), "{put}");
    let uri = links[0]["uri"].as_str().unwrap();
    assert!(uri.starts_with("helmdeck://artifacts/") && !uri.contains(' '), "{uri}");
    let read = client.request("resources/read", json!({ "uri": uri })).await.result();
    assert_eq!(read["contents"][0]["blob"], "/wAB");
    let theirs = modern(&server, "bob").request("resources/read", json!({ "uri": uri })).await;
    assert_eq!(theirs.error()["code"], -32602);

    // A token of the same caller that may not read artifacts.
    let reader = McpClient::modern(server.address, server.token("ann", "sessions:read"));
    let refused = reader.request("resources/read", json!({ "uri": uri })).await;
    assert!(refused.error()["message"].as_str().unwrap().contains("artifacts:read"));
    let job = result["structuredContent"]["job_id"].clone();
    let told = reader.call("pack-result", json!({ "job_id": job })).await;
    assert_ne!(told["isError"], true, "{told}");
    assert_eq!(blocks(&told, "image").len(), 0, "{told}");
}
