//! Elements of two windows, and which of them is meant.

use helmdeck_wire::{aim::Source, point::Rect};

use super::*;
use crate::scene::Surface;

const SCREEN: Rect = Rect { x: 0, y: 0, width: 1000, height: 1000 };

/// Elements of two windows, the first of which has the focus: window, role, name.
fn scene(elements: &[(usize, &str, &str)]) -> Scene {
    let surface = |at: i32, name: &str| {
        let rect = Rect { x: at * 500, y: 0, width: 500, height: 1000 };
        let (id, name, focused) = (at.to_string(), name.to_owned(), at == 0);
        let window = TreeWindow { id, name, focused, rect, ..TreeWindow::default() };
        Surface { window, frame: rect, listed: true }
    };
    let elements = elements.iter().zip(0_i32..).map(|((surface, role, name), at)| Element {
        reference: format!("a{at}"),
        role: (*role).to_owned(),
        name: (*name).to_owned(),
        surface: Some(*surface),
        rect: Some(Rect {
            x: i32::try_from(*surface).unwrap() * 500,
            y: at * 20,
            width: 100,
            height: 20,
        }),
        ..Element::default()
    });
    let surfaces = vec![surface(0, "Editor"), surface(1, "Browser")];
    let mut scene = Scene { screen: SCREEN, surfaces, elements: elements.collect() };
    scene.reveal();
    scene
}

fn text(text: &str) -> Target {
    Target { text: Some(text.to_owned()), ..Target::default() }
}

fn names(scene: &Scene, target: &Target) -> Vec<String> {
    find(scene, target).iter().map(|found| scene.elements[found.at].name.clone()).collect()
}

#[test]
fn equal_comes_before_another_case_before_a_part_before_a_resemblance() {
    let scene = scene(&[
        (0, "button", "Sove"),
        (0, "button", "Save as"),
        (0, "button", "Unsaved"),
        (0, "button", "SAVE"),
        (0, "button", "Save"),
        (0, "button", "Open"),
        (0, "text", "Save"),
    ]);
    let found = names(&scene, &text("Save"));
    assert_eq!(found, ["Save", "SAVE", "Save as", "Unsaved", "Sove"]);
    let exact = Target { exact: true, ..text("Save") };
    assert_eq!(names(&scene, &exact), ["Save"]);
    let Choice::One(one) = choose(&scene, &text("SAVE")) else { panic!("unclear") };
    assert_eq!(scene.elements[one.at].name, "SAVE");
}

#[test]
fn only_similar_names_are_not_chosen_but_mentioned() {
    let scene = scene(&[(0, "button", "Delete"), (0, "button", "Cancel")]);
    assert_eq!(choose(&scene, &text("Delte")), Choice::None);
    assert_eq!(nearest(&scene, &text("Delte"), 1), ["Delete"]);
    let links = Target { role: Some("link".to_owned()), ..Target::default() };
    assert_eq!(nearest(&scene, &links, 5), ["Cancel", "Delete"]);
}

#[test]
fn a_ref_names_one_element_of_a_program_or_page() {
    let mut scene = scene(&[(0, "button", "OK"), (0, "button", "OK")]);
    scene.elements[1].reference = "p1x9z.12".to_owned();
    let named =
        |reference: &str| Target { reference: Some(reference.to_owned()), ..Target::default() };
    assert!(matches!(choose(&scene, &named("a0")), Choice::One(Match { at: 0, .. })));
    assert!(matches!(choose(&scene, &named("p1x9z.12")), Choice::One(Match { at: 1, .. })));
    assert_eq!(choose(&scene, &named("e12")), Choice::None);
    assert!(foreign_ref(&named("e12")).unwrap().contains("selector"));
    assert_eq!(foreign_ref(&named("p1x9z.12")), None);
}

#[test]
fn a_candidate_that_is_only_similar_to_the_best_is_not_meant() {
    let candidate = |name: &str, confidence: f64| Candidate {
        name: name.to_owned(),
        confidence,
        ..Candidate::default()
    };
    let meant = |found: &[Candidate]| -> Vec<String> {
        let meant = meant(found, &text("Express"));
        meant.into_iter().map(|it| it.name.clone()).collect()
    };
    let found = [candidate("Express", 1.0), candidate("Express delivery", 0.82)];
    assert_eq!(meant(&found), ["Express"]);
    assert_eq!(meant(&found[1..]), ["Express delivery"]);
    assert_eq!(meant(&[candidate("Expense", 0.5)]), Vec::<String>::new());
    let twice = [candidate("Express", 1.0), candidate("Express", 1.0)];
    assert_eq!(meant(&twice).len(), 2);
}

#[test]
fn equals_are_ambiguous_unless_one_is_in_front_nearer_or_counted() {
    let one_in_front = scene(&[(0, "button", "OK"), (1, "button", "OK")]);
    assert!(matches!(choose(&one_in_front, &text("OK")), Choice::One(Match { at: 0, .. })));
    let other = Target { window: Some("brow".to_owned()), ..text("OK") };
    assert!(matches!(choose(&one_in_front, &other), Choice::One(Match { at: 1, .. })));

    let both = scene(&[(0, "button", "OK"), (0, "button", "OK"), (0, "button", "OK again")]);
    let Choice::Several(several) = choose(&both, &text("OK")) else { panic!("clear") };
    assert_eq!(several.len(), 2);
    let near = Target { near: Some(Pixel { x: 0, y: 35 }), ..text("OK") };
    assert!(matches!(choose(&both, &near), Choice::One(Match { at: 1, .. })));
    for (nth, at) in [(1, Some(0)), (2, Some(1)), (3, Some(2)), (4, None)] {
        let target = Target { nth: Some(nth), ..text("OK") };
        assert_eq!(find(&both, &target).first().map(|found| found.at), at, "{nth}");
    }
}

#[test]
fn a_label_and_its_field_a_button_and_its_cell_are_one_match() {
    let mut scene = scene(&[
        (0, "text", "E-mail"),
        (0, "textbox", "E-mail"),
        (0, "button", "Send e-mail"),
        (0, "text", "Send e-mail"),
        (0, "cell", "Send e-mail"),
    ]);
    scene.elements[3].parent = Some(2);
    scene.elements[2].parent = Some(4);
    assert_eq!(find(&scene, &text("E-mail")).iter().map(|m| m.at).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn only_pages_are_scrolled_to_what_is_meant() {
    let mut scene = scene(&[(0, "button", "Here"), (0, "link", "There")]);
    for element in &mut scene.elements {
        element.parts.clear();
    }
    assert_eq!(find(&scene, &text("here")), []);
    scene.elements[1].source = Source::Dom;
    assert!(matches!(choose(&scene, &text("There")), Choice::One(Match { at: 1, .. })));
}

#[test]
fn without_a_wish_everything_that_can_be_used_is_found() {
    let scene = scene(&[(0, "button", "A"), (0, "text", "B"), (1, "link", "C")]);
    assert_eq!(names(&scene, &Target::default()), ["A", "C"]);
    let near = Target { near: Some(Pixel { x: 600, y: 50 }), ..Target::default() };
    assert_eq!(names(&scene, &near), ["C", "A"]);
}

#[test]
fn a_ref_names_one_element() {
    let scene = scene(&[(0, "button", "A"), (1, "group", "")]);
    let target = |name: &str| Target { reference: Some(name.to_owned()), ..Target::default() };
    assert!(matches!(choose(&scene, &target("a1")), Choice::One(Match { at: 1, .. })));
    assert_eq!(choose(&scene, &target("a2")), Choice::None);
}
