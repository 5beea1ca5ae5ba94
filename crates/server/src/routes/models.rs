//! Models that callers can use, what they used, and their budgets.

use std::{sync::Arc, time::Duration};

use helmdeck_gateway::{WINDOW, dollars, nanos};
use helmdeck_packs::Pack;
use helmdeck_store::{AuditEntry, ModelBudgetRow};
use helmdeck_wire::{
    ErrorCode,
    model::{ModelBudget, ModelBudgetList, ModelList, ModelUsage},
    nature::Style,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use crate::{
    error::{ApiError, ApiResult},
    tool::{Call, NoInput, Outcome},
};

/// Maximum number of rows per deletion, and the pause between two.
const BATCH: u32 = 1000;
const PAUSE: Duration = Duration::from_millis(20);

/// Which usage to sum up.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UsageFilter {
    /// How far back: `24h`, `30m` or `7d`, at most 90 days. Default `24h`.
    #[serde(default)]
    #[schemars(
        regex(pattern = "^([1-9][0-9]{0,3}m|[1-9][0-9]{0,2}h|[1-9]d|[1-8][0-9]d|90d)$"),
        extend("x-expected" = "a time such as 24h, 30m or 7d, at most 90 days")
    )]
    window: Option<String>,
    /// Only this caller. Only an admin sees others. Default: all that the caller may see.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200))]
    caller: Option<String>,
}

/// Whose records to delete.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Erase {
    /// Subject of the caller.
    #[schemars(length(min = 1, max = 200))]
    caller: String,
}

/// What was deleted.
#[derive(Serialize, JsonSchema)]
pub struct Erased {
    /// How many records.
    calls: u64,
}

/// A caller.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneCaller {
    /// Its subject.
    #[schemars(length(min = 1, max = 200))]
    caller: String,
}

/// Set the budget of a caller, for any 24 hours. Without a field, there is no limit.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetBudget {
    /// Subject of the caller.
    #[schemars(length(min = 1, max = 200))]
    caller: String,
    /// Tokens of input and output.
    #[serde(default)]
    #[schemars(range(max = 1_000_000_000_000_i64))]
    daily_tokens: Option<u64>,
    /// Dollars.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    daily_usd: Option<f64>,
}

/// Lists models.
pub async fn list(call: Call, _: NoInput) -> ApiResult<ModelList> {
    Ok(call.app.models.models(&call.caller).await?)
}

/// Sums up usage.
pub async fn usage(call: Call, filter: UsageFilter) -> ApiResult<ModelUsage> {
    let window = window(filter.window.as_deref().unwrap_or("24h"));
    let window = window.ok_or_else(|| ApiError::internal("the window is valid"))?;
    let from = call.app.clock.now_utc() - window;
    let own = call.caller.limited_to();
    let of = match (own, filter.caller.as_deref()) {
        (Some(own), Some(other)) if own != other => {
            let message = "only an admin sees the usage of others: leave out caller";
            return Err(ApiError::new(ErrorCode::Forbidden, message).of_field("caller", Vec::new()));
        }
        (own, asked) => asked.or(own),
    };
    let rows = call.app.store.model_usage(of, from).await?;
    let providers = call.app.store.provider_usage(of, from).await?;
    let cost_usd = rows.iter().fold(0.0, |sum, row| sum + row.cost_usd);
    Ok(ModelUsage { from, count: rows.len(), rows, providers, cost_usd })
}

/// Deletes what is recorded of a caller.
pub async fn erase(call: Call, erase: Erase) -> ApiResult<Erased> {
    let calls = call.app.store.erase_model_calls(&erase.caller).await?;
    let entry = AuditEntry::new("model.usage_erased").actor(&call.caller).target(&erase.caller);
    call.app.audit.record(entry.detail("count", calls));
    Ok(Erased { calls })
}

/// What was deleted of a caller.
#[derive(Default, Serialize, JsonSchema)]
pub struct ErasedRecords {
    /// Calls of models.
    calls: u64,
    /// Jobs that had ended, with their inputs and results.
    jobs: u64,
    /// Runs of vision that had ended, with their steps.
    vision_runs: u64,
    /// Pictures of screens that those jobs made.
    pictures: u64,
    /// Actions in the journals of sessions.
    actions: u64,
}

/// Deletes what is recorded of a caller's work. The audit log stays.
pub async fn erase_records(call: Call, erase: Erase) -> ApiResult<ErasedRecords> {
    let (store, subject) = (&call.app.store, erase.caller.as_str());
    let mut erased = ErasedRecords {
        vision_runs: call.app.vision_runs.erase(subject),
        calls: store.erase_model_calls(subject).await?,
        jobs: store.erase_jobs(subject).await?,
        ..ErasedRecords::default()
    };
    // Packs that look at screens are those that can use models. Other artifacts are files of the caller.
    let looks = |pack: &Arc<Pack>| {
        [Style::Vision, Style::Structured].into_iter().any(|mode| pack.needs_model(mode))
    };
    for pack in call.app.packs.packs().iter().filter(|pack| looks(pack)) {
        erased.pictures += call.app.artifacts.erase_made_by(subject, &pack.name).await?;
    }
    loop {
        let some = store.erase_actions(subject, BATCH).await?;
        erased.actions += some;
        if some < u64::from(BATCH) {
            break;
        }
        // Other queries wait meanwhile.
        sleep(PAUSE).await;
    }
    let entry = AuditEntry::new("records.erased").actor(&call.caller).target(subject);
    let entry = entry.detail("calls", erased.calls).detail("jobs", erased.jobs);
    let entry = entry.detail("vision_runs", erased.vision_runs).detail("actions", erased.actions);
    let entry = entry.detail("pictures", erased.pictures);
    call.app.audit.record(entry);
    Ok(erased)
}

/// The caller's own budget.
pub async fn own_budget(call: Call, _: NoInput) -> ApiResult<ModelBudget> {
    let subject = call.caller.subject.clone();
    budget(&call, subject).await
}

/// Budgets that an admin set.
pub async fn list_budgets(call: Call, _: NoInput) -> ApiResult<ModelBudgetList> {
    let mut budgets = Vec::new();
    for (caller, _) in call.app.store.model_budgets().await? {
        budgets.push(budget(&call, caller).await?);
    }
    Ok(ModelBudgetList { count: budgets.len(), budgets })
}

/// Sets the budget of a caller.
pub async fn set_budget(call: Call, set: SetBudget) -> ApiResult<ModelBudget> {
    let SetBudget { caller, daily_tokens, daily_usd } = set;
    let row = ModelBudgetRow { tokens: daily_tokens, cost_nanos: daily_usd.map(nanos) };
    call.app.store.set_model_budget(&caller, row).await?;
    let entry = AuditEntry::new("model.budget_set").actor(&call.caller).target(&caller);
    call.app.audit.record(entry.detail("tokens", daily_tokens).detail("usd", daily_usd));
    budget(&call, caller).await
}

/// Removes the budget of a caller.
pub async fn remove_budget(call: Call, one: OneCaller) -> ApiResult<Outcome> {
    if !call.app.store.remove_model_budget(&one.caller).await? {
        let message = "no budget is set for this caller; GET /api/v1/models/budgets lists them";
        return Err(ApiError::new(ErrorCode::NotFound, message));
    }
    let entry = AuditEntry::new("model.budget_removed").actor(&call.caller).target(&one.caller);
    call.app.audit.record(entry);
    Ok(Outcome::done())
}

async fn budget(call: &Call, caller: String) -> ApiResult<ModelBudget> {
    let own = call.app.store.model_budget(&caller).await?;
    let limits = own.unwrap_or(call.app.models.settings().budget);
    let since = call.app.clock.now_utc() - WINDOW;
    let used = call.app.store.model_spend(&caller, since, None).await?;
    Ok(ModelBudget {
        caller,
        daily_tokens: limits.tokens,
        daily_usd: limits.cost_nanos.map(dollars),
        own: own.is_some(),
        used_tokens: used.tokens,
        used_usd: dollars(used.cost_nanos),
    })
}

/// `24h`, `30m` or `7d`.
fn window(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds = match unit {
        "m" => 60,
        "h" => 3600,
        "d" => 24 * 3600,
        _ => return None,
    };
    Some(Duration::from_secs(number.parse::<u64>().ok()? * seconds))
}
