//! Whether what an instruction asks for was seen to happen.

#[cfg(test)]
mod tests;

use helmdeck_wire::{
    aim::Hit,
    observe::{Effect, Observation},
    point::Pixel,
    pointer::{Button, Direction},
    site::Site,
};

use crate::{
    action::Action,
    clause::{Clause, Closed, Gesture, words},
    element::Element,
    eyes::{Scene, SceneWindow, middle},
    keys,
};

/// How far from the middle a click may be, in parts of the side.
const NEAR_MIDDLE: f64 = 0.05;
/// Effects of what opens.
const OPENING: [Effect; 4] =
    [Effect::Navigated, Effect::TabOpened, Effect::WindowOpened, Effect::Dialog];
/// Roles of what one click may only select.
const ICONS: [&str; 8] = ["", "icon", "img", "listitem", "option", "treeitem", "cell", "gridcell"];
/// Roles of elements that hold no text.
const NO_FIELDS: [&str; 8] =
    ["button", "link", "checkbox", "radio", "switch", "slider", "tab", "menuitem"];

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
    /// The window that was in front before.
    pub front: Option<SceneWindow>,
}

impl PerformedAction {
    /// From what was observed.
    pub fn new(action: &Action, seen: &Observation, front: Option<SceneWindow>) -> Self {
        let mut effects = seen.effects.clone();
        effects.extend(seen.effect);
        if seen.changed == Some(true) && effects.is_empty() {
            effects.push(Effect::Confirmed);
        }
        let at = seen.acted_at.or(action.pixel());
        Self { action: action.clone(), hit: seen.hit.clone(), effects, at, front }
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

/// What was seen of a run.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// What was done.
    pub performed: &'a [PerformedAction],
    /// The screen now.
    pub scene: &'a Scene,
    /// What was seen last of each clause that names a box: whether it is as wanted.
    pub boxes: &'a [(Clause, bool)],
}

/// The evidence for every clause, or nothing if one has none. Each deed counts once.
pub fn evidence(clauses: &[Clause], seen: Seen<'_>, need: Need) -> Option<Vec<String>> {
    if clauses.is_empty() {
        return None;
    }
    let mut used = vec![false; seen.performed.len()];
    let mut found = Vec::new();
    for clause in clauses {
        if let Some(proof) = standing(clause, seen) {
            found.push(proof?);
            continue;
        }
        let fresh = seen.performed.iter().zip(&used).map(|(act, used)| (!used).then_some(act));
        let mut fresh = fresh.enumerate();
        let proof = fresh.find_map(|(at, act)| Some((at, proof(clause, act?, seen.scene, need)?)));
        match (proof, clause) {
            (Some((at, proof)), _) => {
                if let Some(slot) = used.get_mut(at) {
                    *slot = true;
                }
                found.push(proof);
            }
            (None, Clause::Focus(element)) => {
                let focus = seen.scene.focus.as_deref().filter(|name| element.is(name))?;
                found.push(format!("{focus:?} has the keyboard focus"));
            }
            (None, _) => return None,
        }
    }
    Some(found)
}

/// The evidence for a clause that wants a state and no deed, or that it has none.
fn standing(clause: &Clause, seen: Seen<'_>) -> Option<Option<String>> {
    match clause {
        Clause::Visit(address) => Some(visited(address, seen.scene)),
        Clause::Check { element, on } => {
            let holds = seen.boxes.iter().any(|(own, holds)| own == clause && *holds);
            let state = if *on { "checked" } else { "not checked" };
            Some(holds.then(|| format!("{:?} is {state}", element.name)))
        }
        _ => None,
    }
}

/// Whether a clause has evidence.
pub fn is_done(clause: &Clause, seen: Seen<'_>) -> bool {
    let by_deed = |act: &PerformedAction| proof(clause, act, seen.scene, Need::Certain).is_some();
    standing(clause, seen).is_some_and(|proof| proof.is_some())
        || seen.performed.iter().any(by_deed)
}

fn proof(clause: &Clause, act: &PerformedAction, scene: &Scene, need: Need) -> Option<String> {
    match clause {
        Clause::Use { element, gesture } => {
            let hit = matching(element, act, need)?;
            (performs(*gesture, act, hit) && act.changed()).then(|| {
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
        Clause::Enter { text, field } => entered(text, field.as_ref(), act, need),
        Clause::Middle => {
            let at = act.at.filter(|_| performs(Gesture::Click, act, &Hit::default()))?;
            let window = act.front.as_ref()?.rect;
            let centre = middle(window);
            let near = |one: i32, two: i32, side: u32| {
                f64::from((one - two).abs()) <= (f64::from(side) * NEAR_MIDDLE).max(3.0)
            };
            (near(at.x, centre.x, window.width) && near(at.y, centre.y, window.height))
                .then(|| format!("the click was at {},{}, in the middle of the window", at.x, at.y))
        }
        Clause::Scroll(direction) => scrolled(*direction, act),
        Clause::Close(closed) => was_closed(*closed, act, scene),
        Clause::Check { .. } | Clause::Visit(_) | Clause::Other(_) => None,
    }
}

/// Whether an action is this gesture, on what it hit.
fn performs(gesture: Gesture, act: &PerformedAction, hit: &Hit) -> bool {
    // A click would undo what is wanted.
    let was = |state: &str| hit.states.iter().any(|own| own == state);
    let undone = match gesture {
        Gesture::Select => was("checked") || was("selected") || was("pressed"),
        Gesture::Open => was("expanded"),
        _ => false,
    };
    let (button, count) = match &act.action {
        Action::Click { button, count, modifiers, .. } if modifiers.is_empty() => (*button, *count),
        // On what has the focus.
        Action::Key { keys } if matches!(keys.as_str(), "Return" | "space") => (Button::Left, 1),
        _ => return false,
    };
    let clicked = matches!(act.action, Action::Click { .. });
    !undone
        && match gesture {
            Gesture::Click | Gesture::Select => (button, count) == (Button::Left, 1),
            // One click selects a file or an icon.
            Gesture::Open => {
                let opened = act.has(&OPENING) || !ICONS.contains(&hit.role.as_str());
                button == Button::Left && (opened || count == 2)
            }
            Gesture::Double => clicked && (button, count) == (Button::Left, 2),
            Gesture::Right => clicked && (button, count) == (Button::Right, 1),
        }
}

fn entered(
    text: &str,
    field: Option<&Element>,
    act: &PerformedAction,
    need: Need,
) -> Option<String> {
    let (Action::Type { text: typed } | Action::Fill { text: typed, .. }) = &act.action else {
        return None;
    };
    let same =
        typed.trim() == text.trim() || (need == Need::Plausible && words(typed) == words(text));
    let placed = match (field, &act.hit) {
        (None, _) => true,
        (Some(_), Some(hit)) if NO_FIELDS.contains(&hit.role.as_str()) => false,
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

fn scrolled(direction: Option<Direction>, act: &PerformedAction) -> Option<String> {
    let by_wheel = match (&act.action, direction) {
        (Action::Scroll { .. }, None) => act.changed(),
        (Action::Scroll { dy, .. }, Some(Direction::Up)) => *dy < 0 && act.changed(),
        (Action::Scroll { dy, .. }, Some(Direction::Down)) => *dy > 0 && act.changed(),
        (Action::Scroll { dx, .. }, Some(Direction::Left)) => *dx < 0 && act.changed(),
        (Action::Scroll { dx, .. }, Some(Direction::Right)) => *dx > 0 && act.changed(),
        _ => false,
    };
    let by_key = match (&act.action, direction) {
        (_, None) => true,
        (Action::Key { keys }, Some(Direction::Up)) => matches!(keys.as_str(), "Page_Up" | "Up"),
        (Action::Key { keys }, Some(Direction::Down)) => {
            matches!(keys.as_str(), "Page_Down" | "Down" | "space")
        }
        (Action::Key { keys }, Some(Direction::Left)) => keys == "Left",
        (Action::Key { keys }, Some(Direction::Right)) => keys == "Right",
        _ => false,
    };
    (by_wheel || (by_key && act.has(&[Effect::Scrolled])))
        .then(|| "the content scrolled".to_owned())
}

/// Whether what was in front is gone.
fn was_closed(closed: Closed, act: &PerformedAction, scene: &Scene) -> Option<String> {
    let front = act.front.as_ref()?;
    let now = scene.windows.iter().find(|window| window.id == front.id);
    match closed {
        Closed::Window => (act.has(&[Effect::WindowClosed]) && now.is_none())
            .then(|| format!("the window {:?} closed", front.title)),
        Closed::Tab => {
            let other = now.is_none_or(|now| match (&now.url, &front.url) {
                (Some(now), Some(then)) => now != then,
                _ => now.title != front.title,
            });
            (act.has(&[Effect::TabClosed]) && other)
                .then(|| format!("the tab {:?} closed", front.title))
        }
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
