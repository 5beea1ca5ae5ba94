//! Browsers that the agent's own programs start: visible to people, and used by browser calls.

use std::time::Duration;

use helmdeck_testkit::{Desk, Page, Process, Server, Site, eventually};
use serde_json::{Value, json};

/// Time for browsers to start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Profile of the session's own browser.
const OWN: &str = "/home/browser/.config/chromium";

const ON: (&str, &str) = ("HELMDECK_BROWSER_PASSTHROUGH", "true");

/// Starts a browser like Playwright: with its own profile, and a command on its pipe.
const LIKE_PLAYWRIGHT: &str = r#"
    mkfifo to from; exec 3<>to 4<>from
    "$1" --no-first-run --remote-debugging-pipe --user-data-dir=/tmp/theirs "$2" &
    printf '{"id":1,"method":"Browser.getVersion"}\0' >&3
    read -r -d '' answer <&4; echo "piped $answer"
    exec 3<&- 4<&-; wait $!; echo "left with $?"
"#;

fn page(path: &str) -> Page {
    match path {
        "/theirs" => Page::html(
            "<title>theirs</title><button onclick=\"document.title = 'pressed'\">Press</button>",
        ),
        _ => Page::html("<title>handed over</title>"),
    }
}

/// Addresses of all tabs of the browser that calls use. Empty while it ends.
async fn tabs(desk: &Desk<'_>) -> Vec<String> {
    let list = desk.browser("tabs", json!({})).await.json();
    let url = |tab: &Value| tab["url"].as_str().expect("an address").to_owned();
    list["tabs"].as_array().into_iter().flatten().map(url).collect()
}

/// Waits for a tab whose address has this suffix.
async fn tab(desk: &Desk<'_>, path: &str) {
    let look = async || tabs(desk).await.iter().any(|url| url.ends_with(path)).then_some(());
    if eventually(PATIENCE, look).await.is_none() {
        panic!("no tab is at {path}: {:?}\n{}", tabs(desk).await, desk.log().await);
    }
}

/// Waits until the log contains this, and returns it.
async fn logged(desk: &Desk<'_>, text: &str) -> String {
    let look = async || Some(desk.log().await).filter(|log| log.contains(text));
    match eventually(PATIENCE, look).await {
        Some(log) => log,
        None => panic!("{text:?} is not in the log: {}", desk.log().await),
    }
}

/// The browser process with this profile on the host.
fn browser(server: &Server, profile: &str) -> Process {
    let profile = format!("--user-data-dir={profile}");
    let main = |process: &Process| {
        process.command.starts_with("/usr/lib/chromium/chromium ")
            && process.command.contains(&profile)
            && !process.command.contains("--type=")
    };
    let found = Process::in_sandboxes(&server.run_dir()).into_iter().find(main);
    found.expect("the browser runs")
}

#[tokio::test]
async fn calls_use_a_browser_that_a_script_started_while_it_runs() {
    let server = Server::start_with(&[Site::REACHABLE, ON]);
    let site = Site::start(page).await;
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    assert_eq!(desk.describe().await["spec"]["browser_passthrough"], true);

    // Without a profile, a page opens in the session's own browser, under any command name.
    let launch = json!({ "command": "chromium-browser", "args": [site.url("/handed-over")] });
    desk.act("launch", launch).await;
    tab(&desk, "/handed-over").await;

    let script = json!(["-c", LIKE_PLAYWRIGHT, "bash", "google-chrome", site.url("/theirs")]);
    desk.act("launch", json!({ "command": "bash", "args": script })).await;
    tab(&desk, "/theirs").await;
    assert_eq!(tabs(&desk).await, [site.url("/theirs")]);
    desk.titled("theirs").await;
    let seen = desk.browser("snapshot", json!({})).await.expect(200).json();
    assert!(seen["snapshot"].as_str().unwrap().contains("button \"Press\""), "{seen}");
    // A viewer can crop its picture to the window.
    let theirs = desk.titled("theirs").await;
    let look = async || {
        Some(desk.describe().await).filter(|it| it["browser_window"]["id"] == theirs["id"])
    };
    let found = eventually(PATIENCE, look).await.expect("the window is reported");
    assert_eq!(found["browser_window"]["width"], theirs["width"], "{found}");
    desk.browser("click", json!({ "selector": "text=Press" })).await.expect(200);
    desk.titled("pressed").await;
    let version = format!("/api/v1/sessions/{}/cdp/json/list", desk.id);
    assert!(client.get(&version).await.expect(200).text().contains("/theirs"));

    // Its caller has the pipe, and the session's own browser uses only a pipe.
    assert!(logged(&desk, "piped ").await.contains("\"product\":\"Chrome/"));
    let theirs = browser(&server, "/tmp/theirs");
    assert!(theirs.command.contains("--remote-debugging-port=0"), "{}", theirs.command);
    let own = browser(&server, OWN);
    assert!(!own.command.contains("--remote-debugging-port"), "{}", own.command);

    theirs.kill();
    tab(&desk, "/handed-over").await;
    logged(&desk, "the browser google-chrome (process").await;
    logged(&desk, "has ended").await;
    // Files that one browser left there are not attributed to another.
    let again = json!(["--user-data-dir=/tmp/theirs", "--no-first-run", site.url("/theirs")]);
    desk.act("launch", json!({ "command": "/opt/google/chrome/chrome", "args": again })).await;
    tab(&desk, "/theirs").await;

    // The session's own browser is used manually and then killed. Calls still use the other one,
    // which keeps its place while the own browser is restored.
    let theirs = desk.titled("theirs").await;
    let ours = desk.titled("handed over").await;
    desk.act("focus", json!({ "window_id": ours["id"] })).await;
    let own = browser(&server, OWN);
    own.kill();
    // With or without a title bar, it ends where the panel begins.
    let room = |window: &Value| {
        let bottom = window["y"].as_i64().zip(window["height"].as_i64()).map(|(y, h)| y + h);
        (window["x"].clone(), window["width"].clone(), bottom)
    };
    let back = async || {
        if own.is_alive() {
            return None;
        }
        let new = |window: &Value| window["browser"] == true;
        let windows = desk.windows().await;
        windows.iter().any(|window| new(window) && room(window) == room(&ours)).then_some(())
    };
    if eventually(PATIENCE, back).await.is_none() {
        panic!("it is not back in its place: {:?}\n{}", desk.windows().await, desk.log().await);
    }
    let kept = desk.titled("theirs").await;
    for side in ["x", "y", "width", "height"] {
        assert_eq!(kept[side], theirs[side], "{side}");
    }
    let told =
        async || (desk.describe().await["browser_window"]["id"] == theirs["id"]).then_some(());
    eventually(PATIENCE, told).await.expect("the window of the browser that calls are about");
    browser(&server, "/tmp/theirs").kill();
    tab(&desk, "about:blank").await;
}

#[tokio::test]
async fn headless_browsers_are_used_too_and_an_unresponsive_guest_does_not_block_them() {
    let server = Server::start_with(&[Site::REACHABLE]);
    let site = Site::start(page).await;
    let client = server.admin();
    let spec = json!({ "mode": "desktop", "geometry": "800x600", "browser_passthrough": true });
    let desk = Desk::create(&client, &spec).await;
    let args = ["--headless", "--remote-debugging-port=9333", "--user-data-dir=/tmp/theirs"];
    let args: Vec<_> = args.into_iter().map(String::from).chain([site.url("/theirs")]).collect();
    desk.act("launch", json!({ "command": "/usr/bin/chromium", "args": args })).await;
    tab(&desk, "/theirs").await;
    assert!(logged(&desk, "the headless browser chromium").await.contains("was started"));
    // Calls do not use it while it has no page.
    desk.browser("tabs", json!({ "action": "close" })).await.expect(200);
    tab(&desk, "about:blank").await;
    desk.browser("navigate", json!({ "url": site.url("/ours") })).await.expect(200);
    tab(&desk, "/ours").await;
    desk.shell(&format!(
        "curl -sS -X PUT 'http://127.0.0.1:9333/json/new?{}'",
        site.url("/theirs")
    ))
    .await;
    tab(&desk, "/theirs").await;
    let deaf = "rm /run/user/1000/helmdeck-browsers; chromium --headless --user-data-dir=/tmp/p \
                --dump-dom 'data:text/html,<p>alone'";
    assert!(desk.shell(deaf).await.contains("<p>alone</p>"));

    // If disabled, programs use the machine's browser, which opens pages in the session's own.
    let off = Desk::desktop(&client).await;
    assert_eq!(off.describe().await["spec"]["browser_passthrough"], false);
    let look = "ls /opt/helmdeck; echo \"[$CHROME_PATH]\"; head -n 1 $(which chromium)";
    let found = off.shell(look).await;
    assert_eq!(found.trim(), "browser\nhelmdeck\n[]\n#!/opt/helmdeck/helmdeck open-page");
    off.shell(&format!("chromium {}", site.url("/handed-over"))).await;
    tab(&off, "/handed-over").await;
    let own = "chromium --headless --user-data-dir=/tmp/p --dump-dom 'data:text/html,<p>alone'";
    assert!(off.shell(own).await.contains("<p>alone</p>"));
}
