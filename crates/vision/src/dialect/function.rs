//! Models without their own computer tool: a function that we declare, the function that Qwen-VL was
//! trained on, or one JSON object as text.

use helmdeck_gateway::json::{field, list, owned, text};
use serde_json::{Map, Value, json};

use super::{fields::arguments, plain};
use crate::{
    Malformed,
    action::Action,
    model_reply::{Call, CallId, ModelReply},
    view::{Grid, View},
};

/// What a model without tools is told about its answers.
pub const JSON_ANSWERS: &str = "\
Answer with one JSON object and nothing else. It has \"action\", the fields of that action, and \"reason\" in \
one short sentence:
{\"action\": \"left_click\", \"coordinate\": [x, y]}, also right_click, middle_click, double_click, triple_click, mouse_move
{\"action\": \"left_click_drag\", \"start_coordinate\": [x, y], \"coordinate\": [x, y]}
{\"action\": \"scroll\", \"coordinate\": [x, y], \"scroll_direction\": \"down\", \"scroll_amount\": 3}
{\"action\": \"type\", \"text\": \"...\"}
{\"action\": \"key\", \"text\": \"Return\"}, also chords such as ctrl+l
{\"action\": \"wait\", \"duration\": 2}
{\"action\": \"screenshot\"}, for a picture of the whole screen
{\"action\": \"done\", \"text\": \"what was reached\"}
{\"action\": \"ask_user\", \"text\": \"what a person has to do or decide\"}";

const OWN_NAMES: [&str; 18] = [
    "left_click",
    "right_click",
    "middle_click",
    "double_click",
    "triple_click",
    "mouse_move",
    "left_mouse_down",
    "left_mouse_up",
    "left_click_drag",
    "scroll",
    "type",
    "key",
    "hold_key",
    "wait",
    "screenshot",
    "zoom",
    "done",
    "ask_user",
];
const QWEN_NAMES: [&str; 14] = [
    "key",
    "type",
    "mouse_move",
    "left_click",
    "left_click_drag",
    "right_click",
    "middle_click",
    "double_click",
    "triple_click",
    "scroll",
    "hscroll",
    "wait",
    "terminate",
    "answer",
];

/// Declares our function.
pub fn declare(view: &View) -> Value {
    let (width, height) = view.picture;
    let point = json!({
        "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2,
        "description": "Pixels of the picture, from its top left corner: [x, y].",
    });
    let description = format!(
        "Use the mouse and keyboard of a Linux desktop. Its picture has {width}x{height} pixels. Call done \
         when the goal is reached."
    );
    json!({ "type": "function", "function": {
        "name": "computer", "description": description,
        "parameters": { "type": "object", "required": ["action"], "properties": {
            "action": { "type": "string", "enum": OWN_NAMES },
            "coordinate": point, "start_coordinate": point,
            "text": { "type": "string", "description":
                "Text to type, keys such as Return or ctrl+l, keys to hold during a click, or the answer." },
            "scroll_direction": { "type": "string", "enum": ["up", "down", "left", "right"] },
            "scroll_amount": { "type": "integer", "description": "Notches of the wheel." },
            "duration": { "type": "number", "description": "Seconds." },
            "region": { "type": "array", "items": { "type": "number" }, "minItems": 4, "maxItems": 4 },
            "reason": { "type": "string", "description": "Why, in a few words." },
        } },
    } })
}

/// Declares Qwen's function.
pub fn declare_qwen(view: &View, grid: Grid) -> Value {
    let (width, height) = match grid {
        Grid::Pixels => view.picture,
        Grid::Thousand => (1000, 1000),
    };
    let description = format!(
        "Use a mouse and keyboard to interact with a Linux computer, and take screenshots. The screen's \
         resolution is {width}x{height}."
    );
    json!({ "type": "function", "function": {
        "name": "computer_use", "description": description,
        "parameters": { "type": "object", "required": ["action"], "properties": {
            "action": { "type": "string", "enum": QWEN_NAMES },
            "keys": { "type": "array", "items": { "type": "string" } },
            "text": { "type": "string" },
            "coordinate": { "type": "array", "items": { "type": "number" } },
            "pixels": { "type": "number", "description": "Scroll up or right if positive." },
            "time": { "type": "number", "description": "Seconds." },
            "status": { "type": "string", "enum": ["success", "failure"] },
        } },
    } })
}

/// Reads a reply of Chat with calls of the function, or with the same object in its text.
pub fn read(reply: &Value, view: &View, grid: Grid) -> Result<ModelReply, Malformed> {
    let message = message(reply)?;
    let said = words(message);
    let calls = list(message, "tool_calls").iter().map(|call| {
        let function = field(call, "function").unwrap_or(&Value::Null);
        let id = CallId { id: owned(call, "id"), name: owned(function, "name"), toolset: None };
        let actions = match arguments(function.get("arguments")) {
            Some(input) => one(&input, &id.name, view, grid).map(|action| vec![action]),
            None => Err(Malformed::new("the arguments are not a JSON object")),
        };
        Call::new(id, actions)
    });
    let calls: Vec<Call> = calls.collect();
    if calls.is_empty() {
        // Words alone are the end, as with tools of vendors.
        if !said.is_empty() && !said.contains(['{', '<']) {
            return Ok(ModelReply {
                thought: said.clone(),
                done: Some(said),
                ..ModelReply::default()
            });
        }
        return read_text(&said, view, grid);
    }
    Ok(finished(ModelReply { thought: said, calls, ..ModelReply::default() }))
}

/// Reads an object in text, also within a fence, a `<tool_call>` or prose.
pub fn read_text(said: &str, view: &View, grid: Grid) -> Result<ModelReply, Malformed> {
    let Some((start, object)) = first_object(said) else {
        return Err(Malformed::new(
            "the reply has no action: call the function computer, or write one JSON object with \"action\"",
        ));
    };
    // Qwen wraps its call.
    let inner = arguments(object.get("arguments")).filter(|_| object.get("arguments").is_some());
    let input = inner.unwrap_or(object);
    let before = said.get(..start).unwrap_or_default();
    let before = before.trim_end_matches(|c: char| c.is_whitespace() || c == '`');
    let before = before.trim_end_matches("<tool_call>").trim_end_matches("json");
    let before = before.trim().trim_end_matches("```").trim();
    let thought = match (before.is_empty(), text(&input, "reason")) {
        (true, Some(reason)) => reason.to_owned(),
        _ => before.to_owned(),
    };
    let actions = one(&input, "", view, grid).map(|action| vec![action]);
    let calls = vec![Call::new(CallId::default(), actions)];
    Ok(finished(ModelReply { thought, calls, ..ModelReply::default() }))
}

fn one(input: &Value, function: &str, view: &View, grid: Grid) -> Result<Action, Malformed> {
    match text(input, "action") {
        Some(name) => plain::read(name, input, view, grid),
        // Some models call an action as if it were the function.
        None if !function.is_empty() && !function.starts_with("computer") => {
            plain::read(function, input, view, grid)
        }
        None => Err(Malformed::new("the call has no action")),
    }
}

fn finished(mut turn: ModelReply) -> ModelReply {
    let done = turn.actions().find_map(|action| match action {
        Action::Done { text } => Some(text.clone()),
        _ => None,
    });
    turn.done = done;
    turn
}

/// The message of a reply of Chat.
pub fn message(reply: &Value) -> Result<&Value, Malformed> {
    let choice = list(reply, "choices").first();
    choice
        .and_then(|choice| field(choice, "message"))
        .ok_or_else(|| Malformed::new("the reply is empty"))
}

/// What a message of Chat says, as text or in parts.
pub fn words(message: &Value) -> String {
    match field(message, "content") {
        Some(Value::String(text)) => text.trim().to_owned(),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| text(part, "text"));
            texts.collect::<Vec<_>>().join("\n").trim().to_owned()
        }
        _ => String::new(),
    }
}

/// The first object in a text, and where it begins.
fn first_object(text: &str) -> Option<(usize, Value)> {
    for (at, _) in text.match_indices('{').take(50) {
        let mut values = serde_json::Deserializer::from_str(text.get(at..)?).into_iter::<Value>();
        if let Some(Ok(value @ Value::Object(_))) = values.next() {
            return Some((at, value));
        }
    }
    None
}

/// The object of an action.
pub fn write_object(action: &Action, view: &View, grid: Grid) -> Option<Map<String, Value>> {
    let (name, mut input) = plain::write(action, view, grid)?;
    input.insert("action".to_owned(), name.into());
    Some(input)
}

/// The object of an action as Qwen writes it.
pub fn write_qwen(action: &Action, view: &View, grid: Grid) -> Option<Map<String, Value>> {
    let mut input = write_object(action, view, grid)?;
    let set = |input: &mut Map<String, Value>, name: &str, value: Value| {
        input.insert(name.to_owned(), value);
    };
    match action {
        Action::Scroll { dx: 0, dy, .. } => {
            input.retain(|name, _| !name.starts_with("scroll_"));
            set(&mut input, "pixels", (-dy).into());
        }
        Action::Scroll { dx, dy: 0, .. } => {
            input.retain(|name, _| !name.starts_with("scroll_"));
            set(&mut input, "action", "hscroll".into());
            set(&mut input, "pixels", (-dx).into());
        }
        Action::Key { keys } if !keys.contains(' ') => {
            input.remove("text");
            set(&mut input, "keys", keys.split('+').collect::<Vec<_>>().into());
        }
        Action::Wait { seconds } => {
            input.remove("duration");
            set(&mut input, "time", (*seconds).into());
        }
        Action::Drag { path, .. } if path.len() > 1 => return None,
        Action::Done { .. } => set(&mut input, "action", "answer".into()),
        Action::AskUser { .. } => {
            set(&mut input, "action", "terminate".into());
            set(&mut input, "status", "failure".into());
        }
        _ => {}
    }
    let name = input.get("action").and_then(Value::as_str).unwrap_or_default();
    QWEN_NAMES.contains(&name).then_some(input)
}

/// A call of a function, as a reply of Chat has it.
pub fn write_call(id: &str, function: &str, input: &Map<String, Value>) -> Value {
    let arguments = Value::Object(input.clone()).to_string();
    json!({ "id": id, "type": "function", "function": { "name": function, "arguments": arguments } })
}
