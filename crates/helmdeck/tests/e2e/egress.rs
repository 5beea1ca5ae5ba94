//! Outgoing connections of real programs: curl, git, Chromium and a bare socket.

use std::{sync::Arc, time::Duration};

use helmdeck_testkit::{Desk, Server, eventually};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    sync::Mutex,
};

/// A web server on the machine's loopback that records its requests.
struct Site {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Site {
    async fn start() -> Self {
        let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = asked.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let kept = kept.clone();
                tokio::spawn(async move {
                    let mut head = [0; 4096];
                    let read = stream.read(&mut head).await.unwrap_or(0);
                    let head = String::from_utf8_lossy(&head[..read]).into_owned();
                    let line = head.lines().next().unwrap_or_default().to_owned();
                    let answer = if line.contains("/redirect") {
                        format!("302 Found\r\nlocation: http://127.0.0.3:{port}/secret")
                    } else {
                        "200 OK\r\ncontent-type: text/html".to_owned()
                    };
                    kept.lock().await.push(line);
                    let body = "<title>the allowed site</title>welcome";
                    let length = body.len();
                    let answer = format!(
                        "HTTP/1.1 {answer}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
                    );
                    let _ = stream.write_all(answer.as_bytes()).await;
                });
            }
        });
        Self { port, asked }
    }

    /// Its URL, as sessions use it.
    fn url(&self, path: &str) -> String {
        format!("http://host.helmdeck.internal:{}{path}", self.port)
    }

    async fn was_asked(&self, what: &str) -> bool {
        self.asked.lock().await.iter().any(|line| line.contains(what))
    }
}

/// A server whose sessions may reach one loopback address of the machine.
fn server() -> Server {
    Server::start_with(&[("HELMDECK_EGRESS_ALLOWLIST", "127.0.0.1/32")])
}

#[tokio::test]
async fn curl_reaches_allowed_hosts_only() {
    let (site, server) = (Site::start().await, server());
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    let curl = async |url: &str, more: &str| {
        desk.shell(&format!("curl -s -m 10 {more} -w ' %{{http_code}}' '{url}'")).await
    };
    let allowed = curl(&site.url("/page"), "").await;
    assert!(allowed.contains("welcome") && allowed.contains("200"), "{allowed}");
    let by_socks = curl(&site.url("/socks"), "-x socks5h://127.0.0.1:3128").await;
    assert!(by_socks.contains("welcome"), "{by_socks}");
    let port = site.port;
    for denied in [
        format!("http://127.0.0.3:{port}/secret"),
        format!("http://[::ffff:127.0.0.3]:{port}/secret"),
        format!("http://[64:ff9b::7f00:3]:{port}/secret"),
        format!("http://2130706435:{port}/secret"),
        "http://10.0.0.1/secret".to_owned(),
        "http://169.254.169.254/latest".to_owned(),
        "http://metadata.google.internal/".to_owned(),
    ] {
        let said = curl(&denied, "--globoff").await;
        assert!(said.contains("403") && said.contains("helmdeck"), "{denied}: {said}");
    }
    let redirected = curl(&site.url("/redirect"), "-L").await;
    assert!(redirected.contains("403"), "{redirected}");
    let own = format!("http://host.helmdeck.internal:{}/healthz", server.address.port());
    let said = curl(&own, "").await;
    assert!(said.contains("403"), "the server itself stays closed: {said}");
    assert!(!site.was_asked("/secret").await, "{:?}", site.asked.lock().await);
    let egress = desk.describe().await["egress"].clone();
    assert!(
        egress["allowed"].as_u64() >= Some(3) && egress["denied"].as_u64() >= Some(9),
        "{egress}"
    );
}

#[tokio::test]
async fn git_goes_through_the_proxy() {
    let (site, server) = (Site::start().await, server());
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    desk.shell(&format!("git ls-remote {}", site.url("/repo.git"))).await;
    assert!(site.was_asked("/repo.git/info/refs").await, "{:?}", site.asked.lock().await);
}

#[tokio::test]
async fn a_bare_socket_finds_no_route() {
    let (site, server) = (Site::start().await, server());
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    let script = format!("exec 3<>/dev/tcp/127.0.0.1/{} && echo connected", site.port);
    let said = desk.shell(&script).await;
    assert!(said.contains("refused") && !said.contains("connected"), "{said}");
    let outside =
        desk.shell("timeout 5 bash -c 'exec 3<>/dev/udp/192.0.2.1/53 && echo x >&3'").await;
    assert!(outside.contains("unreachable"), "{outside}");
}

#[tokio::test]
async fn the_browser_shows_allowed_pages_and_explains_refusals() {
    let (site, server) = (Site::start().await, server());
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    open(&desk, &site.url("/in-chromium"), "the allowed site").await;
    open(&desk, "http://10.0.0.1/", "Not allowed").await;
}

/// Opens an address in the browser. Retries if a loading page takes the focus from the address bar.
async fn open(desk: &Desk<'_>, url: &str, title: &str) {
    for _ in 0..4 {
        desk.focused("Chromium").await;
        desk.act("key", json!({ "keys": "ctrl+l" })).await;
        desk.act("type", json!({ "text": format!("{url}\n") })).await;
        let shown = async || {
            let windows = desk.windows().await;
            let named = |window: &Value| window["name"].as_str().unwrap().contains(title);
            windows.iter().any(named).then_some(())
        };
        if eventually(Duration::from_secs(6), shown).await.is_some() {
            return;
        }
    }
    panic!("{url} does not show {title:?}: {:?}", desk.windows().await);
}

#[tokio::test]
async fn a_session_has_its_own_loopback() {
    let server = server();
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    let serve = "perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(Listen => 5, LocalAddr => \
        \"127.0.0.1\", LocalPort => 8000) or die $!; while ($c = $s->accept) { <$c>; print $c \
        \"HTTP/1.0 200 OK\\r\\ncontent-type: text/html\\r\\n\\r\\n<title>my dev server</title>\"; close $c }'";
    desk.act("launch", json!({ "command": "bash", "args": ["-c", serve] })).await;
    desk.focused("Chromium").await;
    // Wait until the server listens.
    desk.shell("for i in $(seq 100); do (exec 3<>/dev/tcp/127.0.0.1/8000) 2>/dev/null && break; sleep 0.05; done").await;
    open(&desk, "http://localhost:8000/", "my dev server").await;
}
