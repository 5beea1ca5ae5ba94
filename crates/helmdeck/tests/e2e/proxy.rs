//! Sessions with their owner's proxy.

use std::{fs, path::Path};

use helmdeck_testkit::{Desk, Installation, Page, Server, Site, Speaks, Upstream};
use serde_json::{Value, json};

const USERNAME: &str = "alice-31337";
const PASSWORD: &str = "correct-horse-battery";

/// Whether a file in this folder contains a secret.
fn is_written_below(folder: &Path, secret: &str) -> bool {
    fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => is_written_below(&path, secret),
            Ok(kind) if kind.is_file() => fs::read(&path)
                .is_ok_and(|bytes| bytes.windows(secret.len()).any(|w| w == secret.as_bytes())),
            _ => false,
        }
    })
}

#[tokio::test]
async fn a_session_uses_its_proxy_even_after_a_crash_of_the_server() {
    let site = Site::start(|path| Page::html(format!("<title>page {path}</title>welcome"))).await;
    let login = Some((USERNAME, PASSWORD));
    let upstream = Upstream::start("127.0.0.1", Speaks::Http, site.address(), login).await;
    let socks = Upstream::start("127.0.0.1", Speaks::Socks5, site.address(), login).await;
    let logs = tempfile::tempdir().unwrap();
    let log = logs.path().join("log");
    let env = [Site::REACHABLE, ("HELMDECK_LOG", "debug")];
    let mut server = Server::start_logging(Installation::new(), &env, log.clone());
    let client = server.client("agent", "sessions:*");

    let proxy = json!({ "server": upstream.server(Speaks::Http), "username": USERNAME,
                        "password": PASSWORD, "bypass": ["127.0.0.1"] });
    let spec = json!({ "mode": "desktop", "geometry": "800x600", "proxy": proxy });
    let created = client.post("/api/v1/sessions", &spec).await.expect(201);
    let desk = Desk { client: &client, id: created.json()["id"].as_str().unwrap().to_owned() };
    assert_eq!(created.json()["spec"]["proxy"]["password"], "•••");
    assert_eq!(created.json()["spec"]["proxy"]["server"], proxy["server"]);

    // Chromium and curl use it without configuration. Only the proxy resolves the name.
    let page = desk.browser("navigate", json!({ "url": "http://shop.test/one" })).await;
    assert_eq!(page.expect(200).json()["title"], "page /one");
    let curl = async |desk: &Desk<'_>, url: &str| {
        desk.shell(&format!("curl -s -m 20 --noproxy '' '{url}'")).await
    };
    assert!(curl(&desk, "http://shop.test:81/two").await.contains("page /two"));
    let asked = upstream.asked().await;
    assert!(asked.contains(&"shop.test:80".into()) && asked.contains(&"shop.test:81".into()));

    // Bypassed hosts, the machine's own, and blocked ones do not reach the proxy.
    let bypassed = format!("http://127.0.0.1:{}/three", site.address().port());
    assert!(curl(&desk, &bypassed).await.contains("page /three"));
    assert!(curl(&desk, &site.url("/four")).await.contains("page /four"));
    assert!(curl(&desk, "http://10.0.0.1/").await.contains("Not allowed"));
    let asked = upstream.asked().await;
    let ours = |target: &&String| target.contains("127.0.0.1") || target.contains("internal");
    assert_eq!(asked.iter().filter(ours).count(), 0, "{asked:?}");
    assert!(!asked.contains(&"10.0.0.1:80".to_owned()), "{asked:?}");

    // The next server gets the credentials from the guest.
    server.kill();
    server.restart();
    let client = server.client("agent", "sessions:*");
    let desk = Desk { client: &client, ..desk };
    assert!(curl(&desk, "http://shop.test:82/five").await.contains("page /five"));
    assert!(upstream.asked().await.contains(&"shop.test:82".to_owned()));

    // A session with a wrong password gets an error.
    let wrong = json!({ "server": socks.server(Speaks::Socks5), "username": USERNAME,
                        "password": "wrong-horse" });
    let other = Desk::create(&client, &json!({ "proxy": wrong })).await;
    let page = other.browser("navigate", json!({ "url": "http://shop.test/" })).await;
    let message = page.expect_error(502, "navigation_failed");
    assert!(message.contains("The session's proxy refuses the credentials"), "{message}");
    assert_eq!(other.describe().await["egress"]["failed"].as_u64().map(|n| n > 0), Some(true));
    assert!(socks.asked().await.is_empty());

    let inside =
        desk.shell("env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr '\\0' ' '").await;
    let session: Value = desk.describe().await;
    let replies = [
        created.text(),
        session.to_string(),
        client.get("/api/v1/sessions").await.text(),
        desk.log().await,
        inside,
        fs::read_to_string(&log).unwrap(),
    ];
    for secret in [USERNAME, PASSWORD, "wrong-horse"] {
        assert!(!replies.iter().any(|reply| reply.contains(secret)), "{secret} is shown");
        assert!(!is_written_below(&server.data_dir(), secret), "{secret} is kept");
        assert!(!is_written_below(&server.run_dir(), secret), "{secret} is kept");
    }
    let bad = json!({ "proxy": { "server": format!("http://{USERNAME}:{PASSWORD}@a:1") } });
    let message = client.post("/api/v1/sessions", &bad).await.expect_error(400, "invalid_input");
    assert!(message.starts_with("proxy.server") && !message.contains(PASSWORD), "{message}");
}
