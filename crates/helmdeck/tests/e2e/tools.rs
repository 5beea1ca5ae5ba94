//! Every tool by path, by name, and on the command line, with a fake guest.

use std::{
    io::Write,
    process::{Command, Output, Stdio},
};

use helmdeck_server::{Operation, operations};
use helmdeck_testkit::{
    Desk, binary,
    fake::{FakeServer, Row},
};
use serde_json::{Value, json};

/// Fields that differ between calls.
const VOLATILE: [&str; 24] = [
    "began_at",
    "run_id",
    "count",
    "entries",
    "updated_at",
    "key_version",
    "last_used_at",
    "token",
    "id",
    "container_id",
    "created_at",
    "fetched_at",
    "from",
    "expires_at",
    "idle_ends_at",
    "ended_at",
    "timings",
    "ticket",
    "since",
    "resources",
    "exec_id",
    "duration_ms",
    "started_at",
    "sessions",
];

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_gives_the_same_reply_by_path_by_name_and_on_the_command_line() {
    let many = [("HELMDECK_MAX_SESSIONS", "500"), ("HELMDECK_MAX_SESSIONS_PER_CALLER", "500")];
    let server = FakeServer::start_with(&many).await;
    let token = server.person_token("admin", "admin");
    let person = server.bearer(token.clone());
    let url = format!("http://{}", server.address);
    let mut called = 0;
    for operation in operations() {
        let Some(tool) = operation.tool() else { continue };
        // The audit log has more rows at every call, the second name is the pack's, and a budget is
        // removed once.
        if ["audit.export", "browser.interact", "model.budget_remove"].contains(&tool.name.as_str())
        {
            continue;
        }
        let row = Row::all().iter().find(|row| row.id == operation.id).expect("it is documented");

        let desk = Desk::desktop(&person).await;
        let (path, body) = row.request(&desk.id);
        let body = body.filter(|body| !body.is_null());
        let text = body.as_ref().map(Value::to_string).unwrap_or_default();
        let by_path = person.send(row.method.clone(), &path, &[], text.into()).await;
        let by_path = answer(by_path.status < 400, &by_path.body, &desk.id);

        let desk = Desk::desktop(&person).await;
        let args = arguments(&operation, row, &desk.id);
        let by_name = person.post(&format!("/api/v1/tools/{}", tool.name), &args).await;
        let by_name = answer(by_name.status < 400, &by_name.body, &desk.id);
        assert_eq!(by_name, by_path, "{} by its name", tool.name);

        let desk = Desk::desktop(&person).await;
        let args = arguments(&operation, row, &desk.id);
        let done = helmdeck(&url, &token, &["call", &tool.name, "--json", "-"], &args.to_string());
        if done.status.success() {
            let on_line = answer(true, &done.stdout, &desk.id);
            assert_eq!(on_line, by_path, "{} on the command line", tool.name);
        } else {
            let code = by_path["error"].as_str().unwrap_or("no error");
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            assert!(said.contains(&format!("({code})")), "{}: {said}", tool.name);
        }
        called += 1;
    }
    assert!(called > 70, "{called}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_lists_tools_converts_arguments_and_reports_errors() {
    let server = FakeServer::start().await;
    let token = server.token("agent", "sessions:*");
    let url = format!("http://{}", server.address);
    let run = |args: &[&str]| helmdeck(&url, &token, args, "");
    let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();

    let created = run(&["session", "create", "--desktop", "--label", "my desk", "max_tasks=0"]);
    let id = text(&created).trim().to_owned();
    assert!(id.starts_with("sess-"), "{created:?}");
    let listed = text(&run(&["session", "list"]));
    assert!(listed.contains(&id) && listed.contains("my desk"), "{listed}");

    let named = format!("session_id={id}");
    let clicked = run(&["call", "desktop.click", &named, "x=10", "y=20", "button=right"]);
    assert!(text(&clicked).contains("\"x\": 10"), "{clicked:?}");
    let wrong = run(&["call", "desktop.click", &named, "x=10", "y=20", "button=upper"]);
    let said = String::from_utf8_lossy(&wrong.stderr);
    assert!(!wrong.status.success() && said.contains("expected left, middle"), "{said}");

    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("screen.png");
    let shot = run(&["call", "desktop.screenshot", &named, "--output", file.to_str().unwrap()]);
    assert!(shot.status.success(), "{shot:?}");
    assert!(std::fs::read(&file).unwrap().starts_with(b"\x89PNG"));

    let found = text(&run(&["tools", "--search", "triple"]));
    assert!(found.contains("desktop.triple_click"), "{found}");
    // Names before descriptions.
    let found = text(&run(&["tools", "--search", "click"]));
    let place = |row: &str| found.find(row).expect(&found);
    assert!(place("\ndesktop.click ") < place("\ndesktop.zoom "), "{found}");
    let unknown = run(&["call", "desktop.clik", &named]);
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("helmdeck tools"), "{unknown:?}");
    // Tools that an agent may not call are not listed.
    assert!(!text(&run(&["tools"])).contains("settings.change"));

    assert!(run(&["session", "end", &id]).status.success());
    assert!(text(&run(&["session", "list"])).contains("No sessions"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_is_stored_for_this_user_only_and_can_be_deleted() {
    use std::os::unix::fs::PermissionsExt;
    let server = FakeServer::start().await;
    let token = server.token("agent", "sessions:*");
    let url = format!("http://{}", server.address);
    let home = tempfile::tempdir().unwrap();
    let run = |args: &[&str], input: &str| {
        let mut command = Command::new(binary());
        command.args(args).env("HOME", home.path()).env_remove("XDG_CONFIG_HOME");
        command.env_remove("HELMDECK_URL").env_remove("HELMDECK_TOKEN");
        fed(command, input)
    };
    let logged_in = run(&["login", &url, "--token-stdin"], &token);
    assert!(logged_in.status.success(), "{logged_in:?}");
    let file = home.path().join(".config/helmdeck/login.json");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let listed = run(&["session", "list"], "");
    assert!(String::from_utf8_lossy(&listed.stdout).contains("No sessions"), "{listed:?}");
    assert!(!run(&["login", &url, "--token-stdin"], "not a token").status.success());
    assert!(run(&["logout"], "").status.success());
    assert!(!file.exists());
}

fn helmdeck(url: &str, token: &str, args: &[&str], input: &str) -> Output {
    let mut command = Command::new(binary());
    command.args(args).env("HELMDECK_URL", url).env("HELMDECK_TOKEN", token);
    fed(command, input)
}

fn fed(mut command: Command, input: &str) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

/// The arguments that correspond to the request of a row.
fn arguments(operation: &Operation, row: &Row, session: &str) -> Value {
    let (path, body) = row.request(session);
    let tool = operation.tool().unwrap();
    let schema = tool.schema().unwrap_or_else(|_| panic!("{}", tool.name));
    let mut args = body.and_then(|body| body.as_object().cloned()).unwrap_or_default();
    let (path, query) = path.split_once('?').unwrap_or((&path, ""));
    for (name, value) in operation.path.split('/').zip(path.split('/')) {
        let Some(name) = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')) else {
            continue;
        };
        let name = name.trim_start_matches('*');
        let field = if name == "id" && tool.of_session { "session_id" } else { name };
        args.insert(field.to_owned(), schema.coerce(field, value));
    }
    for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        args.insert(name.to_owned(), schema.coerce(name, value));
    }
    if schema.field("content_base64").is_some() && !args.contains_key("content_base64") {
        args.insert("content_base64".to_owned(), json!(""));
    }
    Value::Object(args)
}

/// The reply without fields that differ between calls.
fn answer(success: bool, body: &[u8], session: &str) -> Value {
    match serde_json::from_slice::<Value>(body) {
        Ok(mut value) => {
            settle(&mut value, session);
            if !success {
                return json!({ "error": value["error"] });
            }
            value
        }
        Err(_) => json!({ "bytes": body.len() }),
    }
}

fn settle(value: &mut Value, session: &str) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                if VOLATILE.contains(&name.as_str()) {
                    *value = json!("•");
                } else {
                    settle(value, session);
                }
            }
            // A reply about a new session contains its id in many places.
            fields.retain(|name, _| name != "url" && name != "cdp_url");
        }
        Value::Array(items) => items.iter_mut().for_each(|item| settle(item, session)),
        Value::String(text) => *text = text.replace(session, "•"),
        _ => {}
    }
}
