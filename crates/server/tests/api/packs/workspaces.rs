//! Sessions that calls share by the name of a workspace.

use std::time::Duration;

use helmdeck_testkit::{Client, eventually, fake::FakeServer};
use helmdeck_wire::guest::Progress;
use serde_json::{Value, json};

const SOON: Duration = Duration::from_secs(20);

/// Starts two calls with the same new name, and returns their jobs.
async fn two_calls(client: &Client) -> Vec<String> {
    let input = json!({ "code": "print(1)", "workspace": "calc", "wait_s": 0 });
    let mut jobs = Vec::new();
    for _ in 0..2 {
        let job = client.post("/api/v1/packs/python.run", &input).await.expect(202).json();
        jobs.push(format!("/api/v1/jobs/{}", job["job_id"].as_str().unwrap()));
    }
    for job in &jobs {
        let began = async || {
            let shown = client.get(job).await.expect(200).json();
            (shown["message"] != "waiting for its turn").then_some(())
        };
        eventually(SOON, began).await.expect("it begins");
    }
    jobs
}

async fn ended(client: &Client, job: &str) -> Value {
    client.get(&format!("{job}?wait_s=20")).await.expect(200).json()
}

#[tokio::test]
async fn parallel_first_calls_of_a_workspace_share_one_session() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    server.runtime.never_ready();
    let jobs = two_calls(&ann).await;
    let started = async || server.runtime.guests().pop();
    let guest = eventually(SOON, started).await.expect("a session starts");
    guest.report(Progress::Ready);
    for job in &jobs {
        let job = ended(&ann, job).await;
        assert_eq!(job["state"], "completed", "{job}");
        assert_eq!(job["session_id"], guest.id(), "{job}");
    }
    assert_eq!(server.runtime.guests().len(), 1);
}

#[tokio::test]
async fn a_call_that_cannot_create_a_workspace_does_not_stop_the_next_one() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    server.runtime.refuse_starts("the machine is full");
    for job in two_calls(&ann).await {
        let job = ended(&ann, &job).await;
        assert_eq!(job["state"], "failed", "{job}");
    }
}
