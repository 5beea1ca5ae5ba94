//! What the operator chose.

use std::time::Duration;

use helmdeck_store::ModelBudgetRow;
use helmdeck_wire::model::{ModelChain, ModelFallback};
use serde::Deserialize;

use crate::{
    Invalid, error::Trigger, model_id::ModelId, models::Models, pinned::PinnedModel,
    provider::Provider,
};

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
    /// The model of vision for requests that name none. `None` is the default model.
    pub vision_model: Option<ModelId>,
    /// The model of vision that an admin pinned. It comes first.
    pub pinned: PinnedModel,
    /// What is tried when a model fails.
    pub rules: Vec<Rule>,
    /// Prices and context windows.
    pub models: Models,
    /// The budget of callers without their own budget.
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
    pub fallbacks: Vec<Fallback>,
}

/// A model that is tried when others fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fallback {
    /// The model.
    pub model: ModelId,
    /// The failures after which it is tried.
    pub triggers: Vec<Trigger>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRule {
    primary: String,
    fallbacks: Vec<WrittenFallback>,
    #[serde(default)]
    triggers: Vec<String>,
}

/// A model, or one with triggers that replace those of its rule.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a model, or an object with model and triggers")]
enum WrittenFallback {
    Model(String),
    Own(OwnTriggers),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnTriggers {
    model: String,
    #[serde(default)]
    triggers: Vec<String>,
}

impl Rule {
    /// The rule for the default model. A call that timed out may have been paid for, so that it is no
    /// reason to call another model.
    pub fn standard() -> Result<Vec<Self>, Invalid> {
        let triggers = vec![Trigger::RateLimit, Trigger::Error];
        let fallbacks = vec![Fallback { model: ModelId::parse(FALLBACK_MODEL)?, triggers }];
        Ok(vec![Self { primary: ModelId::parse(DEFAULT_MODEL)?, fallbacks }])
    }

    /// Rules as JSON: a list of objects with `primary`, `fallbacks` and `triggers`. A fallback is a
    /// model, or an object with `model` and `triggers`, which replace those of the rule. Without
    /// triggers, every failure is one.
    pub fn list(json: &str) -> Result<Vec<Self>, Invalid> {
        let wrong = |error: serde_json::Error| Invalid::new("", error.to_string());
        let written: Vec<WrittenRule> = serde_json::from_str(json).map_err(wrong)?;
        let rule = |rule: WrittenRule| {
            let all = triggers(&rule.triggers)?.unwrap_or_else(|| Trigger::ALL.to_vec());
            let fallback = |written: &WrittenFallback| {
                let (model, own) = match written {
                    WrittenFallback::Model(model) => (model, None),
                    WrittenFallback::Own(own) => (&own.model, triggers(&own.triggers)?),
                };
                let triggers = own.unwrap_or_else(|| all.clone());
                Ok(Fallback { model: ModelId::parse(model)?, triggers })
            };
            let primary = ModelId::parse(&rule.primary)?;
            let fallbacks = rule.fallbacks.iter().map(fallback).collect::<Result<_, _>>()?;
            Ok(Self { primary, fallbacks })
        };
        written.into_iter().map(rule).collect()
    }

    /// The rule for clients.
    pub fn describe(&self) -> ModelChain {
        let fallback = |it: &Fallback| ModelFallback {
            model: it.model.to_string(),
            triggers: it.triggers.clone(),
        };
        let fallbacks = self.fallbacks.iter().map(fallback).collect();
        ModelChain { primary: self.primary.to_string(), fallbacks }
    }

    /// The failures after which one of the models from this place on is tried.
    pub fn later(&self, place: usize) -> Vec<Trigger> {
        let later = || self.fallbacks.iter().skip(place).flat_map(|it| &it.triggers);
        Trigger::ALL.into_iter().filter(|trigger| later().any(|it| it == trigger)).collect()
    }
}

/// Triggers by their names; `None` if there are none.
fn triggers(names: &[String]) -> Result<Option<Vec<Trigger>>, Invalid> {
    let trigger = |name: &String| {
        Trigger::named(name).ok_or_else(|| {
            let reason = format!("{name:?}: expected rate_limit, error or timeout");
            Invalid::new("triggers", reason)
        })
    };
    let found: Vec<_> = names.iter().map(trigger).collect::<Result<_, _>>()?;
    Ok(Some(found).filter(|found| !found.is_empty()))
}

impl Settings {
    /// The provider with this name.
    pub fn provider(&self, name: &str) -> Option<&Provider> {
        self.providers.iter().find(|provider| provider.name == name)
    }

    /// The model of vision for requests that name none.
    pub fn vision_model(&self) -> ModelId {
        let configured = || self.vision_model.as_ref().unwrap_or(&self.default_model).clone();
        self.pinned.get().unwrap_or_else(configured)
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
            r#"[{"primary":"a/b","fallbacks":["c/d",{"model":"e/f","triggers":["error"]},{"model":"g/h"}],
                 "triggers":["timeout"]},
                {"primary":"c/d","fallbacks":["a/b"]}]"#,
        )
        .unwrap();
        let triggers = |rule: usize, place: usize| rules[rule].fallbacks[place].triggers.as_slice();
        assert_eq!(triggers(0, 0), [Trigger::Timeout]);
        assert_eq!(triggers(0, 1), [Trigger::Error]);
        assert_eq!(triggers(0, 2), [Trigger::Timeout]);
        assert_eq!(triggers(1, 0), Trigger::ALL);
        assert_eq!(rules[0].later(0), [Trigger::Error, Trigger::Timeout]);
        assert_eq!(rules[0].later(2), [Trigger::Timeout]);
        assert!(rules[0].later(3).is_empty());
        for (bad, word) in [
            ("{}", "expected a sequence"),
            (r#"[{"primary":"b","fallbacks":[]}]"#, "names no provider"),
            (r#"[{"primary":"a/b","fallbacks":[],"triggers":["never"]}]"#, "rate_limit"),
            (r#"[{"primary":"a/b","fallbacks":[{"model":"c/d","triggers":["no"]}]}]"#, "timeout"),
            (
                r#"[{"primary":"a/b","fallbacks":[{"model":"c/d","when":"no"}]}]"#,
                "object with model",
            ),
        ] {
            let refused = Rule::list(bad).unwrap_err().to_string();
            assert!(refused.contains(word), "{refused}");
        }
        assert!(!Rule::standard().unwrap()[0].later(0).contains(&Trigger::Timeout));
    }
}
