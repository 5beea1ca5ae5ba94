//! A2A: the agent card and its endpoint, with fake guests.

use helmdeck_testkit::{Client, fake::FakeServer};
use serde_json::{Value, json};

use crate::packs::{echo, headless, sleep};

async fn rpc(client: &Client, method: &str, params: Value) -> Value {
    let request = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
    let reply = client.post("/a2a/v1", &request).await.expect(200).json();
    assert_eq!((&reply["jsonrpc"], &reply["id"]), (&json!("2.0"), &json!(7)), "{reply}");
    reply
}

fn message(skill: &str, input: &Value) -> Value {
    json!({ "message": {
        "messageId": "m1", "role": "ROLE_USER", "parts": [{ "data": input }],
        "metadata": { "skill": skill },
    }})
}

#[tokio::test]
async fn the_agent_card_lists_every_pack_as_a_skill_with_its_schemas() {
    let server = FakeServer::start().await;
    let stranger = server.stranger();
    let answer = stranger.get("/.well-known/agent-card.json").await.expect(200);
    assert!(answer.header("cache-control").contains("max-age"));
    let card = answer.json();
    assert_eq!(stranger.get("/.well-known/agent.json").await.expect(200).json(), card);
    for field in ["name", "description", "version", "url", "protocolVersion"] {
        assert!(card[field].is_string(), "{field}");
    }
    let versions: Vec<_> = card["supportedInterfaces"].as_array().unwrap().iter().collect();
    assert!(
        versions.iter().all(|it| it["protocolBinding"] == "JSONRPC" && it["url"] == card["url"])
    );
    assert_eq!(
        (&versions[0]["protocolVersion"], &versions[1]["protocolVersion"]),
        (&json!("1.0"), &json!("0.3"))
    );
    assert!(card["securitySchemes"]["bearer"]["httpAuthSecurityScheme"].is_object());

    let packs = server.client("ann", "sessions:*").get("/api/v1/packs").await.expect(200).json();
    let skills = card["skills"].as_array().unwrap();
    assert_eq!(skills.len(), packs["packs"].as_array().unwrap().len());
    let fetch = skills.iter().find(|skill| skill["id"] == "repo.fetch").unwrap();
    assert_eq!(fetch["inputSchema"]["properties"]["url"]["type"], "string");
    assert!(fetch["outputSchema"].to_string().contains("clone_path"), "{fetch}");
    assert!(!fetch["tags"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn a_message_runs_a_skill_and_returns_its_task() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    let sent = rpc(&ann, "SendMessage", message("cmd.run", &echo(&session))).await;
    let task = &sent["result"]["task"];
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED", "{sent}");
    assert_eq!(task["artifacts"][0]["parts"][0]["data"]["exit_code"], 0);
    assert_eq!((&task["contextId"], task.get("kind")), (&json!(session), None));
    let got = rpc(&ann, "GetTask", json!({ "id": task["id"] })).await;
    assert_eq!((&got["result"]["id"], &got["result"]["status"]), (&task["id"], &task["status"]));
    let job = ann.get(&format!("/api/v1/jobs/{}", task["id"].as_str().unwrap())).await;
    assert_eq!(job.expect(200).json()["state"], "completed", "tasks are jobs");
}

#[tokio::test]
async fn version_0_3_has_its_own_names_and_kinds() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    let data = json!({ "skill": "cmd.run", "input": echo(&session) });
    let params = json!({ "message": {
        "kind": "message", "messageId": "m1", "role": "user", "parts": [{ "kind": "data", "data": data }],
    }});
    let task = rpc(&ann, "message/send", params).await["result"].clone();
    assert_eq!((&task["kind"], &task["status"]["state"]), (&json!("task"), &json!("completed")));
    let part = &task["artifacts"][0]["parts"][0];
    assert_eq!((&part["kind"], &part["data"]["exit_code"]), (&json!("data"), &json!(0)));
    let got = rpc(&ann, "tasks/get", json!({ "id": task["id"] })).await["result"].clone();
    assert_eq!(got["id"], task["id"]);
}

#[tokio::test]
async fn a_task_that_works_can_be_cancelled_once_and_by_its_owner_only() {
    let server = FakeServer::start().await;
    let (ann, bob) = (server.client("ann", "sessions:*"), server.client("bob", "sessions:*"));
    let session = headless(&ann).await;
    let mut params = message("cmd.run", &sleep(&session));
    params["configuration"] = json!({ "returnImmediately": true });
    let task = rpc(&ann, "SendMessage", params).await["result"]["task"].clone();
    let state = task["status"]["state"].as_str().unwrap();
    assert!(["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"].contains(&state), "{task}");
    let id = json!({ "id": task["id"] });
    for method in ["GetTask", "CancelTask", "tasks/get", "tasks/cancel"] {
        assert_eq!(rpc(&bob, method, id.clone()).await["error"]["code"], -32001, "{method}");
    }
    let cancelled = rpc(&ann, "CancelTask", id.clone()).await;
    assert_eq!(cancelled["result"]["status"]["state"], "TASK_STATE_CANCELED", "{cancelled}");
    assert_eq!(rpc(&ann, "CancelTask", id).await["error"]["code"], -32002);
}

/// The results of a stream.
async fn stream(client: &Client, method: &str, params: Value) -> Vec<Value> {
    let request = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
    let answer = client.post("/a2a/v1", &request).await.expect(200);
    assert_eq!(answer.header("content-type"), "text/event-stream", "{}", answer.text());
    let text = answer.text();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let responses = data.map(|data| serde_json::from_str::<Value>(data).unwrap());
    responses.map(|response| response["result"].clone()).collect()
}

#[tokio::test]
async fn a_task_is_followed_as_a_stream_until_it_ends() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    let new = stream(&ann, "SendStreamingMessage", message("cmd.run", &echo(&session))).await;
    assert!(new[0]["task"]["id"].is_string(), "{new:?}");
    let artifact = &new[new.len() - 2]["artifactUpdate"]["artifact"];
    assert_eq!(artifact["parts"][0]["data"]["exit_code"], 0, "{new:?}");
    let last = &new[new.len() - 1]["statusUpdate"];
    assert_eq!(last["status"]["state"], "TASK_STATE_COMPLETED", "{new:?}");
    assert_eq!((&last["taskId"], last.get("final")), (&new[0]["task"]["id"], None));

    let old = stream(&ann, "message/stream", message("cmd.run", &echo(&session))).await;
    assert_eq!(old[0]["kind"], "task", "{old:?}");
    let last = &old[old.len() - 1];
    assert_eq!((&last["kind"], &last["final"]), (&json!("status-update"), &json!(true)));
    let ended = rpc(&ann, "tasks/resubscribe", json!({ "id": old[0]["id"] })).await;
    assert_eq!(ended["error"]["code"], -32004, "it has ended: {ended}");
}

#[tokio::test]
async fn tasks_of_one_context_share_a_session() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let mut params = message("python.run", &json!({ "code": "print(1)" }));
    params["message"]["contextId"] = json!("chat-1");
    let mut sessions = Vec::new();
    for _ in 0..2 {
        let task = rpc(&ann, "SendMessage", params.clone()).await["result"]["task"].clone();
        assert_eq!(task["contextId"], "chat-1", "{task}");
        sessions.push(task["metadata"]["_session_id"].clone());
    }
    assert!(sessions[0].is_string() && sessions[0] == sessions[1], "{sessions:?}");
    params["message"]["contextId"] = json!("a b");
    assert_eq!(rpc(&ann, "SendMessage", params).await["error"]["code"], -32602);
}

#[tokio::test]
async fn a_failure_of_a_skill_is_a_failed_task_and_wrong_input_an_error() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let failed = rpc(&ann, "SendMessage", message("cmd.run", &echo("sess-none"))).await;
    let status = &failed["result"]["task"]["status"];
    assert_eq!(status["state"], "TASK_STATE_FAILED", "{failed}");
    let text = status["message"]["parts"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("session_unavailable"), "{text}");

    let wrong = rpc(&ann, "SendMessage", message("cmd.run", &json!({ "comand": [] }))).await;
    assert_eq!(wrong["error"]["code"], -32602, "{wrong}");
    assert_eq!(wrong["error"]["data"][0]["metadata"]["field"], "comand");
    let unknown = rpc(&ann, "SendMessage", message("cmd.rum", &json!({}))).await;
    assert!(unknown["error"]["message"].as_str().unwrap().contains("did you mean cmd.run?"));
    for (method, code) in [
        ("ListTasks", -32004),
        ("tasks/pushNotificationConfig/set", -32003),
        ("GetExtendedAgentCard", -32007),
        ("tasks/send", -32601),
    ] {
        assert_eq!(rpc(&ann, method, json!({})).await["error"]["code"], code, "{method}");
    }
}

#[tokio::test]
async fn requests_need_a_token_its_scope_and_a_known_version() {
    let server = FakeServer::start().await;
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage",
        "params": message("python.run", &json!({ "code": "1" })) });
    server.stranger().post("/a2a/v1", &request).await.expect_error(401, "missing_bearer");
    let reader = server.client("ann", "sessions:read");
    reader.post("/a2a/v1", &request).await.expect_error(403, "forbidden");
    let ann = server.client("ann", "sessions:*");
    let body = request.to_string();
    for (version, refused) in [("0.3", false), ("1.0.1", false), ("2.0", true)] {
        let headers = [("a2a-version", version)];
        let answer = ann.send(http::Method::POST, "/a2a/v1", &headers, body.clone().into()).await;
        let code = &answer.expect(200).json()["error"]["code"];
        assert_eq!(*code == -32009, refused, "{version}: {code}");
    }
    for (body, code) in
        [("{", -32700), ("[]", -32600), ("{\"jsonrpc\": \"1.0\", \"method\": \"GetTask\"}", -32600)]
    {
        let answer = ann.send(http::Method::POST, "/a2a/v1", &[], body.into()).await;
        assert_eq!(answer.expect(200).json()["error"]["code"], code, "{body}");
    }
}
