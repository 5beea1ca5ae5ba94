//! An MCP client that is asked: "Go to a website and search, so that I can watch."

use std::time::Duration;

use helmdeck_testkit::{FakeVendors, Page, Server, Site, Watcher};
use serde_json::{Value, json};
use tokio::{sync::oneshot, time::sleep};

use crate::mcp::{Client, Era};

/// A search page. What it shows changes only by what is typed.
const SEARCH: &str = "<!doctype html><title>Search</title>
    <style>* { font: 32px monospace; outline: none; caret-color: transparent } body { margin: 60px }
    input { width: 500px; border: 2px solid black } button { margin-top: 200px; width: 200px }</style>
    <input aria-label=Query><br><button onclick=\"location.href = '/' + document.querySelector('input').value\">
    Submit</button>";

/// Four bytes per pixel, of a part of the operator's picture.
fn part(picture: &[u8], width: usize, rect: &Value) -> Vec<u8> {
    let of = |name: &str| usize::try_from(rect[name].as_i64().unwrap()).unwrap();
    let (x, y) = (of("x"), of("y"));
    let rows = picture.chunks(width * 4).skip(y).take(of("height"));
    rows.flat_map(|row| row[x * 4..(x + of("width")) * 4].to_vec()).collect()
}

/// The tool that an agent chooses by its words: one that works where the person looks.
fn chosen(tools: &Value, wanted: &str) -> Value {
    let tools = tools["result"]["tools"].as_array().unwrap();
    let words = |tool: &Value| tool["description"].as_str().unwrap_or_default().to_owned();
    let headless = tools.iter().find(|tool| tool["name"] == "browser-interact").unwrap();
    assert!(words(headless).contains("HEADLESS"), "{headless}");
    let tool = tools.iter().find(|tool| tool["name"] == wanted);
    let tool = tool.unwrap_or_else(|| panic!("{wanted} is not listed"));
    assert!(words(tool).contains("VISIBLE"), "{tool}");
    tool.clone()
}

#[tokio::test]
async fn the_operator_sees_the_cursor_and_the_typing_of_an_mcp_client() {
    let site = Site::start(|path| match path {
        "/" => Page::html(SEARCH),
        found => Page::html(format!("<title>Found</title>You searched for {}", &found[1..])),
    })
    .await;
    let vendors = FakeVendors::start().await;
    let env = vendors.environment(&["gemini"]);
    let env = env.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let env: Vec<_> = env.chain([Site::REACHABLE]).collect();
    let server = Server::start_with(&env);
    let token = server.token("ann", "sessions:*,models:use");
    let url = format!("http://{}", server.address);
    let mut agent = Client::connect(Era::Sessions, &url, &token).await;
    let tools = agent.ask("tools/list", json!({})).await;
    let click_anywhere = chosen(&tools, "vision-click_anywhere")["name"].clone();

    let session = agent.ask_tool("session-create", json!({ "mode": "desktop" })).await;
    let id = session["id"].as_str().unwrap().to_owned();
    let person = server.client("ann", "sessions:*");
    let view = async || {
        let tickets = format!("/api/v1/sessions/{id}/tickets");
        let ticket = person.post(&tickets, &json!({})).await.expect(201).json();
        let ticket = ticket["ticket"].as_str().unwrap().to_owned();
        let path = format!("/api/v1/sessions/{id}/vnc?ticket={ticket}");
        Watcher::open(&server, &path, &[]).await.unwrap()
    };
    let mut operator = view().await;
    let width = usize::from(operator.size.0);
    agent.ask_tool("browser-navigate", json!({ "url": site.url("/") })).await;
    let find = json!({ "name": "Query" });
    let field = agent.ask_tool("desktop-find", find).await["candidates"][0]["rect"].clone();
    let before = part(&operator.picture().await, width, &field);

    // The operator's view while the agent works: an empty field, then one with text.
    let (finished, mut end) = oneshot::channel();
    let at = field.clone();
    let watching = tokio::spawn(async move {
        let mut seen = vec![before];
        while end.try_recv().is_err() {
            let now = part(&operator.picture().await, width, &at);
            if seen.last() != Some(&now) {
                seen.push(now);
            }
            sleep(Duration::from_millis(20)).await;
        }
        seen
    });
    let goal = json!({
        "goal": "Type \"helmdeck\" into Query", "_session_id": id, "model": "gemini/gemini-3.5-flash",
    });
    let done = agent.ask_tool(click_anywhere.as_str().unwrap(), goal).await;
    assert!(done.to_string().contains("\"outcome\":\"completed\""), "{done}");
    sleep(Duration::from_millis(300)).await;
    let _ = finished.send(());
    let seen = watching.await.unwrap();
    assert!(seen.len() >= 2, "letters appear: {} pictures", seen.len());

    // Nothing is drawn beside the field: what the operator sees there is the cursor.
    let mut operator = view().await;
    let at = |name: &str| field[name].as_i64().unwrap() + 100;
    let blank = json!({ "x": at("x"), "y": at("y"), "width": 60, "height": 60 });
    let without = part(&operator.picture().await, width, &blank);
    let (x, y) = (at("x") + 20, at("y") + 20);
    agent.ask_tool("desktop-mouse_move", json!({ "x": x, "y": y })).await;
    assert_ne!(part(&operator.picture().await, width, &blank), without, "the cursor is shown");

    let goal = json!({
        "goal": "Click Submit", "_session_id": id, "model": "gemini/gemini-3.5-flash",
        "success": { "all": [{ "check": "text_visible", "text": "You searched for helmdeck" }] },
    });
    let done = agent.ask_tool(click_anywhere.as_str().unwrap(), goal).await;
    assert!(done.to_string().contains("\"completed\":true"), "{done}");
    assert_eq!(vendors.count("gemini"), 0, "every name is known");
}
