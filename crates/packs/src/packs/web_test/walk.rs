//! The steps of a test.

use helmdeck_gateway::ModelId;
use helmdeck_vision::Outcome;
use helmdeck_wire::ErrorCode;

use super::{End, PATIENCE_MS, Test, TestStep, snapshot, verify};
use crate::{
    PackError, PackResult,
    page_tools::{self, Ask},
    vision_run::outcome_of,
};

/// How often a model may say that it is done while an assertion does not hold.
const MOST_CLAIMS: u32 = 3;
/// Tokens of one reply.
const REPLY_TOKENS: u32 = 1024;

impl Test<'_> {
    /// All steps, until the test ends.
    pub async fn all_steps(&mut self, model: &ModelId, ask: &mut Ask) -> PackResult<End> {
        let max = self.input.max_steps;
        if let Err(failure) = self.fence.limit(self.sites.clone()).await {
            return Ok(failure.into());
        }
        for number in 1..=max {
            self.number = number;
            self.tell(model, "reading the page").await;
            self.watched.ready().await?;
            let (url, page) = snapshot(self.context).await?;
            self.url = url;
            if let Err(end) = self.inside().await {
                return Ok(end);
            }
            ask.shows(&self.url, &page);
            let part = f64::from(number) / f64::from(max + 1);
            self.context.progress(0.1 + 0.85 * part, format!("step {number} of {max}"));
            let budget = self.input.budget;
            let messages = ask.messages();
            let asked = self.context.models.write(model, &messages, REPLY_TOKENS, budget);
            let written = match self.watched.unless_stopped(asked).await {
                Ok(written) => written,
                Err(error) => match self.unanswered(ask, &error) {
                    Some(end) => return Ok(end),
                    None => continue,
                },
            };
            self.spent.add(written.spent);
            self.paid = Some(written.spent);
            if let Some(end) = self.follow(model, ask, &written.text).await? {
                return Ok(end);
            }
        }
        let reason = format!("the model did not finish in {max} steps");
        Ok(End::new(Outcome::MaxSteps, reason))
    }

    /// Tells people what happens next.
    async fn tell(&self, model: &ModelId, what: &str) {
        let (number, max) = (self.number, self.input.max_steps);
        self.watched.eyes().tell(&format!("{model} · step {number}/{max} · {what}")).await;
    }

    /// A call of the model that failed: the end, or one bad step.
    fn unanswered(&mut self, ask: &mut Ask, error: &PackError) -> Option<End> {
        let reason = error.to_string();
        let outcome = match error.code() {
            ErrorCode::InvalidOutput => {
                ask.says("", "Your reply was empty. Answer with one JSON object.");
                self.note(TestStep::none(reason));
                return None;
            }
            ErrorCode::Cancelled => Outcome::Cancelled,
            ErrorCode::BudgetExceeded => Outcome::Budget,
            ErrorCode::Forbidden => Outcome::Denied,
            _ => Outcome::ProviderError,
        };
        Some(End::new(outcome, reason))
    }

    fn note(&mut self, step: TestStep) {
        let step = TestStep { number: self.number, spent: self.paid.take(), ..step };
        self.watched.note(&step.shown());
        self.steps.push(step);
    }

    /// Does what a reply says.
    async fn follow(
        &mut self,
        model: &ModelId,
        ask: &mut Ask,
        reply: &str,
    ) -> PackResult<Option<End>> {
        let told = match page_tools::read(reply) {
            Ok(told) => told,
            Err(hint) => {
                ask.says(reply, &hint);
                self.note(TestStep::none(hint));
                return Ok(None);
            }
        };
        let step = TestStep::told(&told);
        self.tell(model, &told.label()).await;
        match told.tool.as_str() {
            "done" => return self.judge(ask, reply, step).await,
            "fail" => {
                let reason = told.text("reason").unwrap_or_else(|| told.reasoning.clone());
                self.note(step);
                let reason = format!("the model gave up: {reason}");
                return Ok(Some(End::new(Outcome::Stuck, reason)));
            }
            _ => {}
        }
        if let Err(end) = self.stays(&told).await {
            self.note(TestStep { result: end.reason.clone(), is_error: true, ..step });
            return Ok(Some(end));
        }
        let (mut words, is_error) = match page_tools::perform(self.context, &told).await {
            Ok(done) => {
                self.url = done.url.unwrap_or_else(|| self.url.clone());
                (done.words, false)
            }
            Err(error) if outcome_of(&error).is_some() => {
                self.note(TestStep { result: error.to_string(), is_error: true, ..step });
                return Err(error);
            }
            Err(error) => (format!("failed: {error}"), true),
        };
        let inside = self.inside().await;
        if let Ok(Some(allowed)) = &inside {
            words = format!("{words} {allowed}");
        }
        ask.says(reply, &words);
        self.note(TestStep { result: words, is_error, ..step });
        Ok(inside.err())
    }

    /// What to make of a model that says that it is done.
    async fn judge(
        &mut self,
        ask: &mut Ask,
        reply: &str,
        step: TestStep,
    ) -> PackResult<Option<End>> {
        self.claims += 1;
        // A page may have moved, or begun a download, while the model thought.
        match self.inside().await {
            Err(end) => {
                self.note(TestStep { result: end.reason.clone(), is_error: true, ..step });
                return Ok(Some(end));
            }
            Ok(Some(allowed)) => {
                ask.says(reply, &allowed);
                self.note(TestStep { result: allowed, is_error: true, ..step });
                return Ok(None);
            }
            Ok(None) => {}
        }
        let Some(verified) = verify(self.context, self.input, PATIENCE_MS).await? else {
            self.note(step);
            let reason =
                "the model says that it is done, but the test has no assertions or conditions";
            return Ok(Some(End::new(Outcome::Unverified, reason)));
        };
        if verified.holds {
            self.note(step);
            let reason = "the steps are done, and everything holds";
            return Ok(Some(End::new(Outcome::Completed, reason)));
        }
        let missing: Vec<_> =
            verified.evidence.iter().filter(|it| !it.holds).map(|it| it.found.clone()).collect();
        let missing = missing.join("; ");
        self.note(TestStep { result: missing.clone(), is_error: true, ..step });
        if self.claims >= MOST_CLAIMS {
            let reason = format!("the model says that it is done, but: {missing}");
            return Ok(Some(End::new(Outcome::Unverified, reason)));
        }
        let words = format!("Not done yet: {}. Continue.", page_tools::data(&missing));
        ask.says(reply, &words);
        Ok(None)
    }
}
