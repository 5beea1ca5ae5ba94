//! Far more clients than the server can serve: it survives, serves existing clients, and keeps
//! nothing of the crowd afterwards.

use std::{net::SocketAddr, time::Duration};

use helmdeck_testkit::{
    Answer, Client, Desk, Footprint, Installation, Process, Server, eventually,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
    time::timeout,
};

/// Time for ten thousand connections on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
const CROWD: usize = 10_000;
/// Persistent connections to clients and guests vary.
const FEW: usize = 24;

/// Raises this process's limit for this many connections, as far as possible.
fn room_for(connections: usize) -> usize {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
    let most = maximum.map_or(usize::MAX, |most| usize::try_from(most).unwrap());
    let possible = connections.min(most.saturating_sub(200));
    if possible < connections {
        eprintln!("only {possible} connections: this process may not have more descriptors");
    }
    possible
}

/// Pause before a refused client retries.
const COME_BACK: Duration = Duration::from_millis(50);

/// Connects, sends some bytes and stays. Refused clients retry.
async fn stay(server: SocketAddr, words: String) {
    loop {
        let Ok(mut stream) = TcpStream::connect(server).await else {
            tokio::time::sleep(COME_BACK).await;
            continue;
        };
        if stream.write_all(words.as_bytes()).await.is_ok() {
            // Until the server closes it.
            while let Ok(1..) = stream.read(&mut [0; 256]).await {}
        }
        tokio::time::sleep(COME_BACK).await;
    }
}

fn descriptors(server: &Server) -> usize {
    Footprint::of(server).descriptors
}

/// Waits until the server's open descriptors no longer grow.
async fn crowded(server: &Server, least: usize) {
    let full = async || (descriptors(server) > least).then_some(());
    let many = eventually(PATIENCE, full).await;
    many.unwrap_or_else(|| panic!("the crowd is accepted: {}", descriptors(server)));
}

async fn answered(client: &Client, path: &str) -> Answer {
    timeout(PATIENCE, client.get(path)).await.expect("an answer")
}

#[tokio::test]
async fn ten_thousand_clients_at_once_leave_no_trace() {
    let crowd = room_for(CROWD);
    let server = Server::start();
    let client = server.admin();
    let token = server.run(["token", "--sub", "admin", "--scopes", "admin"]);
    let desk = Desk::desktop(&client).await;
    desk.act("click", json!({ "x": 300, "y": 300 })).await;
    let before = Footprint::of(&server);

    let wait = json!({ "session_id": desk.id, "seconds": 500 }).to_string();
    let head =
        format!("POST /api/v1/desktop/wait HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}");
    let in_flight = format!("{head}\r\ncontent-length: {}\r\n\r\n{wait}", wait.len());
    let mut clients = JoinSet::new();
    for number in 0..crowd {
        // Idle connections, half-sent heads and slow requests in turn.
        let words = [String::new(), head.clone(), in_flight.clone()][number % 3].clone();
        clients.spawn(stay(server.address, words));
    }
    crowded(&server, before.descriptors + crowd.min(2000)).await;
    // Earlier clients and the session are still served.
    let clicked = timeout(PATIENCE, desk.act("click", json!({ "x": 310, "y": 300 }))).await;
    assert_eq!(clicked.expect("an answer")["ok"], true);

    clients.shutdown().await;
    let stranger = server.stranger();
    answered(&stranger, "/healthz").await.expect(200);
    answered(&client, "/readyz").await.expect(200);
    let gone = async || (descriptors(&server) <= before.descriptors + FEW).then_some(());
    let back = eventually(PATIENCE, gone).await;
    let after = Footprint::of(&server);
    assert!(back.is_some(), "{before:?} {after:?}");
    assert_eq!(desk.act("click", json!({ "x": 300, "y": 300 })).await["ok"], true);
    assert_eq!(desk.describe().await["status"], "running");
    // Pending requests were cancelled: the session has no calls in progress.
    let again = Desk::desktop(&client).await;
    again.end().await;
    desk.end().await;
    assert_eq!(Process::in_sandboxes(&server.run_dir()), []);
}

#[tokio::test]
async fn clients_cannot_exhaust_the_descriptors_that_sessions_need() {
    let crowd = room_for(3000);
    let few = ["prlimit", "--nofile=1024:1024", "--"].map(str::to_owned);
    let server = Server::start_in(Installation::behind(few.to_vec()), &[]);
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    let before = descriptors(&server);
    let mut strangers = JoinSet::new();
    for _ in 0..crowd {
        strangers.spawn(stay(server.address, String::new()));
    }
    crowded(&server, before + 200).await;
    // A session starts and ends during the flood.
    let session = async {
        assert_eq!(desk.act("click", json!({ "x": 300, "y": 300 })).await["ok"], true);
        let another = Desk::desktop(&client).await;
        another.act("click", json!({ "x": 300, "y": 300 })).await;
        another.end().await;
    };
    let mut most = 0;
    let watching = async {
        loop {
            most = most.max(descriptors(&server));
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        () = session => {}
        () = watching => {}
    }
    assert!(most < 900, "{most} of 1024 descriptors were in use");
    strangers.shutdown().await;
    answered(&server.stranger(), "/healthz").await.expect(200);
}

#[tokio::test]
async fn a_view_link_and_half_sent_heads_leave_the_server_reachable() {
    // More connections than this server accepts.
    const FLOOD: usize = 400;
    const ROUNDS: usize = 5;
    const SOON: Duration = Duration::from_secs(10);
    let few = ["prlimit", "--nofile=1024:1024", "--"].map(str::to_owned);
    let server = Server::start_in(Installation::behind(few.to_vec()), &[]);
    let client = server.admin();
    let desk = Desk::create(&client, &json!({ "mode": "headless" })).await;
    let tickets = format!("/api/v1/sessions/{}/tickets", desk.id);
    let link = client.post(&tickets, &json!({ "role": "view" })).await.expect(201).json();
    let feed = format!(
        "GET /api/v1/events?session_id={}&ticket={} HTTP/1.1\r\nhost: x\r\n\r\n",
        desk.id,
        link["ticket"].as_str().unwrap()
    );
    let before = descriptors(&server);
    for words in [feed, "GET /api/v1/sessions HTTP/1.1\r\nhost: x\r\n".to_owned()] {
        let mut strangers = JoinSet::new();
        for _ in 0..FLOOD {
            strangers.spawn(stay(server.address, words.clone()));
        }
        crowded(&server, before + 200).await;
        for _ in 0..ROUNDS {
            tokio::time::sleep(COME_BACK).await;
            let health = timeout(SOON, server.stranger().get("/healthz")).await;
            health.expect("an answer").expect(200);
            let described = timeout(SOON, desk.describe()).await.expect("an answer");
            assert_eq!(described["status"], "running");
        }
        strangers.shutdown().await;
    }
}

#[tokio::test]
async fn the_server_raises_its_descriptor_limit_and_its_sessions_keep_the_default() {
    let soft = ["prlimit", "--nofile=512:4096", "--"].map(str::to_owned);
    let server = Server::start_in(Installation::behind(soft.to_vec()), &[]);
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.pid())).unwrap();
    let line = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    assert_eq!(line.split_whitespace().skip(3).take(2).collect::<Vec<_>>(), ["4096", "4096"]);
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    assert_eq!(desk.shell("ulimit -Sn; ulimit -Hn").await, "512\n4096\n");
}
