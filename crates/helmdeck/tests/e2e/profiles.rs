//! Browser profiles: logins are kept between sessions.

use std::{fs, time::Duration};

use helmdeck_testkit::{Client, Debugger, Desk, Page, Process, Server, Site, eventually};
use serde_json::{Value, json};

const GUEST: &str = "/opt/helmdeck/helmdeck guest";
const KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// A browser in a session, at a site with a login.
struct Visit<'a> {
    desk: Desk<'a>,
    debugger: Debugger,
    page: String,
}

impl<'a> Visit<'a> {
    async fn begin(server: &Server, client: &'a Client, site: &str, profile: &str) -> Self {
        let desk = Desk::create(client, &json!({ "profile": profile })).await;
        let ticket = format!("/api/v1/sessions/{}/tickets", desk.id);
        let ticket = client.post(&ticket, &json!({ "role": "control" })).await.expect(201).json();
        let url = ticket["cdp_url"].as_str().unwrap().split_once("/api").unwrap().1.to_owned();
        let mut debugger = Debugger::open(server, &format!("/api{url}"), &[]).await.unwrap();
        let page = debugger.open_page(site).await;
        Self { desk, debugger, page }
    }

    async fn run(&mut self, script: &str) -> Value {
        let params = json!({ "expression": script, "returnByValue": true, "awaitPromise": true });
        self.debugger.call(Some(&self.page), "Runtime.evaluate", params).await["result"]["value"]
            .take()
    }

    /// What the site knows about the visitor.
    async fn known(&mut self) -> String {
        let loaded = async |visit: &mut Self| {
            visit.run("document.readyState == 'complete' && location.href != 'about:blank'").await
                == true
        };
        while !loaded(self).await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let known = self.run("document.cookie + ' | ' + (localStorage.who ?? '')").await;
        known.as_str().unwrap_or_default().to_owned()
    }

    async fn sign_in(&mut self, who: &str) {
        self.known().await;
        self.run(&format!(
            "document.cookie = 'session={who}'; \
             document.cookie = 'stay={who}; max-age=86400'; localStorage.who = '{who}'"
        ))
        .await;
    }
}

async fn welcome() -> Site {
    Site::start(|_| Page::html("<p>welcome</p>")).await
}

fn with_site(more: &[(&'static str, &'static str)]) -> Server {
    Server::start_with(&[&[Site::REACHABLE], more].concat())
}

#[tokio::test]
async fn a_login_is_kept_for_the_next_session() {
    let (server, site) = (with_site(&[("HELMDECK_PROFILE_KEY", KEY)]), welcome().await);
    let client = server.admin();
    let mut first = Visit::begin(&server, &client, &site.url("/"), "work").await;
    assert_eq!(first.known().await, " | ");
    first.sign_in("ada-lovelace").await;
    // No other session can use it meanwhile. Profiles of other owners are separate.
    let wanted = json!({ "profile": "work" });
    let refused = client.post("/api/v1/sessions", &wanted).await;
    let message = refused.expect_error(409, "profile_in_use");
    assert!(message.contains(&first.desk.id), "{message}");
    let other = server.client("other", "sessions:*");
    let mut theirs = Visit::begin(&server, &other, &site.url("/"), "work").await;
    assert_eq!(theirs.known().await, " | ");
    theirs.desk.end().await;
    first.desk.end().await;

    let mut second = Visit::begin(&server, &client, &site.url("/"), "work").await;
    let known = second.known().await;
    assert!(
        known.contains("session=ada-lovelace") && known.contains("stay=ada-lovelace"),
        "{known}"
    );
    assert!(known.ends_with("| ada-lovelace"), "{known}");
    let mut fresh = Visit::begin(&server, &client, &site.url("/"), "home").await;
    assert_eq!(fresh.known().await, " | ");
    second.desk.end().await;

    // The caller can list and delete them, unless a session uses them.
    let listed = client.get("/api/v1/profiles").await.expect(200).json();
    assert_eq!(listed["profiles"][0]["name"], "work", "{listed}");
    let theirs = other.get("/api/v1/profiles").await.expect(200).json();
    assert_eq!(theirs["profiles"].as_array().map(Vec::len), Some(1), "{theirs}");
    other.delete("/api/v1/profiles/work").await.expect(204);
    client.delete("/api/v1/profiles/home").await.expect_error(409, "profile_in_use");

    // On disk, it is unreadable without the key.
    let kept = fs::read(server.data_dir().join("profiles/o61646d696e/work")).unwrap();
    let readable = |text: &str| kept.windows(text.len()).any(|bytes| bytes == text.as_bytes());
    // Shorter words are in random bytes by chance.
    assert!(kept.len() > 10_000 && !readable("ada-lovelace") && !readable("chromium"));
}

#[tokio::test]
async fn files_that_programs_put_into_a_profile_do_no_harm() {
    let (server, site) = (with_site(&[]), welcome().await);
    let client = server.admin();
    let desk = Desk::create(&client, &json!({ "mode": "desktop", "profile": "odd" })).await;
    // Where the browser's profile would be in the agent's home.
    let traps = "mkdir -p ~/.config/chromium/Default && cd ~/.config/chromium && \
                 mkfifo trap Default/trap && ln -s /run/helmdeck out && \
                 ln -s /tmp/made Default/Preferences && \
                 mkfifo helmdeck-cookies.json && ln -s /dev/zero ~/helmdeck-cookies.json; echo laid";
    assert_eq!(desk.shell(traps).await.trim(), "laid");
    desk.end().await;
    let mut next = Visit::begin(&server, &client, &site.url("/"), "odd").await;
    next.sign_in("mallory").await;
    next.desk.end().await;
    let mut last = Visit::begin(&server, &client, &site.url("/"), "odd").await;
    assert!(last.known().await.contains("session=mallory"));
}

#[tokio::test]
async fn a_profile_is_saved_even_if_the_session_crashes() {
    let (server, site) = (with_site(&[]), welcome().await);
    let client = server.admin();
    let mut first = Visit::begin(&server, &client, &site.url("/"), "work").await;
    first.sign_in("eve").await;
    let kept = server.data_dir().join("profiles/o61646d696e/work");
    eventually(Duration::from_secs(60), async || kept.exists().then_some(()))
        .await
        .expect("a copy");
    let guest = Process::in_sandboxes(&server.run_dir());
    let guest = guest.into_iter().find(|process| process.command.starts_with(GUEST));
    guest.expect("the guest runs").kill();
    let over = async || (first.desk.describe().await["status"] == "error").then_some(());
    eventually(Duration::from_secs(20), over).await.expect("the session is over");
    let mut second = Visit::begin(&server, &client, &site.url("/"), "work").await;
    let known = second.known().await;
    assert!(known.contains("session=eve") && known.contains("stay=eve"), "{known}");
}
