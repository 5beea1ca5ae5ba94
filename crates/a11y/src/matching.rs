//! Which elements a caller means.

use helmdeck_wire::{
    aim::Target,
    point::Pixel,
    tree::{Candidate, TreeWindow},
};

use crate::{
    rect, role,
    scene::{Element, Scene},
};

/// Matches below this are only similar, and are not acted on.
pub const SIMILAR: f64 = 0.6;
/// How similar two texts must be to be mentioned.
const RESEMBLES: f64 = 0.75;
/// Matches that differ less than this are equals.
const EQUAL: f64 = 0.015;
/// What a text loses against something that can be used.
const NOT_USABLE: f64 = 0.02;
/// What an element that must be scrolled to loses.
const OFF_SCREEN: f64 = 0.05;

/// An element that matches, by its index.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match {
    /// The index of the element.
    pub at: usize,
    /// How well it matches, from 0 to 1.
    pub confidence: f64,
}

/// Which of the matches is meant.
#[derive(Debug, Clone, PartialEq)]
pub enum Choice {
    /// This one.
    One(Match),
    /// Several match equally well.
    Several(Vec<Match>),
    /// None matches.
    None,
}

/// All elements that match, best first.
pub fn find(scene: &Scene, target: &Target) -> Vec<Match> {
    let mut matches: Vec<Match> = scene
        .order()
        .into_iter()
        .filter_map(|at| {
            let element = scene.elements.get(at)?;
            confidence(scene, element, target).map(|confidence| Match { at, confidence })
        })
        .collect();
    // The text of something that matches is not a second match.
    let within: Vec<usize> = matches
        .iter()
        .filter(|found| repeats(scene, found, &matches))
        .map(|found| found.at)
        .collect();
    matches.retain(|found| !within.contains(&found.at));
    let key = |found: &Match| {
        let level = (found.confidence / EQUAL).round() as i64;
        let element = scene.elements.get(found.at);
        let near = |near: Pixel| {
            element.and_then(place).map_or(u64::MAX, |place| rect::distance(place, near))
        };
        (std::cmp::Reverse(level), target.near.map_or(0, near))
    };
    // Stable: equals stay in the order of a reader.
    matches.sort_by_key(key);
    match target.nth.map(|nth| usize::try_from(nth).unwrap_or(usize::MAX)) {
        Some(nth) => {
            // Counted among the best only.
            let best = matches.iter().take_while(|found| equals(found, matches.first())).count();
            let count = if best >= nth { best } else { matches.len() };
            matches.truncate(count);
            matches.into_iter().skip(nth.saturating_sub(1)).take(1).collect()
        }
        None => matches,
    }
}

/// The element that is meant, if that is clear.
pub fn choose(scene: &Scene, target: &Target) -> Choice {
    let mut matches = find(scene, target);
    matches.retain(|found| found.confidence >= SIMILAR);
    let Some(first) = matches.first().copied() else { return Choice::None };
    matches.retain(|found| equals(found, Some(&first)));
    if matches.len() == 1 || target.near.is_some() || target.nth.is_some() {
        return Choice::One(first);
    }
    // A person who says "Close" means the window in front.
    let front = |found: &&Match| {
        let element = scene.elements.get(found.at);
        let surface = element.and_then(|e| e.surface).and_then(|at| scene.surfaces.get(at));
        surface.is_some_and(|surface| surface.window.focused || surface.window.popup)
    };
    let mut in_front = matches.iter().filter(front);
    match (in_front.next(), in_front.next()) {
        (Some(one), None) => Choice::One(*one),
        _ => Choice::Several(matches),
    }
}

/// The candidates that a target can mean: those that match as well as the best. Others, such as
/// "Express delivery" beside "Express", are only similar.
pub fn meant<'a>(found: &'a [Candidate], target: &Target) -> Vec<&'a Candidate> {
    let best = found.iter().map(|it| it.confidence).fold(SIMILAR, f64::max);
    let mut meant: Vec<_> = found.iter().filter(|it| best - it.confidence < EQUAL).collect();
    meant.retain(|it| it.confidence >= SIMILAR);
    if target.near.is_some() {
        meant.truncate(1);
    }
    meant
}

/// Why a ref cannot match: it is one of a snapshot, which names elements in another way.
pub fn foreign_ref(target: &Target) -> Option<String> {
    let reference = target.reference.as_ref()?;
    let number = reference.strip_prefix('e')?;
    let foreign = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    foreign.then(|| {
        format!(
            "{reference} is a ref of a snapshot: use it as selector, \"ref={reference}\", or take a \
             ref of tree or find"
        )
    })
}

/// The text to look for in long texts, as [`likeness`] compares it; `None` if no text is wanted.
pub fn wanted(target: &Target) -> Option<String> {
    let wanted = target.text.as_ref().or(target.name.as_ref())?;
    Some(normal(wanted).to_lowercase())
}

fn equals(found: &Match, first: Option<&Match>) -> bool {
    first.is_some_and(|first| (found.confidence - first.confidence).abs() < EQUAL)
}

/// Names that resemble what was looked for, the nearest first.
pub fn nearest(scene: &Scene, target: &Target, most: usize) -> Vec<String> {
    let wanted = target.name.as_ref().or(target.text.as_ref());
    let mut names: Vec<(u64, String)> = Vec::new();
    for element in &scene.elements {
        let name = normal(&element.name);
        let usable = role::is_interactive(&element.role) && !element.parts.is_empty();
        let known = names.iter().any(|(_, known)| *known == name);
        if name.is_empty() || known || !usable && wanted.is_none() {
            continue;
        }
        let alike = match wanted {
            Some(wanted) => {
                let wanted = normal(wanted).to_lowercase();
                strsim::normalized_damerau_levenshtein(&wanted, &name.to_lowercase())
            }
            None => 1.0,
        };
        // Between 0 and 1; sorted by thousandths.
        names.push((((1.0 - alike) * 1000.0) as u64, name));
    }
    names.sort();
    names.into_iter().map(|(_, name)| name).take(most).collect()
}

fn confidence(scene: &Scene, element: &Element, target: &Target) -> Option<f64> {
    let Target { text, role: wanted, name, reference, window, .. } = target;
    let surface = element.surface.and_then(|at| scene.surfaces.get(at))?;
    if !surface.listed || window.as_ref().is_some_and(|wanted| !is_window(&surface.window, wanted))
    {
        return None;
    }
    if reference.as_ref().is_some_and(|wanted| *wanted != element.reference)
        || wanted.as_ref().is_some_and(|wanted| !role::is(&element.role, wanted))
    {
        return None;
    }
    let chosen = reference.is_some() || wanted.is_some();
    if !chosen && name.is_none() && text.is_none() {
        // Without a wish, everything that can be used.
        let usable = role::is_interactive(&element.role) && !element.parts.is_empty();
        return usable.then_some(SIMILAR);
    }
    let mut score: f64 = 1.0;
    if let Some(name) = name {
        score = score.min(likeness(&element.name, name, target.exact)?);
    }
    if let Some(text) = text {
        let by_name = likeness(&element.name, text, target.exact);
        // What is typed into a field does not say what the field is for.
        let by_value = likeness(&element.value, text, target.exact).map(|value| value * 0.95);
        score = score.min(by_name.into_iter().chain(by_value).reduce(f64::max)?);
    }
    if !chosen && !role::is_interactive(&element.role) {
        score -= NOT_USABLE;
    }
    if element.parts.is_empty() {
        // Pages are scrolled to what is meant; other programs cannot be.
        let scrolls = element.source == helmdeck_wire::aim::Source::Dom && element.rect.is_some();
        if !scrolls {
            return None;
        }
        score -= OFF_SCREEN;
    }
    Some(score.clamp(0.0, 1.0))
}

/// How alike a text is to what is wanted: 1 if equal, less if only a part of it or similar.
pub fn likeness(text: &str, wanted: &str, exact: bool) -> Option<f64> {
    let (text, wanted) = (normal(text), normal(wanted));
    if text.is_empty() || wanted.is_empty() {
        return None;
    }
    if text == wanted {
        return Some(1.0);
    }
    if exact {
        return None;
    }
    let (text, wanted) = (text.to_lowercase(), wanted.to_lowercase());
    if text == wanted {
        return Some(0.97);
    }
    if bare(&text) == bare(&wanted) {
        return Some(0.94);
    }
    if let Some(at) = text.find(&wanted) {
        let share = wanted.chars().count() as f64 / text.chars().count() as f64;
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + wanted.len()..).and_then(|after| after.chars().next());
        let apart = |next: Option<char>| next.is_none_or(|next| !next.is_alphanumeric());
        let words = if apart(before) && apart(after) { 0.1 } else { 0.0 };
        return Some(0.65 + words + 0.15 * share);
    }
    let alike = strsim::normalized_damerau_levenshtein(&text, &wanted);
    (alike >= RESEMBLES).then_some(alike * 0.6)
}

/// Whether this is the window that a caller names, by id, title or class.
pub fn is_window(window: &TreeWindow, wanted: &str) -> bool {
    let wanted = normal(wanted).to_lowercase();
    window.id == wanted
        || window.name.to_lowercase().contains(&wanted)
        || window.class.to_lowercase().contains(&wanted)
}

/// A text without superfluous spaces.
pub fn normal(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text without the marks that labels end with.
fn bare(text: &str) -> &str {
    text.trim_end_matches(['.', '…', ':', '*', ' '])
}

/// Whether an element is only the text of another match, or only contains one.
fn repeats(scene: &Scene, found: &Match, matches: &[Match]) -> bool {
    let Some(element) = scene.elements.get(found.at) else { return false };
    let usable = role::is_interactive(&element.role);
    matches.iter().filter(|other| other.at != found.at).any(|other| {
        let Some(it) = scene.elements.get(other.at) else { return false };
        if !role::is_interactive(&it.role) {
            return false;
        }
        // A label beside the field of the same name.
        let label = element.role == "text"
            && it.surface == element.surface
            && normal(&it.name) == normal(&element.name);
        let inside = !usable && is_within(scene, found.at, other.at);
        // A cell with a button.
        let as_good = other.confidence + EQUAL > found.confidence;
        let around = as_good && is_within(scene, other.at, found.at);
        label || inside || around
    })
}

/// Whether an element is inside another.
fn is_within(scene: &Scene, inner: usize, outer: usize) -> bool {
    let parent = |at: &usize| scene.elements.get(*at).and_then(|element| element.parent);
    std::iter::successors(parent(&inner), parent).any(|at| at == outer)
}

fn place(element: &Element) -> Option<helmdeck_wire::point::Rect> {
    element.shown().or(element.rect)
}

#[cfg(test)]
mod tests {
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
}
