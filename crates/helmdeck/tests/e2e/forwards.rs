//! A developer's own server inside a session: forwarded by the server or by `helmdeck forward`, and
//! the errors without a forward.

use std::{
    io::{BufRead, BufReader},
    net::TcpListener,
    process::{Child, Stdio},
    time::Duration,
};

use helmdeck_testkit::{Client, Desk, Page, Server, Site, eventually};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

const SOON: Duration = Duration::from_secs(20);

/// A development server: a page that registers a service worker.
async fn dev_server() -> (Site, u16) {
    let site = Site::start(|path| match path {
        "/worker.js" => {
            let headers = "content-type: text/javascript\r\n".to_owned();
            Page { headers, ..Page::html("onfetch = () => {};") }
        }
        "/big" => Page::html("x".repeat(3_000_000)),
        _ => Page::html("<title>mine</title>my own page"),
    })
    .await;
    let port = site.address().port();
    (site, port)
}

/// A server with a fixed address, so that it can be restarted.
fn server_to_be_restarted(env: &[(&str, &str)]) -> Server {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let env: Vec<_> = env.iter().copied().chain([("HELMDECK_ADDR", free.as_str())]).collect();
    Server::start_with(&env)
}

async fn open(desk: &Desk<'_>, url: &str) -> Value {
    desk.browser("navigate", json!({ "url": url })).await.expect(200).json()
}

async fn evaluate(desk: &Desk<'_>, script: &str) -> Value {
    let done = desk.browser("execute", json!({ "script": script })).await.expect(200).json();
    done["result"].clone()
}

/// Waits until the session has exactly these forwards.
async fn forwarded(client: &Client, id: &str, ports: &[u16]) {
    let shown = async || {
        let path = format!("/api/v1/sessions/{id}/forwards");
        let list = client.get(&path).await.expect(200).json();
        let list = list["forwards"].as_array().unwrap().clone();
        let have: Vec<_> = list.iter().map(|it| it["port"].as_u64().unwrap()).collect();
        (have == ports.iter().copied().map(u64::from).collect::<Vec<_>>()).then_some(())
    };
    assert!(eventually(SOON, shown).await.is_some(), "not {ports:?}");
}

#[tokio::test]
async fn a_forwarded_port_reaches_the_developers_localhost_and_survives_the_server() {
    let (_site, port) = dev_server().await;
    let mut server = server_to_be_restarted(&[]);
    let admin = server.admin();
    let spec = json!({ "mode": "desktop", "geometry": "1280x800", "forward": [port.to_string()] });
    let desk = Desk::create(&admin, &spec).await;
    assert_eq!(desk.describe().await["forwards"][0]["from"], "server");

    // In the browser, as a secure context, and in programs.
    let shown = open(&desk, &format!("localhost:{port}")).await;
    assert_eq!((&shown["title"], &shown["status"]), (&json!("mine"), &json!(200)), "{shown}");
    let worker =
        "return navigator.serviceWorker.register('/worker.js').then(() => isSecureContext)";
    assert_eq!(evaluate(&desk, worker).await, true);
    for host in ["localhost", "127.0.0.1"] {
        let said = desk.shell(&format!("curl -s -m 10 http://{host}:{port}/")).await;
        assert!(said.contains("my own page"), "{host}: {said}");
    }

    // Added later under another number, and removed again.
    let path = format!("/api/v1/sessions/{}/forwards", desk.id);
    let mapped = json!({ "forward": format!("3999:localhost:{port}") });
    admin.post(&path, &mapped).await.expect(201);
    open(&desk, "http://localhost:3999/").await;
    let taken = json!({ "forward": "3999:localhost:1" });
    admin.post(&path, &taken).await.expect_error(409, "port_in_use");
    admin.delete(&format!("{path}/3999")).await.expect(204);
    admin.delete(&format!("{path}/3999")).await.expect_error(404, "not_found");
    let refused = desk.browser("navigate", json!({ "url": "http://localhost:3999/" })).await;
    let message = refused.expect_error(502, "connection_refused");
    assert!(message.contains("\"forward\": \"localhost:3999\""), "{message}");
    let own = json!({ "forward": format!("3998:localhost:{}", server.address.port()) });
    admin.post(&path, &own).await.expect_error(403, "forward_denied");

    server.leave();
    server.restart();
    let admin = server.admin();
    let desk = Desk { client: &admin, id: desk.id.clone() };
    forwarded(&admin, &desk.id, &[port]).await;
    assert_eq!(open(&desk, &format!("http://localhost:{port}/again")).await["title"], "mine");
    desk.end().await;
}

/// A process that is killed at the end of the test.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn an_agent_can_forward_its_own_machine_and_allowed_ports() {
    let (_site, port) = dev_server().await;
    let (_allowed, allowed) = dev_server().await;
    let mut server = server_to_be_restarted(&[("HELMDECK_FORWARD_ALLOW", &allowed.to_string())]);
    let token = server.token("agent", "sessions:*");
    let agent = server.bearer(token.clone());
    let spec = json!({ "forward": [format!("localhost:{port}")] });
    let message = agent.post("/api/v1/sessions", &spec).await.expect_error(403, "forward_denied");
    assert!(message.contains("HELMDECK_FORWARD_ALLOW"), "{message}");
    let desk = Desk::create(&agent, &json!({ "forward": [format!("localhost:{allowed}")] })).await;
    assert_eq!(open(&desk, &format!("http://localhost:{allowed}/")).await["title"], "mine");
    let path = format!("/api/v1/sessions/{}/forwards", desk.id);
    let denied = json!({ "forward": port.to_string() });
    agent.post(&path, &denied).await.expect_error(403, "forward_denied");

    // `helmdeck forward`, with the agent's token.
    let url = format!("http://{}", server.address);
    let mapped = format!("4567:{port}");
    let mut command = server.installation.command(["forward", &desk.id, &mapped, "--url", &url]);
    command.env("HELMDECK_TOKEN", &token).stdout(Stdio::piped());
    let mut program = Program(command.spawn().unwrap());
    let mut line = String::new();
    BufReader::new(program.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("http://localhost:4567"), "{line}");
    assert_eq!(open(&desk, "http://localhost:4567/").await["title"], "mine");
    let big = "fetch('/big').then(r => r.text()).then(t => t.length)";
    assert_eq!(evaluate(&desk, &format!("return {big}")).await, 3_000_000);

    // It reconnects to a restarted server, and its end closes the port.
    server.leave();
    server.restart();
    let agent = server.bearer(token);
    forwarded(&agent, &desk.id, &sorted([4567, allowed])).await;
    let desk = Desk { client: &agent, id: desk.id.clone() };
    assert_eq!(open(&desk, "http://localhost:4567/again").await["title"], "mine");
    kill_process(Pid::from_raw(program.0.id().cast_signed()).unwrap(), Signal::INT).unwrap();
    assert!(program.0.wait().unwrap().success());
    forwarded(&agent, &desk.id, &[allowed]).await;
    desk.end().await;
}

fn sorted<const N: usize>(mut ports: [u16; N]) -> [u16; N] {
    ports.sort_unstable();
    ports
}

#[tokio::test]
async fn refused_and_unresolved_hosts_are_typed_errors_with_advice() {
    let server = Server::start();
    let agent = server.client("agent", "sessions:*");
    let desk = Desk::create(&agent, &json!({})).await;
    let go = async |url: &str| desk.browser("navigate", json!({ "url": url })).await;
    for url in ["http://10.0.0.1/", "https://10.0.0.1/x"] {
        let message = go(url).await.expect_error(403, "egress_denied");
        for part in ["10.0.0.0/8 is closed", "HELMDECK_EGRESS_ALLOWLIST"] {
            assert!(message.contains(part), "{url}: {message}");
        }
    }
    let message = go("http://host.helmdeck.internal:5173/").await;
    let message = message.expect_error(403, "egress_denied");
    assert!(message.contains("\"forward\": [\"localhost:PORT\"]"), "{message}");
    for url in ["http://no-such-host.invalid/", "https://no-such-host.invalid/"] {
        let message = go(url).await.expect_error(502, "host_not_found");
        assert!(message.contains("no-such-host.invalid does not resolve"), "{message}");
    }
    let message = go("localhost:5173").await.expect_error(502, "connection_refused");
    assert!(message.contains(&format!("helmdeck forward {} 5173", desk.id)), "{message}");
    desk.end().await;
}

#[tokio::test]
async fn egress_test_uses_the_running_servers_policy_not_its_own_environment() {
    let server = Server::start_with(&[("HELMDECK_EGRESS_ALLOWLIST", "10.9.0.0/16")]);
    let url = format!("http://{}", server.address);
    let ask = |target: &str, url: &str| {
        server.installation.attempt(["egress", "test", target], &[("HELMDECK_URL", url)])
    };
    let opened = ask("http://10.9.0.1/", &url);
    assert!(
        opened.success && opened.stdout.contains("10.9.0.0/16 is on the allowlist"),
        "{opened:?}"
    );
    let closed = ask("http://10.8.0.1/", &url);
    assert!(!closed.success && closed.stdout.contains("10.0.0.0/8 is closed"), "{closed:?}");
    // A named server is required. Without one, the command reports whose settings it uses.
    assert!(ask("http://10.9.0.1/", "http://127.0.0.1:9").stderr.contains("127.0.0.1:9"));
    let alone = server.installation.attempt(["egress", "test", "10.9.0.1"], &[]);
    assert!(alone.stderr.contains("no server answers") && !alone.success, "{alone:?}");
}
