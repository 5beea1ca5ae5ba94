//! The server, the site and the caller of a run.

use helmdeck_testkit::{Client, Debugger, Server, Site};
use serde_json::json;

use super::site::Pages;

const SUBJECT: &str = "effects";
const SCOPES: &str = "sessions:*";

/// What sessions of a run need.
pub struct Testbed {
    /// The caller that acts.
    pub client: Client,
    /// The site that its sessions show.
    pub pages: Pages,
    server: Server,
}

impl Testbed {
    /// Starts a server and the site.
    pub async fn start() -> Self {
        let server = Server::start_with(&[Site::REACHABLE]);
        let client = server.client(SUBJECT, SCOPES);
        Self { client, pages: Pages::start().await, server }
    }

    /// How many pages Chromium lists over its debugging protocol.
    pub async fn count_pages(&self, session_id: &str) -> usize {
        let path = format!("/api/v1/sessions/{session_id}/cdp");
        let bearer = format!("Bearer {}", self.server.token(SUBJECT, SCOPES));
        let headers = [("authorization", bearer.as_str())];
        let Ok(mut debugger) = Debugger::open(&self.server, &path, &headers).await else {
            return 0;
        };
        let listed = debugger.call(None, "Target.getTargets", json!({})).await;
        let targets = listed.get("targetInfos").and_then(|targets| targets.as_array());
        let is_page = |target: &&serde_json::Value| target.get("type") == Some(&"page".into());
        targets.into_iter().flatten().filter(is_page).count()
    }
}
