//! Jobs as tasks, in both generations of the protocol.

use std::time::Duration;

use helmdeck_testkit::{eventually, fake::FakeServer};
use serde_json::{Value, json};

use super::{client::McpClient, legacy, modern};
use crate::packs::{echo, headless, sleep};

const SOON: Duration = Duration::from_secs(20);

fn at_once(mut input: Value) -> Value {
    input["wait_s"] = json!(0);
    input
}

/// The handle of a reply to an older client.
fn task_of(reply: &Value) -> String {
    let task = &reply["_meta"]["modelcontextprotocol.io/related-task"]["taskId"];
    task.as_str().unwrap_or_else(|| panic!("{reply}")).to_owned()
}

async fn get(client: &McpClient, task: &str) -> Value {
    client.request("tasks/get", json!({ "taskId": task })).await.result()
}

#[tokio::test]
async fn a_client_with_the_extension_gets_a_task_and_finds_the_reply_in_it() {
    let server = FakeServer::start().await;
    let session = headless(&server.client("ann", "sessions:*")).await;
    let client = modern(&server, "ann").with_tasks();
    let quick = client.call("cmd-run", echo(&session)).await;
    assert_eq!(quick["structuredContent"]["state"], "completed", "no task is needed: {quick}");

    let task = client.call("cmd-run", at_once(echo(&session))).await;
    assert_eq!(
        (&task["resultType"], &task["status"]),
        (&json!("task"), &json!("working")),
        "{task}"
    );
    let id = task["taskId"].as_str().unwrap();
    let ended = async || Some(get(&client, id).await).filter(|task| task["status"] != "working");
    let task = eventually(SOON, ended).await.expect("it ends");
    assert_eq!((&task["resultType"], &task["status"]), (&json!("complete"), &json!("completed")));
    assert_eq!(task["result"]["structuredContent"]["output"]["exit_code"], 0, "{task}");
    assert!(task["ttlMs"].as_u64().unwrap() > 86_000_000);
    assert_eq!(get(&client, id).await["status"], "completed", "it can be read again");
}

#[tokio::test]
async fn an_error_of_a_pack_is_a_completed_task_whose_reply_is_an_error() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann").with_tasks();
    let input = at_once(echo("sess-none"));
    let task = client.call("cmd-run", input).await;
    let id = task["taskId"].as_str().unwrap_or_else(|| panic!("{task}"));
    let ended = async || Some(get(&client, id).await).filter(|task| task["status"] != "working");
    let task = eventually(SOON, ended).await.expect("it ends");
    assert_eq!((&task["status"], &task["result"]["isError"]), (&json!("completed"), &json!(true)));
    assert_eq!(task["result"]["_meta"]["error"]["error"], "session_unavailable");
}

#[tokio::test]
async fn a_task_is_cancelled_by_its_owner_only() {
    let server = FakeServer::start().await;
    let session = headless(&server.client("ann", "sessions:*")).await;
    let (ann, bob) = (modern(&server, "ann").with_tasks(), modern(&server, "bob").with_tasks());
    let task = ann.call("cmd-run", at_once(sleep(&session))).await;
    let id = json!({ "taskId": task["taskId"] });
    for method in ["tasks/get", "tasks/cancel"] {
        assert_eq!(bob.request(method, id.clone()).await.error()["code"], -32602, "{method}");
    }
    let update = json!({ "taskId": task["taskId"], "inputResponses": {} });
    ann.request("tasks/update", update).await.result();
    let acknowledged = ann.request("tasks/cancel", id.clone()).await.result();
    assert_eq!(acknowledged["resultType"], "complete");
    assert_eq!(ann.request("tasks/get", id).await.result()["status"], "cancelled");
}

#[tokio::test]
async fn a_client_that_does_not_declare_tasks_gets_a_handle_and_no_task() {
    let server = FakeServer::start().await;
    let session = headless(&server.client("ann", "sessions:*")).await;
    let client = modern(&server, "ann");
    let reply = client.call("cmd-run", at_once(sleep(&session))).await;
    assert_eq!(reply["structuredContent"]["state"], "working");
    let id = json!({ "taskId": task_of(&reply) });
    // The protocol's error for a missing capability.
    assert_eq!(client.request("tasks/get", id.clone()).await.error()["code"], -32021);
    assert_eq!(client.request("tasks/list", json!({})).await.error()["code"], -32601);
    assert_eq!(client.request("tasks/result", id).await.error()["code"], -32601);
}

#[tokio::test]
async fn an_older_client_asks_for_the_task_of_a_handle() {
    let server = FakeServer::start().await;
    let session = headless(&server.client("ann", "sessions:*")).await;
    let client = legacy(&server, "ann").await;
    let done = task_of(&client.call("cmd-run", at_once(echo(&session))).await);
    let result = client.request("tasks/result", json!({ "taskId": done })).await.result();
    assert_eq!(result["structuredContent"]["output"]["exit_code"], 0, "{result}");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/related-task"]["taskId"], done);
    let task = get(&client, &done).await;
    assert_eq!((&task["status"], &task["progress"]), (&json!("completed"), &json!(100)), "{task}");
    assert_eq!(task["result"]["structuredContent"]["output"]["exit_code"], 0);
    assert!(task["ttl"].is_u64() && task["pollInterval"].is_u64(), "{task}");

    let running = task_of(&client.call("cmd-run", at_once(sleep(&session))).await);
    let task = get(&client, &running).await;
    assert_eq!((&task["status"], &task["ttl"]), (&json!("working"), &Value::Null), "{task}");
    let listed = client.request("tasks/list", json!({})).await.result();
    let ids: Vec<_> = listed["tasks"].as_array().unwrap().iter().map(|it| &it["taskId"]).collect();
    assert_eq!(ids, [&json!(running), &json!(done)]);

    let other = legacy(&server, "bob").await;
    let unknown = other.request("tasks/get", json!({ "taskId": running })).await;
    assert_eq!(unknown.error()["code"], -32602);
    let cancelled = client.request("tasks/cancel", json!({ "taskId": running })).await.result();
    assert_eq!(cancelled["status"], "cancelled", "{cancelled}");
    let again = client.request("tasks/cancel", json!({ "taskId": running })).await;
    assert_eq!(again.error()["code"], -32602, "an ended task cannot be cancelled");
}

#[tokio::test]
async fn the_extension_is_declared() {
    let server = FakeServer::start().await;
    let declared = modern(&server, "ann").request("server/discover", json!({})).await.result();
    let extension = &declared["capabilities"]["extensions"]["io.modelcontextprotocol/tasks"];
    assert!(extension.is_object(), "{declared}");
}
