//! Live views of the browser: access and limits.

use std::time::Duration;

use helmdeck_testkit::{Caster, Desk, Refused, eventually, fake::FakeServer, jpeg_size};
use helmdeck_wire::guest::Progress;
use serde_json::json;

const SOON: Duration = Duration::from_secs(20);

#[tokio::test]
async fn watching_the_browser_needs_permission_and_valid_bounds() {
    let server = FakeServer::start().await;
    let client = server.admin();
    let refused = async |path: &str, headers: &[(&'static str, &str)]| {
        Caster::open(&server, path, headers).await.err().expect("it is refused")
    };
    let bearer = format!("Bearer {}", server.token("admin", "sessions:*"));
    let token = [("authorization", bearer.as_str())];
    let wrong = json!({ "cdp_stream": { "max_fps": 61 } });
    let wrong = client.post("/api/v1/sessions", &wrong).await.expect(400).text();
    assert!(wrong.contains("cdp_stream.max_fps"), "{wrong}");

    server.runtime.never_ready();
    let spec = json!({ "cdp_stream": { "max_width": 640 } });
    let starting = client.post("/api/v1/sessions?wait=false", &spec).await.json();
    let id = starting["id"].as_str().unwrap().to_owned();
    assert_eq!(starting["browser_view"]["status"], "starting");
    let path = format!("/api/v1/sessions/{id}/cdp-stream");
    assert_eq!(refused(&path, &token).await, Refused(503, "cdp_unavailable".into()));
    let desk = Desk { client: &client, id };
    let guest = eventually(SOON, async || server.runtime.guests().pop()).await.expect("a guest");
    guest.report(Progress::Ready);
    let ready = async || (desk.describe().await["browser_view"]["status"] == "ready").then_some(());
    eventually(SOON, ready).await.expect("it is ready");

    for query in ["quality=0", "max_fps=61", "max_width=x", "fps=3"] {
        assert_eq!(refused(&format!("{path}?{query}"), &token).await.0, 400, "{query}");
    }
    assert_eq!(refused("/api/v1/sessions/sess-none/cdp-stream", &token).await.0, 404);
    assert_eq!(refused(&path, &[]).await, Refused(401, "missing_bearer".into()));
    let stranger = format!("Bearer {}", server.token("other", "sessions:*"));
    assert_eq!(refused(&path, &[("authorization", &stranger)]).await.0, 404);
    let tickets = format!("/api/v1/sessions/{}/tickets", desk.id);
    let view = client.post(&tickets, &json!({ "role": "view" })).await.expect(201).json();
    let by_ticket = format!("{path}?ticket={}", view["ticket"].as_str().unwrap());
    let as_driver = refused(&format!("{by_ticket}&role=control"), &[]).await;
    assert_eq!(as_driver, Refused(403, "forbidden".into()));

    let mut fresh = Caster::open(&server, &path, &token).await.unwrap();
    fresh.until(|fresh| !fresh.pictures.is_empty()).await;
    assert_eq!(jpeg_size(&fresh.pictures[0]).0, 640, "as the session was made");
    let mut other = Caster::open(&server, &format!("{path}?max_width=320"), &token).await.unwrap();
    other.until(|other| !other.pictures.is_empty()).await;
    assert_eq!(jpeg_size(&other.pictures[0]).0, 320, "as the viewer asked");

    let mut watching = Caster::open(&server, &by_ticket, &[]).await.unwrap();
    watching.until(|view| !view.last("control").is_null()).await;
    assert_eq!(watching.last("control"), &json!({ "may_drive": false }));
    client.delete(&format!("{tickets}/{}", view["id"].as_str().unwrap())).await.expect(204);
    assert_eq!(watching.closed().await, 4001);
}

#[tokio::test]
async fn input_of_a_viewer_without_control_does_not_reach_the_guest() {
    let server = FakeServer::start().await;
    let client = server.admin();
    let desk = Desk::create(&client, &json!({})).await;
    let path = format!("/api/v1/sessions/{}/cdp-stream", desk.id);
    let bearer = format!("Bearer {}", server.token("admin", "admin"));
    let headers = [("authorization", bearer.as_str())];
    let mut view = Caster::open(&server, &path, &headers).await.unwrap();
    view.until(|view| !view.pictures.is_empty()).await;
    view.click(20, 20, 1).await;
    let refusal = json!({ "message": "you can only watch: take control first" });
    view.until(|view| view.last("error") == &refusal).await;

    let mut hand = Caster::open(&server, &format!("{path}?take=true"), &headers).await.unwrap();
    hand.until(|hand| hand.last("control")["may_drive"] == true).await;
    hand.click(30, 40, 1).await;
    let guest = server.runtime.guest(&desk.id);
    let pressed = async || {
        let inputs = guest.bodies("cast_input");
        let mice: Vec<_> = inputs.into_iter().filter(|it| it.get("mouse").is_some()).collect();
        (mice.len() == 2).then_some(mice)
    };
    let mice = eventually(SOON, pressed).await.expect("a press and a release");
    assert!(mice.iter().all(|mouse| mouse["mouse"]["x"] == 30.0), "{mice:?}");
}
