//! Commands in a session: output, end, and background programs.

use std::{fs, time::Duration};

use helmdeck_testkit::{Client, Desk, Process, Server, eventually};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    time::timeout,
};

/// For programs on a busy machine.
const SOON: Duration = Duration::from_secs(20);

/// A headless session. Desktops behave the same here.
async fn headless(client: &Client) -> Desk<'_> {
    Desk::create(client, &json!({})).await
}

/// Server-sent events of a response.
struct Events {
    lines: tokio::io::Lines<BufReader<TcpStream>>,
}

impl Events {
    async fn open(server: &Server, token: &str, method: &str, path: &str, body: &str) -> Self {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\n\
             content-length: {}\r\n\r\n{body}",
            server.address,
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut events = Self { lines: BufReader::new(stream).lines() };
        assert!(events.line().await.contains("200"));
        while !events.line().await.is_empty() {}
        events
    }

    async fn line(&mut self) -> String {
        let line = timeout(SOON, self.lines.next_line()).await;
        line.expect("an event in time").unwrap().expect("the stream continues")
    }

    async fn next(&mut self) -> (String, Value) {
        let mut name = String::new();
        loop {
            let line = self.line().await;
            if let Some(text) = line.strip_prefix("event: ") {
                name = text.to_owned();
            } else if let Some(data) = line.strip_prefix("data: ") {
                return (name, serde_json::from_str(data).unwrap());
            }
        }
    }

    /// The remaining text of a stream, and the last event.
    async fn rest(&mut self) -> (String, Value) {
        let mut text = String::new();
        loop {
            match self.next().await {
                (name, state) if name == "exit" => return (text, state),
                (_, data) => text.push_str(data["text"].as_str().unwrap()),
            }
        }
    }
}

/// Host processes whose command line contains this.
fn with_words(words: &str) -> Vec<Process> {
    Process::all().into_iter().filter(|process| process.command.contains(words)).collect()
}

/// A script that is hard to kill: it ignores signals, and its children leave parent, group and
/// session. Its sleeps are recognized by their duration.
fn stubborn(seconds: &str) -> String {
    format!(
        "trap '' TERM HUP INT
        (trap '' TERM HUP; setsid nohup bash -c 'trap \"\" TERM; (sleep {seconds} &); sleep {seconds}' &)
        setsid env -i sleep {seconds} &
        echo ready; while :; do sleep {seconds}; done"
    )
}

/// Waits until the script has started all its children.
async fn expect_started(seconds: &str) {
    let words = format!("sleep {seconds}");
    let sleeping = |process: &&Process| process.command.trim() == words;
    let started = async || (with_words(&words).iter().filter(sleeping).count() >= 4).then_some(());
    eventually(SOON, started).await.expect("everything is started");
}

async fn expect_none(seconds: &str, why: &str) {
    let none = async || with_words(seconds).is_empty().then_some(());
    if eventually(SOON, none).await.is_none() {
        panic!("left after {why}: {:#?}", with_words(seconds));
    }
}

#[tokio::test]
async fn a_command_has_words_or_a_line_directory_variables_and_input() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = headless(&client).await;
    let state = desk.exec(json!({ "command": "echo out; echo err >&2; pwd; exit 3" })).await;
    assert_eq!((&state["exit_code"], &state["signal"]), (&json!(3), &Value::Null));
    assert_eq!(
        (&state["stdout"], &state["stderr"]),
        (&json!("out\n/workspace\n"), &json!("err\n"))
    );
    assert_eq!((&state["running"], &state["timed_out"]), (&json!(false), &json!(false)));
    let words = ["sh", "-c", "echo \"$1 $HOME $GREETING\"; pwd; cat", "sh", "a b"];
    let state = desk
        .exec(json!({ "command": words, "cwd": "/tmp", "env": { "GREETING": "héllo" },
                      "stdin": "世界\n" }))
        .await;
    assert_eq!(state["stdout"], "a b /home/agent héllo\n/tmp\n世界\n");
    let killed = desk.exec(json!({ "command": "kill -SEGV $$" })).await;
    assert_eq!((&killed["exit_code"], &killed["signal"]), (&Value::Null, &json!("SIGSEGV")));

    let refused =
        async |body: Value, status, code| desk.ask_exec(&body).await.expect_error(status, code);
    let message =
        refused(json!({ "command": ["no-such-program"] }), 404, "command_not_found").await;
    assert!(message.contains("no-such-program"), "{message}");
    let nowhere = json!({ "command": ["true"], "cwd": "/no/where" });
    assert_eq!(desk.ask_exec(&nowhere).await.json()["field"], "cwd");
    let message = refused(nowhere, 400, "invalid_input").await;
    assert!(message.starts_with("cwd: \"/no/where\" cannot be entered"), "{message}");
    let relative = json!({ "command": ["true"], "cwd": "src" });
    assert!(refused(relative, 400, "invalid_input").await.contains("absolute path"));
    let bad_name = json!({ "command": ["true"], "env": { "A=B": "" } });
    assert!(refused(bad_name, 400, "invalid_input").await.contains("names of variables"));
    let long = json!({ "command": ["echo", "x".repeat(300_000)] });
    assert_eq!(desk.ask_exec(&long).await.json()["field"], "command");
    assert!(refused(long, 400, "invalid_input").await.contains("stdin"));
}

#[tokio::test]
async fn output_is_streamed_without_splitting_characters() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = headless(&client).await;
    // It continues only after its first line was received here.
    let line = "echo one; until [ -e go ]; do sleep 0.05; done
        printf '\\xe4\\xb8'; sleep 0.2; printf '\\x96\\xe7\\x95\\x8c'; echo bad >&2; exit 4";
    let path = format!("/api/v1/sessions/{}/exec", desk.id);
    let token = server.token("agent", "sessions:*");
    let body = json!({ "command": line }).to_string();
    let mut events =
        Events::open(&server, &token, "POST", &format!("{path}?stream=true"), &body).await;
    assert_eq!(events.next().await, ("stdout".to_owned(), json!({ "text": "one\n" })));
    let list = client.get(&path).await.expect(200).json();
    let first = &list["execs"][0];
    assert_eq!((&first["running"], &first["command"]), (&json!(true), &json!("bash")));
    let id = first["exec_id"].as_str().unwrap().to_owned();
    desk.run("touch go").await;
    let (text, state) = events.rest().await;
    assert!(text == "世界bad\n" || text == "bad\n世界", "{text:?}");
    assert_eq!((&state["exit_code"], &state["exec_id"]), (&json!(4), &json!(id)));
    assert_eq!(state.get("stdout"), None, "it was sent before");

    // The stream can be read again from the start.
    let again = format!("{path}/{id}?stream=true");
    let mut events = Events::open(&server, &token, "GET", &again, "").await;
    let (text, state) = events.rest().await;
    assert_eq!((text.as_str(), &state["exit_code"]), ("one\n世界bad\n", &json!(4)));
}

#[tokio::test]
async fn a_command_returns_when_it_exits_and_its_background_programs_keep_running() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = headless(&client).await;
    // It holds the pipes, and writes to them after the command has exited.
    let line = "(until [ -e go ]; do sleep 0.05; done; echo from behind; sleep 871) & echo started";
    let state = desk.exec(json!({ "command": line })).await;
    assert_eq!((&state["exit_code"], &state["stdout"]), (&json!(0), &json!("started\n")));
    desk.run("touch go").await;
    let told = async || desk.log().await.contains("bash: from behind").then_some(());
    eventually(SOON, told).await.expect("it continues, and its output is in the log");
    eventually(SOON, async || (!with_words("sleep 871").is_empty()).then_some(())).await.unwrap();
    // It still belongs to the command, and can be killed by its id.
    let id = state["exec_id"].as_str().unwrap();
    client.delete(&format!("/api/v1/sessions/{}/exec/{id}", desk.id)).await.expect(204);
    assert_eq!(with_words("sleep 871"), []);

    desk.run("setsid sleep 872 & disown").await;
    eventually(SOON, async || (!with_words("sleep 872").is_empty()).then_some(())).await.unwrap();
    desk.end().await;
    expect_none("sleep 872", "the end of the session").await;
}

#[tokio::test]
async fn timeout_disconnect_kill_and_session_end_leave_no_process() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = headless(&client).await;
    let path = format!("/api/v1/sessions/{}/exec", desk.id);

    let state = desk.exec(json!({ "command": stubborn("881"), "timeout_s": 2 })).await;
    assert_eq!((&state["timed_out"], &state["exit_code"]), (&json!(true), &Value::Null));
    assert_eq!((&state["signal"], &state["stdout"]), (&json!("SIGKILL"), &json!("ready\n")));
    assert_eq!(with_words("sleep 881"), [], "time-out");

    let abandoned = json!({ "command": stubborn("882") });
    client.abandon(&path, &abandoned, expect_started("882")).await;
    expect_none("sleep 882", "hanging up").await;
    let token = server.token("agent", "sessions:*");
    let streamed = format!("{path}?stream=true");
    let body = json!({ "command": stubborn("883") }).to_string();
    let events = Events::open(&server, &token, "POST", &streamed, &body).await;
    expect_started("883").await;
    drop(events);
    expect_none("sleep 883", "hanging up a stream").await;

    let started = desk.exec(json!({ "command": stubborn("884"), "background": true })).await;
    assert_eq!((&started["running"], &started["exit_code"]), (&json!(true), &Value::Null));
    expect_started("884").await;
    let one = format!("{path}/{}", started["exec_id"].as_str().unwrap());
    client.delete(&one).await.expect(204);
    assert_eq!(with_words("sleep 884"), [], "nothing is left when it is answered");
    let state = client.get(&format!("{one}?wait_s=20")).await.expect(200).json();
    assert_eq!((&state["running"], &state["signal"]), (&json!(false), &json!("SIGKILL")));
    client.get(&format!("{path}/exec-none")).await.expect_error(404, "not_found");
    client.get(&format!("{one}?wait_s=61")).await.expect_error(400, "invalid_input");

    desk.exec(json!({ "command": stubborn("885"), "background": true })).await;
    expect_started("885").await;
    desk.end().await;
    expect_none("sleep 885", "the end of the session").await;
}

#[tokio::test]
async fn a_hundred_megabytes_of_output_are_truncated_without_using_memory() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = headless(&client).await;
    let guest = || {
        let all = Process::in_sandboxes(&server.run_dir());
        let guest = all.iter().find(|it| it.command.starts_with("/opt/helmdeck/helmdeck guest"));
        let status = fs::read_to_string(format!("/proc/{}/status", guest.unwrap().pid)).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.split_whitespace().next().unwrap().parse::<u64>().unwrap() >> 10
    };
    let before = guest();
    let line = "echo first; yes é | head -c 99999999; yes no | head -c 99999999 >&2; echo last";
    for limit in [1 << 20, 1 << 16] {
        let state = desk.exec(json!({ "command": line, "max_output_bytes": limit })).await;
        let text = |name: &str| state[name].as_str().unwrap().to_owned();
        let (out, err) = (text("stdout"), text("stderr"));
        assert!(out.starts_with("first\né\né\n") && out.ends_with("é\nlast\n"), "{limit}");
        assert!(err.starts_with("no\nno\n") && err.ends_with("no\nno\n"), "{limit}");
        assert_eq!(out.matches(" bytes left out …]\n").count(), 1);
        assert!(!out.contains('\u{fffd}'), "characters at the cut are whole");
        for (text, truncated) in [(&out, "stdout_truncated"), (&err, "stderr_truncated")] {
            assert!((limit - 10..limit + 100).contains(&text.len()), "{} of {limit}", text.len());
            assert_eq!(state[truncated], true);
        }
    }
    let after = guest();
    assert!(after < before + 32, "{before} MB and then {after} MB");
}

#[tokio::test]
async fn commands_outlive_a_killed_server_and_the_next_one_has_them() {
    let mut server = Server::start();
    let id = {
        let client = server.client("agent", "sessions:*");
        let desk = headless(&client).await;
        let line = "echo before; until [ -e go ]; do sleep 0.05; done; echo after; exit 5";
        desk.exec(json!({ "command": line, "background": true })).await;
        desk.exec(json!({ "command": stubborn("891"), "background": true })).await;
        expect_started("891").await;
        // A command whose caller waits, and never gets the result.
        let waiting = json!({ "command": "echo waiting; exec sleep 892" });
        let path = format!("/api/v1/sessions/{}/exec", desk.id);
        let (client, address) = (client, server.address);
        let task = tokio::spawn(async move {
            client.abandon(&path, &waiting, std::future::pending()).await;
        });
        let runs = async || (!with_words("sleep 892").is_empty()).then_some(());
        eventually(SOON, runs).await.unwrap_or_else(|| panic!("no command at {address}"));
        server.kill();
        task.abort();
        server.installation.sandboxes().remove(0)
    };
    server.restart();
    let client = server.client("agent", "sessions:*");
    let desk = Desk { client: &client, id };
    let path = format!("/api/v1/sessions/{}/exec", desk.id);
    let list = client.get(&path).await.expect(200).json();
    let ids: Vec<_> = list["execs"].as_array().unwrap().iter().collect();
    assert!(ids.len() == 3 && ids.iter().all(|exec| exec["running"] == true), "{list}");
    let one = |at: usize| format!("{path}/{}", ids[at]["exec_id"].as_str().unwrap());
    assert_eq!(client.get(&one(2)).await.expect(200).json()["stdout"], "waiting\n");
    assert_eq!(desk.describe().await.get("idle_ends_at"), None, "it is not idle");

    let ended = format!("{}?wait_s=30", one(0));
    let (state, _) = tokio::join!(client.get(&ended), async {
        server.client("agent", "sessions:*").post(&path, &json!({ "command": "touch go" })).await
    });
    let state = state.expect(200).json();
    assert_eq!((&state["exit_code"], &state["stdout"]), (&json!(5), &json!("before\nafter\n")));
    for at in [1, 2] {
        client.delete(&one(at)).await.expect(204);
    }
    assert_eq!((with_words("sleep 891"), with_words("sleep 892")), (vec![], vec![]));
    let idle = async || desk.describe().await["idle_ends_at"].is_string().then_some(());
    eventually(SOON, idle).await.expect("nothing runs any more");
}

#[tokio::test]
async fn while_a_person_drives_agents_start_no_commands_and_running_ones_continue() {
    let server = Server::start();
    let (agent, person) = (server.client("agent", "sessions:*"), server.person());
    let desk = Desk::desktop(&agent).await;
    let line = "until [ -e go ]; do sleep 0.05; done; echo went on";
    let running = desk.exec(json!({ "command": line, "background": true })).await;
    let control = format!("/api/v1/sessions/{}/control", desk.id);
    person.post(&format!("{control}/take"), &json!({})).await.expect(200);
    let tasks = desk.describe().await["tasks"].clone();
    let held = desk.ask_exec(&json!({ "command": ["true"] })).await;
    held.expect_error(409, "control_held");
    assert_eq!(desk.describe().await["tasks"], tasks, "refused commands are not tasks");
    let theirs = Desk { client: &person, id: desk.id.clone() };
    theirs.run("touch go").await;
    let path = format!("/api/v1/sessions/{}/exec", desk.id);
    let one = format!("{path}/{}?wait_s=20", running["exec_id"].as_str().unwrap());
    let state = agent.get(&one).await.expect(200).json();
    assert_eq!((&state["running"], &state["stdout"]), (&json!(false), &json!("went on\n")));
    person.post(&format!("{control}/release"), &json!({})).await.expect(200);

    // Only the program is recorded, without its arguments.
    desk.exec(json!({ "command": ["env", "hunter2"], "env": { "KEY": "hunter2" } })).await;
    desk.exec(json!({ "command": "echo hunter2 >/dev/null; cat >/dev/null", "stdin": "hunter2" }))
        .await;
    let history = agent.get(&format!("/api/v1/sessions/{}/actions", desk.id)).await.json();
    let actions = history["actions"].as_array().unwrap();
    let told: Vec<_> = actions
        .iter()
        .filter(|action| action["action"] == "exec")
        .map(|action| (action["detail"]["command"].as_str().unwrap(), &action["outcome"]))
        .collect();
    let (ok, held) = (json!("ok"), json!("control_held"));
    let expected = [("bash", &ok), ("true", &held), ("bash", &ok), ("env", &ok), ("bash", &ok)];
    assert_eq!(told, expected);
    assert!(!history.to_string().contains("hunter2") && !desk.log().await.contains("hunter2"));
}
