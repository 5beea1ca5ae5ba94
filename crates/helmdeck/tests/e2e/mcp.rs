//! `helmdeck mcp` with a fake guest: both generations of the protocol, and outages of the server.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
        mpsc::{Receiver, channel},
    },
    time::Duration,
};

use helmdeck_testkit::{
    binary, eventually,
    fake::{FakeGuest, FakeServer, State},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy},
    net::{
        TcpListener, TcpStream,
        tcp::{ReadHalf, WriteHalf},
    },
    sync::watch,
    task::JoinHandle,
    time::timeout,
};

const SOON: Duration = Duration::from_secs(30);
const STATELESS: &str = "2026-07-28";
const UPDATED: &str = "notifications/resources/updated";

/// A generation of the protocol.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Era {
    Sessions,
    Stateless,
}

/// A client that started the program.
pub struct Client {
    era: Era,
    program: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    log: Receiver<String>,
    seen: Vec<Value>,
    last: AtomicI64,
}

impl Client {
    /// Starts the program and introduces itself.
    pub async fn connect(era: Era, url: &str, token: &str) -> Self {
        let mut client = Self::start(era, &binary(), &["mcp"], url, token);
        let answer = client.greet().await;
        assert_eq!(answer["result"]["serverInfo"]["name"], "helmdeck", "{answer}");
        client
    }

    fn start(era: Era, program: &Path, args: &[&str], url: &str, token: &str) -> Self {
        let mut command = Command::new(program);
        command.args(args).env("HELMDECK_URL", url).env("HELMDECK_TOKEN", token);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut program = command.spawn().unwrap();
        let json = |line: String| serde_json::from_str(&line).unwrap_or(Value::String(line));
        let lines = follow(program.stdout.take().unwrap(), json);
        let log = follow(program.stderr.take().unwrap(), |line| {
            eprintln!("{line}");
            line
        });
        let input = program.stdin.take();
        Self { era, program, input, lines, log, seen: Vec::new(), last: AtomicI64::new(0) }
    }

    /// The messages that begin a conversation.
    async fn greet(&mut self) -> Value {
        if self.era == Era::Stateless {
            let mut answer = self.ask("server/discover", json!({})).await;
            let info = answer["result"]["_meta"]["io.modelcontextprotocol/serverInfo"].clone();
            answer["result"]["serverInfo"] = info;
            return answer;
        }
        let client = json!({ "name": "test", "version": "1" });
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client,
        });
        let answer = self.ask("initialize", params).await;
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        answer
    }

    fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.input.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
    }

    /// Sends a request, and returns its id.
    fn request(&mut self, method: &str, mut params: Value) -> i64 {
        let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        if self.era == Era::Stateless {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": STATELESS,
                "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    fn call(&mut self, tool: &str, arguments: Value) -> i64 {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// The answer to a request.
    async fn answer(&mut self, id: i64) -> Value {
        let answers = |message: &Value| message["id"] == id && message["method"].is_null();
        let found = eventually(SOON, async || {
            self.seen.extend(self.lines.try_iter());
            self.seen.iter().find(|message| answers(message)).cloned()
        });
        let found = found.await;
        found.unwrap_or_else(|| panic!("{id} is not answered: {:#?}", self.seen))
    }

    pub async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.answer(id).await
    }

    pub async fn ask_tool(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.call(tool, arguments);
        let answer = self.answer(id).await;
        assert_ne!(answer["result"]["isError"], true, "{answer}");
        answer["result"]["structuredContent"].clone()
    }

    /// Creates a desktop, and returns its guest.
    async fn desktop(&mut self, server: &FakeServer) -> FakeGuest {
        let session = self.ask_tool("session-create", json!({ "mode": "desktop" })).await;
        server.runtime.guest(session["id"].as_str().unwrap())
    }

    /// Subscribes to the screen of a session.
    async fn watch(&mut self, guest: &FakeGuest) {
        let uri = format!("helmdeck://sessions/{}/screenshot", guest.id());
        if self.era == Era::Sessions {
            let answer = self.ask("resources/subscribe", json!({ "uri": uri })).await;
            assert!(answer["result"].is_object(), "{answer}");
        } else {
            let filter = json!({ "resourceSubscriptions": [uri] });
            self.request("subscriptions/listen", json!({ "notifications": filter }));
        }
    }

    /// How often a notification came.
    fn count(&mut self, method: &str) -> usize {
        self.seen.extend(self.lines.try_iter());
        self.seen.iter().filter(|message| message["method"] == method).count()
    }

    /// Changes the screen until a notification has come more often.
    async fn until_told(&mut self, guest: &FakeGuest, method: &str, before: usize) {
        let told = eventually(SOON, async || {
            guest.repaint();
            (self.count(method) > before).then_some(())
        });
        told.await.unwrap_or_else(|| panic!("no {method}: {:#?}", self.seen));
    }

    /// Waits until the program's log contains these words.
    async fn until_logged(&mut self, words: &str) {
        let logged = eventually(SOON, async || {
            self.log.try_iter().any(|line| line.contains(words)).then_some(())
        });
        logged.await.unwrap_or_else(|| panic!("{words:?} is not logged"));
    }

    /// Closes standard input, and waits for the program to end.
    async fn close(&mut self) -> ExitStatus {
        drop(self.input.take());
        let ended = eventually(SOON, async || self.program.try_wait().unwrap()).await;
        ended.expect("the program ends with its input")
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// The lines of a pipe.
fn follow<T: Send + 'static>(
    pipe: impl Read + Send + 'static,
    read: impl Fn(String) -> T + Send + 'static,
) -> Receiver<T> {
    let (lines, received) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            if lines.send(read(line)).is_err() {
                return;
            }
        }
    });
    received
}

/// A port that a restarted server can use again.
fn free_address() -> String {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().to_string()
}

/// Connections to a server that can be cut, without the server's doing.
struct Wire {
    address: SocketAddr,
    cut: Arc<watch::Sender<()>>,
    /// How many bytes the server has sent.
    sent: Arc<watch::Sender<usize>>,
    task: JoinHandle<()>,
}

impl Wire {
    async fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let cut = Arc::new(watch::Sender::new(()));
        let sent = Arc::new(watch::Sender::new(0));
        let (cuts, counter) = (cut.clone(), sent.clone());
        let task = tokio::spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                let (mut cut, counter) = (cuts.subscribe(), counter.clone());
                tokio::spawn(async move {
                    let mut far = TcpStream::connect(server).await.unwrap();
                    let ((mut asked, mut answers), (mut answered, mut asks)) =
                        (near.split(), far.split());
                    tokio::select! {
                        _ = copy(&mut asked, &mut asks) => {}
                        _ = counted(&mut answered, &mut answers, &counter) => {}
                        _ = cut.changed() => {}
                    }
                });
            }
        });
        Self { address, cut, sent, task }
    }

    /// Waits until the server has sent more than `before`.
    async fn answers(&self, before: usize) {
        let mut sent = self.sent.subscribe();
        timeout(SOON, sent.wait_for(|sent| *sent > before)).await.expect("an answer").unwrap();
    }
}

async fn counted(
    from: &mut ReadHalf<'_>,
    to: &mut WriteHalf<'_>,
    counter: &watch::Sender<usize>,
) -> io::Result<()> {
    let mut part = [0; 4096];
    loop {
        let length = from.read(&mut part).await?;
        if length == 0 {
            return Ok(());
        }
        to.write_all(&part[..length]).await?;
        counter.send_modify(|sent| *sent += length);
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The whole story of one client.
async fn lists_calls_cancels_and_survives_a_crash(era: Era) {
    let address = free_address();
    let mut server = FakeServer::start_with(&[("HELMDECK_ADDR", &address)]).await;
    let token = server.token("agent", "sessions:*");
    let mut client = Client::connect(era, &format!("http://{address}"), &token).await;

    let list = client.ask("tools/list", json!({})).await;
    let tools = list["result"]["tools"].as_array().unwrap().clone();
    assert!(tools.iter().any(|tool| tool["name"] == "desktop-click"), "{list}");
    let guest = client.desktop(&server).await;
    client.ask_tool("desktop-click", json!({ "x": 1, "y": 2 })).await;
    assert_eq!(guest.bodies("click").len(), 1);

    client.watch(&guest).await;
    client.until_told(&guest, UPDATED, 0).await;

    // Requests run at the same time, and one of them is cancelled down to the guest.
    guest.hold("hold_key");
    let hold = json!({ "keys": "shift", "seconds": 20 });
    let cancelled = client.call("desktop-hold_key", hold.clone());
    guest.until("hold_key", State::UnderWay).await;
    client.ask_tool("desktop-click", json!({ "x": 3, "y": 4 })).await;
    let params = json!({ "requestId": cancelled });
    client
        .send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
    guest.until("hold_key", State::Cancelled).await;

    // A call that the server may have carried out is not repeated.
    let lost = client.call("desktop-hold_key", hold);
    guest.until("hold_key", State::UnderWay).await;
    server.kill().await;
    let answer = client.answer(lost).await;
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("look at the session"), "{answer}");

    // Requests that did not reach the server wait for it.
    let listed = client.request("tools/list", json!({}));
    let clicked = client.call("desktop-click", json!({ "x": 5, "y": 6 }));
    client.until_logged("tools/call: ").await;
    server.restart().await;
    assert_eq!(client.answer(listed).await["result"]["tools"].as_array(), Some(&tools));
    let answer = client.answer(clicked).await;
    assert_ne!(answer["result"]["isError"], true, "{answer}");
    assert_eq!(guest.bodies("click").len(), 3, "the client still works in its session");
    assert_eq!(guest.bodies("hold_key").len(), 2);
    let before = client.count(UPDATED);
    client.until_told(&guest, UPDATED, before).await;

    assert!(client.close().await.success());
    client.seen.extend(client.lines.try_iter());
    assert!(client.seen.iter().all(Value::is_object), "{:#?}", client.seen);
    assert!(client.seen.iter().all(|message| message["id"] != cancelled), "{:#?}", client.seen);
    assert_eq!(mcp_sessions(&server).await, 0, "the session is deleted");
}

/// How many sessions of the protocol the server keeps.
async fn mcp_sessions(server: &FakeServer) -> i64 {
    let file = format!("sqlite:{}", server.data_dir().join("helmdeck.db").display());
    let store = sqlx::SqlitePool::connect(&file).await.unwrap();
    sqlx::query_scalar("SELECT count(*) FROM mcp_session").fetch_one(&store).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_with_sessions_lists_calls_cancels_and_survives_a_crash_of_the_server() {
    lists_calls_cancels_and_survives_a_crash(Era::Sessions).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stateless_client_lists_calls_cancels_and_survives_a_crash_of_the_server() {
    lists_calls_cancels_and_survives_a_crash(Era::Stateless).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_to_a_call_arrives_although_its_connection_broke() {
    let server = FakeServer::start().await;
    let wire = Wire::to(server.address).await;
    let token = server.token("agent", "sessions:*");
    let url = format!("http://{}", wire.address);
    let mut client = Client::connect(Era::Sessions, &url, &token).await;
    let guest = client.desktop(&server).await;
    guest.hold("hold_key");
    let before = *wire.sent.borrow();
    let call = client.call("desktop-hold_key", json!({ "keys": "shift", "seconds": 20 }));
    guest.until("hold_key", State::UnderWay).await;
    // The head of the answer names the stream, where the client continues.
    wire.answers(before).await;
    wire.cut.send_replace(());
    // Another request on a new connection works meanwhile.
    client.ask("tools/list", json!({})).await;
    guest.release("hold_key");
    let answer = client.answer(call).await;
    assert!(answer["result"].is_object(), "{answer}");
    assert_eq!(guest.bodies("hold_key").len(), 1, "it is not called twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_the_server_does_not_know_is_replaced_without_the_client_noticing() {
    let address = free_address();
    let env = [("HELMDECK_ADDR", address.as_str())];
    let mut first = FakeServer::start_with(&env).await;
    let token = first.token("agent", "sessions:*");
    let mut client = Client::connect(Era::Sessions, &format!("http://{address}"), &token).await;
    client.ask("tools/list", json!({})).await;
    first.stop().await;

    // The same address and secret, and an empty store.
    let second = FakeServer::start_with(&env).await;
    let guest = client.desktop(&second).await;
    client.until_told(&guest, "notifications/resources/list_changed", 0).await;
    client.ask_tool("desktop-click", json!({ "x": 1, "y": 2 })).await;
    assert_eq!(guest.bodies("click").len(), 1);
    assert!(client.close().await.success());
    assert_eq!(mcp_sessions(&second).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_token_and_a_wrong_line_are_answered_with_what_to_do() {
    let server = FakeServer::start().await;
    let url = format!("http://{}", server.address);
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("helmdeck-mcp");
    std::os::unix::fs::symlink(binary(), &program).unwrap();
    let args = ["--profile", "core", "--session", "mine"];
    let mut client = Client::start(Era::Stateless, &program, &args, &url, "not a token");
    let refused = client.ask("server/discover", json!({})).await;
    let message = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("helmdeck token"), "{refused}");
    client.input.as_mut().unwrap().write_all(b"hello\n").unwrap();
    let wrong = eventually(SOON, async || client.lines.try_recv().ok()).await.unwrap();
    assert_eq!(wrong["error"]["code"], -32700, "{wrong}");
    assert!(client.close().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_self_signed_server_is_used_with_its_certificate_and_refused_without() {
    let server = FakeServer::start_with(&[("HELMDECK_TLS_SELF_SIGNED", "true")]).await;
    let (url, token) = (format!("https://{}", server.address), server.token("agent", "sessions:*"));
    let cert = server.config.certificate_in_use().unwrap();
    let args = ["mcp", "--ca-file", cert.to_str().unwrap()];
    let mut client = Client::start(Era::Sessions, &binary(), &args, &url, &token);
    let answer = client.greet().await;
    assert_eq!(answer["result"]["serverInfo"]["name"], "helmdeck", "{answer}");
    assert!(client.close().await.success());

    let mut client = Client::start(Era::Sessions, &binary(), &["mcp"], &url, &token);
    client.request("tools/list", json!({}));
    client.until_logged("is not trusted by this machine").await;
}
