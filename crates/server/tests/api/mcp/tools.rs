//! The tools, as MCP clients see them.

use std::collections::BTreeSet;

use helmdeck_schema::Schema;
use helmdeck_testkit::fake::{FakeServer, sample};
use serde_json::{Value, json};

use super::{modern, session_of};

/// Packs that nobody sees, unless they are called in a desktop session.
const IN_NEW_BROWSER: [&str; 5] =
    ["browser-interact", "browser-screenshot_url", "web-scrape", "web-scrape_spa", "web-test"];

/// Tools whose sample call may fail: the listed schema leaves out what their input must be, or they need what
/// another call made, a file, a key or another server.
const MAY_FAIL: [&str; 58] = [
    "artifact-get",
    "artifact-verify_manifest",
    "av-validate",
    "browser-click",
    "browser-hover",
    "browser-interact",
    "browser-screenshot_url",
    "browser-select",
    "browser-type",
    "browser-upload",
    "cmd-run",
    "desktop-await_visual_change",
    "desktop-click",
    "desktop-compare_screenshots",
    "desktop-double_click",
    "desktop-focus",
    "desktop-modifier_click",
    "desktop-mouse_move",
    "desktop-triple_click",
    "doc-ocr",
    "doc-parse",
    "email-send",
    "extension-add",
    "file-write",
    "forward-add",
    "fs-delete",
    "fs-list",
    "fs-patch",
    "fs-read",
    "fs-write",
    "git-commit",
    "git-diff",
    "git-log",
    "github-create_issue",
    "github-create_pr",
    "github-create_release",
    "github-get_issue",
    "github-list_issues",
    "github-list_prs",
    "github-post_comment",
    "github-search",
    "http-fetch",
    "job-cancel",
    "job-rerun",
    "job-show",
    "node-run",
    "pack-result",
    "pack-show",
    "pack-start",
    "pack-status",
    "python-run",
    "repo-fetch",
    "repo-map",
    "repo-push",
    "session-show_ended",
    "session-show_exec",
    "web-scrape",
    "web-scrape_spa",
];

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn every_spelling_of_a_name_calls_the_tool() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    client.ok("session-create", json!({ "mode": "desktop" })).await;
    for name in [
        "desktop-mouse_move",
        "desktop.mouse_move",
        "helmdeck__desktop-mouse_move",
        "desktop-mouse-move",
    ] {
        client.ok(name, json!({ "x": 1, "y": 2 })).await;
    }
}

#[tokio::test]
async fn profiles_list_less_and_call_everything() {
    let server = FakeServer::start().await;
    let whole = modern(&server, "ann").tools().await;
    for profile in ["core", "browser", "desktop", "code"] {
        let client = modern(&server, profile).at(&format!("/mcp?profile={profile}"));
        let listed = client.tools().await;
        assert!(listed.len() < whole.len(), "{profile}");
        for name in ["session-create", "tools-search", "tool-call"] {
            assert!(names(&listed).contains(&name), "{profile} {name}");
        }
        client.ok("session-create", json!({ "mode": "desktop" })).await;
        client.ok("desktop-cursor_position", json!({})).await;
        let call = json!({ "name": "desktop-windows", "arguments": {} });
        client.ok("tool-call", call).await;
    }
}

#[tokio::test]
async fn profiles_list_the_packs_of_their_work() {
    let server = FakeServer::start().await;
    for (profile, listed, others) in [
        ("browser", ["web-scrape", "browser-interact"], ["fs-read", "desktop-click"]),
        ("desktop", ["desktop-click", "desktop-run_app_and_screenshot"], ["web-scrape", "cmd-run"]),
        ("code", ["cmd-run", "repo-fetch"], ["browser-execute", "web-scrape"]),
        ("code", ["fs-read", "session-show_exec"], ["desktop-click", "session-list"]),
        ("code", ["git-diff", "python-run"], ["browser-click", "vision-act"]),
        ("core", ["session-exec", "desktop-click"], ["cmd-run", "web-scrape"]),
    ] {
        let client = modern(&server, profile).at(&format!("/mcp?profile={profile}"));
        let tools = client.tools().await;
        let named = names(&tools);
        assert!(listed.iter().all(|name| named.contains(name)), "{profile}: {named:?}");
        assert!(!others.iter().any(|name| named.contains(name)), "{profile}: {named:?}");
    }
}

#[tokio::test]
async fn the_core_profile_costs_at_most_4000_tokens() {
    let server = FakeServer::start().await;
    let listed = modern(&server, "ann").at("/mcp?profile=core").tools().await;
    let bytes = serde_json::to_string(&listed).unwrap().len();
    assert!(listed.len() <= 14, "{} tools", listed.len());
    // JSON has about four characters a token.
    assert!(bytes / 4 <= 4000, "{bytes} bytes");
}

#[tokio::test]
async fn every_profile_says_which_tools_only_read_and_which_destroy() {
    let server = FakeServer::start().await;
    for profile in ["all", "core", "browser", "desktop", "code"] {
        let client = modern(&server, "ann").at(&format!("/mcp?profile={profile}"));
        for tool in client.tools().await {
            let (name, hints) = (&tool["name"], &tool["annotations"]);
            assert!(tool["title"].is_string(), "{profile} {name}");
            // Unless a tool says otherwise, the protocol takes it for destructive.
            let says = hints["readOnlyHint"] == true || hints["destructiveHint"].is_boolean();
            assert!(says, "{profile} {name}: {hints}");
            let reads = ["desktop-screenshot", "browser-snapshot", "file-read"];
            if reads.iter().any(|it| name == it) {
                assert_eq!(hints["readOnlyHint"], true, "{profile} {name}");
            }
        }
    }
}

#[tokio::test]
async fn the_whole_catalogue_costs_at_most_1300_bytes_a_tool() {
    let server = FakeServer::start().await;
    let listed = modern(&server, "ann").tools().await;
    let size = |of: &dyn Fn(&Value) -> usize| listed.iter().map(of).sum::<usize>();
    let inputs = size(&|tool| tool["inputSchema"].to_string().len());
    let outputs = size(&|tool| tool.get("outputSchema").map_or(0, |it| it.to_string().len()));
    let all = serde_json::to_string(&listed).unwrap().len();
    let most = 1300 * listed.len();
    assert!(all <= most, "{all} bytes of {most}: {inputs} of inputs, {outputs} of outputs");
}

#[tokio::test]
async fn replies_match_the_listed_output_schemas() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    client.ok("session-create", json!({ "mode": "desktop" })).await;
    let mut failed = Vec::new();
    for tool in client.tools().await {
        let (name, input) = (tool["name"].as_str().unwrap(), &tool["inputSchema"]);
        let Some(output) = tool.get("outputSchema").filter(|_| name != "session-end") else {
            continue;
        };
        let result = client.call(name, sample(input, input)).await;
        if result["isError"] == true {
            let code = &result["_meta"]["error"]["error"];
            if !MAY_FAIL.contains(&name) {
                failed.push(format!("{name}: {code}"));
            }
            continue;
        }
        let schema = Schema::new(output.clone()).unwrap();
        let reply = &result["structuredContent"];
        schema.check(reply).unwrap_or_else(|wrong| panic!("{name}: {wrong}: {reply}"));
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[tokio::test]
async fn a_listed_output_schema_allows_what_the_whole_one_allows() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    for tool in client.tools().await {
        let Some(listed) = tool.get("outputSchema") else { continue };
        let name = tool["name"].as_str().unwrap();
        let uri = json!({ "uri": format!("helmdeck://packs/{name}") });
        let read = client.request("resources/read", uri).await.result();
        let whole = read["contents"][0]["text"].as_str().unwrap();
        let whole = serde_json::from_str::<Value>(whole).unwrap()["outputSchema"].take();
        let mut reply = sample(&whole, &whole);
        if whole["type"] != "object" {
            reply = json!({ "result": reply });
        }
        let listed = Schema::new(listed.clone()).unwrap();
        listed.check(&reply).unwrap_or_else(|wrong| panic!("{name}: {wrong}: {reply}"));
    }
}

#[tokio::test]
async fn a_search_for_one_tool_returns_everything_about_it() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    let found = client.ok("tools-search", json!({ "query": "fs.read" })).await;
    let tools = found["tools"].as_array().unwrap();
    let tool = tools.iter().find(|tool| tool["name"] == "fs-read").unwrap();
    let input = &tool["inputSchema"]["properties"];
    assert!(input["webhook_url"].is_object() && input["path"]["pattern"].is_string(), "{tool}");
    let output = &tool["outputSchema"]["properties"]["output"]["properties"];
    assert!(output["sha256"]["description"].is_string(), "{tool}");
    let others = tools.iter().filter(|tool| tool["name"] != "fs-read");
    assert!(others.into_iter().all(|tool| tool.get("outputSchema").is_none()));
}

#[tokio::test]
async fn searching_finds_tools_by_intent_with_their_schemas() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    for (query, name) in [
        ("upload a file to a form", "browser-upload"),
        ("run a shell command", "session-exec"),
        ("read the console of the page", "browser-console"),
        ("take a picture of the screen", "desktop-screenshot"),
        ("reach my localhost dev server", "forward-add"),
    ] {
        let found = client.ok("tools-search", json!({ "query": query })).await;
        let tools = found["tools"].as_array().unwrap();
        assert!(names(tools).iter().take(3).any(|found| *found == name), "{query}: {tools:?}");
        assert!(tools[0]["inputSchema"]["properties"].is_object());
    }
}

#[tokio::test]
async fn no_search_returns_more_than_a_model_reads_at_once() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    let tools = client.tools().await;
    let names = names(&tools);
    let words = names.iter().flat_map(|name| name.split(['-', '_']));
    let sentences = ["open a web page and read the text", "create a session that I can watch"];
    let queries: BTreeSet<_> = words.chain(names.iter().copied()).chain(sentences).collect();
    assert!(queries.len() > 200, "{queries:?}");
    for query in queries {
        let found = client.call("tools-search", json!({ "query": query })).await;
        assert_ne!(found["isError"], true, "{query}: {found}");
        let text = found["content"].to_string().chars().count();
        let structured = found["structuredContent"].to_string().chars().count();
        let most = if names.contains(&query) { 25_000 } else { 20_000 };
        assert!(text <= most && structured <= most, "{query}: {text} and {structured} characters");
    }
}

#[tokio::test]
async fn every_tool_says_where_it_works_and_what_it_changes() {
    let server = FakeServer::start().await;
    for tool in modern(&server, "ann").tools().await {
        let (name, text) = (tool["name"].as_str().unwrap(), tool["description"].as_str().unwrap());
        assert!(tool["title"].is_string() && tool["annotations"]["readOnlyHint"].is_boolean());
        if ["tools-search", "tool-call", "text-read"].contains(&name) {
            continue;
        }
        let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
        assert!(says(&["Structured, ", "Vision, by pixel, "]), "{name}: {text}");
        assert!(says(&["Chromium", "desktop", "sandbox", "server"]), "{name}: {text}");
        assert!(says(&["VISIBLE", "HEADLESS", "not visible"]), "{name}: {text}");
        let label = &tool["_meta"]["environment"];
        if name.starts_with("desktop-") && !["desktop-vnc_url"].contains(&name) {
            assert!(text.contains("VISIBLE") && label == "linux", "{name}: {label} {text}");
        }
        if IN_NEW_BROWSER.contains(&name) {
            assert!(
                text.contains("new HEADLESS Chromium") && !text.contains("VISIBLE in"),
                "{name}"
            );
        } else if name.starts_with("browser-") {
            assert!(text.contains("HEADLESS") && text.contains("VISIBLE"), "{name}: {text}");
        }
        if name.starts_with("browser-") {
            assert_eq!(label, "browser", "{name}");
        }
        let by_name = ["desktop-find", "desktop-tree", "desktop-verify", "desktop-windows"];
        if by_name.contains(&name)
            || ["assert_text", "assert_el"].iter().any(|it| name.contains(it))
        {
            assert!(!text.contains("by pixel"), "{name}: {text}");
        }
    }
}

#[tokio::test]
async fn a_long_text_is_cut_and_read_on() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    let long: String = ('a'..='z').cycle().take(50_000).collect();
    client.ok("file-write", json!({ "path": "long.txt", "content": long })).await;
    let result = client.call("file-read", json!({ "path": "long.txt" })).await;
    let text = |result: &Value| result["content"][0]["text"].as_str().unwrap().to_owned();
    let mut read = text(&result);
    let mut last = result;
    while let Some(line) =
        last["content"][1]["text"].as_str().filter(|line| line.contains("cursor"))
    {
        let (_, rest) = line.split_once("\"cursor\": \"").unwrap();
        let cursor = rest.split('"').next().unwrap();
        last = client.call("text-read", json!({ "cursor": cursor })).await;
        read.push_str(&text(&last));
    }
    assert_eq!(read, long);
}

#[tokio::test]
async fn a_screenshot_is_a_picture_and_says_where_to_watch() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    let session = session_of(&client.ok("session-create", json!({ "mode": "desktop" })).await);
    let result = client.call("desktop-screenshot", json!({})).await;
    assert_eq!(result["content"][0]["type"], "image");
    assert_eq!(result["content"][0]["mimeType"], "image/png");
    assert!(result["content"].to_string().contains(&format!("/sessions/{session}")));
    let uri = format!("helmdeck://sessions/{session}/screenshot");
    let read = client.request("resources/read", json!({ "uri": uri })).await.result();
    assert!(read["contents"][0]["blob"].is_string());
}

#[tokio::test]
async fn the_ten_resources_can_be_read() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    let list = client.request("resources/list", json!({})).await.result();
    let listed = list["resources"].as_array().unwrap().clone();
    assert_eq!(listed.len(), 10);
    for resource in listed {
        let uri = json!({ "uri": resource["uri"] });
        let read = client.request("resources/read", uri).await.result();
        assert!(!read["contents"][0]["text"].as_str().unwrap().is_empty());
    }
    let missing = client.request("resources/read", json!({ "uri": "helmdeck://nothing" })).await;
    assert_eq!(missing.error()["code"], -32602);
}
