//! The proxy configurations of docs/behind-a-proxy.md, in front of a server.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use bytes::Bytes;
use helmdeck_testkit::fake::FakeServer;
use http::Method;
use tempfile::TempDir;
use tokio::task::spawn_blocking;

use crate::{client::TestServer, nowhere::Nowhere};

const DOC: &str = include_str!("../../../../docs/behind-a-proxy.md");
const PUBLIC: &str = "https://desk.example.com";
/// How long a proxy may take to start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// The document's first code block of this kind.
fn block(kind: &str) -> &'static str {
    let (_, rest) = DOC.split_once(&format!("```{kind}\n")).expect("a block of this kind");
    rest.split_once("```").expect("its end").0
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A process that is killed at the end of the test.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A proxy, and how curl reaches it.
struct Proxy {
    _program: Program,
    _dir: TempDir,
    base: String,
}

impl Proxy {
    /// nginx with its defaults and the document's server block.
    async fn nginx(server: &TestServer) -> Self {
        let (dir, port) = (tempfile::tempdir().unwrap(), free_port());
        let at = |name: &str| dir.path().join(name).display().to_string();
        let mut made = Command::new("openssl");
        made.args([
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-subj",
            "/CN=desk.example.com",
        ]);
        made.args(["-keyout", &at("key.pem"), "-out", &at("cert.pem")]);
        let made = made.stderr(Stdio::null()).status();
        assert!(made.unwrap().success());
        let letsencrypt = "/etc/letsencrypt/live/desk.example.com";
        let site = block("nginx")
            .replace("listen 443 ssl", &format!("listen 127.0.0.1:{port} ssl"))
            .replace(&format!("{letsencrypt}/fullchain.pem"), &at("cert.pem"))
            .replace(&format!("{letsencrypt}/privkey.pem"), &at("key.pem"))
            .replace("    location / {", &format!("{}\n    location / {{", block("nginx prefix")))
            .replace("127.0.0.1:3000", &server.addr.to_string());
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|name| format!("{name}_temp_path {};", at(name)))
            .join(" ");
        let config = format!(
            "daemon off; master_process off; pid {}; error_log stderr; events {{}}\n\
             http {{ access_log off; {temporary}\n{site}\n}}",
            at("pid")
        );
        fs::write(dir.path().join("nginx.conf"), config).unwrap();
        let mut command = Command::new("/usr/sbin/nginx");
        command.arg("-p").arg(dir.path()).args(["-e", "stderr", "-c", &at("nginx.conf")]);
        let program = Program(command.stderr(Stdio::null()).spawn().expect("nginx is installed"));
        let base = format!("https://127.0.0.1:{port}");
        Self { _program: program, _dir: dir, base }.ready().await
    }

    /// Caddy, without a public certificate.
    async fn caddy(server: &TestServer, kind: &str) -> Self {
        let (dir, port) = (tempfile::tempdir().unwrap(), free_port());
        let base = format!("http://127.0.0.1:{port}");
        let site = block(kind)
            .replace("desk.example.com {", &format!("{base} {{"))
            .replace("127.0.0.1:3000", &server.addr.to_string());
        let config = format!("{{\n\tadmin off\n}}\n{site}");
        fs::write(dir.path().join("Caddyfile"), config).unwrap();
        let mut command = Command::new("caddy");
        command
            .args(["run", "--adapter", "caddyfile", "--config"])
            .arg(dir.path().join("Caddyfile"));
        command.env("HOME", dir.path()).env("XDG_DATA_HOME", dir.path());
        command.env("XDG_CONFIG_HOME", dir.path());
        let program = Program(command.stderr(Stdio::null()).spawn().expect("caddy is installed"));
        let base = if kind.ends_with("prefix") { format!("{base}/helmdeck") } else { base };
        Self { _program: program, _dir: dir, base }.ready().await
    }

    async fn ready(self) -> Self {
        let began = Instant::now();
        while !self.curl("/healthz", &[]).await.contains("HTTP/1.1 200") {
            assert!(began.elapsed() < PATIENCE, "the proxy is not there");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self
    }

    fn command(&self, path: &str, more: &[&str]) -> Command {
        let mut command = Command::new("curl");
        command.args(["-skiN", "--http1.1", "--max-time", "20", "--noproxy", "*"]);
        command.args(more).arg(format!("{}{path}", self.base)).stdin(Stdio::null());
        command.stderr(Stdio::null());
        command
    }

    /// The complete response to curl.
    async fn curl(&self, path: &str, more: &[&str]) -> String {
        let mut command = self.command(path, more);
        let output = spawn_blocking(move || command.output().unwrap()).await.unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Reads curl's response up to this line. The error is what was received before the end.
    async fn until(&self, path: &str, more: &[&str], line: &'static str) -> Result<(), String> {
        let mut command = self.command(path, more);
        spawn_blocking(move || {
            let mut program = Program(command.stdout(Stdio::piped()).spawn().unwrap());
            let mut said = String::new();
            for read in BufReader::new(program.0.stdout.take().unwrap()).lines() {
                said.push_str(&read.unwrap());
                if said.contains(line) {
                    return Ok(());
                }
                said.push('\n');
            }
            Err(said)
        })
        .await
        .unwrap()
    }
}

/// Events arrive as they happen, WebSockets open for the public origin, and uploads work.
async fn works_through(proxy: &Proxy, server: &TestServer, prefix: &str) {
    let token = server.token(&["sessions:*"]);
    let bearer = format!("Authorization: Bearer {token}");
    let path = format!("{prefix}/api/v1/events");
    let header = ["-H", bearer.as_str()];
    let events = proxy.until(&path, &header, "event: session");
    let created = async {
        // Repeated, because the stream may not be open yet.
        loop {
            server.post("/api/v1/sessions?wait=false", &token, "{}").await;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::select! {
        heard = events => heard.unwrap_or_else(|said| panic!("no event came: {said}")),
        () = created => {}
    }
    let origin = format!("Origin: {PUBLIC}");
    let wall = ["-H", &bearer, "-H", &origin, "-H", "Connection: Upgrade", "-H"];
    let wall =
        [&wall[..], &["Upgrade: websocket", "-H", "Sec-WebSocket-Version: 13", "-H"]].concat();
    let wall = [&wall[..], &["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]].concat();
    let opened = proxy.until(&format!("{prefix}/api/v1/wall"), &wall, "101 Switching").await;
    opened.unwrap_or_else(|said| panic!("no WebSocket opened: {said}"));
    let version = proxy.curl(&format!("{prefix}/version"), &[]).await;
    assert!(version.contains("helmdeck") || version.contains("version"), "{version}");
}

async fn server() -> TestServer {
    TestServer::start_with(&[("HELMDECK_VNC_PUBLIC_BASE", PUBLIC)], Nowhere::default()).await
}

#[tokio::test]
async fn event_streams_ask_proxies_not_to_buffer_or_change_them() {
    let server = FakeServer::start().await;
    let client = server.client("agent", "sessions:*");
    let answer = client.begin(Method::GET, "/api/v1/events", &[], Bytes::new()).await.expect(200);
    assert_eq!(answer.header("x-accel-buffering"), "no");
    assert_eq!(answer.header("cache-control"), "no-cache, no-transform");
}

#[tokio::test]
async fn nginx_as_documented_passes_events_and_websockets_also_under_a_prefix() {
    let server = server().await;
    let proxy = Proxy::nginx(&server).await;
    works_through(&proxy, &server, "").await;
    works_through(&proxy, &server, "/helmdeck").await;
}

#[tokio::test]
async fn caddy_as_documented_passes_events_and_websockets_also_under_a_prefix() {
    let server = server().await;
    works_through(&Proxy::caddy(&server, "caddy").await, &server, "").await;
    works_through(&Proxy::caddy(&server, "caddy prefix").await, &server, "").await;
}

#[test]
fn the_documented_blocks_exist() {
    for kind in ["nginx", "nginx prefix", "caddy", "caddy prefix"] {
        assert!(block(kind).contains("127.0.0.1:3000"), "{kind}");
    }
    assert!(Path::new("/usr/sbin/nginx").exists(), "scripts/packages.sh install test");
}
