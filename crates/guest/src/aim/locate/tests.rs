//! Which text of a picture is meant, and which fields a ref excludes.

use helmdeck_a11y::Surface;
use helmdeck_wire::{aim::Source, point::Rect, tree::TreeWindow};

use super::*;

fn text(name: &str, confidence: f64, window: &str, x: i32) -> Candidate {
    Candidate {
        role: "text".to_owned(),
        name: name.to_owned(),
        confidence,
        rect: Rect { x, y: 0, width: 10, height: 10 },
        window: Some(window.to_owned()),
        source: Source::Ocr,
        ..Candidate::default()
    }
}

fn scene(focused: &str) -> Scene {
    let window = |id: &str| {
        let focused = id == focused;
        let window = TreeWindow { id: id.to_owned(), focused, ..TreeWindow::default() };
        Surface { window, frame: Rect::default(), listed: true }
    };
    Scene { surfaces: vec![window("1"), window("2")], ..Scene::default() }
}

fn save() -> Target {
    Target { text: Some("Save".to_owned()), ..Target::default() }
}

#[test]
fn a_text_that_is_on_the_picture_twice_is_ambiguous() {
    // The second one was read less clearly.
    let read = [text("Save", 0.9, "1", 0), text("Save", 0.82, "1", 100)];
    let error = text_meant(&scene("2"), &save(), &read).unwrap_err().body();
    assert_eq!(error.error, ErrorCode::TargetAmbiguous);
    assert_eq!(error.allowed, ["the text \"Save\" at 5,5", "the text \"Save\" at 105,5"]);
    let chosen = |target: Target| text_meant(&scene("2"), &target, &read).unwrap().unwrap().rect.x;
    assert_eq!(chosen(Target { nth: Some(1), ..save() }), 0);
    assert_eq!(chosen(Target { near: Some(Pixel { x: 0, y: 0 }), ..save() }), 0);
}

#[test]
fn of_equal_texts_the_one_in_the_focused_window_is_meant_and_of_others_the_best() {
    let read = [text("Save", 0.9, "1", 0), text("Save", 0.9, "2", 100)];
    assert_eq!(text_meant(&scene("2"), &save(), &read).unwrap().unwrap().rect.x, 100);
    let read = [text("Save", 0.8, "1", 0), text("Save as", 0.8, "1", 100)];
    assert_eq!(text_meant(&scene("2"), &save(), &read).unwrap().unwrap().rect.x, 0);
    assert!(text_meant(&scene("2"), &save(), &[text("Sale", 0.4, "1", 0)]).unwrap().is_none());
}

#[test]
fn what_a_ref_of_a_snapshot_cannot_be_compared_with_is_named() {
    let named = Target { reference: Some("e12".to_owned()), ..Target::default() };
    assert_eq!(beside_ref(&named), None);
    assert_eq!(beside_ref(&Target { role: Some("link".to_owned()), ..named }), Some("role"));
}
