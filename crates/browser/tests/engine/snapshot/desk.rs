//! A browser that shows a page, and helpers to read it.

use helmdeck_browser::{Browser, BrowserError};
use helmdeck_wire::browser::{MarkdownText, SnapshotText};
use serde_json::{Value, json};

use crate::{
    desk::{self, request},
    server::Server,
};

pub struct Desk {
    pub browser: Browser,
    _desk: desk::Desk,
}

impl Desk {
    pub async fn start() -> Self {
        let desk = desk::Desk::start().await;
        Self { browser: desk.browser.clone(), _desk: desk }
    }

    /// A browser that shows a page, and the server of the page.
    pub async fn showing(body: &str) -> (Self, Server) {
        let (desk, server) = (Self::start().await, Server::of(body).await);
        desk.go(&server.url("/")).await;
        (desk, server)
    }

    pub async fn go(&self, url: &str) {
        let navigate = request(json!({ "url": url, "timeout_s": 60 }));
        self.browser.navigate(&navigate).await.unwrap();
    }

    /// The whole page.
    pub async fn text(&self) -> String {
        self.snapshot(json!({})).await.snapshot
    }

    pub async fn snapshot(&self, value: Value) -> SnapshotText {
        let mut wanted = value;
        wanted["timeout_s"] = json!(60);
        self.browser.snapshot(&request(wanted)).await.unwrap()
    }

    pub async fn markdown(&self, value: Value) -> MarkdownText {
        let mut wanted = value;
        wanted["timeout_s"] = json!(60);
        self.browser.markdown(&request(wanted)).await.unwrap()
    }

    /// Runs a script in the page.
    pub async fn run(&self, script: &str) -> Value {
        self.browser.execute(&request(json!({ "script": script }))).await.unwrap().result
    }

    pub async fn click(&self, selector: &str) -> Result<(), BrowserError> {
        let click = request(json!({ "selector": selector, "timeout_s": 5 }));
        self.browser.click(&click).await.map(|_| ())
    }
}

/// The ref of the first line that contains this.
pub fn ref_of(snapshot: &str, part: &str) -> String {
    let line = snapshot.lines().find(|line| line.contains(part));
    let line = line.unwrap_or_else(|| panic!("no {part} in\n{snapshot}"));
    let from = line.find(part).unwrap();
    let name = line[from..].split_once("[ref=").and_then(|(_, rest)| rest.split_once(']'));
    name.unwrap_or_else(|| panic!("no ref in {line}")).0.to_owned()
}

/// Compares a snapshot with the expected text, in which `#` stands for any number.
pub fn assert_shows(snapshot: &str, expected: &str) {
    let mut numberless = String::new();
    let mut rest = snapshot;
    while let Some((before, after)) = rest.split_once("[ref=e") {
        numberless += before;
        numberless += "[ref=#";
        rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    numberless += rest;
    assert_eq!(numberless.trim_end(), expected.trim_end(), "\n{numberless}");
}
