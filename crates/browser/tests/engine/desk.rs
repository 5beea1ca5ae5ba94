//! A browser, its home, and requests as clients write them.

use std::sync::Arc;

use helmdeck_browser::{Browser, BrowserError};
use helmdeck_cdp::Current;
use helmdeck_wire::{
    ErrorCode,
    browser::{Acted, Clicked, Executed, Extracted, Navigated, Selected, Tab, TabId, Waited},
    screen::Picture,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::chromium::Chromium;

pub struct Desk {
    pub browser: Browser,
    pub chromium: Chromium,
    pub current: Arc<Current>,
    pub home: TempDir,
}

pub type Done<T> = Result<T, BrowserError>;

/// Parses a request as a client would send it.
pub fn request<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

/// The public code and message of a failure.
pub fn failure<T: std::fmt::Debug>(done: Done<T>) -> (ErrorCode, String) {
    let body = done.unwrap_err().body();
    (body.error, body.message)
}

impl Desk {
    pub async fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let chromium = Chromium::start(home.path()).await;
        let current = Arc::new(Current::new());
        current.set(chromium.cdp.clone());
        let browser = Browser::new(Arc::clone(&current), home.path().to_owned());
        Self { browser, chromium, current, home }
    }

    /// A browser that shows a page.
    pub async fn showing(html: &str) -> Self {
        let desk = Self::start().await;
        desk.show(html).await;
        desk
    }

    pub async fn show(&self, html: &str) {
        let encoded: String = html
            .bytes()
            .map(|byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
                byte => format!("%{byte:02X}"),
            })
            .collect();
        self.go(&format!("data:text/html;charset=utf-8,<!doctype html>{encoded}")).await;
    }

    pub async fn go(&self, url: &str) -> Navigated {
        self.navigate(json!({ "url": url })).await.unwrap()
    }

    pub async fn navigate(&self, value: Value) -> Done<Navigated> {
        self.browser.navigate(&request(value)).await
    }

    pub async fn click(&self, value: Value) -> Done<Clicked> {
        self.browser.click(&request(value)).await
    }

    pub async fn type_into(&self, value: Value) -> Done<Clicked> {
        self.browser.type_into(&request(value)).await
    }

    pub async fn press(&self, value: Value) -> Done<Acted> {
        self.browser.press(&request(value)).await
    }

    pub async fn select(&self, value: Value) -> Done<Selected> {
        self.browser.select(&request(value)).await
    }

    pub async fn execute(&self, value: Value) -> Done<Executed> {
        self.browser.execute(&request(value)).await
    }

    pub async fn extract(&self, value: Value) -> Done<Extracted> {
        self.browser.extract(&request(value)).await
    }

    pub async fn wait_for(&self, value: Value) -> Done<Waited> {
        self.browser.wait_for(&request(value)).await
    }

    pub async fn screenshot(&self, value: Value) -> Done<Picture> {
        self.browser.screenshot(&request(value)).await
    }

    pub async fn tabs(&self, value: Value) -> Vec<Tab> {
        self.browser.tabs(&request(value)).await.unwrap().tabs
    }

    pub async fn active(&self) -> TabId {
        let tabs = self.tabs(json!({})).await;
        tabs.into_iter().find(|tab| tab.active).unwrap().id
    }

    /// The value of an expression in the page.
    pub async fn value(&self, script: &str) -> Value {
        self.execute(json!({ "script": script })).await.unwrap().result
    }

    pub async fn text(&self, selector: &str) -> String {
        self.extract(json!({ "selector": selector })).await.unwrap().content
    }
}
