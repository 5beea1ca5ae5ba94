//! Private sign-in: a person uses a private browser.

use std::sync::Arc;

use helmdeck_browser::{Browser, ScreenMessage, SignIn};
use helmdeck_cdp::Current;
use helmdeck_wire::{
    ErrorCode,
    browser::Emulation,
    cast::{CastMessage, CastView},
    control::Hands,
};
use serde_json::{Value, from_value, json};
use tempfile::TempDir;
use tokio::time::timeout;

use crate::{
    chromium::{Chromium, SOON},
    desk::{Desk, failure, request},
    server::{Reply, Server},
};

/// The private browser of one person.
struct Alone {
    browser: Browser,
    _chromium: Chromium,
    _home: TempDir,
}

impl Alone {
    async fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let chromium = Chromium::start(home.path()).await;
        let current = Arc::new(Current::new());
        current.set(chromium.cdp.clone());
        let browser = Browser::private_to(current, Emulation::default(), Emulation::default());
        Self { browser, _chromium: chromium, _home: home }
    }
}

/// A site that recognizes a user by a cookie, local storage and session storage.
async fn site() -> Server {
    let welcome = "<title>welcome</title><script>
        document.title = [document.cookie, localStorage.who, sessionStorage.token].join()</script>";
    Server::start(move |path| match path {
        "/sign-in" => Reply::page(
            "<title>sign in</title><script>window.started = localStorage.device;
            localStorage.who = 'ada'; sessionStorage.token = 't'; document.cookie = 'sid=1'</script>",
        ),
        "/device" => Reply::page("<script>localStorage.device = 'known'</script>"),
        _ => Reply::page(welcome),
    })
    .await
}

async fn run(browser: &Browser, script: &str) -> Value {
    let executed = browser.execute(&request(json!({ "script": script }))).await.unwrap();
    serde_json::to_value(executed).unwrap()["result"].clone()
}

#[tokio::test]
async fn agents_are_refused_and_then_get_the_signed_in_page() {
    let (site, agent, alone) = (site().await, Desk::start().await, Alone::start().await);
    agent.go(&site.url("/device")).await;
    agent.go(&site.url("/sign-in?from=agent")).await;
    let carried = agent.browser.carried().await.unwrap();
    let tab = carried.tab.clone();
    alone.browser.arrive(carried, None).await.unwrap();
    let sign_in = SignIn { by: "ann".into(), key: "key".into(), browser: alone.browser.clone() };
    agent.browser.set_private(Some(sign_in));

    // Every call of an agent fails; the person's calls go to the private browser.
    for hands in [Hands::Agent, Hands::Off] {
        let browser = agent.browser.in_hands(hands);
        let (code, message) =
            failure(browser.navigate(&request(json!({ "url": "about:blank" }))).await);
        assert_eq!(code, ErrorCode::Private);
        assert!(message.contains("ann"), "{message}");
        assert_eq!(failure(browser.snapshot(&request(json!({}))).await).0, ErrorCode::Private);
        assert_eq!(failure(browser.network(&request(json!({}))).await).0, ErrorCode::Private);
        let exported = browser.export_state(&request(json!({}))).await.map(|_| ());
        assert_eq!(failure(exported).0, ErrorCode::Private);
    }
    let person = agent.browser.in_hands(Hands::Person);
    assert_eq!(run(&person, "localStorage.device").await, "known");
    person.navigate(&request(json!({ "url": site.url("/sign-in") }))).await.unwrap();
    person.navigate(&request(json!({ "url": site.url("/home") }))).await.unwrap();
    assert_eq!(run(&person, "document.title").await, "sid=1,ada,t");

    let carried = alone.browser.carried().await.unwrap();
    assert_eq!(carried.url, site.url("/home"));
    agent.browser.arrive(carried, Some(&tab)).await.unwrap();
    agent.browser.set_private(None);
    agent.browser.wait_for(&request(json!({ "url": "/home" }))).await.unwrap();
    assert_eq!(run(&agent.browser, "document.title").await, "sid=1,ada,t");
    let tabs = agent.browser.tabs(&request(json!({ "action": "list" }))).await.unwrap().tabs;
    assert_eq!(tabs.len(), 1, "it is the agent's own tab");
    // The agent's records contain nothing that the person did.
    let network = agent.browser.network(&request(json!({}))).await.unwrap();
    let network = serde_json::to_string(&network).unwrap();
    assert!(!network.contains("/sign-in\""), "{network}");
}

#[tokio::test]
async fn a_sign_in_popup_is_shown_to_the_person_until_it_closes() {
    let alone = Alone::start().await;
    let page = "<title>main</title><button onclick=\"window.open('/popup')\">with another</button>";
    let site = Server::start(move |path| match path {
        "/popup" => {
            Reply::page("<title>popup</title><button onclick='window.close()'>done</button>")
        }
        _ => Reply::page(page),
    })
    .await;
    let person = alone.browser.in_hands(Hands::Person);
    person.navigate(&request(json!({ "url": site.url("/") }))).await.unwrap();
    let view: CastView = from_value(json!({
        "quality": 70, "max_width": 1280, "max_height": 800, "max_fps": 15,
    }))
    .unwrap();
    let (mut screen, _hands) = alone.browser.cast(view, 0);
    let (mut tabs, mut frame) = (Vec::new(), None);
    let mut shows = async |title: &str| {
        let watching = async {
            loop {
                match screen.next().await {
                    ScreenMessage::Words(CastMessage::Tabs(told)) => tabs = told,
                    ScreenMessage::Words(CastMessage::Frame(told)) => frame = Some(told.tab),
                    _ => {}
                }
                let active = tabs.iter().find(|tab| tab.active);
                if active.is_some_and(|tab| tab.title == title && Some(&tab.id) == frame.as_ref()) {
                    return;
                }
            }
        };
        let watched = timeout(SOON, watching).await;
        assert!(watched.is_ok(), "{title}: {tabs:?} {frame:?}");
    };
    shows("main").await;
    person.click(&request(json!({ "selector": "text=with another" }))).await.unwrap();
    shows("popup").await;
    person.click(&request(json!({ "selector": "text=done" }))).await.unwrap();
    shows("main").await;
}
