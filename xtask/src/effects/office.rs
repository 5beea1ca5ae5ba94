//! Cases of LibreOffice. Its state before and after the action, which `xtask/effects/office.py`
//! reads through its own interface, is its log.

use serde_json::json;

use super::case::{App, Case, Fact, Place, Step};

const DRAWN: &str = "LibreOffice does not tell where its caret is, but draws it";

fn case(name: &str, kind: &str, action: Step, fact: Fact) -> Case {
    Case::new(App::LibreOffice, format!("office/{name}"), kind, action, fact)
}

/// All cases of LibreOffice.
pub fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    let mut keys = |name: &str, kind: &str, keys: &str, fact: Fact| {
        let case = case(&format!("{kind}/{name}"), kind, Step::key(keys), fact);
        let moves = fact == Fact::Focus;
        all.push(if moves { case.also(&["confirmed"], DRAWN) } else { case });
    };
    keys("return", "writer", "Return", Fact::Shown);
    keys("delete", "writer", "Delete", Fact::Shown);
    keys("backspace-at-start", "writer", "BackSpace", Fact::Hidden);
    keys("right", "writer", "Right", Fact::Focus);
    keys("down", "writer", "Down", Fact::Focus);
    keys("end", "writer", "End", Fact::Focus);
    keys("home-at-start", "writer", "ctrl+Home", Fact::Hidden);
    keys("left-at-start", "writer", "Left", Fact::Hidden);
    keys("select-all", "writer", "ctrl+a", Fact::Focus);
    keys("bold", "writer", "ctrl+b", Fact::Shown);
    keys("centre", "writer", "ctrl+e", Fact::Shown);
    keys("undo-nothing", "writer", "ctrl+z", Fact::Hidden);
    keys("shift", "writer", "shift", Fact::Hidden);
    keys("copy-nothing", "writer", "ctrl+c", Fact::Hidden);
    keys("right", "calc", "Right", Fact::Focus);
    keys("down", "calc", "Down", Fact::Focus);
    keys("up-at-top", "calc", "Up", Fact::Hidden);
    keys("home-at-start", "calc", "ctrl+Home", Fact::Hidden);
    keys("delete-nothing", "calc", "Delete", Fact::Hidden);
    keys("bold", "calc", "ctrl+b", Fact::Shown);
    keys("undo-nothing", "calc", "ctrl+z", Fact::Hidden);
    keys("shift", "calc", "shift", Fact::Hidden);
    all.push(case("writer/type", "writer", Step::type_text("abc"), Fact::Shown));
    all.push(case("writer/type-line", "writer", Step::type_text("one\ntwo"), Fact::Shown));
    all.push(case("calc/type", "calc", Step::type_text("5\n"), Fact::Shown));
    let wheel = |direction: &str| Step::at("scroll").with("direction", json!(direction));
    all.push(case("writer-long/wheel", "writer-long", wheel("down"), Fact::Scrolled));
    all.push(case("writer-long/wheel-at-top", "writer-long", wheel("up"), Fact::Hidden));
    all.push(case("calc/wheel", "calc", wheel("down"), Fact::Scrolled));
    all.push(case("calc/wheel-at-top", "calc", wheel("up"), Fact::Hidden));
    let cell = Step::at("click").to(Place::Acted(40, 40));
    all.push(case("calc/click", "calc", cell, Fact::Focus).also(&["confirmed"], DRAWN));
    all
}

/// What the difference of two states says.
pub fn facts(before: &str, after: &str) -> Vec<String> {
    let value = |state: &str, name: &str| {
        let line = state.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.map(str::to_owned)
    };
    let told = [
        ("frames", "window_opened"),
        ("windows", "dialog"),
        ("text", "shown"),
        ("look", "shown"),
        ("zoom", "shown"),
        ("sheet", "shown"),
        ("scroll", "scrolled"),
        ("caret", "caret"),
    ];
    let differ = told.iter().filter(|(name, _)| value(before, name) != value(after, name));
    differ.map(|(_, fact)| (*fact).to_owned()).collect()
}
