//! OpenAI: `computer` with batches of actions, and `computer_use_preview` with one action in a call.

use helmdeck_gateway::json::{field, list, owned, text};
use helmdeck_wire::{
    point::Pixel,
    pointer::{Button, Modifier},
};
use serde_json::{Value, json};

use super::fields::{needed, number_in, pair, texts};
use crate::{
    Malformed,
    action::{Action, Place},
    keys::{self, Names},
    model_reply::{Call, CallId, ModelReply, Safety},
    view::{Grid, View},
};

/// How long `wait` waits, which has no argument.
const WAIT: f64 = 2.0;
/// Most actions of a batch.
const MOST: usize = 50;

/// Declares the tool.
pub fn declare(preview: bool, view: &View) -> Value {
    let (width, height) = view.picture;
    match preview {
        false => json!({ "type": "computer" }),
        true => json!({
            "type": "computer_use_preview", "environment": "linux",
            "display_width": width, "display_height": height,
        }),
    }
}

/// Reads a reply.
pub fn read(reply: &Value, view: &View) -> Result<ModelReply, Malformed> {
    let mut turn = ModelReply::default();
    let (mut words, mut said) = (Vec::new(), Vec::new());
    for item in list(reply, "output") {
        match text(item, "type") {
            Some("message") => {
                said.extend(
                    list(item, "content")
                        .iter()
                        .filter_map(|part| text(part, "text").or_else(|| text(part, "refusal"))),
                );
            }
            Some("reasoning") => {
                words.extend(list(item, "summary").iter().filter_map(|part| text(part, "text")));
            }
            Some("computer_call") => turn.calls.push(call(item, view)),
            _ => {}
        }
    }
    words.extend(&said);
    turn.thought = words.join("\n").trim().to_owned();
    if turn.calls.is_empty() {
        let end = said.join("\n").trim().to_owned();
        if end.is_empty() {
            return Err(Malformed::new(
                "the reply is empty: call computer, or say that it is done",
            ));
        }
        turn.done = Some(end);
    }
    Ok(turn)
}

fn call(item: &Value, view: &View) -> Call {
    let id = CallId { id: owned(item, "call_id"), name: "computer".to_owned(), toolset: None };
    let batch = list(item, "actions");
    let one = field(item, "action");
    let actions: Vec<&Value> =
        if batch.is_empty() { one.into_iter().collect() } else { batch.iter().collect() };
    let actions = match actions.len() {
        0 => Err(Malformed::new("the call has no actions")),
        1..=MOST => actions.into_iter().map(|action| read_action(action, view)).collect(),
        _ => Err(Malformed::new(format!("at most {MOST} actions in a call"))),
    };
    let safety = list(item, "pending_safety_checks").iter().map(|check| Safety {
        message: text(check, "message").unwrap_or("a safety check of OpenAI").to_owned(),
        acknowledgement: check.clone(),
    });
    Call { id, actions, safety: safety.collect() }
}

/// Reads one action.
pub fn read_action(action: &Value, view: &View) -> Result<Action, Malformed> {
    let kind = text(action, "type").unwrap_or_default();
    let at = || {
        let (x, y) = pair(action).ok_or_else(|| Malformed::new(format!("{kind} needs x and y")))?;
        Ok::<_, Malformed>(Place::At(view.to_screen(Grid::Pixels, x, y)))
    };
    let held = || {
        let names = texts(field(action, "keys"));
        keys::modifiers(names.iter().map(String::as_str)).map_err(|key| {
            Malformed::new(format!("{key} cannot be held: use CTRL, SHIFT, ALT or META"))
        })
    };
    match kind {
        "click" => {
            let button = match text(action, "button").unwrap_or("left") {
                "left" => Button::Left,
                "right" => Button::Right,
                "wheel" | "middle" => Button::Middle,
                "back" => Button::Back,
                "forward" => Button::Forward,
                other => return Err(Malformed::new(format!("there is no button {other}"))),
            };
            Ok(Action::Click { at: Some(at()?), button, count: 1, modifiers: held()? })
        }
        "double_click" => Ok(Action::Click {
            at: Some(at()?),
            button: Button::Left,
            count: 2,
            modifiers: held()?,
        }),
        "move" => Ok(Action::Move { at: at()? }),
        "drag" => {
            let points = list(action, "path").iter().map(|point| {
                let (x, y) =
                    pair(point).ok_or_else(|| Malformed::new("path is a list of points"))?;
                Ok(view.to_screen(Grid::Pixels, x, y))
            });
            let path: Vec<Pixel> = points.collect::<Result<_, Malformed>>()?;
            if path.len() < 2 {
                return Err(Malformed::new("drag needs a path of at least two points"));
            }
            Ok(Action::Drag { path, modifiers: held()? })
        }
        "scroll" => {
            let along = |name| number_in(action, name).unwrap_or_default();
            let (dx, dy) = view.length(Grid::Pixels, along("scroll_x"), along("scroll_y"));
            Ok(Action::Scroll { at: Some(at()?), dx, dy, modifiers: held()? })
        }
        "type" => Ok(Action::Type { text: needed(action, "text", kind)?.to_owned() }),
        "keypress" => {
            let names = texts(field(action, "keys"));
            let keys = keys::together(names.iter().map(String::as_str));
            match keys.is_empty() {
                true => Err(Malformed::new("keypress needs keys")),
                false => Ok(Action::Key { keys }),
            }
        }
        "wait" => Ok(Action::Wait { seconds: WAIT }),
        "screenshot" => Ok(Action::Screenshot),
        other => Err(Malformed::new(format!("there is no action {other:?}"))),
    }
}

/// Writes one action as a model would. Nothing if there is no such action.
pub fn write_action(action: &Action, view: &View) -> Option<Value> {
    let placed = |kind: &str, at: &Option<Place>, modifiers: &[Modifier]| {
        let (x, y) = view.from_screen(Grid::Pixels, at.as_ref()?.pixel()?);
        let mut written = json!({ "type": kind, "x": x, "y": y });
        put_keys(&mut written, modifiers);
        Some(written)
    };
    Some(match action {
        Action::Click { at, button, count: 1, modifiers } => {
            let mut written = placed("click", at, modifiers)?;
            let button = match button {
                Button::Left => "left",
                Button::Right => "right",
                Button::Middle => "wheel",
                Button::Back => "back",
                Button::Forward => "forward",
            };
            set(&mut written, "button", button.into());
            written
        }
        Action::Click { at, button: Button::Left, count: 2, modifiers } => {
            placed("double_click", at, modifiers)?
        }
        Action::Move { at } => placed("move", &Some(at.clone()), &[])?,
        Action::Drag { path, modifiers } if path.len() > 1 => {
            let point = |at: &Pixel| {
                let (x, y) = view.from_screen(Grid::Pixels, *at);
                json!({ "x": x, "y": y })
            };
            let mut written =
                json!({ "type": "drag", "path": path.iter().map(point).collect::<Vec<_>>() });
            put_keys(&mut written, modifiers);
            written
        }
        Action::Scroll { at, dx, dy, modifiers } => {
            let mut written = placed("scroll", at, modifiers)?;
            let (x, y) = view.length_in_picture(Grid::Pixels, *dx, *dy);
            set(&mut written, "scroll_x", x.into());
            set(&mut written, "scroll_y", y.into());
            written
        }
        Action::Type { text } => json!({ "type": "type", "text": text }),
        Action::Key { keys } if !keys.contains(' ') => {
            json!({ "type": "keypress", "keys": keys::named(keys, Names::Upper) })
        }
        Action::Wait { .. } => json!({ "type": "wait" }),
        Action::Screenshot => json!({ "type": "screenshot" }),
        _ => return None,
    })
}

/// Writes a call with these actions: a batch, or one action in the preview.
pub fn write(preview: bool, id: &str, actions: &[Action], view: &View) -> Option<Value> {
    let written: Vec<Value> =
        actions.iter().map(|action| write_action(action, view)).collect::<Option<_>>()?;
    let mut call = json!({
        "type": "computer_call", "id": format!("cu_{id}"), "call_id": id, "status": "completed",
        "pending_safety_checks": [],
    });
    match (preview, written.as_slice()) {
        (true, [one]) => set(&mut call, "action", one.clone()),
        (true, _) => return None,
        (false, _) => set(&mut call, "actions", written.into()),
    }
    Some(call)
}

fn put_keys(written: &mut Value, modifiers: &[Modifier]) {
    if !modifiers.is_empty() {
        let names =
            modifiers.iter().flat_map(|one| keys::named(keys::modifier(*one), Names::Upper));
        set(written, "keys", names.collect::<Vec<_>>().into());
    }
}

fn set(written: &mut Value, name: &str, value: Value) {
    if let Value::Object(fields) = written {
        fields.insert(name.to_owned(), value);
    }
}
