//! Calls of models, and budgets of callers.

use helmdeck_wire::model::{ModelOutcome, ModelUsageRow, ProviderUsageRow};
use sqlx::{QueryBuilder, Row, Sqlite, sqlite::SqliteRow};
use time::OffsetDateTime;

use crate::{Store, StoreError};

/// A call of a model.
#[derive(Debug, Clone)]
pub struct ModelCall {
    /// When it began.
    pub at: OffsetDateTime,
    /// Subject of the caller.
    pub caller: String,
    /// What the caller named it for.
    pub run: Option<String>,
    /// The provider.
    pub provider: String,
    /// The model, as the provider calls it.
    pub model: String,
    /// The model that was asked for, if another one was called instead.
    pub instead_of: Option<String>,
    /// Tokens of input, with cached ones.
    pub input_tokens: u64,
    /// Tokens of input that came from a cache.
    pub cached_tokens: u64,
    /// Tokens of output.
    pub output_tokens: u64,
    /// Whether the tokens are an estimate.
    pub estimated: bool,
    /// Billionths of a dollar, if the price is known.
    pub cost_nanos: Option<i64>,
    /// How long it took.
    pub latency_ms: u64,
    /// How it ended.
    pub outcome: ModelOutcome,
}

/// What was used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelSpend {
    /// Tokens of input and output.
    pub tokens: u64,
    /// Billionths of a dollar.
    pub cost_nanos: i64,
}

/// A limit of tokens and money.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelBudgetRow {
    /// Tokens; no limit if `None`.
    pub tokens: Option<u64>,
    /// Billionths of a dollar; no limit if `None`.
    pub cost_nanos: Option<i64>,
}

impl Store {
    /// Adds a call.
    pub async fn add_model_call(&self, call: &ModelCall) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO model_call (at_ms, caller, run, provider, model, instead_of,
                 input_tokens, cached_tokens, output_tokens, estimated, cost_nanos, latency_ms,
                 outcome)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(millis(call.at))
        .bind(&call.caller)
        .bind(&call.run)
        .bind(&call.provider)
        .bind(&call.model)
        .bind(&call.instead_of)
        .bind(whole(call.input_tokens))
        .bind(whole(call.cached_tokens))
        .bind(whole(call.output_tokens))
        .bind(call.estimated)
        .bind(call.cost_nanos)
        .bind(whole(call.latency_ms))
        .bind(call.outcome.as_str())
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// What a caller used since a time, or for one run at any time.
    pub async fn model_spend(
        &self,
        caller: &str,
        since: OffsetDateTime,
        run: Option<&str>,
    ) -> Result<ModelSpend, StoreError> {
        let mut query = QueryBuilder::new(
            "SELECT COALESCE(SUM(input_tokens + output_tokens), 0) AS tokens,
                 COALESCE(SUM(cost_nanos), 0) AS cost FROM model_call WHERE caller = ",
        );
        query.push_bind(caller);
        match run {
            Some(run) => query.push(" AND run = ").push_bind(run),
            None => query.push(" AND at_ms >= ").push_bind(millis(since)),
        };
        let row = query.build().fetch_one(&self.pool).await?;
        let tokens: i64 = row.try_get("tokens")?;
        Ok(ModelSpend { tokens: tokens.unsigned_abs(), cost_nanos: row.try_get("cost")? })
    }

    /// What was used since a time, by provider and model: by one caller, or by all.
    pub async fn model_usage(
        &self,
        caller: Option<&str>,
        since: OffsetDateTime,
    ) -> Result<Vec<ModelUsageRow>, StoreError> {
        let mut query = sums("provider, model", caller, since);
        let rows = query.build().fetch_all(&self.pool).await?;
        rows.iter().map(usage_row).collect()
    }

    /// The same by provider.
    pub async fn provider_usage(
        &self,
        caller: Option<&str>,
        since: OffsetDateTime,
    ) -> Result<Vec<ProviderUsageRow>, StoreError> {
        let mut query = sums("provider", caller, since);
        let rows = query.build().fetch_all(&self.pool).await?;
        rows.iter().map(provider_row).collect()
    }

    /// Deletes all calls of a caller. Returns how many there were.
    pub async fn erase_model_calls(&self, caller: &str) -> Result<u64, StoreError> {
        let erased = sqlx::query("DELETE FROM model_call WHERE caller = ?")
            .bind(caller)
            .execute(&self.pool)
            .await?;
        Ok(erased.rows_affected())
    }

    /// Deletes some calls that began before a time. Returns how many there were.
    pub async fn remove_old_model_calls(
        &self,
        before: OffsetDateTime,
        most: u32,
    ) -> Result<u64, StoreError> {
        let removed = sqlx::query(
            "DELETE FROM model_call WHERE id IN
                 (SELECT id FROM model_call WHERE at_ms < ? ORDER BY at_ms LIMIT ?)",
        )
        .bind(millis(before))
        .bind(most)
        .execute(&self.pool)
        .await?;
        Ok(removed.rows_affected())
    }

    /// The budget that an admin set for a caller.
    pub async fn model_budget(&self, caller: &str) -> Result<Option<ModelBudgetRow>, StoreError> {
        let row = sqlx::query("SELECT tokens, cost_nanos FROM model_budget WHERE caller = ?")
            .bind(caller)
            .fetch_optional(&self.pool)
            .await?;
        row.map(|row| budget_row(&row)).transpose()
    }

    /// All budgets that an admin set, by caller.
    pub async fn model_budgets(&self) -> Result<Vec<(String, ModelBudgetRow)>, StoreError> {
        let rows =
            sqlx::query("SELECT * FROM model_budget ORDER BY caller").fetch_all(&self.pool).await?;
        rows.iter().map(|row| Ok((row.try_get("caller")?, budget_row(row)?))).collect()
    }

    /// Sets the budget of a caller.
    pub async fn set_model_budget(
        &self,
        caller: &str,
        budget: ModelBudgetRow,
    ) -> Result<(), StoreError> {
        sqlx::query("INSERT OR REPLACE INTO model_budget VALUES (?, ?, ?)")
            .bind(caller)
            .bind(budget.tokens.map(whole))
            .bind(budget.cost_nanos)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Removes the budget of a caller. `false` if it had none.
    pub async fn remove_model_budget(&self, caller: &str) -> Result<bool, StoreError> {
        let removed = sqlx::query("DELETE FROM model_budget WHERE caller = ?")
            .bind(caller)
            .execute(&self.pool)
            .await?;
        Ok(removed.rows_affected() > 0)
    }
}

fn budget_row(row: &SqliteRow) -> Result<ModelBudgetRow, StoreError> {
    let tokens: Option<i64> = row.try_get("tokens")?;
    let cost_nanos = row.try_get("cost_nanos")?;
    Ok(ModelBudgetRow { tokens: tokens.map(i64::unsigned_abs), cost_nanos })
}

/// Sums by these columns. A percentile is the shortest time that at least so many of the answered
/// calls kept to.
fn sums(by: &str, caller: Option<&str>, since: OffsetDateTime) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(format!(
        "WITH ranked AS (
             SELECT *,
                 COUNT(*) OVER (PARTITION BY {by}, outcome = 'ok') AS peers,
                 ROW_NUMBER() OVER (PARTITION BY {by}, outcome = 'ok' ORDER BY latency_ms) AS place
             FROM model_call WHERE at_ms >= "
    ));
    query.push_bind(millis(since));
    if let Some(caller) = caller {
        query.push(" AND caller = ").push_bind(caller);
    }
    query.push(format!(
        ") SELECT {by}, COUNT(*) AS total, SUM(outcome = 'ok') AS success,
             SUM(input_tokens) AS input, SUM(cached_tokens) AS cached,
             SUM(output_tokens) AS output, COALESCE(SUM(cost_nanos), 0) AS cost,
             SUM(cost_nanos IS NULL) AS unpriced, SUM(latency_ms) AS latency,
             MIN(CASE WHEN outcome = 'ok' AND place * 100 >= peers * 50 THEN latency_ms END) AS p50,
             MIN(CASE WHEN outcome = 'ok' AND place * 100 >= peers * 95 THEN latency_ms END) AS p95,
             MAX(at_ms) AS last_ms
         FROM ranked GROUP BY {by} ORDER BY total DESC, {by}"
    ));
    query
}

fn usage_row(row: &SqliteRow) -> Result<ModelUsageRow, StoreError> {
    let count = |name: &str| row.try_get::<i64, _>(name).map(i64::unsigned_abs);
    let sums = provider_row(row)?;
    Ok(ModelUsageRow {
        provider: sums.provider,
        model: row.try_get("model")?,
        total: sums.total,
        success: sums.success,
        errors: sums.errors,
        success_rate: sums.success_rate,
        input_tokens: count("input")?,
        cached_tokens: count("cached")?,
        output_tokens: count("output")?,
        cost_usd: sums.cost_usd,
        unpriced: count("unpriced")?,
        avg_latency_ms: count("latency")? / sums.total.max(1),
        p50_latency_ms: sums.p50_latency_ms,
        p95_latency_ms: sums.p95_latency_ms,
        last_seen: sums.last_seen,
    })
}

fn provider_row(row: &SqliteRow) -> Result<ProviderUsageRow, StoreError> {
    let count = |name: &str| row.try_get::<i64, _>(name).map(i64::unsigned_abs);
    let time = |name: &str| row.try_get::<Option<i64>, _>(name).map(|it| it.map(i64::unsigned_abs));
    let (total, success) = (count("total")?, count("success")?);
    let cost: i64 = row.try_get("cost")?;
    let last = i128::from(row.try_get::<i64, _>("last_ms")?) * 1_000_000;
    let last_seen = OffsetDateTime::from_unix_timestamp_nanos(last);
    Ok(ProviderUsageRow {
        provider: row.try_get("provider")?,
        total,
        success,
        errors: total.saturating_sub(success),
        success_rate: success as f64 / total.max(1) as f64,
        cost_usd: cost as f64 / 1e9,
        p50_latency_ms: time("p50")?,
        p95_latency_ms: time("p95")?,
        last_seen: last_seen.unwrap_or(OffsetDateTime::UNIX_EPOCH),
    })
}

fn millis(at: OffsetDateTime) -> i64 {
    i64::try_from(at.unix_timestamp_nanos() / 1_000_000).unwrap_or(i64::MAX)
}

fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use time::Duration;

    use super::*;

    fn call(caller: &str, run: Option<&str>, at: OffsetDateTime) -> ModelCall {
        ModelCall {
            at,
            caller: caller.into(),
            run: run.map(str::to_owned),
            provider: "openai".into(),
            model: "gpt-4o-mini".into(),
            instead_of: None,
            input_tokens: 100,
            cached_tokens: 40,
            output_tokens: 20,
            estimated: false,
            cost_nanos: Some(27_000),
            latency_ms: 300,
            outcome: ModelOutcome::Ok,
        }
    }

    #[tokio::test]
    async fn what_one_caller_used_is_never_counted_for_another() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let now = OffsetDateTime::now_utc();
        let day = now - Duration::days(1);
        for it in [
            call("ann", Some("r1"), now),
            call("ann", None, now - Duration::hours(2)),
            call("ann", Some("r1"), now - Duration::days(2)),
            call("bob", Some("r1"), now),
        ] {
            store.add_model_call(&it).await.unwrap();
        }
        let spend = |tokens, cost_nanos| ModelSpend { tokens, cost_nanos };
        let spent = async |caller, run| store.model_spend(caller, day, run).await.unwrap();
        assert_eq!(spent("ann", None).await, spend(240, 54_000));
        assert_eq!(spent("ann", Some("r1")).await, spend(240, 54_000));
        assert_eq!(spent("bob", None).await, spend(120, 27_000));
        assert_eq!(spent("eve", Some("r1")).await, ModelSpend::default());

        assert_eq!(store.erase_model_calls("ann").await.unwrap(), 3);
        assert_eq!(spent("ann", None).await, ModelSpend::default());
        assert_eq!(store.model_usage(None, day).await.unwrap()[0].total, 1);
        assert_eq!(store.remove_old_model_calls(now + Duration::days(1), 9).await.unwrap(), 1);
    }

    #[tokio::test]
    async fn usage_is_summed_by_provider_and_model() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let now = OffsetDateTime::now_utc();
        let failed = ModelCall {
            outcome: ModelOutcome::Timeout,
            cost_nanos: None,
            latency_ms: 100,
            ..call("ann", None, now)
        };
        let other = ModelCall { model: "gpt-5".into(), ..call("bob", None, now) };
        for it in [call("ann", None, now), failed, other] {
            store.add_model_call(&it).await.unwrap();
        }
        let rows = store.model_usage(None, now - Duration::hours(1)).await.unwrap();
        let first = &rows[0];
        assert_eq!((first.model.as_str(), first.total, first.success), ("gpt-4o-mini", 2, 1));
        assert_eq!((first.success_rate, first.unpriced, first.avg_latency_ms), (0.5, 1, 200));
        assert_eq!((first.input_tokens, first.cached_tokens, first.output_tokens), (200, 80, 40));
        assert!((first.cost_usd - 27e-6).abs() < 1e-12);
        assert_eq!(
            store.model_usage(Some("bob"), now - Duration::hours(1)).await.unwrap().len(),
            1
        );
    }

    #[tokio::test]
    async fn percentiles_are_of_answered_calls_by_model_and_by_provider() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let now = OffsetDateTime::now_utc();
        for latency_ms in (1..=20).rev() {
            store
                .add_model_call(&ModelCall { latency_ms, ..call("ann", None, now) })
                .await
                .unwrap();
        }
        let slow = ModelCall { model: "gpt-5".into(), latency_ms: 900, ..call("ann", None, now) };
        let (outcome, provider) = (ModelOutcome::Timeout, "groq".to_owned());
        let late = ModelCall { latency_ms: 5000, outcome, ..slow.clone() };
        let none = ModelCall { provider, ..late.clone() };
        for it in [slow, late, none] {
            store.add_model_call(&it).await.unwrap();
        }
        let since = now - Duration::hours(1);
        let rows = store.model_usage(None, since).await.unwrap();
        let times = |at: usize| (rows[at].p50_latency_ms, rows[at].p95_latency_ms);
        assert_eq!(times(0), (Some(10), Some(19)));
        assert_eq!((times(1), rows[1].success_rate), ((Some(900), Some(900)), 0.5));
        let rows = store.provider_usage(Some("ann"), since).await.unwrap();
        let first = &rows[0];
        assert_eq!((first.provider.as_str(), first.total, first.errors), ("openai", 22, 1));
        assert_eq!((first.p50_latency_ms, first.p95_latency_ms), (Some(11), Some(20)));
        let last = &rows[1];
        assert_eq!((last.provider.as_str(), last.p50_latency_ms, last.total), ("groq", None, 1));
        assert!(store.provider_usage(Some("bob"), since).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn a_budget_is_set_replaced_and_removed() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let budget = |tokens| ModelBudgetRow { tokens, cost_nanos: Some(5) };
        for tokens in [Some(10), None] {
            store.set_model_budget("ann", budget(tokens)).await.unwrap();
            assert_eq!(store.model_budget("ann").await.unwrap(), Some(budget(tokens)));
        }
        assert_eq!(store.model_budgets().await.unwrap().len(), 1);
        assert!(store.remove_model_budget("ann").await.unwrap());
        assert!(!store.remove_model_budget("ann").await.unwrap());
        assert_eq!(store.model_budget("ann").await.unwrap(), None);
    }
}
