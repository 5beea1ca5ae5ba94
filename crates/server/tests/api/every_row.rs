//! Every row of the operation table, called with a valid request.

use helmdeck_runtime::conformance;
use helmdeck_testkit::{
    Desk,
    fake::{FakeRuntime, FakeServer, Reply, Row},
};
use http::header::CONTENT_TYPE;

/// Rows that need more than a session to succeed: a password, a file, or the result of another
/// call. With the status and code of their reply without it.
const NEEDS_MORE: [(&str, u16, &str); 48] = [
    ("vision_stop", 404, "not_found"),
    ("vision_pause", 404, "not_found"),
    ("vision_resume", 404, "not_found"),
    ("vision_answer", 404, "not_found"),
    ("remove_model_budget", 404, "not_found"),
    ("add_provider_key", 400, "invalid_input"),
    ("test_provider", 400, "invalid_input"),
    ("show_provider_key", 404, "not_found"),
    ("rotate_provider_key", 404, "not_found"),
    ("test_provider_key", 404, "not_found"),
    ("delete_provider_key", 404, "not_found"),
    ("replay_delivery", 404, "not_found"),
    ("show_job", 404, "unknown_job"),
    ("cancel_job", 404, "unknown_job"),
    ("rerun_job", 404, "unknown_job"),
    ("job_events", 404, "unknown_job"),
    ("job_input", 404, "unknown_job"),
    ("show_pack", 404, "unknown_pack"),
    ("run_pack", 404, "unknown_pack"),
    ("show_pack_version", 404, "unknown_pack"),
    ("run_pack_version", 404, "unknown_pack"),
    ("add_grant", 404, "not_found"),
    ("delete_credential", 404, "not_found"),
    ("list_grants", 404, "not_found"),
    ("list_usage", 404, "not_found"),
    ("remove_grant", 404, "not_found"),
    ("rotate_credential", 404, "not_found"),
    ("show_credential", 404, "not_found"),
    ("connect_client", 404, "not_found"),
    ("show_connect_client", 404, "not_found"),
    ("kill_exec", 404, "not_found"),
    ("show_exec", 404, "not_found"),
    ("call_tool", 404, "not_found"),
    ("log_in_by_cookie", 401, "invalid_credentials"),
    ("login", 401, "invalid_credentials"),
    ("delete_artifact", 404, "artifact_not_found"),
    ("download_artifact", 404, "artifact_not_found"),
    ("link_artifact", 404, "artifact_not_found"),
    ("show_artifact", 404, "artifact_not_found"),
    ("add_extension", 400, "invalid_extension"),
    ("show_ended", 404, "not_found"),
    ("read_file", 404, "file_not_found"),
    ("remove_forward", 404, "not_found"),
    ("last_picture", 404, "not_found"),
    ("start_private_sign_in", 409, "not_driving"),
    ("revoke_ticket", 404, "not_found"),
    ("revoke_token", 404, "not_found"),
    ("page_asset", 404, "not_found"),
];

#[tokio::test]
async fn the_fake_runtime_does_what_every_runtime_must() {
    let runtime = std::sync::Arc::new(FakeRuntime::new());
    conformance::check(runtime).await.unwrap();
}

#[tokio::test]
async fn every_row_answers_a_valid_request_as_documented() {
    let many = [("HELMDECK_MAX_SESSIONS", "500"), ("HELMDECK_MAX_SESSIONS_PER_CALLER", "500")];
    let server = FakeServer::start_with(&many).await;
    let mut wrong = Vec::new();
    // The tests of `mcp` cover the door that answers JSON-RPC, and those of `models` the APIs of vendors.
    let others = |id: &str| id.starts_with("mcp") || id.starts_with("v1_");
    let plain = |row: &&Row| row.reply != Reply::Upgrade && !others(&row.id);
    for row in Row::all().iter().filter(plain) {
        let person = server.person();
        let desk = Desk::desktop(&person).await;
        let (path, asked) = row.request(&desk.id);
        let asked = asked.unwrap_or_default();
        let body = if asked.is_null() { Default::default() } else { asked.to_string().into() };
        // Events never end.
        let answer = match row.id.as_str() {
            "events" | "audit_stream" => person.begin(row.method.clone(), &path, &[], body).await,
            _ => person.send(row.method.clone(), &path, &[], body).await,
        };
        let media = answer.headers.get(CONTENT_TYPE).and_then(|media| media.to_str().ok());
        let media = media.unwrap_or_default();
        let is_right = match NEEDS_MORE.iter().find(|(id, ..)| *id == row.id) {
            Some((_, status, code)) => answer.status == *status && answer.json()["error"] == *code,
            None => {
                let documented = match &row.reply {
                    Reply::Json(_) => media == "application/json",
                    Reply::Bytes(types) => types.iter().any(|it| media.starts_with(it.as_str())),
                    Reply::Nothing | Reply::Upgrade => answer.body.is_empty(),
                };
                // The guest receives the request with defaults filled in.
                let said = row.action.as_ref().and_then(|action| {
                    row.answer(server.runtime.guest(&desk.id).bodies(action).last()?)
                });
                let acted = row.action.is_none() || said.is_some() || media != "application/json";
                let unchanged = acted && said.is_none_or(|said| answer.json() == said);
                answer.status == row.status && documented && unchanged
            }
        };
        if !is_right {
            let (status, text) = (answer.status, answer.text());
            wrong.push(format!("{} {path}: {status} {media} {text}", row.id));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
