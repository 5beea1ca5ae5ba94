//! Packs, with fake guests.

mod inputs;
mod redaction;
mod workspaces;

use std::time::Duration;

use helmdeck_testkit::{Client, eventually, fake::FakeServer};
use helmdeck_wire::{ErrorBody, ErrorCode};
use serde_json::{Value, json};

use crate::mcp::modern;

const SOON: Duration = Duration::from_secs(20);

/// A headless session.
pub async fn headless(client: &Client) -> String {
    let created = client.post("/api/v1/sessions", &json!({})).await.expect(201).json();
    created["id"].as_str().unwrap().to_owned()
}

/// Input for a command that ends at once.
pub fn echo(session: &str) -> Value {
    json!({ "_session_id": session, "clone_path": "/workspace/app", "command": ["echo", "x"] })
}

/// Input for a command that runs until it is killed.
pub fn sleep(session: &str) -> Value {
    json!({ "_session_id": session, "clone_path": "/workspace/app", "command": ["sleep", "99"] })
}

/// Runs a pack.
pub async fn run(client: &Client, pack: &str, input: &Value) -> Value {
    client.post(&format!("/api/v1/packs/{pack}"), input).await.expect(200).json()
}

#[tokio::test]
async fn packs_are_listed_found_by_intent_and_described_with_schemas() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let listed = ann.get("/api/v1/packs").await.expect(200).json();
    assert_eq!(listed["count"], listed["packs"].as_array().unwrap().len());
    let found = ann.get("/api/v1/packs?search=clone%20repository").await.expect(200).json();
    assert_eq!(found["packs"][0]["name"], "repo.fetch");
    let shown = ann.get("/api/v1/packs/fs.read").await.expect(200).json();
    let fields = &shown["input_schema"]["properties"];
    assert!(fields["path"]["description"].is_string() && fields["_session_id"].is_object());
    assert_eq!(shown["session"], "existing");
    assert_eq!(ann.get("/api/v1/packs/fs.read/v1").await.expect(200).json()["latest"], "v1");
    let message = ann.get("/api/v1/packs/fs.raed").await.expect_error(404, "unknown_pack");
    assert!(message.contains("did you mean fs.read?"), "{message}");
    ann.get("/api/v1/packs/fs.read/v9").await.expect_error(404, "unknown_pack");
}

#[tokio::test]
async fn a_pack_returns_its_output_in_an_envelope_with_its_session() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    for path in ["/api/v1/packs/cmd.run", "/api/v1/packs/cmd.run/v1", "/api/v1/tools/cmd.run"] {
        let job = ann.post(path, &echo(&session)).await.expect(200).json();
        assert_eq!((&job["pack"], &job["version"]), (&json!("cmd.run"), &json!("v1")), "{job}");
        assert_eq!((&job["state"], &job["progress"]), (&json!("completed"), &json!(100)));
        assert_eq!(job["output"]["exit_code"], 0);
        assert_eq!((&job["session_id"], &job["_session_id"]), (&json!(session), &json!(session)));
        assert!(job["duration_ms"].as_u64().unwrap() < 60_000, "milliseconds: {job}");
    }
}

#[tokio::test]
async fn a_pack_that_needs_a_session_says_where_to_get_one() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let input = json!({ "clone_path": "/workspace/app", "path": "README.md" });
    let answer = ann.post("/api/v1/packs/fs.read", &input).await;
    let body = answer.json();
    let message = answer.expect_error(400, "invalid_input");
    assert!(message.contains("pass `_session_id` from the reply of repo.fetch"), "{message}");
    assert_eq!((&body["field"], &body["retryable"]), (&json!("_session_id"), &json!(false)));
}

#[tokio::test]
async fn the_session_of_another_caller_is_not_available() {
    let server = FakeServer::start().await;
    let (ann, bob) = (server.client("ann", "sessions:*"), server.client("bob", "sessions:*"));
    let session = headless(&ann).await;
    let answer = bob.post("/api/v1/packs/cmd.run", &echo(&session)).await;
    assert_eq!(answer.json()["retryable"], false, "it never is");
    answer.expect_error(503, "session_unavailable");
    ann.delete(&format!("/api/v1/sessions/{session}")).await.expect(204);
    let answer = ann.post("/api/v1/packs/cmd.run", &echo(&session)).await;
    assert_eq!(answer.json()["retryable"], false, "it has ended");
    answer.expect_error(503, "session_unavailable");
}

#[tokio::test]
async fn a_call_names_its_session_in_one_way() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    let mut input = echo(&session);
    input["workspace"] = json!("mine");
    let answer = ann.post("/api/v1/packs/cmd.run", &input).await;
    assert_eq!(answer.json()["field"], "workspace");
    answer.expect_error(400, "invalid_input");
}

#[tokio::test]
async fn a_text_is_patched_by_either_name_of_its_fields() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    // The file is "a teh b".
    server.runtime.guest(&session).end_program("fs.patch", 0, "YSB0ZWggYg==", "");
    let patch = |edit: Value| json!({ "_session_id": session, "clone_path": "/workspace/app", "path": "a", "edits": [edit] });
    for edit in [
        json!({ "search": "teh", "replace": "the" }),
        json!({ "oldText": "teh", "newText": "the" }),
    ] {
        assert_eq!(run(&ann, "fs.patch", &patch(edit)).await["output"]["applied"], 1);
    }
    for (edit, field) in [
        (json!({ "search": "teh" }), "edits[0].replace"),
        (json!({ "search": "teh", "oldText": "teh", "newText": "x" }), "edits[0].search"),
    ] {
        let answer = ann.post("/api/v1/packs/fs.patch", &patch(edit)).await;
        assert_eq!(answer.json()["field"], field);
        answer.expect_error(400, "invalid_input");
    }
}

#[tokio::test]
async fn branches_have_the_names_that_git_allows() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    let guest = server.runtime.guest(&session);
    guest.end_program("--end-of-options", 0, "0123abcd\n", "");
    guest.end_program("get-url", 0, "http://127.0.0.1:9/app.git\n", "");
    guest.end_program("git push", 0, "", "");
    let push = |branch: &str| json!({ "_session_id": session, "clone_path": "/workspace/app", "branch": branch });
    for branch in ["renovate/@types/node", "feature/#12", "a+b", "v1.2", "größe"] {
        let output = run(&ann, "repo.push", &push(branch)).await["output"].clone();
        assert_eq!(output["branch"], branch);
    }
    for branch in
        ["-x", ".x", "/x", "a..b", "a b", "a~1", "a^", "a:b", "a?", "a*", "a[b", "a\\b", "a\n"]
    {
        let answer = ann.post("/api/v1/packs/repo.push", &push(branch)).await;
        assert_eq!(answer.json()["field"], "branch", "{branch}");
        answer.expect_error(400, "invalid_input");
        let input = json!({ "url": "https://a.example/b", "ref": branch });
        let answer = ann.post("/api/v1/packs/repo.fetch", &input).await;
        assert_eq!(answer.json()["field"], "ref", "{branch}");
        answer.expect_error(400, "invalid_input");
    }
}

#[tokio::test]
async fn wrong_input_names_the_field_and_runs_nothing() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    for (pack, input, field) in [
        ("fs.read", json!({ "clone_path": "app", "path": "a" }), "clone_path"),
        ("fs.read", json!({ "clone_path": "/a", "path": "/etc/passwd" }), "path"),
        ("fs.read", json!({ "clone_path": "/a", "path": "a", "_sesion_id": "s" }), "_sesion_id"),
        ("repo.fetch", json!({ "url": "file:///etc" }), "url"),
        ("repo.fetch", json!({ "url": "https://a/b", "ref": "--upload-pack=x" }), "ref"),
        ("repo.fetch", json!({ "url": "https://a/b", "credential": "a b" }), "credential"),
        ("repo.push", json!({ "clone_path": "/a", "remote": "--exec=x" }), "remote"),
        ("repo.push", json!({ "clone_path": "/a", "branch": "-x" }), "branch"),
        ("repo.push", json!({ "clone_path": "a" }), "clone_path"),
        ("git.log", json!({ "clone_path": "/a", "count": 0 }), "count"),
        ("python.run", json!({ "code": "1", "wait_s": 46 }), "wait_s"),
    ] {
        let answer = ann.post(&format!("/api/v1/packs/{pack}"), &input).await;
        let body = answer.json();
        assert_eq!((&body["field"], &body["retryable"]), (&json!(field), &json!(false)), "{pack}");
        answer.expect_error(400, "invalid_input");
    }
    let unknown = ann.post("/api/v1/packs/fs.reed", &json!({})).await;
    assert_eq!(unknown.json()["retryable"], false);
    unknown.expect_error(404, "unknown_pack");
    assert_eq!(ann.get("/api/v1/jobs").await.expect(200).json()["count"], 0);
}

#[tokio::test]
async fn a_one_shot_pack_ends_its_session_and_a_workspace_keeps_it() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let job = run(&ann, "python.run", &json!({ "code": "print(1)" })).await;
    assert!(job.get("_session_id").is_none(), "{job}");
    let alive = async || {
        let list = ann.get("/api/v1/sessions").await.expect(200).json();
        let all = list["sessions"].as_array().unwrap().clone();
        all.iter().filter(|it| it["end_reason"].is_null()).count()
    };
    assert_eq!(alive().await, 0);
    let input = json!({ "code": "print(1)", "workspace": "calc" });
    let first = run(&ann, "python.run", &input).await["_session_id"].clone();
    let second = run(&ann, "python.run", &input).await["_session_id"].clone();
    assert!(first.is_string());
    assert_eq!((first, alive().await), (second, 1));
}

#[tokio::test]
async fn code_runs_in_its_language() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    for (pack, program) in [("python.run", "python3"), ("node.run", "node")] {
        let job = run(&ann, pack, &json!({ "_session_id": session, "code": "1" })).await;
        assert_eq!(
            (&job["output"]["runtime"], &job["output"]["exit_code"]),
            (&json!(program), &json!(0))
        );
        let neither = json!({ "_session_id": session });
        let answer = ann.post(&format!("/api/v1/packs/{pack}"), &neither).await;
        answer.expect_error(400, "invalid_input");
    }
    let message = "cwd: \"/workspace/app\" cannot be entered: No such file or directory";
    let refusal = ErrorBody::new(ErrorCode::InvalidInput, message);
    server.runtime.guest(&session).refuse("exec", refusal);
    let input = json!({ "_session_id": session, "code": "1", "cwd": "/workspace/app" });
    let answer = ann.post("/api/v1/packs/python.run", &input).await;
    assert_eq!(answer.json()["field"], "cwd");
    let message = answer.expect_error(400, "invalid_input");
    assert!(message.ends_with("pass its `_session_id`"), "a path of another session: {message}");
}

#[tokio::test]
async fn large_texts_of_packs_are_accepted_at_every_door() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    let input = |bytes: usize| {
        json!({
            "_session_id": session, "clone_path": "/home/agent", "path": "large.txt",
            "content": "x".repeat(bytes),
        })
    };
    let longest = input(8 << 20);
    for path in ["/api/v1/packs/fs.write", "/api/v1/tools/fs.write"] {
        ann.post(path, &longest).await.expect(200);
    }
    modern(&server, "ann").ok("fs-write", longest).await;
    let answer = ann.post("/api/v1/packs/fs.write", &input((8 << 20) + 1)).await;
    let message = answer.expect_error(400, "invalid_input");
    assert!(message.contains("PUT /api/v1/sessions/{id}/files/{path}"), "{message}");
    let answer = ann.post("/api/v1/packs/fs.write", &input(13 << 20)).await;
    assert!(answer.json()["hint"].as_str().unwrap().contains("/api/v1/artifacts/upload"));
    answer.expect_error(413, "payload_too_large");
}

#[tokio::test]
async fn mcp_clients_see_packs_as_tools_and_get_handles_as_tasks() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    let listed = client.tools().await;
    let tool = listed.iter().find(|tool| tool["name"] == "repo-fetch").expect("listed");
    assert!(tool["inputSchema"]["properties"]["url"]["description"].is_string());
    let session = headless(&server.client("ann", "sessions:*")).await;
    let reply = client.ok("cmd-run", echo(&session)).await;
    assert_eq!(reply["output"]["exit_code"], 0, "{reply}");
    let mut input = sleep(&session);
    input["wait_s"] = json!(0);
    let reply = client.call("cmd.run", input).await;
    let task = &reply["_meta"]["modelcontextprotocol.io/related-task"]["taskId"];
    assert!(task.as_str().unwrap().starts_with("pack_job-"), "{reply}");
    let status = client.ok("pack-status", json!({ "job_id": task })).await;
    assert_eq!(status["state"], "working");
}

#[tokio::test]
async fn a_workspace_is_forgotten_after_its_session_has_ended() {
    let mut server = FakeServer::start().await;
    let input = json!({ "code": "print(1)", "workspace": "calc" });
    {
        let ann = server.client("ann", "sessions:*");
        let session = run(&ann, "python.run", &input).await["_session_id"].clone();
        let path = format!("/api/v1/sessions/{}", session.as_str().unwrap());
        ann.delete(&path).await.expect(204);
    }
    server.leave().await;
    server.restart().await;
    let store = helmdeck_store::Store::open_to_read(&server.data_dir()).await.unwrap();
    let forgotten = async || match store.workspace("ann", "calc").await.unwrap() {
        Some(_) => None,
        None => Some(()),
    };
    eventually(SOON, forgotten).await.expect("it is forgotten");
}

#[tokio::test]
async fn a_disabled_pack_says_which_setting_enables_it_and_is_not_offered() {
    let off = [("HELMDECK_EMAIL_ENABLED", "false"), ("HELMDECK_GITHUB_ENABLED", "false")];
    let server = FakeServer::start_with(&off).await;
    let ann = server.client("ann", "sessions:*");
    let client = modern(&server, "ann");
    let tools = client.tools().await;
    let read = client.request("resources/read", json!({ "uri": "helmdeck://packs" })).await;
    let resource = read.result()["contents"][0]["text"].as_str().unwrap().to_owned();
    let resource: Value = serde_json::from_str(&resource).unwrap();
    let email = json!({ "to": "ann@example.com", "subject": "x", "text": "x" });
    let issue = json!({ "repo": "octocat/Hello-World", "issue_number": 1 });
    for (pack, input, phrase) in [
        ("email.send", email, "disabled; set HELMDECK_EMAIL_ENABLED=true"),
        ("github.get_issue", issue, "disabled; set HELMDECK_GITHUB_ENABLED=true"),
    ] {
        let shown = ann.get(&format!("/api/v1/packs/{pack}")).await.expect(200).json();
        assert_eq!(shown["unavailable"], phrase);
        let mcp_name = pack.replace('.', "-");
        assert!(!tools.iter().any(|tool| tool["name"] == mcp_name), "{pack} is not offered");
        let mut listed = resource["packs"].as_array().unwrap().iter();
        let listed = listed.find(|it| it["name"] == mcp_name).expect("it is listed with a reason");
        assert_eq!((&listed["available"], &listed["reason"]), (&json!(false), &json!(phrase)));

        let start = json!({ "pack": pack, "input": input });
        for answer in [
            ann.post(&format!("/api/v1/packs/{pack}"), &input).await,
            ann.post(&format!("/api/v1/packs/{pack}/v1"), &input).await,
            ann.post(&format!("/api/v1/tools/{pack}"), &input).await,
            ann.post("/api/v1/tools/pack.start", &start).await,
        ] {
            assert_eq!(answer.json()["retryable"], false);
            let message = answer.expect_error(409, "not_ready");
            assert!(message.ends_with(phrase), "{message}");
        }
        for (tool, args) in [(mcp_name.as_str(), input), ("pack-start", start)] {
            let refused = client.error(tool, args).await;
            assert!(refused["message"].as_str().unwrap().ends_with(phrase), "{refused}");
        }
    }
    assert_eq!(ann.get("/api/v1/jobs").await.expect(200).json()["count"], 0);
    let others = ann.get("/api/v1/packs/http.fetch").await.expect(200).json();
    assert!(others.get("unavailable").is_none(), "the others stay enabled");
}

#[tokio::test]
async fn a_reader_that_is_disabled_is_refused_before_a_session_starts() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let page = json!({ "url": "https://example.com", "engine": "firecrawl" });
    let document = json!({ "source_b64": "aGk=", "filename": "a.html", "engine": "docling" });
    for (pack, input, phrase) in [
        ("web.scrape", page, "disabled; set HELMDECK_FIRECRAWL_ENABLED=true"),
        ("doc.parse", document, "disabled; set HELMDECK_DOCLING_ENABLED=true"),
    ] {
        let answer = ann.post(&format!("/api/v1/packs/{pack}"), &input).await;
        assert_eq!(answer.json()["field"], "engine");
        let message = answer.expect_error(400, "invalid_input");
        assert!(message.ends_with(phrase), "{message}");
    }
    assert!(server.runtime.guests().is_empty());
}

#[tokio::test]
async fn a_pack_shows_calls_that_its_own_schema_allows() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let shown = ann.get("/api/v1/packs/web.scrape").await.expect(200).json();
    let example = &shown["examples"][0];
    assert!(example["title"].is_string() && example["input"]["url"].is_string(), "{shown}");
    let read = json!({ "uri": "helmdeck://packs/web-scrape" });
    let read = modern(&server, "ann").request("resources/read", read).await.result();
    let pack: Value = serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(pack["examples"], shown["examples"]);
    assert_eq!(pack["outputSchema"], shown["output_schema"], "resources have the whole schema");
}
