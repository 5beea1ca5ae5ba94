//! Clicks that narrowly miss the element that the instruction names hit it.

use super::Runner;
use crate::{
    action::{Action, Place},
    clause::Clause,
    evidence::is_done,
    eyes::distance,
};

/// How far a click may miss the element that the instruction names.
const NEAR: i32 = 48;

impl Runner<'_> {
    /// Moves a click that narrowly misses the one element that the instruction names, and says its name.
    pub(super) async fn aimed(&self, action: &Action) -> (Action, Option<String>) {
        let Action::Click { at: Some(Place::At(at)), button, count, modifiers } = action else {
            return (action.clone(), None);
        };
        let wanted = self.clauses.iter().filter(|clause| !is_done(clause, &self.performed));
        for clause in wanted {
            let (Clause::Use(element)
            | Clause::Focus(element)
            | Clause::Enter { field: Some(element), .. }) = clause
            else {
                continue;
            };
            let Some((centre, rect)) = self.element(element).await else { continue };
            match distance(*at, rect) {
                0 => return (action.clone(), Some(element.name.clone())),
                1..=NEAR => {
                    let moved = Action::Click {
                        at: Some(Place::At(centre)),
                        button: *button,
                        count: *count,
                        modifiers: modifiers.clone(),
                    };
                    return (moved, Some(element.name.clone()));
                }
                _ => {}
            }
        }
        (action.clone(), None)
    }
}
