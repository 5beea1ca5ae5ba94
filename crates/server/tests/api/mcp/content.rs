//! What replies and resources contain.

use helmdeck_testkit::fake::FakeServer;
use serde_json::json;

use super::{legacy, modern, session_of};

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
