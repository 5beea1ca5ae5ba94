//! Emulation of time zone, language, location and media features.

use std::sync::Arc;

use helmdeck_browser::Browser;
use helmdeck_wire::{
    ErrorCode,
    browser::{Emulated, Emulation},
};
use serde_json::{Value, json};

use crate::{
    chromium::Chromium,
    desk::{Desk, Done, failure, request},
    server::{Reply, Server},
};

/// Reads the emulated values in a page: zone and hour, language, colours, motion.
const BELIEVED: &str = "[Intl.DateTimeFormat().resolvedOptions().timeZone, new Date(0).getHours(),
    navigator.language, Intl.NumberFormat().resolvedOptions().locale,
    matchMedia('(prefers-color-scheme: dark)').matches,
    matchMedia('(prefers-reduced-motion: reduce)').matches]";
const PLACE: &str = "new Promise((done) => navigator.geolocation.getCurrentPosition(
    ({ coords }) => done([coords.latitude, coords.longitude, coords.accuracy]),
    (error) => done(error.message)))";

const IN_A_WORKER: &str = "new Promise((done) => {
    const script = 'postMessage(Intl.DateTimeFormat().resolvedOptions().timeZone)';
    new Worker(URL.createObjectURL(new Blob([script]))).onmessage = ({ data }) => done(data) })";

async fn emulate(desk: &Desk, value: Value) -> Done<Emulated> {
    desk.browser.emulate(&request(value)).await
}

/// A page that shows the values it saw while loading, with a page of another site in it.
async fn site() -> Server {
    Server::start(|path| {
        let says = format!("<script>window.believed = {BELIEVED}</script>");
        match path.strip_prefix("/with?") {
            Some(frame) => Reply::page(format!("{says}<iframe src={frame}></iframe>")),
            None => Reply::page(format!(
                "{says}<pre id=said></pre><script>
                said.textContent = JSON.stringify(window.believed)</script>"
            )),
        }
    })
    .await
}

#[tokio::test]
async fn emulation_applies_to_all_pages_and_frames_and_survives_a_restart() {
    let mut desk = Desk::start().await;
    let site = site().await;
    let page = site.url(&format!("/with?{}", site.elsewhere("/")));
    desk.go(&page).await;
    let truth = desk.value("believed").await;
    let told = emulate(
        &desk,
        json!({
            "timezone": "asia/tokyo", "locale": "de_DE", "color_scheme": "dark", "reduced_motion": true,
            "geolocation": { "latitude": 48.5, "longitude": 2.25 },
        }),
    );
    let told = serde_json::to_value(told.await.unwrap()).unwrap();
    assert_eq!(
        told,
        json!({
            "ok": true, "timezone": "Asia/Tokyo", "locale": "de-DE", "color_scheme": "dark",
            "reduced_motion": true,
            "geolocation": { "latitude": 48.5, "longitude": 2.25, "accuracy": 10.0 },
        })
    );
    let tokyo = json!(["Asia/Tokyo", 9, "de-DE", "de-DE", true, true]);
    assert_eq!(desk.value(BELIEVED).await, tokyo);
    assert_eq!(desk.value(PLACE).await, json!([48.5, 2.25, 10]));
    // Workers and frames wait until they are told, and then go on.
    assert_eq!(desk.value(IN_A_WORKER).await, "Asia/Tokyo");
    // From the first script on, in a frame of another process, and in a tab opened later.
    desk.go(&page).await;
    assert_eq!(desk.value("believed").await, tokyo);
    let said: Value = serde_json::from_str(&desk.text("#said").await).unwrap();
    assert_eq!(said, tokyo);
    let first = desk.active().await;
    desk.value(&format!("open('{}'), 1", site.url("/"))).await;
    let tabs = desk.tabs(json!({})).await;
    let second = tabs.into_iter().find(|tab| tab.id != first).unwrap().id;
    let in_second = json!({ "script": BELIEVED, "tab": second });
    assert_eq!(desk.execute(in_second.clone()).await.unwrap().result, tokyo);
    // Shared settings survive the tab that set them first.
    desk.tabs(json!({ "action": "close", "tab": first })).await;
    let remembers = json!({ "script": format!("new Promise((done) => setInterval(() => {{
        const now = {BELIEVED}; if (now[0] == 'Asia/Tokyo' && now[3] == 'de-DE') done(now) }}, 20))"),
        "tab": second });
    assert_eq!(desk.execute(remembers).await.unwrap().result, tokyo);

    // Given values are set; the others stay.
    let told = emulate(&desk, json!({ "timezone": "Europe/Paris", "color_scheme": "light" })).await;
    assert_eq!(told.unwrap().emulation.locale.as_deref(), Some("de-DE"));
    let paris = json!(["Europe/Paris", 1, "de-DE", "de-DE", false, true]);
    assert_eq!(desk.value(BELIEVED).await, paris);
    // Unknown values change nothing.
    for (value, field) in [
        (json!({ "timezone": "Europe/Nowhere", "locale": "fr-FR" }), "timezone: "),
        (json!({ "timezone": "+01:00" }), "timezone: "),
        (json!({ "timezone": "Asia/Tokyo", "locale": "zz" }), "locale: "),
    ] {
        let (code, message) = failure(emulate(&desk, value).await);
        assert_eq!(code, ErrorCode::InvalidInput);
        assert!(message.starts_with(field), "{message}");
    }
    assert_eq!(desk.value(BELIEVED).await, paris);

    // The next browser has it before any call.
    desk.chromium.kill();
    let home = tempfile::tempdir().unwrap();
    desk.chromium = Chromium::start(home.path()).await;
    desk.current.set(desk.chromium.cdp.clone());
    desk.navigate(json!({ "url": page, "timeout_s": 30 })).await.unwrap();
    assert_eq!(desk.value("believed").await, paris);
    assert_eq!(desk.value(PLACE).await, json!([48.5, 2.25, 10]));

    let told = emulate(&desk, json!({ "reset": true })).await.unwrap();
    assert_eq!(told.emulation, Emulation::default());
    assert_eq!(desk.value(BELIEVED).await, truth);
    let state = "navigator.permissions.query({ name: 'geolocation' }).then(({ state }) => state)";
    assert_eq!(desk.value(state).await, "prompt");
}

#[tokio::test]
async fn emulation_applies_without_any_call() {
    let desk = Desk::start().await;
    let emulated = request(json!({ "color_scheme": "dark" }));
    let own: Emulation = request(json!({ "timezone": "Europe/Rome" }));
    let current = Arc::clone(&desk.current);
    let quiet = Browser::emulating(current, desk.home.path().to_owned(), own, emulated);
    quiet.follow().await;
    // Another client of the same browser sees it.
    assert_eq!(desk.value("matchMedia('(prefers-color-scheme: dark)').matches").await, true);
    let told = quiet.emulate(&request(json!({}))).await.unwrap().emulation;
    assert_eq!(told, request(json!({ "color_scheme": "dark", "timezone": "Europe/Rome" })));
}
