//! What the operator chose.

use std::time::Duration;

use helmdeck_store::ModelBudgetRow;
use serde::Deserialize;

use crate::{Invalid, error::Trigger, model_id::ModelId, models::Models, provider::Provider};

/// The model for requests that name none.
pub const DEFAULT_MODEL: &str = "openrouter/auto";
/// The model that is tried if the default one fails.
pub const FALLBACK_MODEL: &str = "openai/gpt-4o-mini";

/// What the operator chose.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Providers, in the order in which they are listed.
    pub providers: Vec<Provider>,
    /// The model for requests that name none.
    pub default_model: ModelId,
    /// What is tried when a model fails.
    pub rules: Vec<Rule>,
    /// Prices and context windows.
    pub models: Models,
    /// The budget of callers without one of their own.
    pub budget: ModelBudgetRow,
    /// Deadlines of calls.
    pub deadlines: Deadlines,
}

/// Deadlines of calls. Connecting has its own, of ten seconds.
#[derive(Debug, Clone, Copy)]
pub struct Deadlines {
    /// For a whole call that is not streamed.
    pub whole: Duration,
    /// For the first byte of a stream, and between its events.
    pub idle: Duration,
    /// For a whole stream.
    pub stream: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            whole: Duration::from_secs(600),
            idle: Duration::from_secs(120),
            stream: Duration::from_secs(3600),
        }
    }
}

/// What is tried when a model fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The model that clients ask for.
    pub primary: ModelId,
    /// The models that are tried after it, in order.
    pub fallbacks: Vec<ModelId>,
    /// The failures after which they are tried.
    pub triggers: Vec<Trigger>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRule {
    primary: String,
    fallbacks: Vec<String>,
    #[serde(default)]
    triggers: Vec<String>,
}

impl Rule {
    /// The rule for the default model. A call that timed out may have been paid for, so that it is no
    /// reason to call another model.
    pub fn standard() -> Result<Vec<Self>, Invalid> {
        let fallbacks = vec![ModelId::parse(FALLBACK_MODEL)?];
        let triggers = vec![Trigger::RateLimit, Trigger::Error];
        Ok(vec![Self { primary: ModelId::parse(DEFAULT_MODEL)?, fallbacks, triggers }])
    }

    /// Rules as JSON: a list of objects with `primary`, `fallbacks` and `triggers`. Without triggers,
    /// every failure is one.
    pub fn list(json: &str) -> Result<Vec<Self>, Invalid> {
        let wrong = |error: serde_json::Error| Invalid::new("", error.to_string());
        let written: Vec<WrittenRule> = serde_json::from_str(json).map_err(wrong)?;
        let rule = |rule: WrittenRule| {
            let trigger = |name: &String| {
                Trigger::named(name).ok_or_else(|| {
                    let reason = format!("{name:?}: expected rate_limit, error or timeout");
                    Invalid::new("triggers", reason)
                })
            };
            let triggers: Vec<_> = rule.triggers.iter().map(trigger).collect::<Result<_, _>>()?;
            let all = triggers.is_empty();
            Ok(Self {
                primary: ModelId::parse(&rule.primary)?,
                fallbacks: rule
                    .fallbacks
                    .iter()
                    .map(|id| ModelId::parse(id))
                    .collect::<Result<_, _>>()?,
                triggers: if all { Trigger::ALL.to_vec() } else { triggers },
            })
        };
        written.into_iter().map(rule).collect()
    }
}

impl Settings {
    /// The provider with this name.
    pub fn provider(&self, name: &str) -> Option<&Provider> {
        self.providers.iter().find(|provider| provider.name == name)
    }

    /// The rule for a model.
    pub fn rule(&self, model: &ModelId) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.primary == *model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_and_what_is_wrong_is_named() {
        let rules = Rule::list(
            r#"[{"primary":"a/b","fallbacks":["c/d","e/f"],"triggers":["timeout"]},
                {"primary":"c/d","fallbacks":[]}]"#,
        )
        .unwrap();
        assert_eq!(rules[0].triggers, [Trigger::Timeout]);
        assert_eq!(rules[1].triggers.len(), 3);
        for (bad, word) in [
            ("{}", "expected a sequence"),
            (r#"[{"primary":"b","fallbacks":[]}]"#, "names no provider"),
            (r#"[{"primary":"a/b","fallbacks":[],"triggers":["never"]}]"#, "rate_limit"),
        ] {
            let refused = Rule::list(bad).unwrap_err().to_string();
            assert!(refused.contains(word), "{refused}");
        }
        assert!(!Rule::standard().unwrap()[0].triggers.contains(&Trigger::Timeout));
    }
}
