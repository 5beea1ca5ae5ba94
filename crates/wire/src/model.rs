//! Models, their providers and keys, and what callers use of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::{
    names::names,
    vault::{CredentialSource, SecretText},
};

/// A model that can be called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Model {
    /// Id for requests: `provider/model`.
    pub id: String,
    /// Who runs it.
    pub provider: String,
    /// Most tokens of input, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// Most tokens of output, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u64>,
    /// Dollars for a million tokens of input, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_usd_per_mtok: Option<f64>,
    /// Dollars for a million tokens of output, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_usd_per_mtok: Option<f64>,
}

/// The models that the caller can use now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelList {
    /// By provider, in the provider's order.
    pub models: Vec<Model>,
    /// How many there are.
    pub count: usize,
    /// The model for requests that name none.
    pub default_model: String,
    /// Models that are tried after the default one.
    pub fallbacks: Vec<String>,
    /// The model of vision for requests that name none.
    pub vision_model: String,
    /// Whether an admin pinned the model of vision.
    #[serde(default)]
    pub vision_pinned: bool,
    /// Which models answer when another one fails.
    pub chains: Vec<ModelChain>,
    /// Providers that did not list their models.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<ProviderProblem>,
    /// What to do if there is no model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// When the oldest list was read.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub fetched_at: OffsetDateTime,
}

/// Models that answer when one fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelChain {
    /// The model that clients ask for.
    pub primary: String,
    /// The models that are tried after it, in order.
    pub fallbacks: Vec<ModelFallback>,
}

/// A model that answers when others fail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelFallback {
    /// The model.
    pub model: String,
    /// The failures after which it is tried.
    pub triggers: Vec<FallbackTrigger>,
}

/// A kind of failure that calls another model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FallbackTrigger {
    /// The provider limits the rate of calls.
    RateLimit,
    /// The provider failed, rejects its key, or cannot be reached.
    Error,
    /// The provider did not answer in time. The call may have been paid for.
    Timeout,
}

names! {
    FallbackTrigger:
    RateLimit "rate_limit", Error "error", Timeout "timeout",
}

/// A provider that did not list its models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderProblem {
    /// The provider.
    pub provider: String,
    /// What went wrong.
    pub message: String,
}

/// A provider of models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Provider {
    /// Name, the first part of model ids.
    pub name: String,
    /// Its address.
    pub url: String,
    /// APIs that it speaks: `chat`, `responses`, `messages` or `gemini`.
    pub families: Vec<String>,
    /// Whether it needs a key.
    pub needs_key: bool,
    /// Where the caller's key is kept, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<CredentialSource>,
    /// Whether the caller can use it: it has a key, or answers without one.
    pub available: bool,
    /// What to do if not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Providers of models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderList {
    /// The providers.
    pub providers: Vec<Provider>,
    /// How many there are.
    pub count: usize,
}

/// Add the key of a provider. It is stored in the vault.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewProviderKey {
    /// The provider, such as `openai`.
    #[schemars(length(min = 1, max = 40), regex(pattern = "^[a-z][a-z0-9_-]*$"))]
    pub provider: String,
    /// The key.
    pub key: SecretText,
    /// A note for people.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub label: Option<String>,
    /// Whether every caller may use it. Default: true for an admin. Others add keys for themselves
    /// only.
    #[serde(default)]
    pub shared: Option<bool>,
}

/// The key of a provider, without the key itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderKey {
    /// Id of the credential.
    pub id: String,
    /// The provider.
    pub provider: String,
    /// A note for people.
    pub label: String,
    /// Who added it; empty for one of the environment.
    pub owner: String,
    /// Where it is kept.
    pub source: CredentialSource,
    /// Differs for different keys. Only this server can compute it.
    pub fingerprint: String,
    /// When it was added.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub created_at: OffsetDateTime,
    /// When it was last replaced.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub updated_at: OffsetDateTime,
    /// When it was last used.
    #[serde(
        default,
        with = "time::serde::rfc3339::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub last_used_at: Option<OffsetDateTime>,
}

/// Keys of providers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderKeyList {
    /// The keys, by name.
    pub keys: Vec<ProviderKey>,
    /// How many there are.
    pub count: usize,
}

/// Whether a provider accepts a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyTest {
    /// Whether it does.
    pub ok: bool,
    /// What the provider says if not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How long it took to answer, in milliseconds.
    pub latency_ms: u64,
}

/// What callers used of models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelUsage {
    /// When the window begins.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub from: OffsetDateTime,
    /// By provider and model, the most used first.
    pub rows: Vec<ModelUsageRow>,
    /// How many rows there are.
    pub count: usize,
    /// The same by provider, the most used first.
    pub providers: Vec<ProviderUsageRow>,
    /// Dollars of all rows.
    pub cost_usd: f64,
}

/// What callers used of one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelUsageRow {
    /// The provider.
    pub provider: String,
    /// The model, as the provider calls it.
    pub model: String,
    /// Calls.
    pub total: u64,
    /// Calls that were answered.
    pub success: u64,
    /// Calls that failed, were cut off or cancelled.
    pub errors: u64,
    /// Answered calls among all, from 0 to 1.
    pub success_rate: f64,
    /// Tokens of input, with cached ones.
    pub input_tokens: u64,
    /// Tokens of input that came from a cache.
    pub cached_tokens: u64,
    /// Tokens of output.
    pub output_tokens: u64,
    /// Dollars, as far as prices are known.
    pub cost_usd: f64,
    /// Calls whose price is not known.
    pub unpriced: u64,
    /// Mean time of a call, in milliseconds.
    pub avg_latency_ms: u64,
    /// The time within which half of the answered calls were complete, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_latency_ms: Option<u64>,
    /// The time within which 95 % of the answered calls were complete, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95_latency_ms: Option<u64>,
    /// When it was last called.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub last_seen: OffsetDateTime,
}

/// What callers used of one provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderUsageRow {
    /// The provider.
    pub provider: String,
    /// Calls.
    pub total: u64,
    /// Calls that were answered.
    pub success: u64,
    /// Calls that failed, were cut off or cancelled.
    pub errors: u64,
    /// Answered calls among all, from 0 to 1.
    pub success_rate: f64,
    /// Dollars, as far as prices are known.
    pub cost_usd: f64,
    /// The time within which half of the answered calls were complete, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_latency_ms: Option<u64>,
    /// The time within which 95 % of the answered calls were complete, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95_latency_ms: Option<u64>,
    /// When it was last called.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub last_seen: OffsetDateTime,
}

/// The budget of a caller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelBudget {
    /// Subject of the caller.
    pub caller: String,
    /// Tokens that it may use in 24 hours; no limit if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daily_tokens: Option<u64>,
    /// Dollars that it may use in 24 hours; no limit if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daily_usd: Option<f64>,
    /// Whether an admin set it for this caller. Otherwise it is that of all callers.
    pub own: bool,
    /// Tokens that it used in the last 24 hours.
    pub used_tokens: u64,
    /// Dollars that it used in the last 24 hours.
    pub used_usd: f64,
}

/// Budgets of callers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelBudgetList {
    /// Callers with their own budget, by name.
    pub budgets: Vec<ModelBudget>,
    /// How many there are.
    pub count: usize,
}

/// How a call of a model ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelOutcome {
    /// It was answered.
    Ok,
    /// The provider refused the request.
    Refused,
    /// The provider refused the key.
    Key,
    /// The provider limits the rate of calls.
    RateLimited,
    /// The provider failed.
    Failed,
    /// No connection to the provider.
    Unreachable,
    /// The provider did not answer in time.
    Timeout,
    /// The answer was cut off.
    Cut,
    /// The answer is not what the provider's API promises.
    Malformed,
    /// The client disconnected.
    Cancelled,
}

names! {
    ModelOutcome:
    Ok "ok", Refused "refused", Key "key", RateLimited "rate_limited", Failed "failed",
    Unreachable "unreachable", Timeout "timeout", Cut "cut", Malformed "malformed",
    Cancelled "cancelled",
}
