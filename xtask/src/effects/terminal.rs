//! Cases of xterm. What its program shows is all that is known: xterm has no accessible elements.

use serde_json::json;

use super::case::{App, Case, Fact, Place, Step};

fn case(name: &str, kind: &str, action: Step, fact: Fact) -> Case {
    Case::new(App::Xterm, format!("xterm/{name}"), kind, action, fact)
}

/// All cases of xterm.
pub fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for (kind, fact) in [
        ("silent", Fact::Hidden),
        ("tells", Fact::Shown),
        ("later", Fact::Shown),
        ("bell", Fact::Hidden),
        ("clear", Fact::Shown),
        ("screen", Fact::Shown),
        ("colour", Fact::Shown),
        ("rewrites", Fact::Hidden),
        ("bar", Fact::Shown),
        ("floods", Fact::Shown),
        ("ends", Fact::WindowClosed),
        ("opens", Fact::WindowOpened),
    ] {
        // Another program needs longer to start than a screen must be quiet by default.
        let patient = json!({ "quiet_ms": if kind == "opens" { 1500 } else { 150 } });
        let key = Step::key("x").with("settle", patient);
        all.push(case(&format!("{kind}/key"), kind, key, fact));
    }
    for (kind, fact) in [("silent", Fact::Hidden), ("tells", Fact::Shown), ("bell", Fact::Hidden)] {
        for beside in ["spinner", "clock", "blink"] {
            all.push(case(&format!("{kind}/key"), kind, Step::key("x"), fact).beside(beside));
        }
    }
    let title = case("title/key", "title", Step::key("x"), Fact::Title);
    all.push(title.also(&["confirmed"], "the title bar shows its title, so the screen changed"));
    let caret = case("cursor/key", "cursor", Step::key("x"), Fact::Focus);
    all.push(caret.also(&["confirmed"], "a terminal does not tell where its cursor is"));
    for (text, name) in [("echo hello\n", "line"), ("pwd; true; \u{e9}\n", "accents")] {
        all.push(case(&format!("cat/{name}"), "cat", Step::type_text(text), Fact::Shown));
    }
    all.push(case("cat/return", "cat", Step::key("Return"), Fact::Shown));
    all.push(case("silent/type", "silent", Step::type_text("a secret"), Fact::Hidden));
    all.push(case("tells/type", "tells", Step::type_text("ab"), Fact::Shown));
    all.push(case("silent/shift", "silent", Step::key("shift"), Fact::Hidden));
    all.push(case("silent/click", "silent", Step::at("click"), Fact::Hidden));
    all.push(
        case("silent/click-spinner", "silent", Step::at("click"), Fact::Hidden).beside("spinner"),
    );
    all.push(case("silent/move", "silent", Step::at("mouse_move"), Fact::Hidden));
    all.push(case("mouse/click", "mouse", Step::at("click"), Fact::Shown));
    all.push(case("mouse-silent/click", "mouse-silent", Step::at("click"), Fact::Hidden));
    all.push(case("mouse/click-beside", "mouse", Step::at("click"), Fact::Shown).beside("spinner"));
    let elsewhere = Step::at("click").to(Place::Empty);
    all.push(case("focus/click-elsewhere", "focus", elsewhere.clone(), Fact::Focus));
    all.push(
        case("focus/click-elsewhere", "focus", elsewhere.clone(), Fact::Focus).beside("clock"),
    );
    all.push(case("cat/close", "cat", Step::key("alt+F4"), Fact::WindowClosed));
    all
}
