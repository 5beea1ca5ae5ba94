//! Tracks what one viewer holds down, and builds the events that release it. Pure.

use helmdeck_wire::cast::{
    KeyInput, KeyKind, MouseButton, MouseInput, MouseKind, Place, TouchInput, TouchKind,
};
use serde_json::{Value, json};

/// Limit on tracked keys.
const MAX_KEYS: usize = 32;

/// The keys and buttons that are down, and the page `P` of each.
pub(crate) struct Held<P> {
    keys: Vec<(P, KeyInput)>,
    buttons: Vec<(P, MouseButton)>,
    touched: Option<P>,
    at: (Place, Place),
}

impl<P> Default for Held<P> {
    fn default() -> Self {
        let (keys, buttons, at) = (Vec::new(), Vec::new(), Default::default());
        Self { keys, buttons, touched: None, at }
    }
}

impl<P: Clone> Held<P> {
    /// The page that has the pointer. Buttons pressed in it are released in it.
    pub fn pointed(&self) -> Option<&P> {
        self.buttons.first().map(|(page, _)| page).or(self.touched.as_ref())
    }

    /// The page in which a key is down.
    pub fn pressed(&self, key: &KeyInput) -> Option<&P> {
        self.keys.iter().find(|(_, held)| same(held, key)).map(|(page, _)| page)
    }

    pub fn mouse(&mut self, page: &P, mouse: &MouseInput) {
        self.at = (mouse.x, mouse.y);
        let others = |(_, button): &(P, MouseButton)| *button != mouse.button;
        match mouse.kind {
            MouseKind::MousePressed if mouse.button != MouseButton::None => {
                self.buttons.retain(others);
                self.buttons.push((page.clone(), mouse.button));
            }
            MouseKind::MouseReleased => self.buttons.retain(others),
            MouseKind::MousePressed | MouseKind::MouseMoved | MouseKind::MouseWheel => {}
        }
    }

    pub fn key(&mut self, page: &P, key: &KeyInput) {
        match key.kind {
            KeyKind::KeyDown | KeyKind::RawKeyDown => {
                self.keys.retain(|(_, held)| !same(held, key));
                if self.keys.len() < MAX_KEYS {
                    self.keys.push((page.clone(), key.clone()));
                }
            }
            KeyKind::KeyUp => self.keys.retain(|(_, held)| !same(held, key)),
            KeyKind::Char => {}
        }
    }

    pub fn touch(&mut self, page: &P, touch: &TouchInput) {
        self.touched = match touch.kind {
            TouchKind::TouchStart | TouchKind::TouchMove => Some(page.clone()),
            TouchKind::TouchEnd | TouchKind::TouchCancel => None,
        };
    }

    /// Builds the events that release everything, last pressed first.
    pub fn release_all(&mut self) -> Vec<(P, &'static str, Value)> {
        self.release_in(|_| true)
    }

    /// Builds the events that release what is down in matching pages, last pressed first.
    pub fn release_in(&mut self, there: impl Fn(&P) -> bool) -> Vec<(P, &'static str, Value)> {
        let (x, y) = self.at;
        let touched = self.touched.take_if(|page| there(page)).map(|page| {
            let params = json!({ "type": "touchCancel", "touchPoints": [] });
            (page, "Input.dispatchTouchEvent", params)
        });
        let buttons: Vec<_> = self.buttons.extract_if(.., |(page, _)| there(page)).collect();
        let buttons = buttons.into_iter().rev().map(|(page, button)| {
            let params = json!({
                "type": "mouseReleased", "x": x, "y": y, "button": button, "clickCount": 1,
            });
            (page, "Input.dispatchMouseEvent", params)
        });
        let keys: Vec<_> = self.keys.extract_if(.., |(page, _)| there(page)).collect();
        let keys = keys.into_iter().rev().map(|(page, key)| {
            let KeyInput { key, code, windows_virtual_key_code, .. } = key;
            let params = json!({
                "type": "keyUp", "key": key, "code": code,
                "windowsVirtualKeyCode": windows_virtual_key_code,
            });
            (page, "Input.dispatchKeyEvent", without_null(params))
        });
        touched.into_iter().chain(buttons).chain(keys).collect()
    }
}

/// Compares keys by code, or by name if the code is unknown.
fn same(one: &KeyInput, other: &KeyInput) -> bool {
    match (&one.code, &other.code) {
        (Some(one), Some(other)) => one == other,
        (None, None) => one.key == other.key,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

fn without_null(mut params: Value) -> Value {
    if let Some(object) = params.as_object_mut() {
        object.retain(|_, value| !value.is_null());
    }
    params
}

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;
    use serde_json::from_value;

    use super::*;

    fn input<T: DeserializeOwned>(value: Value) -> T {
        from_value(value).unwrap()
    }

    #[test]
    fn held_input_is_released_once_in_the_page_where_it_was_pressed() {
        let mut held = Held::default();
        let key = |kind: &str, code: &str| {
            input::<KeyInput>(json!({ "type": kind, "code": code, "key": code }))
        };
        held.key(&"one", &key("rawKeyDown", "ShiftLeft"));
        held.key(&"one", &key("keyDown", "KeyA"));
        held.key(&"one", &key("keyDown", "KeyA"));
        held.key(&"one", &key("keyUp", "KeyA"));
        let mouse = |kind: &str, x: u32, button: &str| {
            input::<MouseInput>(json!({ "type": kind, "x": x, "y": 5, "button": button }))
        };
        held.mouse(&"one", &mouse("mousePressed", 3, "left"));
        held.mouse(&"two", &mouse("mouseMoved", 9, "left"));
        assert_eq!(held.pointed(), Some(&"one"));
        held.touch(&"two", &input(json!({ "type": "touchStart", "touchPoints": [] })));

        let let_go = held.release_all();
        let said: Vec<_> =
            let_go.iter().map(|(page, _, params)| (*page, &params["type"])).collect();
        let (cancelled, released, up) =
            (json!("touchCancel"), json!("mouseReleased"), json!("keyUp"));
        assert_eq!(said, [("two", &cancelled), ("one", &released), ("one", &up)]);
        assert_eq!((&let_go[1].2["x"], &let_go[1].2["button"]), (&json!(9.0), &json!("left")));
        assert_eq!(let_go[2].2["code"], "ShiftLeft");
        assert!(held.release_all().is_empty());

        // A button pressed in a page that is gone does not block the pointer elsewhere.
        held.mouse(&"one", &mouse("mousePressed", 3, "left"));
        held.mouse(&"two", &mouse("mousePressed", 3, "right"));
        held.key(&"one", &key("keyDown", "KeyA"));
        held.touch(&"one", &input(json!({ "type": "touchStart", "touchPoints": [] })));
        assert_eq!(held.release_in(|page| *page == "one").len(), 3);
        assert_eq!(held.pointed(), Some(&"two"));
        assert_eq!(held.release_all().len(), 1);
    }
}
