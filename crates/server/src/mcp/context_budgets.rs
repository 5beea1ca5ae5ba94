//! How much of a model's context the tools cost, and how much context models have.

use helmdeck_gateway::Facts;
use serde_json::{Value, json};
use time::format_description::well_known::Rfc3339;

use super::{catalogue::Catalogue, client::Client, profile::Profile};

/// Bytes of a token, as an estimate.
const BYTES: usize = 4;
const POLICY: &str = "Use the smallest profile that has the tools you need. Tier A models can list \
    every tool; for tier B and C, choose a profile whose bytes are within max_catalog_bytes. The \
    fallback stands for models that are not listed.";

/// What each profile costs, and what each known model has.
pub fn budgets(client: &Client) -> Value {
    let of = |profile: Profile| {
        let client = Client { profile, ..client.clone() };
        let tools = Catalogue::of(&client.app).listed(&client);
        let bytes = serde_json::to_vec(&tools).map_or(0, |text| text.len());
        json!({
            "profile": profile.name(), "tools": tools.len(), "bytes": bytes,
            "estimated_tokens": bytes / BYTES,
        })
    };
    let models = client.app.models.settings().models.iter();
    let budgets = models.filter(|facts| facts.max_output.is_some());
    json!({
        "profiles": Profile::EVERY.map(of),
        "budgets": budgets.map(budget).collect::<Vec<_>>(),
        "fallback": budget(&Facts { id: "*".to_owned(), ..Facts::default() }),
        "policy": POLICY,
        "fetched_at": client.app.clock.now_utc().format(&Rfc3339).unwrap_or_default(),
    })
}

fn budget(facts: &Facts) -> Value {
    let context = facts.context.unwrap_or(16_000);
    let (tier, max_catalog_bytes) = match context {
        128_000.. => ("A", Value::Null),
        32_000.. => ("B", json!(22_000)),
        _ => ("C", json!(10_000)),
    };
    json!({
        "model": facts.id, "input_tokens": context,
        "output_tokens": facts.max_output.unwrap_or(1_500), "tier": tier,
        "max_catalog_bytes": max_catalog_bytes, "supports_prefix_cache": facts.cached.is_some(),
        "cached_input_cost_usd_per_mtok": facts.cached,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_with_a_large_context_may_list_every_tool() {
        let of = |context| {
            let facts = Facts { context, ..Facts::default() };
            budget(&facts)["tier"].as_str().unwrap().to_owned()
        };
        assert_eq!(
            [of(Some(1_000_000)), of(Some(64_000)), of(Some(8_000)), of(None)],
            ["A", "B", "C", "C"]
        );
    }
}
