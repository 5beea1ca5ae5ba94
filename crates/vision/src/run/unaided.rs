//! What needs no model: the instruction names elements, and exactly one has each name.

use std::time::Duration;

use helmdeck_wire::{point::Pixel, pointer::Button, tree::Candidate};
use tokio::time::sleep;

use super::{End, PATIENCE_MS, Runner, found};
use crate::{
    action::{Action, Place},
    clause::{Clause, Gesture},
    element::Element,
    evidence::{Seen, is_done},
    eyes::middle,
    report::Step,
};

/// What an element may take to appear after the step before it, as tries and time between them.
const TRIES: u32 = 3;
const BETWEEN: Duration = Duration::from_millis(200);
/// States in which a click would undo what is wanted.
const DONE_BEFORE: [&str; 4] = ["checked", "selected", "pressed", "expanded"];

impl Runner<'_> {
    /// Does what the instruction says while exactly one element is what each part of it names.
    pub(super) async fn unaided(&mut self) -> Result<Option<End>, End> {
        let clauses = self.clauses.clone();
        let possible = clauses.iter().enumerate().all(|(at, clause)| match clause {
            // Other gestures are for the model.
            Clause::Use { gesture, .. } => !matches!(gesture, Gesture::Double | Gesture::Right),
            Clause::Check { .. } | Clause::Focus(_) | Clause::Enter { field: Some(_), .. } => true,
            // Before anything was used, the keyboard may be anywhere.
            Clause::Key(_) => at > 0,
            _ => false,
        });
        if !possible {
            return Ok(None);
        }
        for (at, clause) in clauses.iter().enumerate() {
            let before = self.performed.len();
            // If it fails or does nothing, a model may know why.
            if !self.part(clause, if at == 0 { 1 } else { TRIES }).await? {
                return Ok(None);
            }
            let ended = self.reached().await?;
            let new = self.performed.get(before..).unwrap_or_default();
            let seen = Seen { performed: new, ..self.seen() };
            if ended.is_some() || !is_done(clause, seen) {
                return Ok(ended);
            }
        }
        // What was begun may take a moment.
        let verified = self.holds(PATIENCE_MS).await?;
        Ok(verified.map(|it| End::completed("the conditions hold", found(&it))))
    }

    /// Does one part, and says whether it could.
    async fn part(&mut self, clause: &Clause, tries: u32) -> Result<bool, End> {
        match clause {
            Clause::Use { element, .. } => self.click(element, tries, false).await,
            Clause::Check { element, .. } => self.check(clause, element, tries).await,
            Clause::Focus(element) => self.click(element, tries, true).await,
            Clause::Enter { text, field: Some(field) } => {
                if !self.click(field, tries, true).await? {
                    return Ok(false);
                }
                self.alone(&Action::Type { text: text.clone() }, "The text is given").await
            }
            Clause::Key(keys) => {
                self.alone(&Action::Key { keys: keys.clone() }, "The key is given").await
            }
            _ => Ok(false),
        }
    }

    /// Clicks a box, unless it is as wanted already.
    async fn check(&mut self, clause: &Clause, element: &Element, tries: u32) -> Result<bool, End> {
        let mut wanted = self.is_as_wanted(clause).await;
        for _ in 1..tries {
            if wanted.is_some() {
                break;
            }
            sleep(BETWEEN).await;
            wanted = self.is_as_wanted(clause).await;
        }
        match wanted {
            None => Ok(false),
            Some(true) => {
                self.look_at_boxes().await;
                Ok(true)
            }
            Some(false) => match self.one(element).await {
                Some(one) => self.click_at(element, &one).await,
                None => Ok(false),
            },
        }
    }

    async fn click(&mut self, element: &Element, tries: u32, field: bool) -> Result<bool, End> {
        let mut one = self.one(element).await;
        for _ in 1..tries {
            if one.is_some() {
                break;
            }
            sleep(BETWEEN).await;
            one = self.one(element).await;
        }
        let Some(one) = one else { return Ok(false) };
        let undoes = one.states.iter().any(|state| DONE_BEFORE.contains(&state.as_str()));
        // A field with a value needs more than typing, unless only the focus is wanted.
        let filled = field && self.clauses.len() > 1 && !one.value.is_empty();
        if (undoes && !field) || filled {
            return Ok(false);
        }
        self.click_at(element, &one).await
    }

    async fn click_at(&mut self, element: &Element, one: &Candidate) -> Result<bool, End> {
        let action = Action::Click {
            at: Some(Place::At(middle(one.rect))),
            button: Button::Left,
            count: 1,
            modifiers: Vec::new(),
        };
        self.tell(&format!("clicking {}", element.name)).await;
        let why = format!("Exactly one element is called {:?}", element.name);
        self.alone(&action, &why).await
    }

    async fn alone(&mut self, action: &Action, why: &str) -> Result<bool, End> {
        let said = format!("{why}: no model is needed.");
        let step = Step { said, without_model: true, ..Step::default() };
        Ok(self.perform(action, step, false).await?.is_ok())
    }

    /// The one element with exactly this name, and its place.
    pub(super) async fn element(
        &self,
        element: &Element,
    ) -> Option<(Pixel, helmdeck_wire::point::Rect)> {
        self.one(element).await.map(|one| (middle(one.rect), one.rect))
    }

    /// The one element with exactly this name.
    pub(super) async fn one(&self, element: &Element) -> Option<Candidate> {
        for name in element.names() {
            let Ok(found) = self.eyes.find(&name).await else { continue };
            let usable = |it: &Candidate| {
                let disabled = it.states.iter().any(|state| state == "disabled");
                let text = matches!(it.role.as_str(), "text" | "statictext" | "label" | "heading");
                element.fits(&it.name, &it.role) && !text && !disabled
            };
            // One that is scrolled out of view may be the one that is meant.
            let mut same = found.into_iter().filter(usable);
            if let (Some(one), None) = (same.next(), same.next()) {
                return (!one.off_screen).then_some(one);
            }
        }
        None
    }
}
