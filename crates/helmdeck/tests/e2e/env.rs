//! Environment, time zone and language of a session, and their visibility.

use helmdeck_testkit::{Desk, Server};
use serde_json::json;

#[tokio::test]
async fn variables_reach_the_agents_programs_and_stay_out_of_replies() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let secret = "correct horse; $(battery) 'staple'";
    let env = json!({ "HELMDECK_MODE": "desktop", "HELMDECK_DISPLAY_GEOMETRY": "800x600",
                      "NAME": secret, "HELMDECK_NOTE": "shown" });
    let body = json!({ "spec": { "env": env } });
    let created = client.post("/api/v1/sessions", &body).await.expect(201);
    let session = created.json();
    let desk = Desk { client: &client, id: session["id"].as_str().unwrap().to_owned() };
    assert_eq!(session["spec"]["geometry"], "800x600");
    assert_eq!(session["spec"]["env"]["HELMDECK_NOTE"], "shown");
    assert!(session["spec"]["env"].get("NAME").is_some(), "the name is shown, its value is not");

    let list = client.get("/api/v1/sessions").await.text();
    for reply in [created.text(), desk.describe().await.to_string(), list] {
        assert!(!reply.contains("battery"), "{reply}");
    }
    assert!(!desk.log().await.contains("battery"));
    assert_eq!(desk.shell(r#"echo "GOT=$NAME""#).await, format!("GOT={secret}\n"));

    // The desktop's own programs do not get it.
    let others =
        "for p in xfwm4 dbus-daemon; do tr '\\0' '\\n' < /proc/$(pgrep -x $p)/environ; done";
    let environment = desk.shell(others).await;
    assert!(
        environment.contains("HOME=/home/agent") && !environment.contains("NAME=c"),
        "{environment}"
    );
}

#[tokio::test]
async fn the_time_zone_and_language_inside_are_as_requested() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let spec = json!({ "mode": "desktop", "geometry": "800x600", "timezone": "Asia/Tokyo",
                       "locale": "de-DE" });
    let desk = Desk::create(&client, &spec).await;
    assert_eq!(desk.shell("date +%Z; echo $LANG").await, "JST\nde_DE.UTF-8\n");
    let page = "<script>document.title = Intl.DateTimeFormat().resolvedOptions().timeZone + ' ' + \
                navigator.language</script>";
    desk.browse(page, "Asia/Tokyo de").await;
}

#[tokio::test]
async fn the_log_has_the_output_of_programs_and_can_be_tailed() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    desk.shell("echo first; echo second >&2; printf 'ümlaut \\377 %5000d' 7").await;
    let log = desk.log().await;
    assert!(log.contains("first") && log.contains("second") && log.contains("ümlaut"), "{log}");
    let path = format!("/api/v1/sessions/{}/logs?tail=2", desk.id);
    let tail = client.get(&path).await.expect(200).text();
    assert_eq!(tail.lines().count(), 2, "{tail}");
    client.get(&path.replace("tail", "tale")).await.expect_error(400, "invalid_input");
}
