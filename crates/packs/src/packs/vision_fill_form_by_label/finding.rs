//! Finds the fields of a form: by name, or with a model.

use helmdeck_vision::{Action, Goal, Outcome, Place, Run, Step};
use helmdeck_wire::{nature::Style, point::Pixel};

use super::{Filled, Form, Located};
use crate::{
    PackResult,
    form_field::{Field, by_label, focused, is_fillable},
    vision_run::Wanted,
};

impl Form<'_> {
    /// Finds a field by its label, or lets a model click it.
    pub(super) async fn locate(&mut self, label: &str) -> PackResult<Option<Located>> {
        if let Some(field) = by_label(self.context, label).await? {
            return Ok(Some(Located { field, by: "name" }));
        }
        if self.context.mode == Style::Structured {
            self.fail(label, "not exactly one field has this label");
            return Ok(None);
        }
        let left = self.input.max_steps.saturating_sub(self.asked);
        if self.ended.is_some() || left == 0 {
            self.fail(label, "not exactly one field has this label, and no steps are left");
            return Ok(None);
        }
        let run = self.ask(label, left).await?;
        let clicked = run.steps.iter().rev().find_map(|step| {
            let click = matches!(step.action, Some(Action::Click { .. })) && step.problem.is_none();
            click.then(|| (step.moved_to.or(place(step)), step.hit.clone()))
        });
        let focus = focused(self.context).await?;
        let outcome = run.outcome;
        self.add(run);
        let field = match (focus, clicked) {
            (Some(field), Some(_)) => Some(field),
            // A program that tells nothing of its elements.
            (None, Some((Some(at), hit))) if hit.as_ref().is_none_or(|hit| hit.role.is_empty()) => {
                Some(Field::at(at))
            }
            _ => None,
        };
        match field {
            Some(field) => Ok(Some(Located { field, by: "model" })),
            None => {
                let reason = format!("the model did not find it ({outcome:?})").to_lowercase();
                self.fail(label, &reason);
                if !matches!(outcome, Outcome::Unverified | Outcome::Stuck | Outcome::Completed) {
                    self.ended.get_or_insert((outcome, reason));
                }
                Ok(None)
            }
        }
    }

    /// A model clicks a field. It ends as soon as a field was hit.
    async fn ask(&self, label: &str, max_steps: u32) -> PackResult<Run> {
        let goal = Goal { instruction: format!("Click the {label:?} field"), ..Goal::default() };
        let wanted = Wanted {
            goal,
            model: self.input.model.as_deref(),
            max_steps,
            budget: self.input.budget,
        };
        let is_hit = |step: &Step| {
            let hit = step.hit.as_ref().is_some_and(|hit| is_fillable(&hit.role));
            hit && matches!(step.action, Some(Action::Click { .. })) && step.problem.is_none()
        };
        self.watched.follow(&wanted, &is_hit).await
    }

    fn add(&mut self, run: Run) {
        self.asked += run.model_calls;
        self.model = run.model.or(self.model.take());
        self.spent.add(run.spent);
        self.steps.extend(run.steps);
    }

    pub(super) fn fail(&mut self, label: &str, problem: &str) {
        self.done.push(Filled {
            label: label.to_owned(),
            check: "none",
            problem: Some(problem.to_owned()),
            ..Filled::default()
        });
    }
}

fn place(step: &Step) -> Option<Pixel> {
    match step.action {
        Some(Action::Click { at: Some(Place::At(at)), .. }) => Some(at),
        _ => None,
    }
}
