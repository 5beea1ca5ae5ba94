//! Every tool through every door, with a fake guest: the replies are equal.

use std::collections::BTreeSet;

use helmdeck_server::{Operation, operations};
use helmdeck_testkit::{
    Client, Desk,
    fake::{FakeServer, Row},
};
use http::Method;
use serde_json::{Map, Value, json};

use crate::tools::helmdeck;

/// The first two have more rows at every call, and the third is a pack if it is called by its name.
const LEFT_OUT: [&str; 3] = ["audit.export", "audit.list", "browser.interact"];
/// Tools that need more than the subject of a call, with the code of their refusal and what they need. All
/// others succeed.
const REFUSED: [(&str, &str, &str); 24] = [
    ("artifacts.link", "artifact_not_found", "an artifact of the name in the body"),
    ("connect.create", "not_found", "a known client"),
    ("connect.show", "not_found", "a known client"),
    ("extension.add", "invalid_extension", "a zip archive with a manifest"),
    ("file.read", "file_not_found", "a file"),
    ("forward.remove", "not_found", "a forwarded port"),
    ("pack.show", "unknown_pack", "a known pack"),
    ("private_sign_in.start", "not_driving", "control of the session"),
    ("provider.key_add", "invalid_input", "a known provider"),
    ("provider.key_delete", "not_found", "a key"),
    ("provider.key_rotate", "not_found", "a key"),
    ("provider.key_show", "not_found", "a key"),
    ("provider.key_test", "not_found", "a key"),
    ("provider.test", "invalid_input", "a known provider"),
    ("session.last_picture", "not_found", "a session that has ended"),
    ("session.show_ended", "not_found", "a session that has ended"),
    ("ticket.revoke", "not_found", "a ticket"),
    ("token.revoke", "not_found", "a token"),
    ("vault.grant_remove", "not_found", "a grant"),
    ("vision.answer", "not_found", "a run of vision"),
    ("vision.pause", "not_found", "a run of vision"),
    ("vision.resume", "not_found", "a run of vision"),
    ("vision.stop", "not_found", "a run of vision"),
    ("webhook.replay", "not_found", "a delivery"),
];
/// Fields that hold measurements, or times as numbers.
const MEASURED: [&str; 2] = ["resources", "timings"];

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_gives_the_same_reply_by_path_by_name_in_process_and_on_the_command_line() {
    let many = [("HELMDECK_MAX_SESSIONS", "500"), ("HELMDECK_MAX_SESSIONS_PER_CALLER", "500")];
    let server = FakeServer::start_with(&many).await;
    let token = server.person_token("admin", "admin");
    let person = server.bearer(token.clone());
    let url = format!("http://{}", server.address);
    let (mut wrong, mut called) = (Vec::new(), BTreeSet::new());
    for operation in operations() {
        let Some(tool) = operation.tool().filter(|it| !LEFT_OUT.contains(&it.name.as_str())) else {
            continue;
        };
        let row = Row::all().iter().find(|row| row.id == operation.id).expect("it is documented");

        called.insert(tool.name.clone());
        let refusal = REFUSED.iter().find(|(name, ..)| *name == tool.name);

        let (succeeds, one) = by_path(&person, row).await;
        let (succeeds_again, other) = by_path(&person, row).await;
        let mut volatile = BTreeSet::new();
        differences(&one, &other, "", &mut volatile);
        let mut check = |door: &str, success: bool, reply: &Value| {
            let is_expected = match refusal {
                Some((_, code, _)) => !success && reply["error"] == *code,
                None => success,
            };
            if !is_expected {
                wrong.push(format!("{} {door}: expected {refusal:?}: {reply}", tool.name));
            }
            let mut found = BTreeSet::new();
            differences(&one, reply, "", &mut found);
            found.retain(|place| !volatile.iter().any(|it| contains(it, place)));
            if !found.is_empty() {
                wrong.push(format!("{} {door}: {found:?}\n{one}\n{reply}", tool.name));
            }
        };
        check("by path", succeeds, &one);
        check("by path again", succeeds_again, &other);

        let subject = Subject::create(&person, &row.id).await;
        let args = Value::Object(arguments(&operation, row, &subject));
        let reply = person.post(&format!("/api/v1/tools/{}", tool.name), &args).await;
        let success = reply.status < 400;
        check("by its name", success, &answer(success, &reply.body, &subject));
        subject.end(&person).await;

        let subject = Subject::create(&person, &row.id).await;
        let args = arguments(&operation, row, &subject);
        let (success, reply) = match server.in_process().call(tool, &token, args).await {
            Ok(body) => (true, answer(true, &body, &subject)),
            Err(body) => (false, answer(false, &serde_json::to_vec(&body).unwrap(), &subject)),
        };
        check("in process", success, &reply);
        subject.end(&person).await;

        let subject = Subject::create(&person, &row.id).await;
        let args = Value::Object(arguments(&operation, row, &subject)).to_string();
        let done = helmdeck(&url, &token, &["call", &tool.name, "--json", "-"], &args);
        if done.status.success() {
            check("on the command line", true, &answer(true, &done.stdout, &subject));
        } else {
            let code = format!("({})", one["error"].as_str().unwrap_or("no error"));
            let said = String::from_utf8_lossy(&done.stderr);
            if !said.contains(&code) {
                wrong.push(format!("{} on the command line: {said}", tool.name));
            }
        }
        subject.end(&person).await;
    }
    for (name, ..) in REFUSED.iter().filter(|(name, ..)| !called.contains(*name)) {
        wrong.push(format!("{name} is no tool, or is left out"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a call is about: a session, and what else the path names.
struct Subject<'a> {
    desk: Desk<'a>,
    /// In place of `{id}`.
    id: String,
    /// In place of other parameters.
    other: String,
}

impl<'a> Subject<'a> {
    async fn create(person: &'a Client, operation: &str) -> Self {
        let desk = Desk::desktop(person).await;
        let (mut id, mut other) = (desk.id.clone(), "sample".to_owned());
        let text = |reply: &Value, field: &str| reply[field].as_str().unwrap().to_owned();
        match operation {
            "show_exec" | "kill_exec" => other = "exec-fake".to_owned(),
            "remove_model_budget" => {
                let path = "/api/v1/models/budgets/sample";
                let budget = json!({ "daily_tokens": 5 });
                person.send(Method::PUT, path, &[], budget.to_string().into()).await.expect(200);
            }
            "show_artifact" | "delete_artifact" => {
                let path = "/api/v1/artifacts/upload?filename=a.txt";
                let headers = [("content-type", "text/plain")];
                let made = person.send(Method::POST, path, &headers, "hello".into()).await;
                other = text(&made.expect(201).json(), "artifact_key");
            }
            "show_credential" | "rotate_credential" | "delete_credential" | "list_grants"
            | "add_grant" | "remove_grant" | "list_usage" => {
                let made = json!({ "name": desk.id, "type": "api_key",
                    "host_pattern": "a.example", "value": "a secret" });
                let made = person.post("/api/v1/vault/credentials", &made).await.expect(201);
                id = text(&made.json(), "id");
                if operation == "remove_grant" {
                    let grant = json!({ "subject": "sample" });
                    let path = format!("/api/v1/vault/credentials/{id}/grants");
                    person.post(&path, &grant).await;
                }
            }
            "show_job" | "cancel_job" | "rerun_job" => {
                let path = "/workspace/app";
                let input =
                    json!({ "_session_id": desk.id, "clone_path": path, "command": ["true"] });
                let made = person.post("/api/v1/packs/cmd.run", &input).await.expect(200).json();
                other = text(&made, "job_id");
            }
            _ => {}
        }
        Self { desk, id, other }
    }

    /// The row's request.
    fn request(&self, row: &Row) -> (String, Option<Value>) {
        let (path, body) = row.request(&self.id);
        let path = path.replace("/sample", &format!("/{}", self.other));
        (path, body.filter(|body| !body.is_null()))
    }

    async fn end(&self, person: &Client) {
        // A call may have ended it.
        person.delete(&format!("/api/v1/sessions/{}", self.desk.id)).await;
    }
}

/// Whether the call succeeds, and its reply.
async fn by_path(person: &Client, row: &Row) -> (bool, Value) {
    let subject = Subject::create(person, &row.id).await;
    let (path, body) = subject.request(row);
    let text = body.as_ref().map(Value::to_string).unwrap_or_default();
    let reply = person.send(row.method.clone(), &path, &[], text.into()).await;
    let success = reply.status < 400;
    let answer = answer(success, &reply.body, &subject);
    subject.end(person).await;
    (success, answer)
}

/// The arguments that correspond to the request of a row.
fn arguments(operation: &Operation, row: &Row, subject: &Subject<'_>) -> Map<String, Value> {
    let (path, body) = subject.request(row);
    let tool = operation.tool().unwrap();
    let schema = tool.schema().unwrap_or_else(|_| panic!("{}", tool.name));
    let mut args = body.and_then(|body| body.as_object().cloned()).unwrap_or_default();
    let (path, query) = path.split_once('?').unwrap_or((&path, ""));
    let parts: Vec<_> = path.split('/').collect();
    for (at, name) in operation.path.split('/').enumerate() {
        let Some(name) = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')) else {
            continue;
        };
        // Only the last name may stand for several parts.
        let (name, value) = match name.strip_prefix('*') {
            Some(name) => (name, parts[at..].join("/")),
            None => (name, parts[at].to_owned()),
        };
        let field = if name == "id" && tool.of_session { "session_id" } else { name };
        args.insert(field.to_owned(), schema.coerce(field, &value));
    }
    for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        args.insert(name.to_owned(), schema.coerce(name, value));
    }
    if schema.field("content_base64").is_some() && !args.contains_key("content_base64") {
        args.insert("content_base64".to_owned(), json!(""));
    }
    args
}

/// A reply in which ids of what it is about are replaced. Of an error, what programs read.
fn answer(success: bool, body: &[u8], subject: &Subject<'_>) -> Value {
    let Ok(text) = std::str::from_utf8(body) else { return json!({ "bytes": body }) };
    let text = text.replace(&subject.desk.id, "•").replace(&subject.id, "•");
    match serde_json::from_str::<Value>(&text) {
        Ok(value) if success => value,
        Ok(value) => json!({ "error": value["error"], "field": value["field"] }),
        Err(_) => json!({ "text": text }),
    }
}

/// Where two replies differ, other than in times. Items of a list count as one place.
fn differences(one: &Value, other: &Value, place: &str, found: &mut BTreeSet<String>) {
    let name = place.rsplit('.').next().unwrap_or_default();
    let is_time = ["_at", "_ms", "_s"].iter().any(|end| name.ends_with(end));
    if is_time || MEASURED.contains(&name) {
        return;
    }
    match (one, other) {
        (Value::Object(a), Value::Object(b)) => {
            for name in a.keys().chain(b.keys()).collect::<BTreeSet<_>>() {
                let (a, b) = (a.get(name), b.get(name));
                let (a, b) = (a.unwrap_or(&Value::Null), b.unwrap_or(&Value::Null));
                differences(a, b, &format!("{place}.{name}"), found);
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            if a.len() != b.len() {
                found.insert(format!("{place}.length"));
            }
            for (a, b) in a.iter().zip(b) {
                differences(a, b, &format!("{place}.[]"), found);
            }
        }
        (Value::String(a), Value::String(b)) if is_timestamp(a) && is_timestamp(b) => {}
        _ if one == other => {}
        _ => {
            found.insert(place.to_owned());
        }
    }
}

/// Whether a place is another, or within it.
fn contains(outer: &str, place: &str) -> bool {
    place.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Such as `2026-01-02T03:04:05Z`.
fn is_timestamp(text: &str) -> bool {
    text.len() >= 20 && text.ends_with('Z') && text.get(10..11) == Some("T")
}
