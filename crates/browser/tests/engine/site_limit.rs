//! Sites that tabs may open.

use std::sync::Arc;

use helmdeck_wire::site::Site;
use parking_lot::Mutex;
use serde_json::json;

use crate::{
    desk::Desk,
    server::{Reply, Server},
};

/// A page with ways to another site, and the paths that were asked for there.
async fn lures() -> (Server, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let heard = asked.clone();
    let server = Server::start(move |path| {
        heard.lock().push(path.to_owned());
        match path {
            "/redirect" => Reply::page("").status("302 Found").header("Location: /moved"),
            path => Reply::page(format!("<title>{path}</title>")),
        }
    })
    .await;
    (server, asked)
}

#[tokio::test]
async fn a_tab_does_not_leave_the_sites_of_a_limit_and_the_page_stays() {
    let (server, asked) = lures().await;
    let elsewhere = |path: &str| server.elsewhere(path);
    let desk = Desk::start().await;
    desk.go(&server.url("/start")).await;
    let sites = || Some(vec![Site::of(&server.url("/")).unwrap()]);
    assert!(desk.browser.limit_sites("run", sites()).await.unwrap().urls.is_empty());

    let page = format!(
        "document.body.innerHTML = '<a id=link href={}>link</a> <a id=tab target=_blank href={}>tab</a> \
         <button id=script onclick=\"location = `{}`\">script</button> <a id=own href=/own>own</a>'",
        elsewhere("/link"),
        elsewhere("/tab"),
        elsewhere("/script"),
    );
    desk.value(&page).await;
    for (id, path) in [("link", "/link"), ("script", "/script"), ("tab", "/tab")] {
        desk.click(json!({ "selector": format!("#{id}") })).await.unwrap();
        let mut refused = Vec::new();
        while refused.is_empty() {
            refused = desk.browser.limit_sites("run", sites()).await.unwrap().urls;
        }
        assert_eq!(refused, [elsewhere(path)]);
        let first = desk.tabs(json!({})).await.remove(0).id;
        desk.tabs(json!({ "action": "activate", "tab": first })).await;
        assert_eq!(desk.value("document.title").await, "/start", "{id}");
    }

    // Frames may show other sites, and the site itself is open.
    let frame = format!(
        "new Promise((done) => {{ const frame = document.createElement('iframe'); frame.onload = () => done(true); \
         frame.src = '{}'; document.body.append(frame); }})",
        elsewhere("/frame")
    );
    desk.value(&frame).await;
    desk.click(json!({ "selector": "#own" })).await.unwrap();
    desk.wait_for(json!({ "url": "/own" })).await.unwrap();
    let asked_for = |path: &str| asked.lock().iter().any(|one| one == path);
    assert!(asked_for("/frame") && asked_for("/own"));
    assert!(!asked_for("/link") && !asked_for("/script") && !asked_for("/tab"), "{asked:?}");

    // Without the limit, and for a person, everything is open.
    desk.browser.limit_sites("run", None).await.unwrap();
    desk.go(&elsewhere("/link")).await;
    desk.browser.limit_sites("run", sites()).await.unwrap();
    desk.browser.handed_over(true);
    desk.go(&elsewhere("/redirect")).await;
    assert!(asked_for("/link") && asked_for("/moved"));
}

#[tokio::test]
async fn a_redirect_to_another_site_is_refused() {
    let (other, asked) = lures().await;
    let there = other.elsewhere("/there");
    let server = Server::start(move |path| match path {
        "/away" => Reply::page("").status("302 Found").header(&format!("Location: {there}")),
        _ => Reply::page("<title>start</title><a href=/away>away</a>"),
    })
    .await;
    let desk = Desk::start().await;
    desk.go(&server.url("/")).await;
    let sites = || Some(vec![Site::of(&server.url("/")).unwrap()]);
    desk.browser.limit_sites("run", sites()).await.unwrap();
    desk.click(json!({ "selector": "a" })).await.unwrap();
    let mut refused = Vec::new();
    while refused.is_empty() {
        refused = desk.browser.limit_sites("run", sites()).await.unwrap().urls;
    }
    assert_eq!(refused, [other.elsewhere("/there")]);
    assert_eq!(desk.value("document.title").await, "start");
    assert!(asked.lock().is_empty());
}

#[tokio::test]
async fn a_download_that_begins_during_a_limit_is_reported_once() {
    let server = Server::start(|path| match path {
        "/file" => Reply::page("x").header("Content-Disposition: attachment; filename=x.bin"),
        _ => Reply::page("<title>start</title>"),
    })
    .await;
    let desk = Desk::start().await;
    desk.go(&server.url("/")).await;
    let sites = || Some(vec![Site::of(&server.url("/")).unwrap()]);
    let report = async || desk.browser.limit_sites("run", sites()).await.unwrap();
    assert_eq!(report().await.downloads, 0);
    // It begins after the call that caused it has ended.
    desk.value("setTimeout(() => { location = '/file'; }, 300)").await;
    let mut begun = 0;
    while begun == 0 {
        begun = report().await.downloads;
    }
    assert_eq!((begun, report().await.downloads), (1, 0));
}
