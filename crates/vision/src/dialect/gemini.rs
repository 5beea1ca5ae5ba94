//! Gemini: functions with positions from 0 to 999, in an older and a newer set.

use helmdeck_gateway::json::{field, list, owned, text};
use helmdeck_wire::pointer::Button;
use serde_json::{Map, Value, json};

use super::{
    fields::{needed, number_in, pair, texts},
    plain,
};
use crate::{
    Malformed,
    action::{Action, LONGEST, Place},
    keys::{self, Names},
    model_reply::{Call, CallId, ModelReply, Safety},
    view::{Grid, View},
};

/// How far a page scrolls if the model does not say.
const MAGNITUDE: f64 = 800.0;
const GRID: Grid = Grid::Thousand;
/// Functions that have no meaning here: the browser is open, and no search engine is chosen.
const EXCLUDED: [&str; 2] = ["open_web_browser", "search"];

/// Declares the tool. The older set knows only browsers.
pub fn declare(legacy: bool) -> Value {
    let environment = if legacy { "ENVIRONMENT_BROWSER" } else { "ENVIRONMENT_DESKTOP" };
    let mut tool = json!({ "environment": environment, "excludedPredefinedFunctions": EXCLUDED });
    if let (false, Value::Object(fields)) = (legacy, &mut tool) {
        fields.insert("enablePromptInjectionDetection".to_owned(), true.into());
        fields.remove("excludedPredefinedFunctions");
    }
    json!({ "computerUse": tool })
}

/// Reads a reply.
pub fn read(reply: &Value, view: &View) -> Result<ModelReply, Malformed> {
    let candidate = list(reply, "candidates").first().unwrap_or(&Value::Null);
    let parts =
        field(candidate, "content").map(|content| list(content, "parts")).unwrap_or_default();
    let mut turn = ModelReply::default();
    let (mut thoughts, mut said) = (Vec::new(), Vec::new());
    for part in parts {
        if let Some(words) = text(part, "text") {
            let is_thought = part.get("thought") == Some(&Value::Bool(true));
            if is_thought { &mut thoughts } else { &mut said }.push(words);
        }
        let Some(asked) = field(part, "functionCall") else { continue };
        let (name, empty) = (owned(asked, "name"), json!({}));
        let args = field(asked, "args").unwrap_or(&empty);
        let decision = field(args, "safety_decision").filter(|it| needs_person(it));
        let safety = decision.map(|decision| Safety {
            message: text(decision, "explanation")
                .unwrap_or("a safety decision of Gemini")
                .to_owned(),
            acknowledgement: json!({ "safety_acknowledgement": "true" }),
        });
        let actions = read_call(&name, args, view);
        let id = CallId { id: owned(asked, "id"), name, toolset: None };
        turn.calls.push(Call { id, actions, safety: safety.into_iter().collect() });
    }
    thoughts.extend(&said);
    turn.thought = thoughts.join("\n").trim().to_owned();
    if turn.calls.is_empty() {
        let end = said.join("\n").trim().to_owned();
        if end.is_empty() {
            let reason = text(candidate, "finishReason").unwrap_or("no reason");
            let hint =
                format!("the reply is empty ({reason}): call a function, or say that it is done");
            return Err(Malformed::new(hint));
        }
        turn.done = Some(end);
    }
    Ok(turn)
}

fn needs_person(decision: &Value) -> bool {
    text(decision, "decision").is_some_and(|it| it.eq_ignore_ascii_case("require_confirmation"))
}

/// Reads a call, which may be several actions.
pub fn read_call(name: &str, args: &Value, view: &View) -> Result<Vec<Action>, Malformed> {
    let optional = || pair(args).map(|(x, y)| Place::At(view.to_screen(GRID, x, y)));
    let at =
        || optional().ok_or_else(|| Malformed::new(format!("{name} needs x and y, from 0 to 999")));
    let click = |button, count| Ok(vec![Action::clicks(Some(at()?), button, count)]);
    let key = || {
        let keys = keys::chord(needed(args, "key", name)?);
        if keys.is_empty() { Err(Malformed::new("the key has no name")) } else { Ok(keys) }
    };
    let one = |action| Ok(vec![action]);
    match name {
        "click_at" | "click" => click(Button::Left, 1),
        "double_click" => click(Button::Left, 2),
        "triple_click" => click(Button::Left, 3),
        "right_click" => click(Button::Right, 1),
        "middle_click" => click(Button::Middle, 1),
        "hover_at" | "move" => one(Action::Move { at: at()? }),
        "mouse_down" => one(Action::Press { at: optional(), button: Button::Left }),
        "mouse_up" => one(Action::Release { at: optional(), button: Button::Left }),
        "drag_and_drop" => {
            let end = number_in(args, "destination_x").zip(number_in(args, "destination_y"));
            let (Place::At(start), Some((x, y))) = (at()?, end) else {
                return Err(Malformed::new("drag_and_drop needs destination_x and destination_y"));
            };
            one(Action::Drag {
                path: vec![start, view.to_screen(GRID, x, y)],
                modifiers: Vec::new(),
            })
        }
        "scroll_at" | "scroll" | "scroll_document" => {
            let far = number_in(args, "magnitude").unwrap_or(MAGNITUDE).clamp(1.0, 1000.0);
            let (dx, dy) = match text(args, "direction") {
                Some("up") => (0.0, -far),
                Some("down") => (0.0, far),
                Some("left") => (-far, 0.0),
                Some("right") => (far, 0.0),
                _ => return Err(Malformed::new("direction is up, down, left or right")),
            };
            let (dx, dy) = view.length(GRID, dx, dy);
            one(Action::Scroll { at: optional(), dx, dy, modifiers: Vec::new() })
        }
        "type_text_at" => Ok(type_at(at()?, args)?),
        "type" => {
            let text = needed(args, "text", name)?.to_owned();
            let enter = (args.get("press_enter") == Some(&Value::Bool(true)))
                .then(|| Action::key("Return"));
            Ok([Action::Type { text }].into_iter().chain(enter).collect())
        }
        "key_combination" | "hotkey" => {
            let names = texts(field(args, "keys"));
            let keys = keys::together(names.iter().map(String::as_str));
            if keys.is_empty() {
                return Err(Malformed::new(format!("{name} needs keys")));
            }
            one(Action::Key { keys })
        }
        "press_key" => one(Action::Key { keys: key()? }),
        "key_down" => one(Action::KeyDown { key: key()? }),
        "key_up" => one(Action::KeyUp { key: key()? }),
        "wait_5_seconds" => one(Action::Wait { seconds: 5.0 }),
        "wait" => {
            let seconds = number_in(args, "seconds").unwrap_or(1.0).clamp(0.05, LONGEST);
            one(Action::Wait { seconds })
        }
        "take_screenshot" | "open_web_browser" => one(Action::Screenshot),
        "navigate" => one(Action::Navigate { url: needed(args, "url", name)?.to_owned() }),
        "go_back" => one(Action::Back),
        "go_forward" => one(Action::Forward),
        other => Err(Malformed::new(format!("there is no function {other}"))),
    }
}

/// Click, replace what is there, and press Enter if asked.
fn type_at(at: Place, args: &Value) -> Result<Vec<Action>, Malformed> {
    let text = needed(args, "text", "type_text_at")?.to_owned();
    let is = |name: &str, otherwise: bool| {
        field(args, name).and_then(Value::as_bool).unwrap_or(otherwise)
    };
    let mut actions = vec![Action::clicks(Some(at), Button::Left, 1)];
    if is("clear_before_typing", true) {
        actions.extend([Action::key("ctrl+a"), Action::key("Delete")]);
    }
    actions.push(Action::Type { text });
    if is("press_enter", true) {
        actions.push(Action::key("Return"));
    }
    Ok(actions)
}

/// Writes a call as a model would. Nothing if the set does not have it.
pub fn write(legacy: bool, action: &Action, view: &View) -> Option<Value> {
    let mut args = Map::new();
    if let Some(at) = action.pixel() {
        let (x, y) = view.from_screen(GRID, at);
        args.insert("x".to_owned(), x.into());
        args.insert("y".to_owned(), y.into());
    }
    let mut put = |name: &str, value: Value| {
        args.insert(name.to_owned(), value);
    };
    let either = |old: &'static str, new: &'static str| if legacy { old } else { new };
    let new = |name: &'static str| (!legacy).then_some(name);
    let name = match action {
        Action::Click { button, count, modifiers, at: Some(_) } if modifiers.is_empty() => {
            match (plain::click_name(*button, *count)?, legacy) {
                ("left_click", _) => either("click_at", "click"),
                (name, false) => name,
                (_, true) => return None,
            }
        }
        Action::Move { .. } => either("hover_at", "move"),
        Action::Press { button: Button::Left, .. } => new("mouse_down")?,
        Action::Release { button: Button::Left, .. } => new("mouse_up")?,
        Action::Drag { path, .. } => {
            let (x, y) = view.from_screen(GRID, *path.last()?);
            put("destination_x", x.into());
            put("destination_y", y.into());
            "drag_and_drop"
        }
        Action::Scroll { at, dx, dy, .. } => {
            let (x, y) = view.length_in_picture(GRID, *dx, *dy);
            let whole = |far: i64| i32::try_from(far).unwrap_or_default();
            let (direction, far) = plain::direction(whole(x), whole(y));
            put("direction", direction.into());
            put("magnitude", far.into());
            match (at, legacy) {
                (None, true) => "scroll_document",
                (_, true) => "scroll_at",
                (_, false) => "scroll",
            }
        }
        Action::Type { text } => {
            put("text", text.as_str().into());
            new("type")?
        }
        Action::Key { keys } if !keys.contains(' ') => {
            let (name, field, value) = pressed(legacy, keys);
            put(field, value);
            name
        }
        Action::KeyDown { key } | Action::KeyUp { key } => {
            put("key", keys::named(key, Names::Lower).join("+").into());
            new(if matches!(action, Action::KeyDown { .. }) { "key_down" } else { "key_up" })?
        }
        Action::Wait { seconds } => {
            if !legacy {
                put("seconds", (*seconds).into());
            }
            either("wait_5_seconds", "wait")
        }
        Action::Screenshot => new("take_screenshot")?,
        Action::Navigate { url } => {
            put("url", url.as_str().into());
            "navigate"
        }
        Action::Back => "go_back",
        Action::Forward => "go_forward",
        _ => return None,
    };
    Some(json!({ "functionCall": { "name": name, "args": args } }))
}

/// The function that presses keys, with its argument.
fn pressed(legacy: bool, keys: &str) -> (&'static str, &'static str, Value) {
    let names = keys::named(keys, Names::Lower);
    match (legacy, names.as_slice()) {
        (true, _) => ("key_combination", "keys", names.join("+").into()),
        (false, [one]) => ("press_key", "key", one.as_str().into()),
        (false, _) => ("hotkey", "keys", names.into()),
    }
}
