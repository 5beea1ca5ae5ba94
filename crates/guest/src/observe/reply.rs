//! What a reply says about its action, and what an observation adds to it. Pure.

use helmdeck_wire::{
    aim::{Hit, Source},
    browser,
};
use serde_json::{Map, Value};

use super::effect::Reported;

/// Adds what was observed to a reply. What the reply says about its element is kept.
pub fn add(reply: &mut Map<String, Value>, more: Map<String, Value>) {
    for (name, value) in more {
        match (reply.get_mut(&name), value) {
            (Some(Value::Object(hit)), Value::Object(more)) if name == "hit" => {
                for (name, value) in more {
                    hit.entry(name).or_insert(value);
                }
            }
            (Some(_), _) => {}
            (None, value) => {
                reply.insert(name, value);
            }
        }
    }
}

/// What a reply of the structured browser says about effects. Its downloads may have begun with an
/// earlier action, so they count only if the page is not watched.
pub fn reported(reply: &Map<String, Value>, watched: bool) -> Reported {
    let any =
        |name: &str| reply.get(name).and_then(Value::as_array).is_some_and(|all| !all.is_empty());
    let download = any("downloads") && !watched;
    Reported { opened: any("opened"), dialog: any("dialogs"), download }
}

/// The element that a reply of the structured browser names.
pub fn hit(reply: &Map<String, Value>) -> Option<Hit> {
    let hit: browser::Hit = serde_json::from_value(reply.get("hit")?.clone()).ok()?;
    let browser::Hit { tag, name, role, states, rect, selector, url, .. } = hit;
    Some(Hit {
        role: role.unwrap_or_else(|| tag.clone()),
        name,
        states,
        rect,
        element: Some(tag),
        selector,
        url,
        source: Source::Dom,
        ..Hit::default()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_known_of_an_element_is_added_to_what_the_reply_says_of_it() {
        let Value::Object(mut reply) = json!({ "ok": true, "hit": { "tag": "a", "name": "Go" } })
        else {
            panic!()
        };
        let Value::Object(more) = json!({
            "hit": { "name": "Go there", "role": "link" }, "effect": "navigated", "ok": 1,
        }) else {
            panic!()
        };
        add(&mut reply, more);
        let expected = json!({
            "ok": true, "hit": { "tag": "a", "name": "Go", "role": "link" }, "effect": "navigated",
        });
        assert_eq!(Value::Object(reply), expected);
    }

    #[test]
    fn the_element_that_a_browser_action_used_is_known_without_a_screen() {
        let reply =
            json!({ "ok": true, "hit": { "tag": "button", "name": "Pay", "x": 4, "y": 5 } });
        let found = hit(reply.as_object().unwrap()).unwrap();
        assert_eq!((found.role.as_str(), found.name.as_str()), ("button", "Pay"));
        assert_eq!(hit(json!({ "ok": true }).as_object().unwrap()), None);
    }
}
