//! Which elements a caller means.

#[cfg(test)]
mod tests;

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
