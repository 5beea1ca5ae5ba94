//! How a form ends: the last click, the conditions, and a picture without secrets.

use bytes::Bytes;
use helmdeck_vision::{Outcome, eyes::Success};
use helmdeck_wire::{
    ActionCall,
    point::Rect,
    screen::{Format, Screenshot},
    verify::{Verified, Verify},
};

use super::{Filled, Form, Output};
use crate::{PackResult, RunEnd, form_field::value_of, vision_run::outcome_of};

/// How long conditions may take to hold.
const PATIENCE_MS: u32 = 3000;
/// Pixels around a field that are painted over with it.
const AROUND: i32 = 6;

impl Form<'_> {
    /// Ends the form. One that a person or its session ended reports what was done until then.
    pub(super) async fn finish(mut self) -> PackResult<Output> {
        let filled = self.ended.is_none() && self.done.iter().all(|it| it.filled);
        if let Some(name) = self.input.submit.as_ref().filter(|_| filled)
            && let Err(error) = self.submit(name).await
        {
            let outcome = outcome_of(&error).unwrap_or(Outcome::Stuck);
            self.ended = Some((outcome, error.to_string()));
        }
        let verified = match self.verify().await {
            Ok(verified) => verified,
            Err(error) => {
                let outcome = outcome_of(&error).ok_or_else(|| error.clone())?;
                self.ended.get_or_insert((outcome, error.to_string()));
                None
            }
        };
        let holds = verified.as_ref().map(|verified| verified.holds);
        let evidence = verified.map_or(Vec::new(), |verified| {
            verified.evidence.iter().map(|it| format!("{}: {}", it.condition, it.found)).collect()
        });
        let (outcome, reason) = self.outcome(holds);
        self.watched.eyes().tell("").await;
        let reason = self.watched.finish(RunEnd {
            outcome,
            reason,
            evidence: evidence.clone(),
            answer: String::new(),
            steps: self.steps.clone(),
            spent: self.spent,
        });
        let artifact_key = match self.picture().await {
            Ok(key) => Some(key),
            Err(error) if outcome_of(&error).is_some() => None,
            Err(error) => return Err(error),
        };
        let names = self.done.iter().filter(|it| it.filled).map(|it| it.label.clone()).collect();
        Ok(Output {
            completed: outcome == Outcome::Completed,
            outcome,
            reason,
            question: self.question,
            fields_filled: names,
            fields: self.done,
            evidence,
            steps: self.steps,
            steps_used: self.asked,
            model: self.model,
            spent: self.spent,
            artifact_key,
        })
    }

    /// Whether the conditions hold. Nothing if there are none.
    async fn verify(&self) -> PackResult<Option<Verified>> {
        if self.input.success.is_empty() {
            return Ok(None);
        }
        let Success { all, any } = self.input.success.clone();
        Ok(Some(self.context.act(&Verify { all, any, within_ms: PATIENCE_MS }).await?))
    }

    fn outcome(&self, holds: Option<bool>) -> (Outcome, String) {
        if let Some((outcome, reason)) = &self.ended {
            return (*outcome, reason.clone());
        }
        let first = |wanted: fn(&Filled) -> bool| self.done.iter().find(|it| wanted(it));
        if let Some(missing) = first(|it| !it.filled) {
            let problem = missing.problem.as_deref().unwrap_or("it was not filled");
            return (Outcome::Stuck, format!("{:?}: {problem}", missing.label));
        }
        if holds == Some(false) {
            return (Outcome::Unverified, "the conditions do not hold".to_owned());
        }
        match first(|it| it.check == "none") {
            // The conditions say more than the fields.
            Some(_) if holds == Some(true) => {}
            Some(field) => {
                let problem = field.problem.as_deref().unwrap_or("nothing shows what it holds");
                return (Outcome::Unverified, format!("{:?}: {problem}", field.label));
            }
            None => {}
        }
        (Outcome::Completed, "every field was filled and checked".to_owned())
    }

    /// The screen, without the fields that hold secrets.
    async fn picture(&self) -> PackResult<String> {
        let mut hide = Vec::new();
        for field in &self.secret {
            // The page may have moved it.
            let now = value_of(self.context, field).await?;
            hide.extend([Some(field.rect), now.map(|now| now.rect)].into_iter().flatten());
        }
        let hide = hide.into_iter().map(grown).collect();
        let wanted = Screenshot { format: Some(Format::Png), hide, ..Screenshot::default() };
        let session = self.context.session()?;
        let taken = session.act(&self.context.caller, &ActionCall::new(&wanted)).await?;
        let bytes: Bytes = taken.body;
        Ok(self.context.artifacts.put("screen.png", "image/png", bytes).await?.key)
    }
}

fn grown(rect: Rect) -> Rect {
    let more = AROUND.unsigned_abs() * 2;
    Rect {
        x: rect.x.saturating_sub(AROUND),
        y: rect.y.saturating_sub(AROUND),
        width: rect.width.saturating_add(more),
        height: rect.height.saturating_add(more),
    }
}
