//! The loop of the reference, re-created: each step sends the whole screen and a list of earlier actions in a
//! new conversation, does one action, and sleeps. It ends when the model says so, and checks nothing. A reply
//! that cannot be read, or an action that fails, ends it.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    mind::{Reply, ScriptedModel, Seen},
    provider::{RequestCost, size},
    stage::{Stage, Tried},
    table::Tried as Trial,
    task::Task,
};

/// Steps of its published trials.
const MOST_STEPS: u32 = 10;
/// How long it waits for the screen.
const PAINT: Duration = Duration::from_millis(250);
/// Characters of its system prompt and of its function, roughly.
const PROMPT: usize = 1500;

/// Performs a task.
pub(super) async fn run(stage: &Stage<'_>, mut mind: ScriptedModel, task: &Task) -> Tried<Trial> {
    let mut trial = Trial { outcome: "max_steps".to_owned(), ..Trial::default() };
    let mut history = String::new();
    for number in 1..=MOST_STEPS {
        let body = json!({});
        let answer = stage.desk.ask("screenshot", body).await;
        if answer.status != 200 {
            return Err(format!("no screenshot: {}", answer.text()));
        }
        let picture = answer.body.to_vec();
        let pictures: Vec<_> = size(&picture).into_iter().collect();
        let text = PROMPT + task.instruction.len() + history.len();
        trial.asked.push(RequestCost { fresh: pictures.clone(), pictures, text });
        let seen =
            Seen { picture: Some(picture), corner: (0, 0), whole: true, told: String::new() };
        trial.steps = number as usize;
        let action = match mind.next(seen).await {
            Reply::Words(words) => {
                trial.outcome = "completed".to_owned();
                trial.reason = words;
                break;
            }
            Reply::Broken(_) => {
                trial.outcome = "handler_failed".to_owned();
                break;
            }
            Reply::Act(action) => action,
        };
        history.push_str(&format!("{number}. {action}\n"));
        if let Err(why) = act(stage, &action).await {
            trial.outcome = "handler_failed".to_owned();
            trial.reason = why;
            break;
        }
        sleep(PAINT).await;
    }
    trial.detail = history;
    Ok(trial)
}

async fn act(stage: &Stage<'_>, action: &Value) -> Tried<()> {
    let text = |name: &str| action.get(name).and_then(Value::as_str).unwrap_or_default();
    let side = |nth: usize| action.pointer(&format!("/coordinate/{nth}")).cloned();
    let at = || json!({ "x": side(0), "y": side(1) });
    let (name, body) = match text("action") {
        "left_click" => ("click", at()),
        "double_click" => ("double_click", at()),
        "right_click" => ("click", json!({ "x": side(0), "y": side(1), "button": "right" })),
        "type" => ("type", json!({ "text": text("text") })),
        "key" => ("key", json!({ "keys": text("text") })),
        "scroll" => {
            let amount = action.get("scroll_amount").cloned();
            let body = json!({ "x": side(0), "y": side(1), "direction": "down", "amount": amount });
            ("scroll", body)
        }
        // It does nothing there.
        _ => return Ok(()),
    };
    stage.desktop(name, body).await.map(|_| ())
}
