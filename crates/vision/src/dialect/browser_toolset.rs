//! The members of Anthropic's set of browser tools that are actions of ours. Others are turned off.

use helmdeck_gateway::json::{field, text};
use helmdeck_wire::{point::Pixel, pointer::Button};
use serde_json::{Map, Value, json};

use super::{
    fields::{needed, number_in, texts},
    plain,
};
use crate::{
    Malformed,
    action::{Action, Place},
    keys,
    view::{Grid, View},
};

/// Members that are on by default and that we do not have.
const OFF: [&str; 5] = ["get_page_text", "new_tab", "list_tabs", "switch_tab", "close_tab"];

/// Declares the set.
pub fn declare(kind: &str) -> Value {
    let off = OFF.iter().map(|name| ((*name).to_owned(), json!({ "enabled": false })));
    json!({ "type": kind, "configs": off.collect::<Map<_, _>>() })
}

/// Reads a call of a member.
pub fn read(name: &str, input: &Value, view: &View) -> Result<Action, Malformed> {
    let at = |field_name: &str| target(field(input, field_name), view);
    let needed_at = |field_name: &str| {
        at(field_name)?.ok_or_else(|| {
            Malformed::new(format!("{name} needs {field_name}: a coordinate or a ref"))
        })
    };
    let click = |button, count| {
        let held = texts(field(input, "modifiers"));
        let modifiers = keys::modifiers(held.iter().map(String::as_str))
            .map_err(|key| Malformed::new(format!("{key:?} is no modifier")))?;
        Ok(Action::Click { at: at("target")?, button, count, modifiers })
    };
    match name {
        "left_click" => click(Button::Left, 1),
        "right_click" => click(Button::Right, 1),
        "middle_click" => click(Button::Middle, 1),
        "double_click" => click(Button::Left, 2),
        "triple_click" => click(Button::Left, 3),
        "hover" | "mouse_move" | "scroll_to" => Ok(Action::Move { at: needed_at("target")? }),
        "left_mouse_down" => Ok(Action::Press { at: at("target")?, button: Button::Left }),
        "left_mouse_up" => Ok(Action::Release { at: at("target")?, button: Button::Left }),
        "left_click_drag" => match (at("from")?, needed_at("target")?) {
            (from @ (None | Some(Place::At(_))), Place::At(end)) => {
                let start = from.as_ref().and_then(Place::pixel);
                let path = start.into_iter().chain([end]).collect();
                Ok(Action::Drag { path, modifiers: Vec::new() })
            }
            _ => Err(Malformed::new("drag from and to coordinates, not refs")),
        },
        "scroll" => match (plain::read(name, input, view, Grid::Pixels)?, at("target")?) {
            (Action::Scroll { dx, dy, modifiers, .. }, Some(place)) => {
                Ok(Action::Scroll { at: Some(place), dx, dy, modifiers })
            }
            (action, _) => Ok(action),
        },
        "form_input" => {
            let reference = needed(input, "ref", name)?.to_owned();
            let text = match field(input, "value") {
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
                None => return Err(Malformed::new("form_input needs value")),
            };
            Ok(Action::Fill { at: Place::Element { reference }, text })
        }
        "read_page" => Ok(Action::Read),
        "find" => Ok(Action::Find { text: needed(input, "query", name)?.to_owned() }),
        "navigate" => match text(input, "url") {
            Some("back") => Ok(Action::Back),
            Some("forward") => Ok(Action::Forward),
            _ => Ok(Action::Navigate { url: needed(input, "url", name)?.to_owned() }),
        },
        "screenshot" | "zoom" | "type" | "key" | "hold_key" | "wait" => {
            plain::read(name, input, view, Grid::Pixels)
        }
        other => Err(Malformed::new(format!("{other} is turned off in this session"))),
    }
}

/// Writes a call of a member.
pub fn write(action: &Action, view: &View) -> Option<(&'static str, Map<String, Value>)> {
    let mut input = Map::new();
    let written = |place: &Place| match place {
        Place::At(at) => {
            let (x, y) = view.from_screen(Grid::Pixels, *at);
            json!({ "type": "coordinate", "x": x, "y": y })
        }
        Place::Element { reference } => json!({ "type": "ref", "ref": reference }),
    };
    let mut put = |name: &str, value: Value| {
        input.insert(name.to_owned(), value);
    };
    let name = match action {
        Action::Click { at, button, count, modifiers } => {
            if let Some(place) = at {
                put("target", written(place));
            }
            if !modifiers.is_empty() {
                let names: Vec<_> = modifiers.iter().map(|one| keys::modifier(*one)).collect();
                put("modifiers", json!(names));
            }
            plain::click_name(*button, *count)?
        }
        Action::Move { at } => {
            put("target", written(at));
            "hover"
        }
        Action::Press { at, button: Button::Left }
        | Action::Release { at, button: Button::Left } => {
            if let Some(place) = at {
                put("target", written(place));
            }
            let down = matches!(action, Action::Press { .. });
            if down { "left_mouse_down" } else { "left_mouse_up" }
        }
        Action::Drag { path, .. } => {
            let point = |at: &Pixel| written(&Place::At(*at));
            put("target", point(path.last()?));
            if path.len() > 1 {
                put("from", point(path.first()?));
            }
            "left_click_drag"
        }
        Action::Scroll { at, .. } => {
            let (_, fields) = plain::write(action, view, Grid::Pixels)?;
            for (name, value) in fields.into_iter().filter(|(name, _)| name != "coordinate") {
                put(&name, value);
            }
            if let Some(place) = at {
                put("target", written(place));
            }
            "scroll"
        }
        Action::Fill { at: Place::Element { reference }, text } => {
            put("ref", reference.as_str().into());
            put("value", text.as_str().into());
            "form_input"
        }
        Action::Read => "read_page",
        Action::Find { text } => {
            put("query", text.as_str().into());
            "find"
        }
        Action::Back | Action::Forward => {
            put("url", if *action == Action::Back { "back" } else { "forward" }.into());
            "navigate"
        }
        Action::Navigate { .. }
        | Action::Screenshot
        | Action::Zoom { .. }
        | Action::Type { .. }
        | Action::Key { .. }
        | Action::Hold { .. }
        | Action::Wait { .. } => return plain::write(action, view, Grid::Pixels),
        _ => return None,
    };
    Some((name, input))
}

fn target(value: Option<&Value>, view: &View) -> Result<Option<Place>, Malformed> {
    let Some(value) = value else { return Ok(None) };
    if let Some(reference) = text(value, "ref") {
        return Ok(Some(Place::Element { reference: reference.to_owned() }));
    }
    match (number_in(value, "x"), number_in(value, "y")) {
        (Some(x), Some(y)) => Ok(Some(Place::At(view.to_screen(Grid::Pixels, x, y)))),
        _ => Err(Malformed::new("a target is {type: coordinate, x, y} or {type: ref, ref}")),
    }
}
