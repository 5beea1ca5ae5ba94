//! Clicks that narrowly miss the element that the instruction names hit it.

use helmdeck_wire::point::{Pixel, Rect};

use super::{Runner, targets::quotes};
use crate::{
    action::{Action, Place},
    clause::{Clause, used_first},
    element::Element,
    eyes::distance,
};

/// How far a click may miss the element that the instruction names.
const NEAR: i32 = 48;

impl Runner<'_> {
    /// Moves a click that narrowly misses the one element that the instruction names, and says its name. One that hits
    /// another element stays where it is.
    pub(super) async fn aimed(&self, action: &Action) -> (Action, Option<String>) {
        let Action::Click { at: Some(Place::At(at)), button, count, modifiers } = action else {
            return (action.clone(), None);
        };
        let wanted = self.clauses.iter().filter(|clause| !self.is_passed(clause));
        for element in wanted.filter_map(element_of) {
            let Some((centre, rect)) = self.element(&element).await else { continue };
            match distance(*at, rect) {
                0 => return (action.clone(), Some(element.name)),
                1..=NEAR if !self.hits_another(*at, rect).await => {
                    let moved = Action::Click {
                        at: Some(Place::At(centre)),
                        button: *button,
                        count: *count,
                        modifiers: modifiers.clone(),
                    };
                    return (moved, Some(element.name));
                }
                _ => {}
            }
        }
        (action.clone(), None)
    }

    /// Whether a pixel belongs to an element that can be used, and that is not around the wanted one.
    async fn hits_another(&self, at: Pixel, wanted: Rect) -> bool {
        // What cannot be asked hides nothing that is known.
        let Ok(near) = self.eyes.usable(at).await else { return false };
        near.iter().any(|it| {
            let disabled = it.states.iter().any(|state| state == "disabled");
            let (x, y) = (wanted.x, wanted.y);
            let around = distance(Pixel { x, y }, it.rect) == 0;
            distance(at, it.rect) == 0 && !disabled && !it.off_screen && !around
        })
    }
}

/// The one element that a clause names.
fn element_of(clause: &Clause) -> Option<Element> {
    match clause {
        Clause::Use { element, .. }
        | Clause::Check { element, .. }
        | Clause::Focus(element)
        | Clause::Enter { field: Some(element), .. } => Some(element.clone()),
        // `Click "In" inside the frame`: what is said besides does not change what is clicked.
        Clause::Other(text) => match (used_first(text), quotes(text).as_slice()) {
            (Some(name), [only]) if name == only => {
                Some(Element { name: name.to_owned(), role: None, whole: None })
            }
            _ => None,
        },
        _ => None,
    }
}
