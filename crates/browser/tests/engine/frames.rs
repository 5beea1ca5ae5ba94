//! Iframes of the same site and of other sites, which run in other processes.

use serde_json::json;

use crate::{
    desk::Desk,
    server::{Reply, Server},
};

/// A page with an iframe that contains another iframe. Each has a form.
async fn nested(elsewhere: bool) -> (Desk, Server) {
    let form = "<input id=NAME><button onclick='this.textContent = \"done NAME\"'>Go NAME</button>";
    let form = move |name: &str| form.replace("NAME", name);
    let server = Server::start(move |path| {
        // A page chooses the frame's address by its own: `/x` at the other site.
        let (path, other) = path.split_once('?').unwrap_or((path, ""));
        let frame = |path: &str| {
            format!(
                "<div style='height: 900px'></div><iframe style='border: 7px solid; padding: 3px; \
                margin: 11px; width: 500px; height: 300px' src='{other}{path}?{other}'></iframe>"
            )
        };
        match path {
            "/" => Reply::page(form("top") + &frame("/middle")),
            "/middle" => Reply::page(form("middle") + &frame("/inner")),
            _ => Reply::page(form("inner")),
        }
    })
    .await;
    let desk = Desk::start().await;
    let other = if elsewhere { server.elsewhere("") } else { server.url("") };
    desk.go(&server.url(&format!("/?{other}"))).await;
    (desk, server)
}

async fn use_all(desk: &Desk) {
    for name in ["inner", "middle", "top"] {
        desk.click(json!({ "selector": format!("text=Go {name}") })).await.unwrap();
        desk.wait_for(json!({ "text": format!("done {name}") })).await.unwrap();
        let selector = format!("#{name}");
        let typed = desk.type_into(json!({ "selector": selector, "text": name })).await.unwrap();
        assert_eq!(typed.hit.tag, "input");
        desk.press(json!({ "selector": selector, "keys": "x" })).await.unwrap();
    }
}

#[tokio::test]
async fn elements_in_frames_work_like_elements_of_the_page() {
    let (desk, _server) = nested(false).await;
    use_all(&desk).await;
    let values = "[top.document, frames[0].document, frames[0].frames[0].document]
        .map(d => d.querySelector('input').value)";
    assert_eq!(desk.value(values).await, json!(["topx", "middlex", "innerx"]));
}

#[tokio::test]
async fn elements_in_cross_site_frames_work() {
    let (desk, _server) = nested(true).await;
    use_all(&desk).await;
    for name in ["inner", "middle"] {
        let html = desk.text(&format!("text=done {name}")).await;
        assert_eq!(html, format!("done {name}"));
    }
    let shot = desk.screenshot(json!({ "selector": "#inner" })).await.unwrap();
    assert!(shot.width > 50 && shot.height > 10);
}

#[tokio::test]
async fn a_frame_that_appears_late_or_navigates_is_found() {
    let server = Server::start(|path| match path {
        "/" => Reply::page("<iframe id=f></iframe>"),
        path => {
            Reply::page(format!("<button onclick='this.textContent = \"hit\"'>{path}</button>"))
        }
    })
    .await;
    let desk = Desk::start().await;
    desk.go(&server.url("/")).await;
    for url in [server.url("/a"), server.elsewhere("/b"), server.url("/c")] {
        let script = format!("setTimeout(() => f.src = '{url}', 100), 0");
        desk.value(&script).await;
        let path = url.rsplit('/').next().unwrap();
        desk.click(json!({ "selector": format!("text=/{path}") })).await.unwrap();
        assert_eq!(desk.text("button").await, "hit");
    }
    desk.value("f.remove()").await;
    desk.wait_for(json!({ "text": "hit", "gone": true })).await.unwrap();
}

#[tokio::test]
async fn a_covered_frame_is_detected_and_a_scaled_frame_is_hit() {
    let server = Server::start(|path| match path {
        "/" => Reply::page("<div id=where></div>"),
        _ => Reply::page(
            "<body style='margin: 0'><div style='height: 150px'></div><button style='margin-left: \
             200px' onclick='this.textContent = \"hit\"'>Go</button>",
        ),
    })
    .await;
    let desk = Desk::start().await;
    for url in [server.url("/in"), server.elsewhere("/in")] {
        desk.go(&server.url("/")).await;
        let script = format!(
            "where.innerHTML = `<iframe style='transform: scale(0.5); transform-origin: 0 0; width: \
             600px; height: 400px; border: 8px solid; padding: 4px' src='{url}'></iframe><p id=cover \
             style='position: fixed; inset: 0; margin: 0'></p>`, 0"
        );
        desk.value(&script).await;
        let click = json!({ "selector": "text=Go", "timeout_s": 2 });
        let refused = desk.click(click.clone()).await.unwrap_err().to_string();
        assert!(refused.contains("is in a frame that is covered by <p>"), "{refused}");
        desk.value("setTimeout(() => cover.remove(), 300), 0").await;
        desk.click(click).await.unwrap();
        assert_eq!(desk.text("button").await, "hit");
    }
}
