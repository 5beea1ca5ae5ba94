//! A session's network is isolated in both directions.

use std::net::{TcpListener, TcpStream};

use helmdeck_testkit::{Desk, Server};
use serde_json::json;

/// Reads a line from a port of the session's loopback.
fn read_from(port: u16) -> String {
    format!("exec 3<>/dev/tcp/127.0.0.1/{port} && head -n1 <&3")
}

#[tokio::test]
async fn a_session_has_no_route_and_no_port_except_the_proxy() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    desk.titled("about:blank").await;
    let listening = "cat /proc/net/tcp /proc/net/tcp6 | awk '$4 == \"0A\" { print $2 }'";
    // 127.0.0.1:3128 in the kernel's format.
    assert_eq!(desk.shell(listening).await, "0100007F:0C38\n");
    assert_eq!(desk.shell("tail -n +2 /proc/net/route").await, "");
    // A link with both ends inside.
    let interfaces = desk.shell("tail -n +3 /proc/net/dev | cut -d: -f1").await;
    let mut interfaces: Vec<_> = interfaces.split_whitespace().collect();
    interfaces.sort_unstable();
    assert_eq!(interfaces, ["eth0", "eth0-peer", "lo"]);
}

#[tokio::test]
async fn a_session_cannot_reach_the_hosts_loopback() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    TcpStream::connect(server.address).expect("the host itself reaches the server");
    let refused = desk.shell(&read_from(server.address.port())).await;
    assert!(refused.contains("Connection refused"), "{refused}");
    let outside = desk.shell("timeout 5 bash -c 'exec 3<>/dev/tcp/192.0.2.1/80'").await;
    assert!(outside.contains("unreachable"), "{outside}");
}

#[tokio::test]
async fn a_port_opened_inside_is_reachable_only_inside() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let (one, two) = tokio::join!(Desk::desktop(&client), Desk::desktop(&client));
    let port = free_port();
    let listen = format!(
        "perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(Listen => 5, ReuseAddr => 1, \
         LocalAddr => \"0.0.0.0\", LocalPort => {port}) or die $!; \
         while ($c = $s->accept) {{ print $c \"hello from inside\\n\"; close $c }}'"
    );
    one.act("launch", json!({ "command": "bash", "args": ["-c", listen] })).await;
    let wait = format!(
        "for i in $(seq 100); do ({}) 2>/dev/null && break; sleep 0.05; done",
        read_from(port)
    );
    assert_eq!(one.shell(&wait).await, "hello from inside\n");

    let from_host = TcpStream::connect(("127.0.0.1", port));
    assert!(from_host.is_err(), "the host reaches a session's port");
    let from_other = two.shell(&read_from(port)).await;
    assert!(from_other.contains("Connection refused"), "{from_other}");
}

/// A port that is free on the host.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
