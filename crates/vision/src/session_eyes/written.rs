//! Actions of a model as actions of a guest.

use helmdeck_wire::{
    Action as _, ActionCall,
    browser::Navigate,
    keyboard::{HoldKey, Key, Type},
    parse::Invalid,
    point::Pixel,
    pointer::{
        Click, DoubleClick, Drag, Modifier, ModifierClick, MouseDown, MouseMove, MouseUp, Scroll,
        TripleClick,
    },
    status::Wait,
};
use serde_json::{Map, Value, json};

use crate::{
    action::{Action, NOTCH, Place},
    keys,
};

type Written = Result<ActionCall, Invalid>;

/// The calls of an action, in order. Nothing for actions that only look.
#[expect(clippy::too_many_lines, reason = "one arm for each action")]
pub fn calls(
    action: &Action,
    held: &[Modifier],
    pointer: Option<Pixel>,
    picture: bool,
) -> Vec<Written> {
    let with = |modifiers: &[Modifier]| {
        let mut all = modifiers.to_vec();
        all.extend(held.iter().filter(|one| !modifiers.contains(one)));
        all
    };
    let chord = |keys: &str| {
        let held: Vec<_> = held.iter().map(|one| keys::modifier(*one)).collect();
        match held.is_empty() {
            true => keys.to_owned(),
            false => keys
                .split(' ')
                .map(|key| format!("{}+{key}", held.join("+")))
                .collect::<Vec<_>>()
                .join(" "),
        }
    };
    let aimed = |fields: Value| options(fields, picture, true);
    match action {
        Action::Click { at, button, count, modifiers } => {
            let mut fields = placed(at.as_ref(), pointer);
            set(&mut fields, "button", json!(button));
            let modifiers = with(modifiers);
            if !modifiers.is_empty() {
                set(&mut fields, "modifiers", json!(modifiers));
                return vec![ModifierClick::call(aimed(fields)); usize::from((*count).clamp(1, 3))];
            }
            vec![match count {
                2 => DoubleClick::call(aimed(fields)),
                3 => TripleClick::call(aimed(fields)),
                _ => Click::call(aimed(fields)),
            }]
        }
        Action::Move { at } => vec![MouseMove::call(aimed(placed(Some(at), None)))],
        Action::Press { at, button } => {
            let mut fields = placed(at.as_ref(), None);
            set(&mut fields, "button", json!(button));
            vec![MouseDown::call(aimed(fields))]
        }
        Action::Release { at, button } => {
            let mut fields = placed(at.as_ref(), None);
            set(&mut fields, "button", json!(button));
            vec![MouseUp::call(aimed(fields))]
        }
        Action::Drag { path, modifiers } => {
            let start = pointer.filter(|_| path.len() < 2);
            let path: Vec<Pixel> = start.into_iter().chain(path.iter().copied()).collect();
            vec![Drag::call(aimed(json!({ "path": path, "modifiers": with(modifiers) })))]
        }
        Action::Scroll { at, dx, dy, modifiers } => {
            let turns = [(*dy, "down", "up"), (*dx, "right", "left")]
                .into_iter()
                .filter(|(by, ..)| *by != 0);
            let turn = |(by, forth, back): (i32, &str, &str)| {
                let mut fields = placed(at.as_ref(), None);
                let notches = (by.unsigned_abs() + NOTCH.unsigned_abs() / 2) / NOTCH.unsigned_abs();
                set(&mut fields, "direction", if by > 0 { forth } else { back }.into());
                set(&mut fields, "amount", notches.clamp(1, Scroll::MAX_AMOUNT).into());
                set(&mut fields, "modifiers", json!(with(modifiers)));
                Scroll::call(aimed(fields))
            };
            turns.map(turn).collect()
        }
        Action::Type { text } => vec![Type::call(aimed(json!({ "text": text })))],
        Action::Key { keys } => vec![Key::call(aimed(json!({ "keys": chord(keys) })))],
        Action::Hold { keys, seconds } => {
            vec![HoldKey::call(aimed(json!({ "keys": chord(keys), "seconds": seconds })))]
        }
        Action::Wait { seconds } => vec![Wait::call(json!({ "seconds": seconds }))],
        Action::Navigate { url } => {
            vec![Navigate::call(options(json!({ "url": url }), picture, false))]
        }
        Action::Back | Action::Forward => {
            let step = if *action == Action::Back { "back" } else { "forward" };
            vec![Navigate::call(options(json!({ "history": step }), picture, false))]
        }
        Action::Fill { at, text } => vec![
            Click::call(aimed(placed(Some(at), None))),
            Key::call(json!({ "keys": "ctrl+a" })),
            Type::call(options(json!({ "text": text }), picture, true)),
        ],
        _ => Vec::new(),
    }
}

/// The fields that say where.
fn placed(at: Option<&Place>, pointer: Option<Pixel>) -> Value {
    let pixel = match at {
        Some(Place::Element { reference }) => return json!({ "target": { "ref": reference } }),
        Some(Place::At(pixel)) => Some(*pixel),
        None => pointer,
    };
    pixel.map_or_else(|| json!({}), |Pixel { x, y }| json!({ "x": x, "y": y }))
}

/// Waits until the screen is quiet, and says what changed.
fn options(mut fields: Value, picture: bool, hits: bool) -> Value {
    set(&mut fields, "settle", json!({}));
    set(&mut fields, "observe", if picture { "auto" } else { "diff" }.into());
    if hits {
        set(&mut fields, "hit", true.into());
    }
    fields
}

fn set(fields: &mut Value, name: &str, value: Value) {
    if let Value::Object(fields) = fields {
        let fields: &mut Map<String, Value> = fields;
        fields.insert(name.to_owned(), value);
    }
}

#[cfg(test)]
#[allow(clippy::panic, clippy::indexing_slicing, reason = "a test may")]
mod tests {
    use super::*;
    use crate::session_eyes::body;

    fn written(action: &Action, held: &[Modifier]) -> Vec<(&'static str, Value)> {
        let pointer = Some(Pixel { x: 7, y: 8 });
        let calls = calls(action, held, pointer, true);
        let calls =
            calls.into_iter().map(|call| call.unwrap_or_else(|bad| panic!("{action:?}: {bad}")));
        calls.map(|call| (call.name, body(&call))).collect()
    }

    #[test]
    fn every_action_is_one_that_a_guest_accepts() {
        let at = || Place::At(Pixel { x: 3, y: 4 });
        let element = || Place::Element { reference: "e7".to_owned() };
        for (action, names) in [
            (Action::click(3, 4), vec!["click"]),
            (Action::clicks(None, Default::default(), 2), vec!["double_click"]),
            (Action::clicks(Some(element()), Default::default(), 3), vec!["triple_click"]),
            (Action::Move { at: element() }, vec!["mouse_move"]),
            (Action::Press { at: None, button: Default::default() }, vec!["mouse_down"]),
            (Action::Release { at: Some(at()), button: Default::default() }, vec!["mouse_up"]),
            (Action::Drag { path: vec![Pixel { x: 1, y: 1 }], modifiers: vec![] }, vec!["drag"]),
            (
                Action::Scroll { at: None, dx: -250, dy: 900_000, modifiers: vec![] },
                vec!["scroll", "scroll"],
            ),
            (Action::Type { text: "x".to_owned() }, vec!["type"]),
            (Action::key("ctrl+l"), vec!["key"]),
            (Action::Hold { keys: "shift".to_owned(), seconds: 1.0 }, vec!["hold_key"]),
            (Action::Wait { seconds: 1.0 }, vec!["wait"]),
            (Action::Navigate { url: "https://example.org".to_owned() }, vec!["browser_navigate"]),
            (Action::Back, vec!["browser_navigate"]),
            (Action::Fill { at: element(), text: "x".to_owned() }, vec!["click", "key", "type"]),
        ] {
            let calls = written(&action, &[]);
            assert_eq!(calls.iter().map(|(name, _)| *name).collect::<Vec<_>>(), names);
        }
    }

    #[test]
    fn clicks_say_what_they_hit_and_what_changed() {
        let calls = written(&Action::click(3, 4), &[]);
        let fields = &calls[0].1;
        assert_eq!(
            (&fields["x"], &fields["hit"], &fields["observe"]),
            (&json!(3), &json!(true), &json!("auto"))
        );
        let calls = written(&Action::clicks(None, Default::default(), 1), &[]);
        assert_eq!((&calls[0].1["x"], &calls[0].1["y"]), (&json!(7), &json!(8)));
    }

    #[test]
    fn keys_that_are_held_count_for_what_follows() {
        let calls = written(&Action::click(3, 4), &[Modifier::Shift]);
        assert_eq!((calls[0].0, &calls[0].1["modifiers"]), ("modifier_click", &json!(["shift"])));
        assert_eq!(written(&Action::key("a b"), &[Modifier::Ctrl])[0].1["keys"], "ctrl+a ctrl+b");
    }

    #[test]
    fn pixels_become_notches() {
        let scroll = |dy| Action::Scroll { at: None, dx: 0, dy, modifiers: vec![] };
        assert_eq!(written(&scroll(300), &[])[0].1["amount"], 3);
        assert_eq!(written(&scroll(-20), &[])[0].1["amount"], 1);
        assert_eq!(written(&scroll(-20), &[])[0].1["direction"], "up");
    }
}
