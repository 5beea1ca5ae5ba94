//! How a test ends.

use helmdeck_vision::{Outcome, eyes::Failure};

use crate::{PackError, PackResult, vision_run::outcome_of};

/// How a test ended.
pub struct End {
    /// The outcome.
    pub outcome: Outcome,
    /// Why.
    pub reason: String,
    /// What a person has to agree to.
    pub question: Option<String>,
}

impl End {
    /// An end without a question.
    pub fn new(outcome: Outcome, reason: impl Into<String>) -> Self {
        Self { outcome, reason: reason.into(), question: None }
    }

    /// The end because of an error: a person took control, or the session ended. Other errors are those of the job.
    pub fn of(error: PackError) -> PackResult<Self> {
        outcome_of(&error).map(|outcome| Self::new(outcome, error.to_string())).ok_or(error)
    }

    /// The end if the page cannot be read after it.
    pub fn despite(self, error: PackError) -> PackResult<Self> {
        match (self.outcome, outcome_of(&error)) {
            (Outcome::ControlTaken | Outcome::Cancelled, _) => Ok(self),
            (Outcome::Completed, Some(_)) => Self::of(error),
            (_, Some(_)) => Ok(self),
            (_, None) => Err(error),
        }
    }
}

impl From<Failure> for End {
    fn from(failure: Failure) -> Self {
        let (outcome, reason) = match failure {
            Failure::Bad(reason) => (Outcome::Stuck, reason),
            Failure::ControlTaken(reason) => (Outcome::ControlTaken, reason),
            Failure::Denied(reason) => (Outcome::Denied, reason),
            Failure::Gone(reason) => (Outcome::Cancelled, reason),
        };
        Self { outcome, reason, question: None }
    }
}
