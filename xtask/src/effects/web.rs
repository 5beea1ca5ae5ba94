//! Cases of Chromium: kinds of elements, the ways to act on them, and what moves beside them.

use serde_json::json;

use super::case::{App, Case, Fact, Place, Step};

/// A way to press an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PressMethod {
    /// `desktop.click` at a pixel.
    Pixel,
    /// `desktop.click` with a `target`.
    Target,
    /// `browser.click`.
    Structured,
    /// The element has the keyboard; Return or space is pressed.
    Key,
}
use PressMethod::{Key, Pixel, Structured, Target};

const ALL: &[PressMethod] = &[Pixel, Target, Structured, Key];
const MOUSE: &[PressMethod] = &[Pixel, Target, Structured];
const POINT: &[PressMethod] = &[Pixel, Structured];
const ONLY_PIXEL: &[PressMethod] = &[Pixel];
const BY_NAME: &[PressMethod] = &[Pixel, Target];

/// What moves beside elements. Each element gets one of them in turn, in addition to none.
const BESIDE: [&str; 6] = ["spinner", "canvas", "glow", "clock", "video", "caret"];

/// Elements that are pressed: their kind, the ways, what happens by mouse, and by key.
type Pressed = (&'static str, &'static [PressMethod], Fact);

#[rustfmt::skip]
const PRESSED: &[Pressed] = &[
    ("button-tells", ALL, Fact::Shown),
    ("button-idle", MOUSE, Fact::Focus),
    ("button-disabled", BY_NAME, Fact::Hidden),
    ("button-label", ALL, Fact::Shown),
    ("button-colour", MOUSE, Fact::Shown),
    ("button-slow", ALL, Fact::Shown),
    ("button-timer", MOUSE, Fact::Shown),
    ("button-transition", ALL, Fact::Shown),
    ("button-spins-then-tells", MOUSE, Fact::Shown),
    ("button-appends", POINT, Fact::Shown),
    ("button-removes", POINT, Fact::Shown),
    ("button-scrolls", ALL, Fact::Scrolled),
    ("button-toggles-theme", BY_NAME, Fact::Shown),
    ("button-moves-focus", ALL, Fact::Focus),
    ("box-tells", MOUSE, Fact::Shown),
    ("box-idle", MOUSE, Fact::Hidden),
    ("box-below", MOUSE, Fact::Hidden),
    ("box-covered", POINT, Fact::Hidden),
    ("box-invisible", MOUSE, Fact::Hidden),
    ("box-attribute", MOUSE, Fact::Hidden),
    ("box-fetches", MOUSE, Fact::Hidden),
    ("box-storage", POINT, Fact::Hidden),
    ("box-back", POINT, Fact::Hidden),
    ("box-selects-text", POINT, Fact::Shown),
    ("image-tells", MOUSE, Fact::Shown),
    ("image-map-idle", MOUSE, Fact::Hidden),
    ("svg-tells", MOUSE, Fact::Shown),
    ("input", MOUSE, Fact::Focus),
    ("input-filled", POINT, Fact::Focus),
    ("input-readonly", POINT, Fact::Focus),
    ("input-disabled", ONLY_PIXEL, Fact::Hidden),
    ("input-no-outline", POINT, Fact::Focus),
    ("textarea", MOUSE, Fact::Focus),
    ("editable", MOUSE, Fact::Focus),
    ("checkbox", ALL, Fact::Value),
    ("checkbox-checked", ALL, Fact::Value),
    ("checkbox-disabled", BY_NAME, Fact::Hidden),
    ("checkbox-label", POINT, Fact::Value),
    ("checkbox-refuses", POINT, Fact::Focus),
    ("switch", MOUSE, Fact::Shown),
    ("radio", ALL, Fact::Value),
    ("radio-checked", MOUSE, Fact::Focus),
    ("range", POINT, Fact::Value),
    ("select", ONLY_PIXEL, Fact::Shown),
    ("select-disabled", ONLY_PIXEL, Fact::Hidden),
    ("select-list", ONLY_PIXEL, Fact::Value),
    ("submit", ALL, Fact::Navigated),
    ("submit-invalid", BY_NAME, Fact::Shown),
    ("submit-prevented", ALL, Fact::Shown),
    ("tabs", MOUSE, Fact::Shown),
    ("link", ALL, Fact::Navigated),
    ("link-hash", ALL, Fact::Navigated),
    ("link-hash-still", POINT, Fact::Navigated),
    ("link-tab", ALL, Fact::TabOpened),
    ("link-download", POINT, Fact::Download),
    ("link-attribute-download", ONLY_PIXEL, Fact::Download),
    ("link-void", POINT, Fact::Focus),
    ("link-prevented", POINT, Fact::Focus),
    ("link-slow", MOUSE, Fact::Navigated),
    ("push-state", POINT, Fact::Navigated),
    ("push-state-tells", POINT, Fact::Navigated),
    ("replace-state", ONLY_PIXEL, Fact::Navigated),
    ("location", POINT, Fact::Navigated),
    ("location-later", POINT, Fact::Navigated),
    ("reload", POINT, Fact::Navigated),
    ("open-tab", ALL, Fact::TabOpened),
    ("open-blank", POINT, Fact::TabOpened),
    ("save-blob", ONLY_PIXEL, Fact::Download),
    ("popover", ALL, Fact::Shown),
    ("details", ALL, Fact::Shown),
    ("details-open", ALL, Fact::Shown),
    ("menu", ALL, Fact::Shown),
    ("menu-item", MOUSE, Fact::Shown),
    ("menu-item-disabled", BY_NAME, Fact::Hidden),
    ("menu-closes", MOUSE, Fact::Shown),
    ("canvas-paints", POINT, Fact::Shown),
    ("canvas-idle", POINT, Fact::Hidden),
    ("canvas-same", POINT, Fact::Hidden),
    ("canvas-later", POINT, Fact::Shown),
    ("canvas-frames", POINT, Fact::Shown),
    ("canvas-small", POINT, Fact::Shown),
    ("canvas-outside", POINT, Fact::Hidden),
    ("canvas-offscreen", ONLY_PIXEL, Fact::Hidden),
    ("canvas-bitmap", POINT, Fact::Shown),
    ("frame-button", BY_NAME, Fact::Shown),
    ("frame-button-elsewhere", BY_NAME, Fact::Shown),
    ("frame-idle", BY_NAME, Fact::Focus),
    ("frame-idle-elsewhere", BY_NAME, Fact::Focus),
    ("frame-input", BY_NAME, Fact::Focus),
    ("frame-input-elsewhere", BY_NAME, Fact::Focus),
    ("frame-checkbox", ONLY_PIXEL, Fact::Value),
    ("frame-checkbox-elsewhere", ONLY_PIXEL, Fact::Value),
    ("frame-outside", ONLY_PIXEL, Fact::Shown),
    ("frame-outside-elsewhere", ONLY_PIXEL, Fact::Shown),
    ("frame-canvas", ONLY_PIXEL, Fact::Shown),
    ("frame-canvas-elsewhere", ONLY_PIXEL, Fact::Shown),
    ("frame-link-top", BY_NAME, Fact::Navigated),
    ("shadow-button", BY_NAME, Fact::Shown),
    ("shadow-idle", BY_NAME, Fact::Hidden),
    ("shadow-input", BY_NAME, Fact::Focus),
    ("shadow-checkbox", BY_NAME, Fact::Value),
    ("shadow-disabled", BY_NAME, Fact::Hidden),
    ("shadow-closed", BY_NAME, Fact::Shown),
    ("shadow-slot", MOUSE, Fact::Shown),
    ("shadow-details", BY_NAME, Fact::Shown),
];

/// Kinds whose first way is repeated with something that moves.
fn moves_beside(index: usize) -> &'static str {
    BESIDE.get(index % BESIDE.len()).copied().unwrap_or("spinner")
}

fn press(kind: &str, way: PressMethod) -> Step {
    match way {
        PressMethod::Pixel => Step::at("click"),
        PressMethod::Target => Step::target("click"),
        PressMethod::Structured => Step::browser("click", json!({ "selector": "[act]" })),
        // Return activates links and buttons, space checks.
        PressMethod::Key if kind.starts_with("checkbox") || kind == "radio" => Step::key("space"),
        PressMethod::Key => Step::key("Return"),
    }
}

fn way_name(way: PressMethod) -> &'static str {
    match way {
        PressMethod::Pixel => "pixel",
        PressMethod::Target => "target",
        PressMethod::Structured => "browser",
        PressMethod::Key => "key",
    }
}

fn pressed(kind: &'static str, way: PressMethod, fact: Fact) -> Case {
    let name = format!("web/{kind}/{}", way_name(way));
    let mut case = Case::new(App::Chromium, name, kind, press(kind, way), fact);
    case.focused = way == PressMethod::Key;
    case
}

/// All cases of Chromium.
pub fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for (index, (kind, ways, fact)) in PRESSED.iter().enumerate() {
        for way in *ways {
            all.push(pressed(kind, *way, *fact));
        }
        // One more with something that moves, by a way that differs from element to element.
        let way = ways.get(index % ways.len()).copied().unwrap_or(Pixel);
        let beside = moves_beside(index);
        // A field that loses its caret changes the screen, whatever is pressed.
        let quiet = matches!(fact, Fact::Hidden) && way != Key;
        let beside = if beside == "caret" && (quiet || way == Key) { "spinner" } else { beside };
        all.push(pressed(kind, way, *fact).beside(beside));
    }
    all.extend(super::web_more::cases());
    all
}

/// A case whose action is not a press.
pub fn other(name: &str, kind: &str, action: Step, fact: Fact) -> Case {
    Case::new(App::Chromium, format!("web/{name}"), kind, action, fact)
}

/// A drag from the element.
pub fn drag(x: i64, y: i64) -> Step {
    Step::at("drag").to(Place::Dragged(x, y))
}
