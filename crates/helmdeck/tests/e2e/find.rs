//! Finding elements by name, and acting on them without coordinates and without a model.

use std::time::Duration;

use helmdeck_testkit::{Desk, Page, Server, Site, eventually};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(20);

/// The button is far below the fold, and one of two with its name is in a shadow root.
const SIGN_UP: &str = r#"<!doctype html><title>Sign up</title><h1>Create an account</h1>
    <form onsubmit="event.preventDefault(); document.title = 'Joined ' + [n.value, m.value, p.value,
        c.value, t.checked, document.querySelector('[name=plan]:checked').id].join('/')">
      <label>Full name <input id=n required></label>
      <label for=m>E-mail</label> <input id=m type=email>
      <label>Password <input id=p type=password></label>
      <label>Country <select id=c><option>France</option><option>Spain</option></select></label>
      <label><input type=checkbox id=t> I accept the terms</label>
      <label><input type=radio name=plan id=free checked> Free</label>
      <label><input type=radio name=plan id=pro> Professional</label>
      <div style="height: 3000px"></div>
      <button>Create account</button>
    </form>
    <div id=host></div>
    <script>host.attachShadow({ mode: 'open' }).innerHTML = '<button onclick="document.title = `Shadow`">Help</button>'</script>"#;

impl Finder<'_> {
    async fn click(&self, target: Value) -> Value {
        self.0.act("click", json!({ "target": target })).await
    }

    async fn tree(&self, query: &str) -> Value {
        let path = format!("/api/v1/desktop/tree?session_id={}{query}", self.0.id);
        self.0.client.get(&path).await.expect(200).json()
    }

    async fn find(&self, what: Value) -> Value {
        self.0.act("find", what).await
    }

    /// Waits for an element, and returns it.
    async fn element(&self, what: Value) -> Value {
        let look = async || {
            let found = self.find(what.clone()).await;
            found["candidates"].get(0).filter(|it| it["confidence"].as_f64() > Some(0.6)).cloned()
        };
        match eventually(PATIENCE, look).await {
            Some(found) => found,
            None => panic!("there is no {what}: {:#}", self.tree("").await),
        }
    }
}

struct Finder<'a>(&'a Desk<'a>);

fn with(tree: &Value, role: &str, name: &str) -> Option<Value> {
    let nodes = tree["nodes"].as_array().unwrap();
    nodes.iter().find(|node| node["role"] == role && node["name"] == name).cloned()
}

#[tokio::test]
async fn a_form_and_the_browsers_toolbar_are_used_by_name_alone() {
    let server = Server::start_with(&[Site::REACHABLE]);
    let site = Site::start(|_| Page::html(SIGN_UP)).await;
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let screen = Finder(&desk);

    // The address bar and the page.
    let clicked =
        screen.click(json!({ "role": "textbox", "name": "Address and search bar" })).await;
    assert!(clicked["acted_at"]["y"].as_i64() < Some(120), "{clicked}");
    let focused = async || {
        let tree = screen.tree("").await;
        let bar = with(&tree, "textbox", "Address and search bar")?;
        (tree["focus"] == bar["ref"]).then_some(())
    };
    eventually(PATIENCE, focused).await.expect("the address bar has the focus");
    desk.act("key", json!({ "keys": "ctrl+a" })).await;
    desk.act("type", json!({ "text": format!("{}\n", site.url("/")) })).await;
    desk.titled("Sign up").await;

    for (field, text) in [("Full name", "Ada"), ("E-mail", "ada@example.org"), ("Password", "pw")] {
        screen.click(json!({ "role": "textbox", "name": field })).await;
        desk.act("type", json!({ "text": text })).await;
    }
    screen.click(json!({ "text": "Professional" })).await;
    screen.click(json!({ "text": "I accept the terms" })).await;
    // The same target in the structured browser.
    let select =
        json!({ "target": { "role": "combobox", "name": "Country" }, "values": ["Spain"] });
    desk.browser("select", select).await.expect(200);

    let tree = screen.tree("").await;
    let name = with(&tree, "textbox", "Full name").expect("the field");
    assert_eq!((&name["value"], &name["states"]), (&json!("Ada"), &json!(["required"])), "{name}");
    let password = with(&tree, "textbox", "Password").expect("the field");
    assert_eq!(password["value"], Value::Null, "{password}");
    assert!(with(&tree, "button", "Create account").is_none(), "it is out of view");
    let window = &tree["windows"][0];
    assert_eq!((&window["browser"], &window["url"]), (&json!(true), &json!(site.url("/"))));

    // Expectations are checked before anything is done.
    let terms = json!({ "name": "I accept the terms" });
    let wrong = json!({ "target": terms, "expect": { "role": "button" } });
    let refused = desk.ask("click", wrong).await.expect_error(409, "expectation_failed");
    assert!(refused.contains("checkbox \"I accept the terms\""), "{refused}");
    let right = json!({
        "target": terms, "hit": true, "expect": { "checked": true, "selector": "#t", "url": "/" },
    });
    let hit = desk.act("mouse_move", right).await["hit"].clone();
    assert_eq!((&hit["selector"], &hit["element"]), (&json!("#t"), &json!("input")), "{hit}");
    expected_of_pages_and_keys(&desk).await;
    pointed_out_on_pictures(&desk, &hit["rect"]).await;
    let radio = json!({ "target": { "role": "radio" } });
    let several = desk.ask("click", radio).await.expect(409).json();
    assert_eq!(
        (&several["error"], &several["field"]),
        (&json!("target_ambiguous"), &json!("target"))
    );
    assert_eq!(several["allowed"].as_array().map(Vec::len), Some(2), "{several}");
    // A drag from one element to another.
    let listen = "addEventListener('mouseup', (event) => window.up = event.target.id)";
    desk.browser("execute", json!({ "script": listen })).await.expect(200);
    let field = |name: &str| json!({ "role": "textbox", "name": name });
    let drag = json!({ "target": field("Full name"), "end_target": field("E-mail") });
    let dragged = desk.act("drag", drag).await;
    let up = desk.browser("execute", json!({ "script": "window.up" })).await.expect(200).json();
    assert_eq!(up["result"], "m", "{dragged}");

    let missing = desk.ask("click", json!({ "target": { "name": "Create acount" } })).await;
    let missing = missing.expect(404).json();
    assert_eq!(missing["error"], "target_not_found");
    assert_eq!(missing["allowed"][0], "Create account", "{missing}");

    // Out of view: the page is scrolled.
    let far = screen.find(json!({ "role": "button", "name": "Create account" })).await;
    assert_eq!(far["candidates"][0]["off_screen"], true, "{far}");
    screen.click(json!({ "role": "button", "name": "Create account" })).await;
    desk.titled("Joined Ada/ada@example.org/pw/Spain/true/pro").await;
    desk.browser("click", json!({ "target": { "text": "Help" } })).await.expect(200);
    desk.titled("Shadow").await;

    // The toolbar again: another tab.
    screen.click(json!({ "role": "button", "name": "New Tab" })).await;
    let two = async || {
        let tabs = desk.browser("tabs", json!({})).await.expect(200).json();
        (tabs["tabs"].as_array().unwrap().len() == 2).then_some(())
    };
    eventually(PATIENCE, two).await.expect("another tab");
}

/// Expectations of actions that have no point.
async fn expected_of_pages_and_keys(desk: &Desk<'_>) {
    let mail = json!({ "target": { "name": "E-mail" }, "text": "ada@example.org" });
    let with = |mut body: Value, expect: Value| {
        body["expect"] = expect;
        body
    };
    // The window of a page is known by its title.
    let wrong = with(mail.clone(), json!({ "window": "Sign in" }));
    let refused = desk.browser("type", wrong).await.expect_error(409, "expectation_failed");
    assert!(refused.contains("window is \"Sign up\", not \"Sign in\""), "{refused}");
    let right = json!({ "window": "Sign up", "role": "textbox", "enabled": true });
    desk.browser("type", with(mail, right)).await.expect(200);
    // Keys go to what has the focus.
    let elsewhere = with(json!({ "text": "?" }), json!({ "name": "Password" }));
    desk.ask("type", elsewhere).await.expect_error(409, "expectation_failed");
    let tab = with(json!({ "keys": "Tab", "hit": true }), json!({ "name": "E-mail" }));
    let pressed = desk.act("key", tab).await;
    assert_eq!(pressed["hit"]["name"], "E-mail", "{pressed}");
    let pressed = desk.browser("press", json!({ "keys": "Shift+Tab", "hit": true })).await;
    let pressed = pressed.expect(200).json();
    assert_eq!(pressed["hit"]["name"], "Password", "{pressed}");
}

/// An element on a scaled picture, by its place and by its mark.
async fn pointed_out_on_pictures(desk: &Desk<'_>, rect: &Value) {
    let scaled =
        desk.ask("screenshot", json!({ "max_width": 640, "marks": true })).await.expect(200);
    let header = |name: &str| scaled.headers[name].to_str().unwrap();
    let scale: f64 = header("x-helmdeck-scale").parse().unwrap();
    assert!(scale < 1.0, "{scale}");
    let middle = |from: &str, side: &str| {
        ((rect[from].as_f64().unwrap() + rect[side].as_f64().unwrap() / 2.0) * scale).round()
    };
    let shot = header("x-helmdeck-screenshot-id");
    let moved = json!({
        "x": middle("x", "width") as i64, "y": middle("y", "height") as i64, "shot": shot, "hit": true,
    });
    let moved = desk.act("mouse_move", moved).await;
    assert_eq!(moved["hit"]["selector"], "#t", "{moved}");
    let marks: Value = serde_json::from_str(header("x-helmdeck-marks")).unwrap();
    let name = |mark: &&Value| mark["role"] == "textbox" && mark["name"] == "Full name";
    let mark = marks.as_array().unwrap().iter().find(name).expect("a mark");
    let moved =
        desk.act("mouse_move", json!({ "target": { "ref": mark["ref"] }, "hit": true })).await;
    assert_eq!(moved["hit"]["selector"], "#n", "{moved}");
}

#[tokio::test]
async fn a_gtk_program_is_used_by_name_and_a_stopped_one_delays_nothing() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let screen = Finder(&desk);
    let editor = desk.act("launch", json!({ "command": "mousepad" })).await["pid"].clone();
    screen.element(json!({ "role": "menu", "name": "Document", "window": "Mousepad" })).await;

    // A menu of three levels, and the dialog that it opens.
    screen.click(json!({ "name": "Document", "window": "Mousepad" })).await;
    screen.click(json!({ "name": "Tab Size" })).await;
    screen.click(json!({ "role": "menuitem", "text": "Other" })).await;
    let slider = json!({ "role": "slider", "window": "Tab Size" });
    assert_eq!(screen.element(slider.clone()).await["value"], "8");
    desk.act("key", json!({ "keys": "Left Left Left" })).await;
    let five = async || (screen.element(slider.clone()).await["value"] == "5").then_some(());
    eventually(PATIENCE, five).await.expect("the slider moves");
    screen.click(json!({ "role": "button", "name": "OK" })).await;
    let gone = async || {
        let tree = screen.tree("").await;
        let dialog =
            tree["windows"].as_array().unwrap().iter().any(|it| it["name"] == "Select Tab Size");
        (!dialog).then_some(())
    };
    eventually(PATIENCE, gone).await.expect("the dialog closes");
    screen.click(json!({ "name": "Document", "window": "Mousepad" })).await;
    screen.click(json!({ "name": "Tab Size" })).await;
    screen.element(json!({ "text": "Other (5)", "role": "menuitem" })).await;
    desk.act("key", json!({ "keys": "Escape Escape Escape" })).await;

    // What was typed is read, and refs stay.
    screen.click(json!({ "role": "textbox", "window": "Mousepad" })).await;
    desk.act("type", json!({ "text": "hello" })).await;
    let first = screen.tree("").await;
    let text = first["nodes"].as_array().unwrap().iter().find(|node| node["value"] == "hello");
    let text = text.unwrap_or_else(|| panic!("no text: {first:#}"))["ref"].clone();
    desk.act("type", json!({ "text": " world" })).await;
    let delta = screen.tree(&format!("&since={}", first["id"])).await;
    let changed = delta["nodes"].as_array().unwrap().iter().find(|node| node["ref"] == text);
    assert_eq!(delta["delta"], true);
    assert_eq!(changed.expect("the text changed")["value"], "hello world");

    // Another window covers it: its elements are not there.
    desk.act("launch", json!({ "command": "xterm", "args": ["-fullscreen", "-e", "echo Terminal words; sleep 600"] })).await;
    let covered = async || {
        let tree = screen.tree("").await;
        let editor =
            tree["windows"].as_array()?.iter().find(|it| it["class"] == "Mousepad")?.clone();
        (editor["covered"] == true && with(&tree, "menu", "Document").is_none()).then_some(tree)
    };
    let tree = eventually(PATIENCE, covered).await.expect("the editor is covered");
    let last = tree["windows"].as_array().and_then(|all| all.last()).unwrap();
    assert_eq!((&last["panel"], &last["opaque"]), (&json!(true), &json!(true)), "{tree:#}");
    let terminal = &tree["windows"][0];
    assert_eq!(
        (&terminal["class"], &terminal["opaque"]),
        (&json!("XTerm"), &json!(true)),
        "{tree:#}"
    );
    // Only the picture shows its text.
    let words = screen.element(json!({ "text": "Terminal words" })).await;
    assert_eq!(words["source"], "ocr", "{words}");

    // A program that does not answer costs its own elements only.
    desk.run(&format!("kill -STOP {editor}")).await;
    desk.act("launch", json!({ "command": "mousepad", "args": ["--disable-server"] })).await;
    let other = async || {
        let tree = screen.tree("").await;
        let stopped = tree["windows"].as_array()?.iter().any(|it| it["unresponsive"] == true);
        (stopped && with(&tree, "menu", "Document").is_some()).then_some(())
    };
    eventually(PATIENCE, other).await.expect("the other program is read");
    desk.run(&format!("kill -CONT {editor}")).await;
}
