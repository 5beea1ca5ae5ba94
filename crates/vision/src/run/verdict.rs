//! When a run ends: whether its goal was seen to be reached, and what a model is told that says so too early.

use helmdeck_wire::verify::Verified;

use super::{End, Runner, shortened};
use crate::{
    clause::Clause,
    evidence::{Need, evidence},
    eyes::Failure,
    prompt,
    report::Outcome,
};

/// How long the conditions of success may take to hold after a model says that it is done.
pub(super) const PATIENCE_MS: u32 = 2000;
/// How often a model is told that its goal is not reached before the run ends unverified.
const MOST_CLAIMS: u32 = 3;

impl Runner<'_> {
    /// Whether the conditions of success hold. Nothing if there are none.
    pub(super) async fn holds(&self, within_ms: u32) -> Result<Option<Verified>, End> {
        if self.goal.success.is_empty() {
            return Ok(None);
        }
        match self.eyes.verify(&self.goal.success, within_ms).await {
            Ok(verified) => Ok(verified.holds.then_some(verified)),
            Err(Failure::Bad(_)) => Ok(None),
            Err(other) => Err(other.into()),
        }
    }

    /// Whether the goal is reached, whatever the model says.
    pub(super) async fn reached(&mut self) -> Result<Option<End>, End> {
        if !self.goal.success.is_empty() {
            let verified = self.holds(0).await?;
            return Ok(verified.map(|it| End::completed("the conditions hold", found(&it))));
        }
        let looks = |clause: &Clause| {
            matches!(clause, Clause::Visit(_) | Clause::Focus(_) | Clause::Close(_))
        };
        if self.clauses.iter().any(looks) {
            self.stay(&[]).await?;
        }
        let proof = evidence(&self.clauses, self.seen(), Need::Certain);
        Ok(proof.map(|proof| {
            End::completed("everything that the instruction names was seen to happen", proof)
        }))
    }

    /// What to make of a model that says that it is done: the end, or what to tell it.
    pub(super) async fn judge(&mut self, said: &str) -> Result<Result<End, String>, End> {
        self.answer = shortened(said, 2000);
        self.claims += 1;
        if let Some(kept) = self.kept_inside().await? {
            return Ok(Err(kept));
        }
        self.stay(&[]).await?;
        if !self.goal.success.is_empty() {
            let checked = match self.eyes.verify(&self.goal.success, PATIENCE_MS).await {
                Ok(verified) if verified.holds => {
                    return Ok(Ok(End::completed("the conditions hold", found(&verified))));
                }
                Ok(verified) => missing(&verified),
                Err(Failure::Bad(reason)) => reason,
                Err(other) => return Err(other.into()),
            };
            let reason = format!("the model says that it is done, but: {checked}");
            return Ok(match self.claims >= MOST_CLAIMS {
                true => Ok(End::new(Outcome::Unverified, reason)),
                false => Err(format!(
                    "The goal is not reached yet: {}. Continue.",
                    prompt::data(&checked)
                )),
            });
        }
        self.look_at_boxes().await;
        if let Some(proof) = evidence(&self.clauses, self.seen(), Need::Plausible) {
            return Ok(Ok(End::completed("the model says so, and it was seen to happen", proof)));
        }
        let checkable = !self.clauses.iter().any(|clause| matches!(clause, Clause::Other(_)));
        if checkable && self.claims < MOST_CLAIMS {
            let hint = "Nothing shows that the goal is reached: what it names was not hit, or nothing changed. \
                        Look again and continue, or say again that it is done.";
            return Ok(Err(hint.to_owned()));
        }
        let reason = "the model says that it is done, but nothing that was observed shows it";
        Ok(Ok(End::new(Outcome::Unverified, reason)))
    }
}

pub(super) fn found(verified: &Verified) -> Vec<String> {
    let holding = verified.evidence.iter().filter(|evidence| evidence.holds);
    holding.map(|it| format!("{}: {}", it.condition, it.found)).collect()
}

fn missing(verified: &Verified) -> String {
    let failing = verified.evidence.iter().filter(|evidence| !evidence.holds);
    let failing: Vec<_> =
        failing.map(|it| format!("{} does not hold: {}", it.condition, it.found)).collect();
    failing.join("; ")
}
