//! If a model fails, the fallbacks of its rule are asked.

use http::{HeaderValue, header};

use crate::{Answer, Family, Gateway, ModelRequest, error::GatewayError, gateway::SHOULD_RETRY};

impl Gateway {
    /// Calls a model, or those that stand in for it.
    pub async fn ask(&self, asked: ModelRequest) -> Result<Answer, GatewayError> {
        let wanted = self.wanted(&asked.body)?;
        let rule = self.shared.settings.rule(&wanted);
        let others = rule.map(|rule| rule.fallbacks.as_slice()).unwrap_or_default();
        let later = |place| rule.map(|rule| rule.later(place)).unwrap_or_default();
        let mut failed = match self.attempt(&asked, &wanted, None, &later(0)).await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        // The last failure of a provider: a missing key is none.
        let mut cause = failed.trigger();
        // The error that the client gets, unless a model answers.
        let mut first: Option<GatewayError> = None;
        for (place, other) in others.iter().enumerate() {
            // What is wrong with the request is wrong for every model.
            let goes_on = match (&failed, cause) {
                (_, Some(trigger)) => other.triggers.contains(&trigger),
                (GatewayError::NoKey { .. }, None) => true,
                (_, None) => return refusal_of(asked.family, failed),
            };
            if !goes_on {
                continue;
            }
            let tried = self.attempt(&asked, &other.model, Some(&wanted), &later(place + 1)).await;
            let error = match tried {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            if !matches!(error, GatewayError::NoKey { .. }) {
                cause = error.trigger();
            }
            telling(&mut first, std::mem::replace(&mut failed, error));
        }
        if failed.trigger().is_none() && !matches!(failed, GatewayError::NoKey { .. }) {
            return refusal_of(asked.family, failed);
        }
        telling(&mut first, failed);
        let error = first.unwrap_or(GatewayError::Busy);
        refusal_of(asked.family, error)
    }
}

/// Keeps the first error that says more than that a key is missing.
fn telling(first: &mut Option<GatewayError>, error: GatewayError) {
    let is_no_key = |error: &GatewayError| matches!(error, GatewayError::NoKey { .. });
    match first {
        Some(old) if !is_no_key(old) || is_no_key(&error) => {}
        _ => *first = Some(error),
    }
}

/// An error of a provider in the client's own family reaches the client as it is, except for one that
/// would look like a problem of the client's token.
fn refusal_of(family: Family, error: GatewayError) -> Result<Answer, GatewayError> {
    let openai = |family| matches!(family, Family::Chat | Family::Responses);
    let is_unpaid = error.says_later();
    match error {
        GatewayError::Refused { status, retry_after, answer: (from, body), .. }
            if !matches!(status.as_u16(), 401 | 403)
                && !body.is_empty()
                && serde_json::from_slice::<serde::de::IgnoredAny>(&body).is_ok()
                && (from == family || openai(from) && openai(family)) =>
        {
            let mut answer = Answer::json(status, body);
            // SDKs repeat these on their own.
            if !is_unpaid && matches!(status.as_u16(), 408 | 409 | 500..) {
                answer.headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"));
            }
            if let Some(wait) = retry_after {
                let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
                answer.headers.insert(header::RETRY_AFTER, seconds.into());
            }
            Ok(answer)
        }
        error => Err(error),
    }
}
