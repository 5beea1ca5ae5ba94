//! Interactive terminals in a session.

use std::time::Duration;

use helmdeck_testkit::{Console, Desk, Process, Refused, Server, eventually};
use serde_json::{Value, json};

/// For programs on a busy machine.
const SOON: Duration = Duration::from_secs(20);

/// Opens a terminal with a token.
async fn open(server: &Server, token: &str, id: &str, query: &str) -> Result<Console, Refused> {
    let path = format!("/api/v1/sessions/{id}/terminal{query}");
    Console::open(server, &path, &[("authorization", &format!("Bearer {token}"))]).await
}

#[tokio::test]
async fn programs_see_a_real_terminal_that_can_be_resized() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let token = server.token("agent", "sessions:*");
    let desk = Desk::create(&client, &json!({})).await;
    let mut console = open(&server, &token, &desk.id, "?cols=100&rows=30").await.unwrap();
    console.type_text("stty size; tty; echo $TERM $PWD; locale charmap\n").await;
    console.shows("30 100\r\n/dev/pts/0\r\nxterm-256color /workspace\r\nUTF-8\r\n").await;
    console.resize(120, 40).await;
    console.type_text("stty size; echo $(( 6 * 7 ))\n").await;
    console.shows("40 120\r\n42\r\n").await;
    // Keys reach the foreground program.
    console.type_text("sleep 861\n").await;
    let runs = || Process::all().iter().any(|process| process.command.trim() == "sleep 861");
    eventually(SOON, async || runs().then_some(())).await.expect("it runs");
    console.type_text("\u{3}").await;
    console.type_text("echo 世界 $?\n").await;
    console.shows("世界 130\r\n").await;
    console.say(r#"{"type": "resize", "cols": 0, "rows": 1}"#).await;
    assert_eq!(console.says("error").await["error"], "invalid_input");
    console.type_text("exit 7\n").await;
    let exit = console.says("exit").await;
    assert_eq!(exit, json!({ "type": "exit", "exit_code": 7, "signal": Value::Null }));
    assert_eq!(console.closed().await, 1000);

    let mut one =
        open(&server, &token, &desk.id, "?command=echo%20hi;%20kill%20-9%20$$").await.unwrap();
    assert_eq!(one.says("exit").await["signal"], "SIGKILL");
    assert!(one.text().starts_with("hi\r\n"), "{}", one.text());
    let refused = open(&server, &token, &desk.id, "?cols=5000").await.err();
    assert_eq!(refused, Some(Refused(400, "invalid_input".into())));
    let reader = server.token("agent", "sessions:read");
    let refused = open(&server, &reader, &desk.id, "").await.err();
    assert_eq!(refused, Some(Refused(403, "forbidden".into())));
}

#[tokio::test]
async fn a_terminal_ends_with_its_programs_when_the_client_disconnects() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let token = server.token("agent", "sessions:*");
    let desk = Desk::create(&client, &json!({})).await;
    let mut console = open(&server, &token, &desk.id, "").await.unwrap();
    let line = "trap 'touch hung-up; exit' HUP; (trap '' HUP; setsid sleep 862 &)
        nohup sleep 862 & while :; do sleep 0.1; done\n";
    console.type_text(line).await;
    let sleeping = || Process::all().iter().filter(|it| it.command.trim() == "sleep 862").count();
    eventually(SOON, async || (sleeping() == 2).then_some(())).await.expect("they run");
    drop(console);
    eventually(SOON, async || (sleeping() == 0).then_some(())).await.expect("they are gone");
    let told = async || {
        let found = desk.exec(json!({ "command": "test -e hung-up" })).await;
        (found["exit_code"] == 0).then_some(())
    };
    eventually(SOON, told).await.expect("programs are notified that the terminal is gone");
}

#[tokio::test]
async fn a_program_waits_for_a_client_that_does_not_read() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let token = server.token("agent", "sessions:*");
    let desk = Desk::create(&client, &json!({})).await;
    let query =
        "?command=head%20-c%2050000000%20/dev/zero%20%7C%20tr%20%27%5C0%27%20x;%20touch%20done";
    let mut console = open(&server, &token, &desk.id, query).await.unwrap();
    // The number of bytes it wrote, once it no longer changes.
    let written = async || {
        let line = "grep wchar /proc/$(pgrep -x tr)/io | cut -d' ' -f2";
        desk.exec(json!({ "command": line })).await["stdout"].as_str().unwrap().trim().to_owned()
    };
    let stands = async || {
        let first = written().await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        (!first.is_empty() && written().await == first).then_some(first)
    };
    let wrote = eventually(SOON, stands).await.expect("the program waits");
    assert!(wrote.parse::<u64>().unwrap() < 40_000_000, "{wrote}");
    assert_eq!(console.says("exit").await["exit_code"], 0);
    assert_eq!(console.text().len(), 50_000_000);
    desk.run("test -e done").await;
}

#[tokio::test]
async fn while_a_person_drives_only_their_own_terminal_accepts_input() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let token = server.token("agent", "sessions:*");
    let desk = Desk::create(&client, &json!({})).await;
    let mut console = open(&server, &token, &desk.id, "").await.unwrap();
    console.type_text("echo $(( 40 + 1 ))\n").await;
    console.shows("41\r\n").await;
    let human = server.run(["token", "--sub", "admin", "--scopes", "admin", "--human"]);
    let person = server.bearer(human.clone());
    let control = format!("/api/v1/sessions/{}/control", desk.id);
    person.post(&format!("{control}/take"), &json!({})).await.expect(200);
    console.type_text("touch typed\n").await;
    let refused = console.says("error").await;
    assert_eq!((&refused["error"], &refused["holder"]), (&json!("control_held"), &json!("admin")));
    let held = open(&server, &token, &desk.id, "").await.err();
    assert_eq!(held, Some(Refused(409, "control_held".into())));
    let mut theirs = open(&server, &human, &desk.id, "").await.unwrap();
    theirs.type_text("ls; echo $(( 41 + 1 ))\n").await;
    theirs.shows("42\r\n").await;
    assert!(!theirs.text().contains("typed"), "{}", theirs.text());
    person.post(&format!("{control}/release"), &json!({})).await.expect(200);
    console.type_text("echo $(( 42 + 1 ))\n").await;
    console.shows("43\r\n").await;
    desk.end().await;
    assert_eq!(console.closed().await, 4000);
}
