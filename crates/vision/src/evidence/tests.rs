//! What counts as seen, and what does not.

use helmdeck_wire::point::Rect;

use super::*;
use crate::{Place, clause::clauses};

fn act(action: Action, role: &str, name: &str, effect: Effect) -> PerformedAction {
    let hit = Hit { role: role.to_owned(), name: name.to_owned(), ..Hit::default() };
    let rect = Rect { x: 0, y: 0, width: 1000, height: 800 };
    PerformedAction {
        at: action.pixel(),
        action,
        hit: Some(hit),
        effects: vec![effect],
        front: Some(SceneWindow { rect, ..window("1", "Shop") }),
    }
}

fn window(id: &str, title: &str) -> SceneWindow {
    SceneWindow { id: id.to_owned(), title: title.to_owned(), ..SceneWindow::default() }
}

fn proves_in(instruction: &str, performed: &[PerformedAction], scene: &Scene, need: Need) -> bool {
    evidence(&clauses(instruction), Seen { performed, scene, boxes: &[] }, need).is_some()
}

fn proves(instruction: &str, performed: &[PerformedAction], need: Need) -> bool {
    proves_in(instruction, performed, &Scene::default(), need)
}

#[test]
fn a_click_counts_if_it_hit_what_is_named_and_something_changed() {
    let click = || Action::click(5, 5);
    let good = [act(click(), "button", "Save", Effect::Confirmed)];
    assert!(proves("Click Save", &good, Need::Certain));
    assert!(proves("Click the Save button", &good, Need::Certain));
    for wrong in [
        act(click(), "button", "Save", Effect::NoVisibleChange),
        act(click(), "button", "Save As", Effect::Confirmed),
        act(click(), "heading", "Save", Effect::Confirmed),
        act(
            Action::Move { at: Place::At(Pixel { x: 5, y: 5 }) },
            "button",
            "Save",
            Effect::Confirmed,
        ),
    ] {
        assert!(!proves("Click Save", std::slice::from_ref(&wrong), Need::Certain), "{wrong:?}");
    }
    assert!(!proves("Click the Save link", &good, Need::Certain));
    let mut disabled = good;
    if let Some(hit) = disabled.first_mut().and_then(|act| act.hit.as_mut()) {
        hit.states.push("disabled".to_owned());
    }
    assert!(!proves("Click Save", &disabled, Need::Plausible));
}

#[test]
fn every_clause_needs_its_own_deed() {
    let ok = || act(Action::click(5, 5), "button", "OK", Effect::Confirmed);
    assert!(!proves("Click OK, then click OK", &[ok()], Need::Plausible));
    assert!(proves("Click OK, then click OK", &[ok(), ok()], Need::Certain));
    assert!(!proves("Click OK and buy a boat. Click OK", &[ok(), ok()], Need::Plausible));
    assert!(!proves("Do something", &[ok()], Need::Plausible));
}

#[test]
fn text_counts_in_its_field_only() {
    let typed = |field| {
        act(Action::Type { text: "Ann".to_owned() }, "textbox", field, Effect::ValueChanged)
    };
    assert!(proves("Type Ann into Name", &[typed("Name")], Need::Certain));
    assert!(!proves("Type Ann into Name", &[typed("Street")], Need::Plausible));
    assert!(!proves("Type Bob into Name", &[typed("Name")], Need::Plausible));
}

#[test]
fn the_middle_is_a_place() {
    let at = |x, y| act(Action::click(x, y), "", "", Effect::NoVisibleChange);
    assert!(proves("Click the centre of the window", &[at(510, 390)], Need::Certain));
    assert!(!proves("Click the centre of the window", &[at(600, 390)], Need::Plausible));
}

#[test]
fn a_page_is_reached_if_the_browser_shows_it() {
    let scene = |url: &str| Scene {
        windows: vec![SceneWindow { url: Some(url.to_owned()), ..SceneWindow::default() }],
        focus: None,
    };
    let reached = |text, url| proves_in(text, &[], &scene(url), Need::Certain);
    assert!(reached("Go to example.org", "https://www.example.org/start"));
    assert!(reached("Go to https://example.org/a", "https://example.org/a?b=1"));
    assert!(!reached("Go to https://example.org/a", "https://example.org/b"));
    assert!(!reached("Go to example.org", "https://example.org.evil.test/"));
}

#[test]
fn the_gesture_counts_that_the_instruction_names() {
    let at = || Some(Place::At(Pixel { x: 5, y: 5 }));
    let click = |button, count| {
        [act(Action::clicks(at(), button, count), "listitem", "File", Effect::Confirmed)]
    };
    let (once, twice) = (click(Button::Left, 1), click(Button::Left, 2));
    let right = click(Button::Right, 1);
    for (instruction, once_counts, twice_counts, right_counts) in [
        ("Click File", true, false, false),
        ("Select File", true, false, false),
        ("Double-click File", false, true, false),
        ("Right-click File", false, false, true),
        // One click may only select it.
        ("Open File", false, true, false),
        ("Uncheck File", false, false, false),
    ] {
        for (performed, counts) in
            [(&once, once_counts), (&twice, twice_counts), (&right, right_counts)]
        {
            for need in [Need::Certain, Need::Plausible] {
                assert_eq!(proves(instruction, performed, need), counts, "{instruction}");
            }
        }
    }
    let opened = act(Action::click(5, 5), "listitem", "File", Effect::WindowOpened);
    assert!(proves("Open File", &[opened], Need::Certain));
    let mut chosen = once;
    if let Some(hit) = chosen.first_mut().and_then(|act| act.hit.as_mut()) {
        hit.states.push("selected".to_owned());
    }
    assert!(!proves("Select File", &chosen, Need::Plausible), "it was selected before");
}

#[test]
fn scrolling_counts_in_its_direction() {
    let by = |dx, dy| {
        let action = Action::Scroll { at: None, dx, dy, modifiers: vec![] };
        [act(action, "", "", Effect::Scrolled)]
    };
    assert!(proves("Scroll up", &by(0, -300), Need::Certain));
    assert!(!proves("Scroll up", &by(0, 300), Need::Plausible));
    assert!(!proves("Scroll right", &by(0, 300), Need::Plausible));
    assert!(proves("Scroll", &by(0, 300), Need::Certain));
    let key = |keys: &str| [act(Action::key(keys), "", "", Effect::Scrolled)];
    assert!(proves("Scroll down", &key("Page_Down"), Need::Certain));
    assert!(!proves("Scroll down", &key("Page_Up"), Need::Plausible));
}

#[test]
fn closing_counts_if_what_was_in_front_is_gone() {
    let closes = |effect| [act(Action::click(5, 5), "button", "Close", effect)];
    let scene = |windows: &[SceneWindow]| Scene { windows: windows.to_vec(), focus: None };
    let (gone, stays) = (scene(&[window("2", "Files")]), scene(&[window("1", "Shop")]));
    let proves = |text: &str, effect: Effect, scene: &Scene| {
        proves_in(text, &closes(effect), scene, Need::Plausible)
    };
    assert!(proves("Close the window", Effect::WindowClosed, &gone));
    assert!(!proves("Close the window", Effect::WindowClosed, &stays), "another one closed");
    assert!(!proves("Close the window", Effect::TabClosed, &gone));
    assert!(!proves("Close the calculator", Effect::WindowClosed, &gone));
    assert!(proves("Close the tab", Effect::TabClosed, &scene(&[window("1", "Cart")])));
    assert!(!proves("Close the tab", Effect::TabClosed, &stays), "another one closed");
}

#[test]
fn text_in_what_holds_no_text_is_no_evidence() {
    let typed = Action::Type { text: "10".to_owned() };
    let slider = [act(typed, "slider", "Volume", Effect::ValueChanged)];
    assert!(!proves("Set \"Volume\" to 10", &slider, Need::Plausible));
}
