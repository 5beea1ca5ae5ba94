//! Three goals of every agent, without a model: focus the address bar, press New Tab, and click the
//! centre of the window. Observation and `desktop.verify` decide whether they were reached, and that a
//! click elsewhere does not reach them.

use helmdeck_testkit::Client;
use serde_json::{Value, json};

use super::{case::Fact, site::Pages, stage::Stage};

/// The goals.
const GOALS: [&str; 3] = ["focus the address bar", "press New Tab", "click the window's centre"];

/// Pursues each goal `times` times, and prints how often it was reached. Returns whether always.
pub async fn run(client: &Client, pages: &Pages, times: usize) -> bool {
    let stage = Stage::open(client, pages).await;
    let mut always = true;
    for goal in GOALS {
        let mut right = 0;
        for nth in 1..=times {
            match pursue(&stage, pages, goal, nth).await {
                Ok(()) => right += 1,
                Err(why) => println!("WRONG {goal}, attempt {nth}: {why}"),
            }
        }
        println!("{goal}: {right} of {times} right");
        always &= right == times;
    }
    stage.close().await;
    always
}

async fn pursue(stage: &Stage<'_>, pages: &Pages, goal: &str, nth: usize) -> Result<(), String> {
    stage.browser("navigate", json!({ "url": pages.url("centre", "none") })).await?;
    let window = stage.desk.window("a browser", |it| it.get("browser") == Some(&true.into())).await;
    let side = |name: &str| window.get(name).and_then(Value::as_i64).unwrap_or_default();
    let centre = (side("x") + side("width") / 2, side("y") + side("height") / 2);
    // The page has the keyboard before. This click reaches no goal.
    let page = json!({ "x": centre.0, "y": centre.1 + 200, "settle": {} });
    stage.desktop("click", page).await?;
    let bar = json!({ "role": "textbox", "name": "Address and search bar" });
    let (body, effects, condition) = if goal == "focus the address bar" {
        let focused = json!({ "check": "element_focused", "target": bar });
        (json!({ "target": bar }), vec![Fact::Focus, Fact::Shown], focused)
    } else if goal == "press New Tab" {
        let button = json!({ "role": "button", "name": "New Tab" });
        let open = json!({ "check": "window_focused", "name": "New Tab" });
        (json!({ "target": button }), vec![Fact::TabOpened], open)
    } else {
        let text = "reached 1";
        let shown = json!({ "check": "text_visible", "text": text });
        (json!({ "x": centre.0, "y": centre.1 }), vec![Fact::Shown], shown)
    };
    let missed = json!({ "all": [condition], "within_ms": 200 });
    let early = stage.desktop("verify", missed).await?;
    if early.get("holds") != Some(&false.into()) {
        return Err(format!("{nth}: reached by a click beside it: {early}"));
    }
    let mut body = body;
    if let Some(fields) = body.as_object_mut() {
        fields.insert("observe".into(), "diff".into());
        fields.insert("settle".into(), json!({}));
    }
    let reply = stage.desktop("click", body).await?;
    let effect = reply.get("effect").and_then(Value::as_str).unwrap_or_default().to_owned();
    let verify = json!({ "all": [condition], "within_ms": 3000 });
    let verified = stage.desktop("verify", verify).await?;
    stage.close_tabs().await?;
    let seen = effects.iter().any(|fact| fact.effect() == effect);
    if seen && verified.get("holds") == Some(&true.into()) {
        return Ok(());
    }
    Err(format!("{nth}: {reply}, {verified}"))
}
