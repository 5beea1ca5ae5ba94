//! Cases of a GTK program. Its fields are not fields of a page, so a new value is a visible change.

use serde_json::json;

use super::case::{App, Case, Fact, Place, Step};

/// Kinds that are clicked, and what happens then.
#[rustfmt::skip]
const CLICKED: &[(&str, Fact)] = &[
    ("button-tells", Fact::Shown),
    ("button-idle", Fact::Focus),
    ("button-label", Fact::Shown),
    ("button-later", Fact::Shown),
    ("button-progress", Fact::Shown),
    ("button-idle-insensitive", Fact::Hidden),
    ("button-dialog", Fact::Dialog),
    ("button-message", Fact::Dialog),
    ("button-chooser", Fact::Dialog),
    ("button-window", Fact::WindowOpened),
    ("button-closes", Fact::WindowClosed),
    ("button-popover", Fact::Shown),
    ("area-tells", Fact::Shown),
    ("area-idle", Fact::Hidden),
    ("area-hidden", Fact::Hidden),
    ("area-later", Fact::Shown),
    ("area-slow", Fact::Shown),
    ("area-log", Fact::Hidden),
    ("check", Fact::Shown),
    ("check-active", Fact::Shown),
    ("check-insensitive", Fact::Hidden),
    ("toggle", Fact::Shown),
    ("switch", Fact::Shown),
    ("radio", Fact::Shown),
    ("radio-chosen", Fact::Focus),
    ("menu", Fact::Shown),
    ("combo", Fact::Shown),
    ("entry", Fact::Focus),
    ("entry-insensitive", Fact::Hidden),
    ("expander", Fact::Shown),
    ("list", Fact::Shown),
    ("drawing", Fact::Shown),
    ("drawing-same", Fact::Hidden),
    ("tabs", Fact::Shown),
];

/// Kinds that have an accessible element with the name.
const BY_NAME: [&str; 12] = [
    "button-tells",
    "button-idle",
    "button-idle-insensitive",
    "button-dialog",
    "button-window",
    "check",
    "check-insensitive",
    "toggle",
    "menu",
    "entry",
    "entry-insensitive",
    "button-popover",
];

/// Kinds with something that moves beside them.
const MOVING: [(&str, &str); 12] = [
    ("button-tells", "spinner"),
    ("button-tells", "clock"),
    ("button-tells", "pulse"),
    ("area-idle", "spinner"),
    ("area-idle", "pulse"),
    ("area-log", "spinner"),
    ("button-idle-insensitive", "pulse"),
    ("area-tells", "pulse"),
    ("check", "spinner"),
    ("button-dialog", "spinner"),
    ("area-hidden", "pulse"),
    ("drawing", "spinner"),
];

fn fact_of(kind: &str) -> Fact {
    CLICKED.iter().find(|(name, _)| *name == kind).map_or(Fact::Hidden, |(_, fact)| *fact)
}

fn case(name: &str, kind: &str, action: Step, fact: Fact) -> Case {
    Case::new(App::Gtk, format!("gtk/{name}"), kind, action, fact)
}

/// All cases of the GTK program.
pub fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for (kind, fact) in CLICKED {
        all.push(case(&format!("{kind}/pixel"), kind, Step::at("click"), *fact));
    }
    for kind in BY_NAME {
        all.push(case(&format!("{kind}/target"), kind, Step::target("click"), fact_of(kind)));
    }
    for (kind, beside) in MOVING {
        let moving = case(&format!("{kind}/pixel"), kind, Step::at("click"), fact_of(kind));
        all.push(moving.beside(beside));
    }
    let mut focused = |kind: &str, name: &str, step: Step, fact: Fact| {
        all.push(case(&format!("{kind}/{name}"), kind, step, fact).focused());
    };
    focused("button-tells", "return", Step::key("Return"), Fact::Shown);
    focused("button-tells", "space", Step::key("space"), Fact::Shown);
    focused("button-tells", "letter", Step::key("x"), Fact::Hidden);
    focused("check", "space", Step::key("space"), Fact::Shown);
    focused("entry", "type", Step::type_text("abc"), Fact::Shown);
    focused("entry-filled", "type", Step::type_text("abc"), Fact::Shown);
    focused("entry-password", "type", Step::type_text("abc"), Fact::Shown);
    focused("entry", "backspace", Step::key("BackSpace"), Fact::Hidden);
    focused("text", "type", Step::type_text("abc"), Fact::Shown);
    focused("text-fixed", "type", Step::type_text("abc"), Fact::Hidden);
    focused("scale", "right", Step::key("Right"), Fact::Shown);
    focused("spin", "up", Step::key("Up"), Fact::Shown);
    focused("button-idle", "tab", Step::key("shift+Tab"), Fact::Focus);
    focused("area-idle", "f9", Step::key("F9"), Fact::Shown);
    focused("area-idle", "f8", Step::key("F8"), Fact::Hidden);
    focused("area-idle", "close", Step::key("alt+F4"), Fact::WindowClosed);
    let line = case("text/return", "text", Step::key("Return"), Fact::Shown).focused();
    all.push(line.also(&["focus_moved"], "of a new empty line, only the text cursor is visible"));
    // The focus marks the text, which typing would replace.
    let full = case("entry-full/type", "entry-full", Step::type_text("x"), Fact::Hidden).focused();
    all.push(full.before(vec![Step::key("End")]));
    let moves = case("entry-filled/home", "entry-filled", Step::key("Home"), Fact::Focus).focused();
    let moves = moves.before(vec![Step::key("End")]);
    all.push(moves.also(&["confirmed"], "GTK does not tell where a caret is"));
    let wheel = Step::at("scroll").with("direction", json!("down"));
    all.push(case("scroller/wheel", "scroller", wheel.clone(), Fact::Scrolled));
    all.push(case("scroller-short/wheel", "scroller-short", wheel, Fact::Hidden));
    let drag = Step::at("drag").to(Place::Dragged(80, 0));
    all.push(case("scale/drag", "scale", drag, Fact::Shown));
    let title = case("area-title/pixel", "area-title", Step::at("click"), Fact::Title);
    all.push(title.also(&["confirmed"], "the title bar shows its title, so the screen changed"));
    all.push(case("area-tells/move", "area-tells", Step::at("mouse_move"), Fact::Hidden));
    all
}
