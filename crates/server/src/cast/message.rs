//! Messages that a viewer of the browser may send. Pure.

use helmdeck_rfb::Input;
use helmdeck_wire::cast::{
    CastRequest, KeyInput, KeyKind, MouseButton, MouseInput, MouseKind, Place, TouchInput,
    TouchKind,
};
use schemars::JsonSchema;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::input;

/// Maximum length of an unknown name quoted in an error.
const MAX_NAME: usize = 40;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Envelope {
    method: String,
    #[serde(default)]
    params: Value,
}

/// Parses one message. Only known fields are accepted.
pub fn read(text: &str) -> Result<CastRequest, String> {
    let envelope = input::read_text(text);
    let Envelope { method, params } = envelope
        .map_err(|refused| format!("{}; expected {{\"method\", \"params\"}}", refused.message))?;
    match method.as_str() {
        "Input.dispatchMouseEvent" => fields(&method, params).map(CastRequest::Mouse),
        "Input.dispatchKeyEvent" => fields(&method, params).map(CastRequest::Key),
        "Input.dispatchTouchEvent" => fields(&method, params).map(CastRequest::Touch),
        "dialog" => fields(&method, params).map(CastRequest::Dialog),
        "view" => fields(&method, params).map(CastRequest::View),
        "ack" => fields(&method, params).map(CastRequest::Ack),
        other => {
            let other: String = other.chars().take(MAX_NAME).collect();
            Err(format!(
                "method: {other:?} is not allowed: expected Input.dispatchMouseEvent, \
                 Input.dispatchKeyEvent, Input.dispatchTouchEvent, dialog, view or ack"
            ))
        }
    }
}

fn fields<T: DeserializeOwned + JsonSchema + 'static>(
    method: &str,
    params: Value,
) -> Result<T, String> {
    let params = match params {
        // Missing params count as an empty object.
        Value::Null => Map::new(),
        Value::Object(params) => params,
        _ => return Err(format!("{method}: params: expected an object")),
    };
    input::read(params).map_err(|refused| format!("{method}: params: {}", refused.message))
}

/// Whether the message requires control.
pub fn drives(asked: &CastRequest) -> bool {
    match asked {
        CastRequest::Mouse(_)
        | CastRequest::Key(_)
        | CastRequest::Touch(_)
        | CastRequest::Dialog(_)
        | CastRequest::ReleaseAll => true,
        CastRequest::View(_) | CastRequest::Ack(_) => false,
    }
}

/// Whether the message starts something, instead of releasing or ignoring it.
pub fn begins(asked: &CastRequest) -> bool {
    match asked {
        CastRequest::Mouse(MouseInput { kind, .. }) => match kind {
            MouseKind::MousePressed | MouseKind::MouseWheel => true,
            MouseKind::MouseMoved | MouseKind::MouseReleased => false,
        },
        CastRequest::Key(KeyInput { kind, .. }) => *kind != KeyKind::KeyUp,
        CastRequest::Touch(TouchInput { kind, .. }) => *kind == TouchKind::TouchStart,
        CastRequest::Dialog(_) => true,
        CastRequest::View(_) | CastRequest::Ack(_) | CastRequest::ReleaseAll => false,
    }
}

/// The input for the journal. A character that follows its key is not counted again.
pub fn noted(asked: &CastRequest, key_is_down: &mut bool) -> Option<Input> {
    match asked {
        CastRequest::Mouse(mouse) => Some(pointer(mouse)),
        CastRequest::Key(KeyInput { kind, .. }) => {
            let typed = match kind {
                KeyKind::KeyDown | KeyKind::RawKeyDown => true,
                KeyKind::Char => !*key_is_down,
                KeyKind::KeyUp => false,
            };
            *key_is_down = *kind == KeyKind::RawKeyDown;
            Some(Input::Key { down: typed })
        }
        CastRequest::Touch(TouchInput { kind, touch_points, .. }) => {
            let pressed = u8::from(*kind == TouchKind::TouchStart);
            let finger = touch_points.first();
            let at = |place: Option<Place>| place.map_or(0, pixel);
            let (x, y) = (at(finger.map(|one| one.x)), at(finger.map(|one| one.y)));
            Some(Input::Pointer { x, y, buttons: pressed, pressed })
        }
        CastRequest::Dialog(_)
        | CastRequest::View(_)
        | CastRequest::Ack(_)
        | CastRequest::ReleaseAll => None,
    }
}

/// The pointer as in RFB.
fn pointer(mouse: &MouseInput) -> Input {
    const WHEEL: u8 = 0b1000;
    let pressed = match (mouse.kind, mouse.button) {
        (MouseKind::MouseWheel, _) => WHEEL,
        (MouseKind::MousePressed, MouseButton::Left) => 1,
        (MouseKind::MousePressed, MouseButton::Middle) => 2,
        (MouseKind::MousePressed, MouseButton::Right) => 4,
        (MouseKind::MousePressed, MouseButton::Back | MouseButton::Forward) => 128,
        (MouseKind::MousePressed, MouseButton::None)
        | (MouseKind::MouseMoved | MouseKind::MouseReleased, _) => 0,
    };
    Input::Pointer { x: pixel(mouse.x), y: pixel(mouse.y), buttons: pressed, pressed }
}

fn pixel(place: Place) -> u16 {
    // Saturates, which is right for points outside.
    place.get() as u16
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const CLICK: &str = r#"{"method":"Input.dispatchMouseEvent","params":
        {"type":"mousePressed","x":1.5,"y":-3,"button":"left","clickCount":2,"modifiers":8}}"#;

    #[test]
    fn only_known_messages_are_accepted() {
        assert!(matches!(read(CLICK), Ok(CastRequest::Mouse(_))));
        let passes = |method: &str, params: Value| {
            read(&json!({ "method": method, "params": params }).to_string())
        };
        let key = json!({ "type": "keyDown", "text": "a", "key": "a", "code": "KeyA" });
        passes("Input.dispatchKeyEvent", key).unwrap();
        let touch = json!({ "type": "touchStart", "touchPoints": [{ "x": 1, "y": 2 }] });
        passes("Input.dispatchTouchEvent", touch).unwrap();
        passes("view", json!({ "tab": null, "quality": 30 })).unwrap();
        passes("ack", json!({ "seq": 3 })).unwrap();
        passes("dialog", json!({ "accept": true, "text": "x" })).unwrap();
        for method in
            ["Page.navigate", "Runtime.evaluate", "Input.insertText", "let_go", "ReleaseAll", ""]
        {
            assert!(passes(method, json!({})).unwrap_err().contains("is not allowed"), "{method}");
        }
        let key = |field: &str, value: Value| {
            let mut params = json!({ "type": "keyDown" });
            params[field] = value;
            passes("Input.dispatchKeyEvent", params).unwrap_err()
        };
        for (field, value) in [
            ("commands", json!(["selectAll"])),
            ("text", json!("x".repeat(65))),
            ("windowsVirtualKeyCode", json!(256)),
            ("modifiers", json!(-1)),
            ("location", json!(1.5)),
            ("autoRepeat", json!("yes")),
        ] {
            let refused = key(field, value);
            assert!(refused.starts_with("Input.dispatchKeyEvent: params"), "{refused}");
            assert!(refused.contains(field), "{refused}");
        }
        assert!(matches!(read(r#"{"method":"view"}"#), Ok(CastRequest::View(_))));
        let refused = |text: &str| read(text).unwrap_err();
        assert_eq!(refused(r#"{"method":"ack"}"#), "ack: params: seq is missing");
        let number = refused(r#"{"method":"ack","params":3}"#);
        assert!(number.starts_with("ack: params: ") && number.ends_with("an object"), "{number}");
        assert!(read(&format!("{CLICK}{CLICK}")).is_err());
        assert!(read(r#"{"method":"ack","params":{"seq":1},"sessionId":"S"}"#).is_err());
    }

    /// Messages that are truncated, duplicated or changed in one place are refused, or equal
    /// another valid message. None panics.
    #[test]
    fn a_changed_message_never_becomes_another_method() {
        let bytes = CLICK.as_bytes();
        for index in 0..bytes.len() {
            for byte in [0, b'"', b'{', b'}', b',', b':', b'9', b'e', b'-', b'\\', 0x7f] {
                let mut changed = bytes.to_vec();
                if let Some(place) = changed.get_mut(index) {
                    *place = byte;
                }
                if let Ok(text) = std::str::from_utf8(&changed)
                    && let Ok(asked) = read(text)
                {
                    assert!(matches!(asked, CastRequest::Mouse(_)), "{text}");
                    // Accepted messages are written as they were understood.
                    let again = serde_json::to_string(&asked).unwrap();
                    assert_eq!(serde_json::from_str::<CastRequest>(&again).unwrap(), asked);
                }
            }
            if let Some(cut) = CLICK.get(..index) {
                assert!(read(cut).is_err());
            }
        }
        let deep = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));
        assert!(read(&format!(r#"{{"method":"view","params":{deep}}}"#)).is_err());
    }

    #[test]
    fn a_character_after_its_key_counts_once() {
        let mut down = false;
        let mut typed = |kind: &str| {
            let text = json!({ "method": "Input.dispatchKeyEvent", "params": { "type": kind } });
            noted(&read(&text.to_string()).unwrap(), &mut down)
        };
        let counted = ["keyDown", "keyUp", "rawKeyDown", "char", "keyUp", "char"]
            .map(|kind| u32::from(typed(kind) == Some(Input::Key { down: true })));
        assert_eq!(counted, [1, 0, 1, 0, 0, 1]);
    }
}
