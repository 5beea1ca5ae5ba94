//! A desktop with a page in its browser.

use std::time::{Duration, Instant};

use helmdeck_testkit::{Answer, Client, Desk};
use serde_json::{Value, json};

/// A new browser is idle after this time.
const STARTED: Duration = Duration::from_secs(3);
/// A place of the page where nothing is.
const NOWHERE: (i64, i64) = (700, 450);

/// A desktop session and the place of its page on the screen.
pub struct Shown<'a> {
    pub desk: Desk<'a>,
    corner: (i64, i64),
}

impl<'a> Shown<'a> {
    /// Starts a session and opens a page.
    pub async fn open(client: &'a Client, geometry: &str, url: &str) -> Self {
        let spec = json!({ "mode": "desktop", "geometry": geometry, "idle_timeout_s": 0 });
        let desk = Desk::create(client, &spec).await;
        desk.browser("navigate", json!({ "url": url })).await.expect(200);
        let script = "({ x: screenX + (outerWidth - innerWidth) / 2, \
            y: screenY + outerHeight - innerHeight - (outerWidth - innerWidth) / 2 })";
        let place = desk.browser("execute", json!({ "script": script })).await.expect(200).json();
        let at = |name: &str| {
            place.pointer(&format!("/result/{name}")).and_then(Value::as_f64).unwrap_or(0.0) as i64
        };
        let corner = (at("x"), at("y"));
        tokio::time::sleep(STARTED).await;
        Self { desk, corner }
    }

    /// A point of the page, on the screen.
    pub fn point(&self, (x, y): (i64, i64)) -> Value {
        json!({ "x": self.corner.0 + x, "y": self.corner.1 + y })
    }

    /// Shows another page, with the keyboard focus and the pointer in it.
    pub async fn show(&self, url: &str) {
        let mut shown = self.desk.browser("navigate", json!({ "url": url })).await;
        // The page before may still be leaving for another one, after which this one is opened again.
        if shown.text().contains("ERR_ABORTED") {
            shown = self.desk.browser("navigate", json!({ "url": url })).await;
        }
        shown.expect(200);
        self.desk.act("click", self.point(NOWHERE)).await;
    }

    /// Runs a script in the page; null if it fails.
    pub async fn script(&self, script: &str) -> Value {
        let answer = self.desk.browser("execute", json!({ "script": script })).await;
        answer.json().get("result").cloned().unwrap_or_default()
    }

    /// Closes all tabs but the first.
    pub async fn close_tabs(&self) {
        for _ in 0..5 {
            let tabs = self.desk.browser("tabs", json!({})).await.json();
            let more = tabs.pointer("/tabs/1/id").cloned();
            let Some(tab) = more else { return };
            self.desk.browser("tabs", json!({ "action": "close", "tab": tab })).await;
        }
    }

    /// The parts of the screen where the page says that something moves on its own.
    pub async fn periodic(&self) -> Vec<Area> {
        let script = "[...document.querySelectorAll('[data-periodic]')].map((element) => {\
            const { x, y, width, height } = element.getBoundingClientRect();\
            return [x, y, width, height].map(Math.round) })";
        let places = self.script(script).await;
        let places: Vec<[i64; 4]> = serde_json::from_value(places).unwrap_or_default();
        let area = |[x, y, width, height]: [i64; 4]| Area {
            left: self.corner.0 + x,
            top: self.corner.1 + y,
            right: self.corner.0 + x + width,
            bottom: self.corner.1 + y + height,
        };
        places.into_iter().map(|place| area(place).wider(8)).collect()
    }

    /// A picture of the whole screen.
    pub async fn picture(&self) -> Answer {
        self.desk.ask("screenshot", json!({})).await.expect(200)
    }
}

/// A request with further fields.
pub fn with(mut body: Value, more: &Value) -> Value {
    if let (Some(body), Some(more)) = (body.as_object_mut(), more.as_object()) {
        body.extend(more.clone());
    }
    body
}

/// A part of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    pub left: i64,
    pub top: i64,
    pub right: i64,
    pub bottom: i64,
}

impl Area {
    pub fn has(&self, x: i64, y: i64) -> bool {
        (self.left..self.right).contains(&x) && (self.top..self.bottom).contains(&y)
    }

    /// With a margin: edges are smoothed, and what turns needs its diagonal.
    fn wider(self, margin: i64) -> Self {
        let Self { left, top, right, bottom } = self;
        Self {
            left: left - margin,
            top: top - margin,
            right: right + margin,
            bottom: bottom + margin,
        }
    }
}

/// Milliseconds since a moment.
pub fn since(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1000.0
}
