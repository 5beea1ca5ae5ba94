//! What replies and resources contain.

use helmdeck_testkit::fake::FakeServer;
use http::Method;
use serde_json::json;

use super::{client::McpClient, legacy, modern, session_of};

#[tokio::test]
async fn an_observed_picture_is_seen_in_the_size_that_models_see() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    let session = session_of(&client.ok("session-create", json!({ "mode": "desktop" })).await);
    let guest = server.runtime.guest(&session);
    let picture = "iVBOR".repeat(8000);
    guest.answer(
        "click",
        json!({
            "effect": "confirmed", "changed": true, "shot": "shot-3",
            "picture": {
                "id": "shot-3", "media_type": "image/png", "data": picture,
                "x": 0, "y": 0, "width": 1920, "height": 1080, "scale": 0.8,
            },
        }),
    );
    let result =
        client.call("desktop-click", json!({ "x": 1, "y": 2, "observe": "screenshot" })).await;
    assert_eq!(guest.bodies("click")[0]["observe_for"], "anthropic");
    let content = result["content"].as_array().unwrap();
    let (text, seen) = (content[0]["text"].as_str().unwrap(), &content[1]);
    assert_eq!((&seen["type"], &seen["data"]), (&json!("image"), &json!(picture)));
    assert!(text.len() < 1000 && text.contains("0.8"), "{text}");
    let shown = &result["structuredContent"]["picture"];
    assert_eq!(
        (&shown["id"], &shown["scale"], shown.get("data")),
        (&json!("shot-3"), &json!(0.8), None)
    );

    // Without a picture, and with a size of the caller's own, nothing is added.
    client.ok("desktop-click", json!({ "x": 1, "y": 2 })).await;
    assert_eq!(guest.bodies("click")[1].get("observe_for"), None);
    let own = json!({ "x": 1, "y": 2, "observe": "auto", "observe_for": "openai" });
    client.ok("desktop-click", own).await;
    assert_eq!(guest.bodies("click")[2]["observe_for"], "openai");
}

#[tokio::test]
async fn the_id_of_a_screenshot_reaches_the_tools_that_compare_with_it() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    let session = session_of(&client.ok("session-create", json!({ "mode": "desktop" })).await);
    let seen = client.call("desktop-screenshot", json!({})).await;
    let facts = seen["content"][1]["text"].as_str().unwrap();
    let (_, id) = facts.split_once("Its id is ").unwrap_or_else(|| panic!("{facts}"));
    let id = id.split(':').next().unwrap();
    assert!(facts.contains("Without `shot`, divide coordinates by 0.1 "), "{facts}");
    for name in ["desktop-await_visual_change", "await_visual_change", "compare_screenshots"] {
        client.ok(name, json!({ "shot": id })).await;
        let asked = server.runtime.guest(&session).bodies("verify").last().cloned().unwrap();
        assert_eq!(asked["all"][0]["shot"], id, "{name}");
    }
}

#[tokio::test]
async fn pictures_have_the_size_that_models_of_the_client_see() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    let session = session_of(&client.ok("session-create", json!({ "mode": "desktop" })).await);
    let guest = server.runtime.guest(&session);
    for (name, vendor) in [("test", "anthropic"), ("gemini-cli-mcp-client", "gemini")] {
        let named = modern(&server, "ann").named(name);
        let shown = named.call("desktop-screenshot", json!({ "_session_id": session })).await;
        assert_eq!(shown["content"][0]["type"], "image", "{shown}");
        assert_eq!(guest.bodies("screenshot").last().unwrap()["for"], vendor, "{name}");
    }
}

#[tokio::test]
async fn only_a_resource_that_does_not_exist_is_not_found() {
    let server = FakeServer::start().await;
    let client = legacy(&server, "ann").await;
    let session = session_of(&client.ok("session-create", json!({})).await);
    let large = "x".repeat((8 << 20) + 1);
    let path = format!("/api/v1/sessions/{session}/files/large.txt");
    let owner = server.client("ann", "sessions:*");
    owner.send(Method::PUT, &path, &[], large.into()).await.expect(201);
    let artifact = "helmdeck://artifacts/upload/1-none.txt".to_owned();
    for (uri, code) in [
        (format!("helmdeck://sessions/{session}/files/missing.txt"), -32002),
        ("helmdeck://sessions/none".to_owned(), -32002),
        (format!("helmdeck://sessions/{session}/files/large.txt"), -32602),
        (format!("helmdeck://sessions/{session}/files/a%00b"), -32602),
    ] {
        let read = client.request("resources/read", json!({ "uri": uri })).await;
        assert_eq!(read.error()["code"], code, "{uri}: {}", read.text);
    }
    let token = server.token("ann", "sessions:read");
    let reader = McpClient::legacy(server.address, token).await;
    let refused = reader.request("resources/read", json!({ "uri": artifact })).await;
    assert_eq!(refused.error()["code"], -32602, "{}", refused.text);
}

#[tokio::test]
async fn a_document_without_an_address_is_kept_and_linked() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    client.ok("session-create", json!({})).await;
    let result = client.call("browser-pdf", json!({})).await;
    let link = &result["content"][1];
    assert_eq!(
        (&link["type"], &link["mimeType"]),
        (&json!("resource_link"), &json!("application/pdf"))
    );
    let uri = link["uri"].as_str().unwrap();
    assert!(uri.starts_with("helmdeck://artifacts/browser.pdf/") && uri.ends_with(".pdf"), "{uri}");
    let read = client.request("resources/read", json!({ "uri": uri })).await.result();
    assert_eq!(read["contents"][0]["mimeType"], "application/pdf");
}

#[tokio::test]
async fn addresses_of_files_are_encoded_and_read_either_way() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    let session = session_of(&client.ok("session-create", json!({})).await);
    let file = json!({ "path": "My data.bin", "content_base64": "/wAB" });
    client.ok("file-write", file).await;
    let result = client.call("file-read", json!({ "path": "My data.bin" })).await;
    let uri = result["content"][1]["uri"].as_str().unwrap_or_else(|| panic!("{result}"));
    assert_eq!(uri, format!("helmdeck://sessions/{session}/files/My%20data.bin"));
    for uri in [uri.to_owned(), uri.replace("%20", " ")] {
        let read = client.request("resources/read", json!({ "uri": uri })).await.result();
        assert_eq!(read["contents"][0]["blob"], "/wAB", "{uri}");
    }
}

#[tokio::test]
async fn only_resources_that_tell_of_changes_can_be_followed() {
    let server = FakeServer::start().await;
    let client = legacy(&server, "ann").await;
    let follow =
        async |uri: &str| client.request("resources/subscribe", json!({ "uri": uri })).await;
    follow("helmdeck://sessions").await.result();
    for (uri, code) in [
        ("helmdeck://packs", -32602),
        ("helmdeck://nothing", -32002),
        ("helmdeck://sessions/none/screenshot", -32002),
    ] {
        assert_eq!(follow(uri).await.error()["code"], code, "{uri}");
    }
}
