//! The vocabulary that Anthropic, Qwen, our own function and plain JSON share: one name, and fields with
//! a `coordinate`.

use helmdeck_gateway::json::{field, text};
use helmdeck_wire::{
    point::Pixel,
    pointer::{Button, Modifier},
};
use serde_json::{Map, Value, json};

use super::fields::{needed, number_in, pair, pixel, texts};
use crate::{
    Malformed,
    action::{Action, LONGEST, NOTCH, Place},
    keys,
    view::{Grid, View},
};

/// Most repetitions of a key.
const MOST_REPEATS: f64 = 100.0;

/// Reads a call.
pub fn read(name: &str, input: &Value, view: &View, grid: Grid) -> Result<Action, Malformed> {
    let at = || place(input, view, grid);
    let click = |button, count| {
        let modifiers = held(input)?;
        Ok(Action::Click { at: at()?, button, count, modifiers })
    };
    let required = || {
        at()?.ok_or_else(|| Malformed::new(format!("{name} needs coordinate, such as [400, 300]")))
    };
    match name {
        "screenshot" | "take_screenshot" | "none" => Ok(Action::Screenshot),
        "left_click" | "click" => match text(input, "button") {
            None | Some("left") => click(Button::Left, 1),
            Some("right") => click(Button::Right, 1),
            Some("middle" | "wheel") => click(Button::Middle, 1),
            Some(other) => Err(Malformed::new(format!("{other}: use left, right or middle"))),
        },
        "right_click" => click(Button::Right, 1),
        "middle_click" => click(Button::Middle, 1),
        "double_click" => click(Button::Left, 2),
        "triple_click" => click(Button::Left, 3),
        "mouse_move" | "move" | "hover" => Ok(Action::Move { at: required()? }),
        "left_mouse_down" | "mouse_down" => Ok(Action::Press { at: at()?, button: Button::Left }),
        "left_mouse_up" | "mouse_up" => Ok(Action::Release { at: at()?, button: Button::Left }),
        "left_click_drag" | "drag" => {
            let start = pixel(input, "start_coordinate", view, grid)?;
            let Some(Place::At(end)) = at()? else {
                return Err(Malformed::new(format!("{name} needs coordinate, where it ends")));
            };
            let modifiers = held(input)?;
            Ok(Action::Drag { path: start.into_iter().chain([end]).collect(), modifiers })
        }
        "scroll" => scroll(input, at()?),
        "hscroll" => {
            let dx = -number_in(input, "pixels").unwrap_or_default().round() as i32;
            Ok(Action::Scroll { at: at()?, dx, dy: 0, modifiers: Vec::new() })
        }
        "type" => Ok(Action::Type { text: needed(input, "text", name)?.to_owned() }),
        "key" => Ok(Action::Key { keys: pressed(input, name)? }),
        "key_down" => Ok(Action::KeyDown { key: pressed(input, name)? }),
        "key_up" => Ok(Action::KeyUp { key: pressed(input, name)? }),
        "hold_key" => {
            let seconds = seconds(input, 1.0);
            Ok(Action::Hold { keys: pressed(input, name)?, seconds })
        }
        "wait" => Ok(Action::Wait { seconds: seconds(input, 1.0) }),
        "cursor_position" => Ok(Action::CursorPosition),
        "zoom" => {
            let corners = field(input, "region").and_then(Value::as_array).map(Vec::as_slice);
            let wrong = || Malformed::new("zoom needs region: [left, top, right, bottom]");
            let [x1, y1, x2, y2] = corners.unwrap_or_default() else { return Err(wrong()) };
            let corner = |value: &Value| super::fields::number(value).ok_or_else(wrong);
            let corners = [corner(x1)?, corner(y1)?, corner(x2)?, corner(y2)?];
            let region = view.region(grid, corners).ok_or_else(wrong)?;
            Ok(Action::Zoom { region })
        }
        "navigate" | "goto" | "open_url" => {
            Ok(Action::Navigate { url: needed(input, "url", name)?.to_owned() })
        }
        "go_back" | "back" => Ok(Action::Back),
        "go_forward" | "forward" => Ok(Action::Forward),
        "done" | "finish" | "finished" | "answer" => Ok(Action::Done { text: words(input) }),
        "terminate" => match text(input, "status") {
            Some("failure") => Ok(Action::AskUser { text: words(input) }),
            _ => Ok(Action::Done { text: words(input) }),
        },
        "ask_user" | "call_user" => Ok(Action::AskUser { text: words(input) }),
        other => Err(Malformed::new(format!(
            "there is no action {other:?}: use one of left_click, right_click, double_click, \
             mouse_move, left_click_drag, scroll, type, key, wait, screenshot or done"
        ))),
    }
}

/// Writes a call: its name and fields. Nothing if the vocabulary has no word for it.
pub fn write(
    action: &Action,
    view: &View,
    grid: Grid,
) -> Option<(&'static str, Map<String, Value>)> {
    let mut input = Map::new();
    let point = |at: Pixel| {
        let (x, y) = view.from_screen(grid, at);
        json!([x, y])
    };
    let mut put = |name: &str, value: Value| {
        input.insert(name.to_owned(), value);
    };
    if let Some(at) = action.pixel().filter(|_| !matches!(action, Action::Drag { .. })) {
        put("coordinate", point(at));
    }
    let with_keys = |put: &mut dyn FnMut(&str, Value), modifiers: &[Modifier]| {
        if !modifiers.is_empty() {
            let names: Vec<_> = modifiers.iter().map(|one| keys::modifier(*one)).collect();
            put("text", names.join("+").into());
        }
    };
    let name = match action {
        Action::Screenshot => "screenshot",
        Action::Click { button, count, modifiers, .. } => {
            with_keys(&mut put, modifiers);
            click_name(*button, *count)?
        }
        Action::Move { .. } => "mouse_move",
        Action::Press { button: Button::Left, .. } => "left_mouse_down",
        Action::Release { button: Button::Left, .. } => "left_mouse_up",
        Action::Drag { path, modifiers } => {
            with_keys(&mut put, modifiers);
            put("coordinate", point(*path.last()?));
            if let [start, .., _] = path.as_slice() {
                put("start_coordinate", point(*start));
            }
            "left_click_drag"
        }
        Action::Scroll { dx, dy, modifiers, .. } => {
            with_keys(&mut put, modifiers);
            let (direction, pixels) = direction(*dx, *dy);
            put("scroll_direction", direction.into());
            put("scroll_amount", ((pixels + NOTCH / 2) / NOTCH).max(1).into());
            "scroll"
        }
        Action::Type { text } => {
            put("text", text.as_str().into());
            "type"
        }
        Action::Key { keys } => {
            put("text", keys.as_str().into());
            "key"
        }
        Action::Hold { keys, seconds } => {
            put("text", keys.as_str().into());
            put("duration", (*seconds).into());
            "hold_key"
        }
        Action::Wait { seconds } => {
            put("duration", (*seconds).into());
            "wait"
        }
        Action::CursorPosition => "cursor_position",
        Action::Zoom { region } => {
            put("region", json!(view.corners(grid, *region)));
            "zoom"
        }
        Action::Navigate { url } => {
            put("url", url.as_str().into());
            "navigate"
        }
        Action::Back => "go_back",
        Action::Forward => "go_forward",
        Action::Done { text } => {
            put("text", text.as_str().into());
            "done"
        }
        Action::AskUser { text } => {
            put("text", text.as_str().into());
            "ask_user"
        }
        _ => return None,
    };
    Some((name, input))
}

/// What a click is called.
pub fn click_name(button: Button, count: u8) -> Option<&'static str> {
    Some(match (button, count) {
        (Button::Left, 1) => "left_click",
        (Button::Left, 2) => "double_click",
        (Button::Left, 3) => "triple_click",
        (Button::Right, 1) => "right_click",
        (Button::Middle, 1) => "middle_click",
        _ => return None,
    })
}

/// The direction of a scroll, and how far it goes.
pub fn direction(dx: i32, dy: i32) -> (&'static str, i32) {
    match (dx, dy) {
        (0, down @ 0..) => ("down", down),
        (0, up) => ("up", -up),
        (right @ 1.., _) => ("right", right),
        (left, _) => ("left", -left),
    }
}

/// Where it acts: `coordinate`, or `x` and `y`.
fn place(input: &Value, view: &View, grid: Grid) -> Result<Option<Place>, Malformed> {
    if let Some(at) = pixel(input, "coordinate", view, grid)? {
        return Ok(Some(Place::At(at)));
    }
    let at = pair(input).map(|(x, y)| Place::At(view.to_screen(grid, x, y)));
    Ok(at)
}

/// The modifiers of a click or scroll. Anthropic writes them as text.
fn held(input: &Value) -> Result<Vec<Modifier>, Malformed> {
    let given = field(input, "text").or_else(|| field(input, "key"));
    let given = given.or_else(|| field(input, "modifiers"));
    let keys = texts(given);
    keys::modifiers(keys.iter().map(String::as_str)).map_err(|key| {
        let hint = format!(
            "{key:?} is no modifier: use shift, ctrl, alt or super, and type text with type"
        );
        Malformed::new(hint)
    })
}

fn scroll(input: &Value, at: Option<Place>) -> Result<Action, Malformed> {
    let modifiers = held(input)?;
    // Qwen scrolls by pixels: up if positive.
    if let Some(pixels) = number_in(input, "pixels") {
        return Ok(Action::Scroll { at, dx: 0, dy: -(pixels.round() as i32), modifiers });
    }
    let amount = number_in(input, "scroll_amount").or_else(|| number_in(input, "amount"));
    let amount = amount.unwrap_or(3.0).clamp(1.0, 100.0).round() as i32 * NOTCH;
    let direction = text(input, "scroll_direction").or_else(|| text(input, "direction"));
    let (dx, dy) = match direction {
        Some("up") => (0, -amount),
        Some("down") => (0, amount),
        Some("left") => (-amount, 0),
        Some("right") => (amount, 0),
        _ => return Err(Malformed::new("scroll needs scroll_direction: up, down, left or right")),
    };
    Ok(Action::Scroll { at, dx, dy, modifiers })
}

/// The keys of a key action: text, or a list of keys that are pressed together.
fn pressed(input: &Value, action: &str) -> Result<String, Malformed> {
    let given =
        field(input, "keys").or_else(|| field(input, "text")).or_else(|| field(input, "key"));
    let keys = match given {
        Some(Value::Array(_)) => keys::together(texts(given).iter().map(String::as_str)),
        Some(Value::String(text)) => keys::chords(text),
        _ => String::new(),
    };
    if keys.is_empty() {
        return Err(Malformed::new(format!(
            "{action} needs text, such as \"Return\" or \"ctrl+l\""
        )));
    }
    let repeat = number_in(input, "repeat").unwrap_or(1.0).clamp(1.0, MOST_REPEATS) as usize;
    Ok(vec![keys; repeat].join(" "))
}

fn seconds(input: &Value, otherwise: f64) -> f64 {
    let given = ["duration", "time", "seconds"].iter().find_map(|name| number_in(input, name));
    given.unwrap_or(otherwise).clamp(0.05, LONGEST)
}

fn words(input: &Value) -> String {
    let given = ["text", "reason", "answer", "content", "message"];
    given.iter().find_map(|name| text(input, name)).unwrap_or_default().to_owned()
}
