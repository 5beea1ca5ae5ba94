//! Three goals of every agent, without a model: focus the address bar, press New Tab, and click the
//! centre of the window. `effect` and `desktop.verify` decide whether an action reached its goal, also
//! for actions that miss it narrowly; the application's own log says whether the decision is right.

use serde_json::{Value, json};

use super::{
    case::Fact,
    stage::{Stage, Tried},
    testbed::Testbed,
};

/// A goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goal {
    AddressBar,
    NewTab,
    Centre,
}

/// Whether an attempt is to succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attempt {
    Hit,
    NearMiss,
}

const GOALS: [(Goal, &str, &str); 3] = [
    (Goal::AddressBar, "focus the address bar", "40 pixels beside it"),
    (Goal::NewTab, "press New Tab", "the tab strip beside it"),
    (Goal::Centre, "click the window's centre", "the window's edge"),
];

/// Pursues each goal `times` times, and misses it as often. Prints how often the decision was right.
/// Returns whether always.
pub async fn run(testbed: &Testbed, times: usize) -> bool {
    let stage = Stage::open(testbed).await;
    let mut always = true;
    println!(
        "| goal | decided as reached | near miss | decided as not reached |\n|---|---|---|---|"
    );
    for (goal, name, beside) in GOALS {
        let (mut hits, mut misses) = (0, 0);
        for nth in 1..=times {
            for (attempt, right) in [(Attempt::Hit, &mut hits), (Attempt::NearMiss, &mut misses)] {
                match pursue(&stage, goal, attempt, nth).await {
                    Ok(()) => *right += 1,
                    Err(why) => println!("WRONG {name}, {attempt:?} {nth}: {why}"),
                }
            }
        }
        println!("| {name} | {hits} of {times} | {beside} | {misses} of {times} |");
        always &= hits == times && misses == times;
    }
    stage.close().await;
    always
}

/// Acts once, decides, and compares the decision with what happened.
async fn pursue(stage: &Stage<'_>, goal: Goal, attempt: Attempt, nth: usize) -> Tried<()> {
    let pages = &stage.testbed.pages;
    stage.browser("navigate", json!({ "url": pages.url("centre", "none") })).await?;
    let window = stage.desk.window("a browser", |it| it.get("browser") == Some(&true.into())).await;
    let (centre, right) = (middle(&window), edge(&window, "x", "width"));
    // The page has the keyboard before. This click reaches no goal.
    let page = json!({ "x": centre.0, "y": centre.1 + 200 + apart(nth), "settle": {} });
    stage.desktop("click", page).await?;
    pages.clear();
    let condition = condition(goal);
    let (hit, effects) = match goal {
        Goal::AddressBar => (json!({ "target": address_bar() }), [Fact::Focus, Fact::Shown]),
        Goal::NewTab => (json!({ "target": new_tab() }), [Fact::TabOpened, Fact::TabOpened]),
        Goal::Centre => (json!({ "x": centre.0, "y": centre.1 }), [Fact::Shown, Fact::Shown]),
    };
    let mut body = match attempt {
        Attempt::Hit => hit,
        Attempt::NearMiss => {
            let (x, y) = match goal {
                Goal::AddressBar => beside_address_bar(stage, nth).await?,
                Goal::NewTab => beside_new_tab(stage, nth).await?,
                Goal::Centre => (right - 3, centre.1 + apart(nth)),
            };
            json!({ "x": x, "y": y })
        }
    };
    let before = stage.count_pages().await;
    let fields = body.as_object_mut().ok_or("an action has fields")?;
    fields.insert("observe".into(), "diff".into());
    fields.insert("settle".into(), json!({}));
    let reply = stage.desktop("click", body).await?;
    let within_ms = if attempt == Attempt::Hit { 3000 } else { 200 };
    let verify = json!({ "all": [condition], "within_ms": within_ms });
    let verified = stage.desktop("verify", verify).await?;
    let effect = reply.get("effect").and_then(Value::as_str).unwrap_or_default();
    let decided = effects.iter().any(|fact| fact.effect() == effect)
        && verified.get("holds") == Some(&true.into());
    let happened = match goal {
        Goal::AddressBar => stage.address_bar_has_keyboard().await?,
        Goal::NewTab => stage.count_pages().await == before + 1,
        Goal::Centre => stage.centre_was_clicked().await,
    };
    // A near miss may have opened a menu.
    stage.desktop("key", json!({ "keys": "Escape" })).await?;
    stage.close_tabs().await?;
    let wanted = attempt == Attempt::Hit;
    if happened != wanted {
        return Err(format!("BROKEN, it happened: {happened}; {reply}"));
    }
    if decided == happened {
        return Ok(());
    }
    Err(format!("decided {decided}: {reply}, {verified}"))
}

fn address_bar() -> Value {
    json!({ "role": "textbox", "name": "Address and search bar" })
}

fn new_tab() -> Value {
    json!({ "role": "button", "name": "New Tab" })
}

/// What must hold when a goal is reached.
fn condition(goal: Goal) -> Value {
    match goal {
        Goal::AddressBar => json!({ "check": "element_focused", "target": address_bar() }),
        Goal::NewTab => json!({ "check": "url_matches", "url": "chrome://newtab/*" }),
        Goal::Centre => json!({ "check": "text_visible", "text": "reached 1" }),
    }
}

/// To the left of the bar and below it, in turn.
async fn beside_address_bar(stage: &Stage<'_>, nth: usize) -> Tried<(i64, i64)> {
    let rect = place(stage, address_bar()).await?;
    let (x, y) = middle(&rect);
    Ok(if nth.is_multiple_of(2) {
        (x, edge(&rect, "y", "height") + 40)
    } else {
        (number(&rect, "x") - 40, y)
    })
}

/// The strip to the right of the button.
async fn beside_new_tab(stage: &Stage<'_>, nth: usize) -> Tried<(i64, i64)> {
    let rect = place(stage, new_tab()).await?;
    Ok((edge(&rect, "x", "width") + 20 + apart(nth), middle(&rect).1))
}

async fn place(stage: &Stage<'_>, mut target: Value) -> Tried<Value> {
    let fields = target.as_object_mut().ok_or("a target has fields")?;
    fields.insert("ocr".into(), false.into());
    let found = stage.desktop("find", target).await?;
    found.pointer("/candidates/0/rect").cloned().ok_or(format!("not found: {found}"))
}

/// Clicks at one place would be a double click.
fn apart(nth: usize) -> i64 {
    if nth.is_multiple_of(2) { 30 } else { 0 }
}

fn number(rect: &Value, name: &str) -> i64 {
    rect.get(name).and_then(Value::as_i64).unwrap_or_default()
}

fn edge(rect: &Value, side: &str, length: &str) -> i64 {
    number(rect, side) + number(rect, length)
}

fn middle(rect: &Value) -> (i64, i64) {
    let (width, height) = (number(rect, "width"), number(rect, "height"));
    (number(rect, "x") + width / 2, number(rect, "y") + height / 2)
}
