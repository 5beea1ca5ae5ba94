//! Whether what an instruction asks for was seen to happen.

use helmdeck_wire::{
    aim::Hit,
    observe::{Effect, Observation},
    point::{Pixel, Rect},
    site::Site,
};

use crate::{
    action::Action,
    clause::{Clause, words},
    element::Element,
    eyes::{Scene, middle},
    keys,
};

/// How far from the middle a click may be, in parts of the side.
const NEAR_MIDDLE: f64 = 0.05;

/// Something that was done, and what came of it.
#[derive(Debug, Clone)]
pub struct PerformedAction {
    /// The action.
    pub action: Action,
    /// What it hit.
    pub hit: Option<Hit>,
    /// What it changed.
    pub effects: Vec<Effect>,
    /// Where it acted.
    pub at: Option<Pixel>,
    /// The window that was in front.
    pub window: Option<Rect>,
}

impl PerformedAction {
    /// From what was observed.
    pub fn new(action: &Action, seen: &Observation, window: Option<Rect>) -> Self {
        let mut effects = seen.effects.clone();
        effects.extend(seen.effect);
        if seen.changed == Some(true) && effects.is_empty() {
            effects.push(Effect::Confirmed);
        }
        let at = seen.acted_at.or(action.pixel());
        Self { action: action.clone(), hit: seen.hit.clone(), effects, at, window }
    }

    /// Whether it had an effect.
    pub fn changed(&self) -> bool {
        self.effects.iter().any(|effect| *effect != Effect::NoVisibleChange)
    }

    fn has(&self, effects: &[Effect]) -> bool {
        self.effects.iter().any(|effect| effects.contains(effect))
    }
}

/// How sure evidence has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Sure enough to end a run that the model would continue.
    Certain,
    /// Sure enough to believe a model that says that it is done.
    Plausible,
}

/// The evidence for every clause, or nothing if one has none. Each deed counts once.
pub fn evidence(
    clauses: &[Clause],
    performed: &[PerformedAction],
    scene: &Scene,
    need: Need,
) -> Option<Vec<String>> {
    if clauses.is_empty() {
        return None;
    }
    let mut used = vec![false; performed.len()];
    let mut found = Vec::new();
    for clause in clauses {
        if let Clause::Visit(address) = clause {
            found.push(visited(address, scene)?);
            continue;
        }
        let fresh = performed.iter().zip(&used).map(|(act, used)| (!used).then_some(act));
        let proof = fresh.enumerate().find_map(|(at, act)| Some((at, proof(clause, act?, need)?)));
        match (proof, clause) {
            (Some((at, proof)), _) => {
                if let Some(slot) = used.get_mut(at) {
                    *slot = true;
                }
                found.push(proof);
            }
            (None, Clause::Focus(element)) => {
                let focus = scene.focus.as_deref().filter(|name| element.is(name))?;
                found.push(format!("{focus:?} has the keyboard focus"));
            }
            (None, _) => return None,
        }
    }
    Some(found)
}

/// Whether a clause has evidence among these deeds.
pub fn is_done(clause: &Clause, performed: &[PerformedAction]) -> bool {
    performed.iter().any(|act| proof(clause, act, Need::Certain).is_some())
}

fn proof(clause: &Clause, act: &PerformedAction, need: Need) -> Option<String> {
    match clause {
        Clause::Use(element) => {
            let hit = matching(element, act, need)?;
            let uses = match &act.action {
                Action::Click { .. } => true,
                Action::Key { keys } => matches!(keys.as_str(), "Return" | "space"),
                _ => false,
            };
            (uses && act.changed()).then(|| {
                let effect = act.effects.first().map(effect_name).unwrap_or_default();
                format!("{} was used: {effect}", named(hit))
            })
        }
        Clause::Focus(element) => {
            let hit = matching(element, act, need)?;
            let focused = hit.states.iter().any(|state| state == "focused");
            (matches!(act.action, Action::Click { .. }) && (focused || act.changed()))
                .then(|| format!("{} was clicked and has the focus", named(hit)))
        }
        Clause::Key(chord) => match &act.action {
            Action::Key { keys } if keys == chord && act.changed() => {
                Some(format!("{} was pressed, and the screen changed", keys::shown(keys)))
            }
            Action::Type { text } if chord == "Return" && text.ends_with('\n') && act.changed() => {
                Some("Return was pressed, and the screen changed".to_owned())
            }
            _ => None,
        },
        Clause::Enter { text, field } => {
            let (Action::Type { text: typed } | Action::Fill { text: typed, .. }) = &act.action
            else {
                return None;
            };
            let same = typed.trim() == text.trim()
                || (need == Need::Plausible && words(typed) == words(text));
            let placed = match (field, &act.hit) {
                (None, _) => true,
                (Some(field), Some(hit)) if !hit.name.is_empty() => match need {
                    Need::Certain => field.is(&hit.name),
                    Need::Plausible => field.resembles(&hit.name),
                },
                // A field without a name.
                (Some(_), _) => need == Need::Plausible,
            };
            let into = act.hit.as_ref().map(named).unwrap_or_default();
            (same && placed && act.changed()).then(|| format!("the text was entered into {into}"))
        }
        Clause::Middle => {
            let at = act.at.filter(|_| matches!(act.action, Action::Click { .. }))?;
            let window = act.window?;
            let centre = middle(window);
            let near = |one: i32, two: i32, side: u32| {
                f64::from((one - two).abs()) <= (f64::from(side) * NEAR_MIDDLE).max(3.0)
            };
            (near(at.x, centre.x, window.width) && near(at.y, centre.y, window.height))
                .then(|| format!("the click was at {},{}, in the middle of the window", at.x, at.y))
        }
        Clause::Scroll => {
            let scrolled = act.has(&[Effect::Scrolled])
                || (matches!(act.action, Action::Scroll { .. }) && act.changed());
            scrolled.then(|| "the content scrolled".to_owned())
        }
        Clause::Close => act
            .has(&[Effect::WindowClosed, Effect::TabClosed])
            .then(|| "a window or tab closed".to_owned()),
        Clause::Visit(_) | Clause::Other(_) => None,
    }
}

/// What was hit, if it is the element.
fn matching<'a>(element: &Element, act: &'a PerformedAction, need: Need) -> Option<&'a Hit> {
    let hit = act.hit.as_ref()?;
    let disabled = hit.states.iter().any(|state| state == "disabled");
    let text =
        matches!(hit.role.as_str(), "text" | "statictext" | "label" | "heading" | "paragraph");
    let same = match need {
        Need::Certain => element.fits(&hit.name, &hit.role) && !text,
        Need::Plausible => element.resembles(&hit.name),
    };
    (same && !disabled).then_some(hit)
}

fn visited(address: &str, scene: &Scene) -> Option<String> {
    let wanted = Site::of(address)?;
    let path = address.split_once("://").map_or(address, |(_, rest)| rest).trim_end_matches('/');
    let shown = scene.windows.iter().filter_map(|window| window.url.as_deref());
    let found = shown.into_iter().find(|url| {
        let rest = url.split_once("://").map_or(*url, |(_, rest)| rest);
        let same = rest.trim_start_matches("www.").starts_with(path.trim_start_matches("www."));
        Site::of(url).is_some_and(|site| wanted.covers(&site)) && (same || !path.contains('/'))
    })?;
    Some(format!("the browser shows {found}"))
}

fn named(hit: &Hit) -> String {
    let role = if hit.role.is_empty() { "element" } else { &hit.role };
    format!("{role} {:?}", hit.name)
}

/// The name of an effect.
pub fn effect_name(effect: &Effect) -> String {
    let name = serde_json::to_value(effect).unwrap_or_default();
    name.as_str().unwrap_or_default().replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{clause::clauses, eyes::SceneWindow};

    fn act(action: Action, role: &str, name: &str, effect: Effect) -> PerformedAction {
        let hit = Hit { role: role.to_owned(), name: name.to_owned(), ..Hit::default() };
        let window = Some(Rect { x: 0, y: 0, width: 1000, height: 800 });
        PerformedAction {
            at: action.pixel(),
            action,
            hit: Some(hit),
            effects: vec![effect],
            window,
        }
    }

    fn proves(instruction: &str, performed: &[PerformedAction], need: Need) -> bool {
        evidence(&clauses(instruction), performed, &Scene::default(), need).is_some()
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
                Action::Move { at: crate::Place::At(Pixel { x: 5, y: 5 }) },
                "button",
                "Save",
                Effect::Confirmed,
            ),
        ] {
            assert!(
                !proves("Click Save", std::slice::from_ref(&wrong), Need::Certain),
                "{wrong:?}"
            );
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
        let reached =
            |text, url| evidence(&clauses(text), &[], &scene(url), Need::Certain).is_some();
        assert!(reached("Go to example.org", "https://www.example.org/start"));
        assert!(reached("Go to https://example.org/a", "https://example.org/a?b=1"));
        assert!(!reached("Go to https://example.org/a", "https://example.org/b"));
        assert!(!reached("Go to example.org", "https://example.org.evil.test/"));
    }
}
