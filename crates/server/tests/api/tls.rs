//! HTTPS: certificates, handshakes, and what clients without TLS are told.

use std::{fs, net::SocketAddr, path::Path, time::Duration};

use bytes::Bytes;
use helmdeck_testkit::{
    Client, Desk, Listener, Listens, Trusted, Watcher, eventually, fake::FakeServer,
};
use helmdeck_tls::{certificates, fingerprint};
use http::Method;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

const SELF_SIGNED: (&str, &str) = ("HELMDECK_TLS_SELF_SIGNED", "true");
const PATIENCE: Duration = Duration::from_secs(30);
/// What begins a handshake, but not all of it.
const HALF_A_HELLO: [u8; 6] = [0x16, 3, 1, 1, 0, 1];

async fn server() -> FakeServer {
    FakeServer::start_with(&[SELF_SIGNED]).await
}

/// Says something in plain text to a port, and returns all that comes back.
async fn plainly(address: SocketAddr, words: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(words.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let reading = timeout(PATIENCE, stream.read_to_end(&mut answer));
    reading.await.expect("the connection is closed").unwrap();
    String::from_utf8(answer).unwrap()
}

/// A new certificate for 127.0.0.1 and its key: those of a server that is gone.
async fn new_certificate() -> (Vec<u8>, Vec<u8>) {
    let server = server().await;
    let read = |name| fs::read(server.data_dir().join("tls").join(name)).unwrap();
    (read("self-signed.pem"), read("self-signed.key"))
}

/// The fingerprint of the certificate that a port shows to a client that trusts this file.
async fn shown(address: SocketAddr, cert: &Path) -> Option<String> {
    let stream = TcpStream::connect(address).await.unwrap();
    let opened = Trusted::file(cert).handshake("127.0.0.1", stream).await.ok()?;
    let certificate = opened.get_ref().1.peer_certificates()?.first()?;
    Some(fingerprint(certificate))
}

#[tokio::test]
async fn a_client_that_trusts_the_certificate_is_served_and_told_https_addresses() {
    let server = server().await;
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    let path = format!("/api/v1/desktop/vnc-url?session_id={}", desk.id);
    let answer = client.get(&path).await.expect(200).json();
    let url = answer["url"].as_str().unwrap();
    assert!(url.starts_with(&format!("https://{}/vnc.html", server.address)), "{url}");
    let path = format!("/api/v1/sessions/{}/tickets", desk.id);
    let ticket = client.post(&path, &json!({})).await.expect(201).json();
    assert!(ticket["cdp_url"].as_str().is_none_or(|url| url.starts_with("wss://")), "{ticket}");

    let admin = server.new_admin.as_ref().unwrap();
    let password = secrecy::ExposeSecret::expose_secret(&admin.password);
    let login = json!({ "username": admin.username, "password": password });
    let answer = server.stranger().post("/api/v1/auth/cookie", &login).await.expect(200);
    let cookie = answer.header("set-cookie");
    assert!(cookie.starts_with("__Host-helmdeck-") && cookie.contains("; Secure;"), "{cookie}");
}

#[tokio::test]
async fn a_client_that_does_not_trust_the_certificate_does_not_connect() {
    let (server, other) = (server().await, server().await);
    let cert = other.config.certificate_in_use().unwrap();
    assert_eq!(shown(server.address, &cert).await, None);
    let cert = server.config.certificate_in_use().unwrap();
    let ours = fingerprint(&certificates(&cert).unwrap()[0]);
    assert_eq!(shown(server.address, &cert).await, Some(ours));
}

#[tokio::test]
async fn live_views_and_events_work_over_tls_and_from_https_pages_only() {
    let server = server().await;
    let client = server.admin();
    let mut listener = Listener::open(&server, &server.token("admin", "admin"), None).await;
    let desk = Desk::desktop(&client).await;
    assert_eq!(listener.until("session").await.data["id"], desk.id);

    let tickets = format!("/api/v1/sessions/{}/tickets", desk.id);
    let ticket = client.post(&tickets, &json!({ "reusable": true })).await.expect(201).json();
    let ticket = ticket["ticket"].as_str().unwrap();
    let path = format!("/api/v1/sessions/{}/vnc?ticket={ticket}", desk.id);
    let page = format!("https://{}", server.address);
    let mut watcher = Watcher::open(&server, &path, &[("origin", &page)]).await.unwrap();
    let (width, height) = watcher.size;
    let picture = watcher.picture().await;
    assert_eq!(picture.len(), usize::from(width) * usize::from(height) * 4);
    let page = format!("http://{}", server.address);
    let refused = Watcher::open(&server, &path, &[("origin", &page)]).await;
    let refused = refused.err().expect("a refusal");
    assert_eq!((refused.0, refused.1.as_str()), (403, "foreign_origin"));
}

#[tokio::test]
async fn plain_http_on_the_tls_port_is_told_to_use_https() {
    let server = server().await;
    let address = server.address;
    let page = plainly(address, "GET /sessions?x=1 HTTP/1.1\r\nhost: desk:3000\r\n\r\n").await;
    assert!(page.starts_with("HTTP/1.1 307 "), "{page}");
    assert!(page.contains("\r\nlocation: https://desk:3000/sessions?x=1\r\n"), "{page}");

    let (token, upgrade) = ("authorization: Bearer x", "upgrade: websocket");
    for (method, header) in [("GET", token), ("GET", upgrade), ("POST", "x: y"), ("DELETE", "x: y")]
    {
        let head =
            format!("{method} /api/v1/sessions HTTP/1.1\r\nhost: desk:3000\r\n{header}\r\n\r\n");
        let refused = plainly(address, &head).await;
        assert!(refused.starts_with("HTTP/1.1 400 "), "{method} {header}: {refused}");
        let message = "\r\n\r\nThis port speaks HTTPS: use https://desk:3000/api/v1/sessions\n";
        assert!(refused.ends_with(message), "{refused}");
    }
    let nameless = plainly(address, "GET / HTTP/1.0\r\n\r\n").await;
    assert!(nameless.starts_with("HTTP/1.0 400 "), "{nameless}");
    let noise = plainly(address, "\0\0\r\n\r\n").await;
    assert!(noise.is_empty() || noise.starts_with("HTTP/1.1 400 "), "{noise}");
    server.stranger().get("/healthz").await.expect(200);
}

#[tokio::test]
async fn a_certificate_that_is_replaced_on_disk_is_used_for_new_connections() {
    let dir = tempfile::tempdir().unwrap();
    let (cert, key) = (dir.path().join("cert.pem"), dir.path().join("key.pem"));
    let put = |(new_cert, new_key): (Vec<u8>, Vec<u8>)| {
        fs::write(&cert, new_cert).unwrap();
        fs::write(&key, new_key).unwrap();
    };
    put(new_certificate().await);
    let env = [
        ("HELMDECK_TLS_CERT", cert.to_str().unwrap()),
        ("HELMDECK_TLS_KEY", key.to_str().unwrap()),
    ];
    let server = FakeServer::start_with(&env).await;
    let (old, admin) = (server.stranger(), server.admin());
    old.get("/healthz").await.expect(200);
    admin.get("/metrics").await.expect(200);
    let first = shown(server.address, &cert).await.unwrap();

    // One that does not fit its key is not used; the one before is.
    let before = dir.path().join("before.pem");
    fs::copy(&cert, &before).unwrap();
    fs::write(&cert, new_certificate().await.0).unwrap();
    let refused = eventually(PATIENCE, async || {
        assert_eq!(shown(server.address, &before).await, Some(first.clone()));
        let metrics = admin.get("/metrics").await.expect(200).text();
        metrics.contains("\nhelmdeck_tls_certificates_refused_total 1\n").then_some(())
    });
    refused.await.expect("the certificate is refused");
    assert_eq!(shown(server.address, &before).await, Some(first.clone()));

    put(new_certificate().await);
    let look = async || shown(server.address, &cert).await;
    let second = eventually(PATIENCE, look).await.expect("the new certificate");
    assert_ne!(first, second);
    old.get("/healthz").await.expect(200);
}

#[tokio::test]
async fn half_open_handshakes_do_not_block_other_clients() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
    let server = server().await;
    let mut open = Vec::new();
    for number in 0..2300 {
        let connecting = timeout(Duration::from_secs(2), TcpStream::connect(server.address)).await;
        let Ok(Ok(mut stream)) = connecting else { break };
        if number % 2 == 0 {
            let _ = stream.write_all(&HALF_A_HELLO).await;
        }
        open.push(stream);
    }
    let asking = server.stranger();
    let health = timeout(PATIENCE, asking.get("/healthz")).await.expect("an answer");
    health.expect(200);
}

#[tokio::test]
async fn a_handshake_that_never_ends_is_cut_off() {
    let server = server().await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(&HALF_A_HELLO).await.unwrap();
    let mut rest = Vec::new();
    let _ = timeout(PATIENCE, stream.read_to_end(&mut rest)).await.expect("the end");
}

#[tokio::test]
async fn a_published_session_speaks_tls_too() {
    let server =
        FakeServer::start_with(&[SELF_SIGNED, ("HELMDECK_PUBLISH_VNC_PORTS", "true")]).await;
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    let path = format!("/api/v1/desktop/vnc-url?session_id={}", desk.id);
    let port = async || {
        let notes = client.get(&path).await.json()["notes"].as_str().unwrap().to_owned();
        notes.split_once("at port ")?.1.split(':').next()?.parse::<u16>().ok()
    };
    let port = eventually(PATIENCE, port).await.expect("a port");
    let address = SocketAddr::from((server.address.ip(), port));
    let there = Client::new(address, None).trusting(server.trusted());
    let page = there.send(Method::GET, "/vnc.html", &[], Bytes::new()).await;
    assert_eq!(page.status, 307);
}

#[tokio::test]
async fn a_restarted_server_shows_the_same_self_signed_certificate() {
    let mut server = server().await;
    let cert = server.config.certificate_in_use().unwrap();
    let first = shown(server.address, &cert).await.unwrap();
    server.stop().await;
    server.restart().await;
    assert_eq!(shown(server.address, &cert).await, Some(first));
}
