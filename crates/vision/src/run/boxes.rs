//! Boxes that the instruction names: whether they are checked is read, and not concluded from clicks.

use super::Runner;
use crate::{clause::Clause, element::Element};

impl Runner<'_> {
    /// Reads the boxes that the instruction names. One that is gone stays as it was seen last.
    pub(super) async fn look_at_boxes(&mut self) {
        for at in 0..self.clauses.len() {
            let Some(clause @ Clause::Check { .. }) = self.clauses.get(at).cloned() else {
                continue;
            };
            let Some(holds) = self.is_as_wanted(&clause).await else { continue };
            self.boxes.retain(|(own, _)| *own != clause);
            self.boxes.push((clause, holds));
        }
    }

    /// Whether the one box of a clause is as wanted. Nothing if it is not there, or tells no state.
    pub(super) async fn is_as_wanted(&self, clause: &Clause) -> Option<bool> {
        let Clause::Check { element, on } = clause else { return None };
        let one = self.one(element).await?;
        Element::checked(&one.role, &one.states).map(|checked| checked == *on)
    }
}
