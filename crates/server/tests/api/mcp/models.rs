//! What MCP clients see and use of models.

use helmdeck_testkit::{FakeVendors, fake::FakeServer};
use serde_json::{Value, json};

use super::client::McpClient;
use crate::{models::server, vision::desktop};

const OF_VISION: [&str; 6] =
    ["vision-act", "vision-pause", "vision-resume", "vision-show", "vision-start", "vision-stop"];

fn client(server: &FakeServer, scopes: &str) -> McpClient {
    McpClient::modern(server.address, server.token("ann", scopes))
}

async fn listed(client: &McpClient, prefix: &str) -> Vec<String> {
    let names = client.tools().await;
    let names = names.iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
    names.filter(|name| name.starts_with(prefix)).collect()
}

async fn read(client: &McpClient, uri: &str) -> Value {
    let read = client.request("resources/read", json!({ "uri": uri })).await.result();
    serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap()
}

async fn reason(client: &McpClient, name: &str) -> Value {
    let packs = read(client, "helmdeck://packs").await["packs"].take();
    let of_name = packs.as_array().unwrap().iter().find(|pack| pack["name"] == name);
    of_name.unwrap_or_else(|| panic!("{name} is not in {packs}"))["reason"].clone()
}

#[tokio::test]
async fn tools_that_need_a_model_are_listed_if_the_token_may_use_one_and_there_is_one() {
    let vendors = FakeVendors::start().await;
    let with_key = server(&vendors, &["openai"], &[]).await;
    let may = client(&with_key, "sessions:*,models:use");
    let vision = listed(&may, "vision-").await;
    assert!(OF_VISION.iter().all(|name| vision.iter().any(|it| it == name)), "{vision:?}");
    assert!(vision.iter().any(|name| name == "vision-click_anywhere"), "{vision:?}");
    // Only people answer what a run asks.
    assert!(!vision.iter().any(|name| name == "vision-answer"), "{vision:?}");
    assert_eq!(reason(&may, "vision-act").await, Value::Null);

    let may_not = client(&with_key, "sessions:*");
    assert_eq!(listed(&may_not, "vision-").await, [""; 0]);
    assert_eq!(reason(&may_not, "vision-act").await, "the token lacks the scope models:use");

    let without_key = FakeServer::start().await;
    let nothing = client(&without_key, "sessions:*,models:use");
    assert_eq!(listed(&nothing, "vision-").await, [""; 0]);
    assert!(reason(&nothing, "vision-act").await.is_string());
}

#[tokio::test]
async fn the_routing_guide_names_tools_that_need_a_model_only_if_there_is_one() {
    let vendors = FakeVendors::start().await;
    let (with_key, without_key) =
        (server(&vendors, &["openai"], &[]).await, FakeServer::start().await);
    for (server, named) in [(&with_key, true), (&without_key, false)] {
        let uri = json!({ "uri": "helmdeck://routing-guide" });
        let may = client(server, "sessions:*,models:use");
        let read = may.request("resources/read", uri).await.result();
        let guide = read["contents"][0]["text"].as_str().unwrap();
        assert!(guide.contains("`desktop-click`"), "{guide}");
        assert_eq!(guide.contains("`vision-act`"), named, "{guide}");
    }
}

#[tokio::test]
async fn a_goal_is_reached_over_mcp() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["openai"], &[]).await;
    let http = server.client("ann", "sessions:*,models:use");
    let desk = desktop(&server, &http).await;
    let rect = json!({ "x": 90, "y": 90, "width": 20, "height": 20 });
    let save = json!({
        "role": "button", "name": "Save", "rect": rect, "confidence": 1.0, "source": "dom",
    });
    server.runtime.guest(&desk.id).answer("find", json!({ "candidates": [save], "count": 1 }));
    let ann = client(&server, "sessions:*,models:use");
    let goal = json!({ "goal": "Click Save", "_session_id": desk.id });
    let run = ann.ok("vision-act", goal).await;
    assert_eq!((&run["outcome"], &run["_session_id"]), (&json!("completed"), &json!(desk.id)));
    let shown = ann.ok("vision-show", json!({ "_session_id": desk.id })).await;
    assert_eq!(shown["_session_id"], json!(desk.id));
}

#[tokio::test]
async fn the_models_that_a_client_may_use_can_be_read() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["openai"], &[]).await;
    let models = read(&client(&server, "sessions:read,models:use"), "helmdeck://models").await;
    let ids: Vec<_> = models["models"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
    assert!(ids.iter().any(|id| *id == "openai/gpt-4o-mini"), "{ids:?}");
    assert!(models["default_model"].is_string());

    let may_not = read(&client(&server, "sessions:*"), "helmdeck://models").await;
    assert_eq!(may_not["models"], json!([]));
    assert!(may_not["note"].as_str().unwrap().contains("models:use"), "{may_not}");
}

#[tokio::test]
async fn context_budgets_say_what_the_profiles_cost_and_what_models_have() {
    let server = FakeServer::start().await;
    let ann = client(&server, "sessions:*");
    let budgets = read(&ann, "helmdeck://context-budgets").await;
    let profiles = budgets["profiles"].as_array().unwrap();
    assert_eq!(profiles.len(), 5);
    for profile in profiles {
        let path = format!("/mcp?profile={}", profile["profile"].as_str().unwrap());
        let tools = client(&server, "sessions:*").at(&path).tools().await;
        assert_eq!(profile["tools"], tools.len(), "{profile}");
        let bytes = serde_json::to_string(&tools).unwrap().len();
        assert_eq!(profile["bytes"], bytes, "{profile}");
    }
    let of_models = budgets["budgets"].as_array().unwrap();
    assert!(of_models.iter().any(|it| it["tier"] == "A" && it["model"].is_string()), "{budgets}");
    assert_eq!(budgets["fallback"]["tier"], "C");
    assert!(budgets["policy"].is_string() && budgets["fetched_at"].is_string());
}
