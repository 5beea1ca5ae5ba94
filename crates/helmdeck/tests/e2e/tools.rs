//! Tools on the command line, with a fake guest.

use std::{
    io::Write,
    process::{Command, Output, Stdio},
    time::Duration,
};

use helmdeck_testkit::{binary, eventually, fake::FakeServer};
use secrecy::ExposeSecret;
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_lists_tools_converts_arguments_and_reports_errors() {
    let server = FakeServer::start().await;
    let token = server.token("agent", "sessions:*");
    let url = format!("http://{}", server.address);
    let run = |args: &[&str]| helmdeck(&url, &token, args, "");

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
async fn a_program_in_a_session_has_the_input_output_and_exit_code_of_the_command() {
    let server = FakeServer::start().await;
    let token = server.token("agent", "sessions:*");
    let url = format!("http://{}", server.address);
    let id = text(&helmdeck(&url, &token, &["session", "create"], "")).trim().to_owned();
    server.runtime.guest(&id).end_program("false", 7, "so far\n", "no\n");
    let exec = |args: &[&str], input: &str| {
        helmdeck(&url, &token, &[&["session", "exec", &id], args].concat(), input)
    };
    let failed = exec(&["--timeout", "9", "--cwd", "/tmp", "--", "false"], "not read");
    assert_eq!((failed.status.code(), text(&failed).as_str()), (Some(7), "so far\n"));
    assert_eq!(failed.stderr, b"no\n");
    let fed = exec(&["--interactive", "--", "cat", "-n"], "hello\n");
    assert_eq!((fed.status.code(), text(&fed).as_str()), (Some(0), "done\n"), "{fed:?}");
    let whole: Value = serde_json::from_str(&text(&exec(&["--json", "--", "true"], ""))).unwrap();
    assert_eq!((&whole["exit_code"], &whole["stdout"]), (&json!(0), &json!("done\n")));
    let failed = exec(&["--json", "--", "false"], "");
    assert_eq!(failed.status.code(), Some(7));
    assert_eq!(serde_json::from_str::<Value>(&text(&failed)).unwrap()["exit_code"], 7);
    let asked = server.runtime.guest(&id).started();
    assert_eq!((asked[0].timeout_s, asked[0].cwd.as_deref()), (9, Some("/tmp")));
    assert_eq!((&asked[0].stdin, asked[1].stdin.as_deref()), (&None, Some("hello\n")));

    let shown: Value =
        serde_json::from_str(&text(&helmdeck(&url, &token, &["session", "show", &id], "")))
            .unwrap();
    assert_eq!(shown["id"], json!(id));
    let none = helmdeck(&url, &token, &["session", "exec", "sess-none", "--", "true"], "");
    let said = String::from_utf8_lossy(&none.stderr).into_owned();
    assert!(!none.status.success() && said.contains("session sess-none does not exist"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_opened_tools_are_listed_as_json_and_commands_are_completed() {
    use std::os::unix::fs::PermissionsExt;
    let server = FakeServer::start().await;
    let token = server.token("agent", "sessions:*");
    let url = format!("http://{}", server.address);
    let id = text(&helmdeck(&url, &token, &["session", "create"], "")).trim().to_owned();

    let folder = tempfile::tempdir().unwrap();
    let opener = folder.path().join("xdg-open");
    std::fs::write(&opener, "#!/bin/sh\nexec printf '%s' \"$1\" > \"$(dirname \"$0\")/opened\"\n")
        .unwrap();
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(binary());
    command.args(["session", "open", &id]).env("HELMDECK_URL", &url).env("HELMDECK_TOKEN", &token);
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", folder.path().display()));
    let page = format!("{url}/sessions/{id}");
    assert_eq!(text(&fed(command, "")).trim(), page);
    let opened = async || {
        let opened = std::fs::read_to_string(folder.path().join("opened")).unwrap_or_default();
        (opened == page).then_some(())
    };
    eventually(Duration::from_secs(10), opened).await.expect("the page is opened");

    let listed = helmdeck(&url, &token, &["tools", "--json", "--search", "triple"], "");
    let listed: Value = serde_json::from_str(&text(&listed)).unwrap();
    let click = listed["tools"].as_array().unwrap().iter();
    let click = click.clone().find(|tool| tool["name"] == "desktop.triple_click").unwrap();
    assert!(click["input_schema"]["properties"]["x"].is_object(), "{click}");
    for shell in ["bash", "zsh", "fish"] {
        let script = text(&helmdeck(&url, &token, &["completion", shell], ""));
        assert!(script.contains("forward") && script.contains("interactive"), "{shell}");
    }
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

    let admin = server.new_admin.as_ref().unwrap();
    assert!(!run(&["login", &url], "not the password").status.success());
    let by_password = run(&["login", &url], admin.password.expose_secret());
    assert!(by_password.status.success(), "{by_password:?}");
    assert!(text(&run(&["session", "list"], "")).contains("No sessions"));
}

/// Runs the program with an address, a token and an input.
pub fn helmdeck(url: &str, token: &str, args: &[&str], input: &str) -> Output {
    let mut command = Command::new(binary());
    command.args(args).env("HELMDECK_URL", url).env("HELMDECK_TOKEN", token);
    fed(command, input)
}

fn fed(mut command: Command, input: &str) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A program that reads nothing may be over already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}
