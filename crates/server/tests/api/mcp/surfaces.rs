//! An agent without a model: it knows nothing but what the tools say, and chooses by fixed words.

use helmdeck_testkit::fake::FakeServer;
use serde_json::{Value, json};

use super::{modern, session_of};

const PROFILES: [&str; 5] = ["all", "core", "browser", "desktop", "code"];

/// What the words of a task demand: words for people a surface that they see, words for data one that
/// they do not.
fn surface(task: &str) -> &'static str {
    let says = |any: &[&str]| task.split(' ').any(|word| any.contains(&word));
    match (says(&["watch", "see", "show"]), says(&["scrape", "extract", "collect"])) {
        (true, false) => "VISIBLE",
        (false, true) => "HEADLESS",
        _ => panic!("{task}"),
    }
}

/// The tool for a task: it offers the surface, and most words of the task are in its name; then, it
/// offers no other surface, and most words are in its description.
fn choose<'a>(tools: &'a [Value], task: &str) -> &'a Value {
    let score = |tool: &&Value| {
        let name = tool["name"].as_str().unwrap();
        let text = tool["description"].as_str().unwrap();
        let both = text.contains("VISIBLE") && text.contains("HEADLESS");
        let words = || task.split(' ');
        let named = words().filter(|word| name.split('-').any(|part| part == *word)).count();
        let found = words().filter(|word| text.to_lowercase().contains(*word)).count();
        (text.contains(surface(task)), named, !both, found)
    };
    tools.iter().max_by_key(score).unwrap()
}

/// The mode for a task: the value whose part of the argument's description has the surface.
fn mode(tool: &Value, task: &str) -> String {
    let text = tool["inputSchema"]["properties"]["mode"].to_string();
    let (_, description) =
        text.split_once("\"description\":\"").unwrap_or_else(|| panic!("{text}"));
    let part = description.split(';').find(|part| part.contains(surface(task)));
    let part = part.unwrap_or_else(|| panic!("{description}"));
    part.split('`').nth(1).unwrap().to_owned()
}

#[tokio::test]
async fn every_profile_leads_to_a_visible_session_to_watch_and_to_a_headless_one_to_scrape() {
    let server = FakeServer::start().await;
    for profile in PROFILES {
        let client = modern(&server, profile).at(&format!("/mcp?profile={profile}"));
        let tools = client.tools().await;
        for (task, wanted) in [
            ("create a session so I can watch", "desktop"),
            ("create a session to scrape a page", "headless"),
        ] {
            let tool = choose(&tools, task);
            assert_eq!(tool["name"], "session-create", "{profile}: {task}");
            let created = client.ok("session-create", json!({ "mode": mode(tool, task) })).await;
            assert_eq!(created["mode"], wanted, "{profile}: {task}");
            let shown = client.ok("session-show", json!({})).await;
            assert_eq!(session_of(&shown), session_of(&created), "it is the current one");
        }
    }
}

#[tokio::test]
async fn descriptions_lead_to_the_tool_of_the_surface() {
    let server = FakeServer::start().await;
    let watched = "click the blue button so I can watch";
    for (profile, task, tool) in [
        ("all", watched, "desktop-click"),
        ("core", watched, "desktop-click"),
        ("desktop", watched, "desktop-click"),
        ("browser", watched, "browser-click"),
        // Not a pack with a browser that nobody sees.
        ("all", "take a screenshot of a page so I can watch", "desktop-screenshot"),
        ("browser", "take a screenshot of a page so I can watch", "browser-screenshot"),
        ("all", "type my name and show me", "desktop-type"),
        ("all", "scrape the page as markdown", "web-scrape"),
        ("all", "extract the prices of a list", "browser-extract"),
        ("browser", "extract the prices of a list", "browser-extract"),
    ] {
        let client = modern(&server, "ann").at(&format!("/mcp?profile={profile}"));
        assert_eq!(choose(&client.tools().await, task)["name"], tool, "{profile}: {task}");
    }
}
