//! The table of models: prices, context windows and families. `models.json` is its data.

use std::collections::HashMap;

use serde::Deserialize;

use crate::{Family, Invalid, conversation::Usage, model_id::ModelId};

/// Billionths of a dollar.
pub type Nanos = i64;

/// What is known of a model. Prices are dollars for a million tokens.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// Its id.
    #[serde(default)]
    pub id: String,
    /// Price of input.
    pub input: f64,
    /// Price of output.
    pub output: f64,
    /// Price of input from a cache; that of input if unknown.
    #[serde(default)]
    pub cached: Option<f64>,
    /// Price of input that is written to a cache; that of input if unknown.
    #[serde(default)]
    pub cache_write: Option<f64>,
    /// Most tokens of input.
    #[serde(default)]
    pub context: Option<u64>,
    /// Most tokens of output.
    #[serde(default)]
    pub max_output: Option<u64>,
    /// The only family that has it, if not all of its provider's.
    #[serde(default)]
    pub family: Option<String>,
}

#[derive(Deserialize)]
struct Table {
    updated: String,
    models: Vec<Facts>,
}

/// The table, with the operator's own prices.
#[derive(Debug, Clone, Default)]
pub struct Models {
    /// When the built-in prices were read.
    pub updated: String,
    facts: HashMap<String, Facts>,
    order: Vec<String>,
}

impl Models {
    /// The built-in table.
    pub fn built_in() -> Self {
        // A test reads it, so that this never fails.
        let table = serde_json::from_str::<Table>(include_str!("../models.json"));
        let Ok(Table { updated, models }) = table else { return Self::default() };
        let order = models.iter().map(|facts| facts.id.clone()).collect();
        let facts = models.into_iter().map(|facts| (facts.id.clone(), facts)).collect();
        Self { updated, facts, order }
    }

    /// The same with prices of the operator, as JSON: ids with their facts. They come first.
    pub fn with_prices(mut self, json: &str) -> Result<Self, Invalid> {
        let wrong = |error: serde_json::Error| Invalid::new("", error.to_string());
        let own: HashMap<String, Facts> = serde_json::from_str(json).map_err(wrong)?;
        for (id, facts) in own {
            ModelId::parse(&id)?;
            let negative = [Some(facts.input), Some(facts.output), facts.cached, facts.cache_write];
            if negative.into_iter().flatten().any(|price| !(0.0..1e6).contains(&price)) {
                return Err(Invalid::new(id, "a price is dollars for a million tokens"));
            }
            if !self.facts.contains_key(&id) {
                self.order.push(id.clone());
            }
            self.facts.insert(id.clone(), Facts { id, ..facts });
        }
        Ok(self)
    }

    /// What is known of a model: by its id, without its date, or as OpenRouter's other name for it.
    pub fn facts(&self, id: &ModelId) -> Option<&Facts> {
        let text = id.to_string();
        let find = |text: &str| self.facts.get(text).or_else(|| self.facts.get(undated(text)?));
        find(&text).or_else(|| find(&of_vendor(id)?))
    }

    /// All that is known, in the order of the table.
    pub fn iter(&self) -> impl Iterator<Item = &Facts> {
        self.order.iter().filter_map(|id| self.facts.get(id))
    }
}

impl Facts {
    /// What a call costs.
    pub fn cost(&self, usage: &Usage) -> Nanos {
        let plain = usage.input.saturating_sub(usage.cached + usage.cache_written);
        let price = |tokens: u64, price: f64| tokens as f64 * price * 1000.0;
        let cost = price(plain, self.input)
            + price(usage.cached, self.cached.unwrap_or(self.input))
            + price(usage.cache_written, self.cache_write.unwrap_or(self.input))
            + price(usage.output, self.output);
        cost.round() as Nanos
    }

    /// The only family that has it.
    pub fn family(&self) -> Option<Family> {
        self.family.as_deref().and_then(Family::named)
    }
}

/// Dollars as nanos.
pub fn nanos(dollars: f64) -> Nanos {
    (dollars * 1e9).round() as Nanos
}

/// Nanos as dollars.
pub fn dollars(nanos: Nanos) -> f64 {
    nanos as f64 / 1e9
}

/// An id without the date of its version: `-20251101`, `-2024-07-18`, `-10-2025` or `-2512`.
fn undated(id: &str) -> Option<&str> {
    let is_date = |rest: &str| {
        let lengths: Vec<_> = rest.split('-').map(str::len).collect();
        rest.chars().all(|c| c.is_ascii_digit() || c == '-')
            && matches!(lengths.as_slice(), [8] | [4] | [2, 4] | [4, 2, 2])
    };
    let starts = id.match_indices('-').map(|(at, _)| at);
    starts
        .filter_map(|at| Some((id.get(..at)?, id.get(at + 1..)?)))
        .find_map(|(start, rest)| is_date(rest).then_some(start))
}

/// What the vendor itself calls a model of OpenRouter.
fn of_vendor(id: &ModelId) -> Option<String> {
    let model = (id.provider == "openrouter").then_some(&id.model)?;
    let (vendor, name) = model.split(':').next()?.split_once('/')?;
    Some(match vendor {
        "anthropic" => format!("anthropic/{}", name.replace('.', "-")),
        "google" => format!("gemini/{name}"),
        "mistralai" => format!("mistral/{name}"),
        _ => format!("{vendor}/{name}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(models: &Models, id: &str) -> Option<String> {
        models.facts(&ModelId::parse(id).unwrap()).map(|facts| facts.id.clone())
    }

    #[test]
    fn the_built_in_table_is_read_and_every_family_in_it_exists() {
        let models = Models::built_in();
        assert!(models.iter().count() > 50 && !models.updated.is_empty());
        for facts in models.iter() {
            ModelId::parse(&facts.id).unwrap();
            assert_eq!(facts.family.is_some(), facts.family().is_some(), "{}", facts.id);
        }
        assert!(facts(&models, "openrouter/auto").is_some());
        assert!(facts(&models, "openai/gpt-4o-mini").is_some());
    }

    #[test]
    fn a_dated_version_has_the_facts_of_its_model_and_a_new_model_has_none() {
        let models = Models::built_in();
        for (id, of) in [
            ("openai/gpt-4o-mini-2024-07-18", "openai/gpt-4o-mini"),
            ("anthropic/claude-opus-4-5-20251101", "anthropic/claude-opus-4-5"),
            (
                "gemini/gemini-2.5-computer-use-preview-10-2025",
                "gemini/gemini-2.5-computer-use-preview",
            ),
            ("openrouter/anthropic/claude-haiku-4.5", "anthropic/claude-haiku-4-5"),
            ("openrouter/google/gemini-2.5-pro:free", "gemini/gemini-2.5-pro"),
        ] {
            assert_eq!(facts(&models, id).as_deref(), Some(of), "{id}");
        }
        for new in ["openai/gpt-5.9", "anthropic/claude-opus-5-6", "openai/gpt-5-huge", "ollama/x"]
        {
            assert_eq!(facts(&models, new), None, "{new}");
        }
    }

    #[test]
    fn cached_tokens_have_their_own_price() {
        let models = Models::built_in();
        let haiku = models.facts(&ModelId::parse("anthropic/claude-haiku-4-5").unwrap()).unwrap();
        let usage =
            Usage { input: 1000, cached: 600, cache_written: 100, output: 10, ..Usage::default() };
        // 300 at 1, 600 at 0.1, 100 at 1.25 and 10 at 5 dollars for a million.
        assert_eq!(haiku.cost(&usage), 300_000 + 60_000 + 125_000 + 50_000);
    }

    #[test]
    fn the_operator_replaces_and_adds_prices() {
        let own = r#"{"openai/gpt-4o":{"input":1,"output":2},"vllm/qwen":{"input":0,"output":0}}"#;
        let models = Models::built_in().with_prices(own).unwrap();
        let id = ModelId::parse("openai/gpt-4o").unwrap();
        assert_eq!(models.facts(&id).unwrap().output, 2.0);
        assert_eq!(models.iter().last().unwrap().id, "vllm/qwen");
        for bad in ["[]", r#"{"x":{"input":1,"output":1}}"#, r#"{"a/b":{"input":-1,"output":1}}"#] {
            assert!(Models::built_in().with_prices(bad).is_err(), "{bad}");
        }
    }
}
