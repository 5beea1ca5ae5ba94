//! Budgets: what callers and runs may use. A call is refused before it is made if it could exceed one.
//!
//! What was used is in the store. What running calls could use is reserved here, so that calls at the
//! same time cannot exceed a budget together.

use std::{collections::HashMap, sync::Arc};

use helmdeck_store::{ModelBudgetRow, ModelSpend, Store};
use parking_lot::Mutex;
use time::{Duration, OffsetDateTime};

use crate::{
    error::GatewayError,
    models::{Nanos, dollars},
};

/// How far back a caller's use counts.
pub const WINDOW: Duration = Duration::days(1);

/// The name of a piece of work, and what it may use.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// Its name, unique among the caller's.
    pub id: String,
    /// Its budget.
    pub budget: ModelBudgetRow,
}

/// What running calls could use, by caller and by run.
#[derive(Default)]
pub struct Ledger {
    reserved: Arc<Mutex<HashMap<Account, ModelSpend>>>,
    /// Held from reading what was used until the call is reserved.
    deciding: tokio::sync::Mutex<()>,
}

/// A caller, or one of its runs.
type Account = (String, Option<String>);

/// What a call could use. It is released when this is dropped.
#[derive(Default)]
pub struct Reservation {
    held: Vec<(Account, ModelSpend)>,
    ledger: Arc<Mutex<HashMap<Account, ModelSpend>>>,
}

/// A call that asks for its share.
pub struct Claim<'a> {
    /// Subject of the caller.
    pub caller: &'a str,
    /// The caller's budget.
    pub budget: ModelBudgetRow,
    /// The run that it belongs to.
    pub run: Option<&'a Run>,
    /// The model, for messages.
    pub model: &'a str,
    /// Tokens that it could use.
    pub tokens: u64,
    /// What it could cost, if the price is known.
    pub cost: Option<Nanos>,
}

impl Ledger {
    /// Reserves what a call could use, or refuses it.
    pub async fn reserve(
        &self,
        store: &Store,
        now: OffsetDateTime,
        claim: &Claim<'_>,
    ) -> Result<Reservation, GatewayError> {
        let run = claim.run.map(|run| (Some(run.id.as_str()), run.budget, "run"));
        let accounts = [Some((None, claim.budget, "caller")), run];
        let limited =
            |budget: &ModelBudgetRow| budget.tokens.is_some() || budget.cost_nanos.is_some();
        let accounts = accounts.into_iter().flatten().filter(|(_, budget, _)| limited(budget));
        let accounts: Vec<_> = accounts.collect();
        let mut reservation = Reservation { held: Vec::new(), ledger: self.reserved.clone() };
        if accounts.is_empty() {
            return Ok(reservation);
        }
        let _deciding = self.deciding.lock().await;
        let wanted =
            ModelSpend { tokens: claim.tokens, cost_nanos: claim.cost.unwrap_or_default() };
        for (run, budget, what) in &accounts {
            if budget.cost_nanos.is_some() && claim.cost.is_none() {
                return Err(GatewayError::Budget(format!(
                    "the {what} has a budget of money, and the price of {} is not known: add it to \
                     HELMDECK_MODEL_PRICES_JSON",
                    claim.model
                )));
            }
            let used = store.model_spend(claim.caller, now - WINDOW, *run).await?;
            let account = (claim.caller.to_owned(), run.map(str::to_owned));
            let reserved = self.reserved.lock().get(&account).copied().unwrap_or_default();
            let period = if run.is_some() { "" } else { " in 24 hours" };
            check(*budget, used, reserved, wanted).map_err(|why| {
                GatewayError::Budget(format!("the budget of the {what} is {why}{period}"))
            })?;
            reservation.held.push((account, wanted));
        }
        reservation.hold();
        Ok(reservation)
    }
}

/// Refuses what does not fit: what was used, what running calls could use, and this call.
fn check(
    budget: ModelBudgetRow,
    used: ModelSpend,
    reserved: ModelSpend,
    wanted: ModelSpend,
) -> Result<(), String> {
    if let Some(limit) = budget.tokens {
        let busy = used.tokens.saturating_add(reserved.tokens);
        if busy.saturating_add(wanted.tokens) > limit {
            return Err(format!(
                "{limit} tokens: {busy} are used or reserved, and this call could use {}",
                wanted.tokens
            ));
        }
    }
    if let Some(limit) = budget.cost_nanos {
        let busy = used.cost_nanos.saturating_add(reserved.cost_nanos);
        if busy.saturating_add(wanted.cost_nanos) > limit {
            return Err(format!(
                "${:.4}: ${:.4} are used or reserved, and this call could cost ${:.4}",
                dollars(limit),
                dollars(busy),
                dollars(wanted.cost_nanos)
            ));
        }
    }
    Ok(())
}

impl Reservation {
    fn hold(&self) {
        let mut ledger = self.ledger.lock();
        for (account, spend) in &self.held {
            let entry = ledger.entry(account.clone()).or_default();
            entry.tokens += spend.tokens;
            entry.cost_nanos += spend.cost_nanos;
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut ledger = self.ledger.lock();
        for (account, spend) in &self.held {
            let Some(entry) = ledger.get_mut(account) else { continue };
            entry.tokens = entry.tokens.saturating_sub(spend.tokens);
            entry.cost_nanos -= spend.cost_nanos;
            if *entry == ModelSpend::default() {
                ledger.remove(account);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use helmdeck_store::ModelCall;
    use helmdeck_wire::model::ModelOutcome;

    use super::*;

    fn tokens(tokens: u64) -> ModelBudgetRow {
        ModelBudgetRow { tokens: Some(tokens), cost_nanos: None }
    }

    fn claim<'a>(caller: &'a str, run: Option<&'a Run>, tokens: u64) -> Claim<'a> {
        let budget = ModelBudgetRow { tokens: Some(1000), cost_nanos: Some(500) };
        Claim { caller, budget, run, model: "a/b", tokens, cost: Some(1) }
    }

    async fn store() -> (tempfile::TempDir, Store) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        (dir, store)
    }

    #[tokio::test]
    async fn calls_at_the_same_time_cannot_exceed_a_budget_together() {
        let (_dir, store) = store().await;
        let (ledger, now) = (Ledger::default(), OffsetDateTime::now_utc());
        let first = ledger.reserve(&store, now, &claim("ann", None, 600)).await.unwrap();
        let refused = ledger.reserve(&store, now, &claim("ann", None, 600)).await;
        let refused = refused.err().unwrap().to_string();
        assert!(refused.contains("600 are used or reserved"), "{refused}");
        ledger.reserve(&store, now, &claim("bob", None, 600)).await.unwrap();
        drop(first);
        ledger.reserve(&store, now, &claim("ann", None, 600)).await.unwrap();
        assert!(ledger.reserved.lock().is_empty(), "nothing stays reserved");
    }

    #[tokio::test]
    async fn a_run_has_its_own_budget_within_that_of_its_caller() {
        let (_dir, store) = store().await;
        let (ledger, now) = (Ledger::default(), OffsetDateTime::now_utc());
        let call = ModelCall {
            at: now,
            caller: "ann".into(),
            run: Some("r".into()),
            provider: "a".into(),
            model: "b".into(),
            instead_of: None,
            input_tokens: 90,
            cached_tokens: 0,
            output_tokens: 0,
            estimated: false,
            cost_nanos: None,
            latency_ms: 1,
            outcome: ModelOutcome::Ok,
        };
        store.add_model_call(&call).await.unwrap();
        let run = Run { id: "r".into(), budget: tokens(100) };
        let refused = ledger.reserve(&store, now, &claim("ann", Some(&run), 20)).await;
        assert!(refused.err().unwrap().to_string().contains("of the run is 100 tokens"));
        ledger.reserve(&store, now, &claim("ann", Some(&run), 10)).await.unwrap();
        // Another caller's run of the same name is another run.
        ledger.reserve(&store, now, &claim("bob", Some(&run), 20)).await.unwrap();
        // The refusal of a run reserves nothing for its caller.
        assert!(ledger.reserved.lock().is_empty());
    }

    #[tokio::test]
    async fn a_model_without_a_price_is_refused_where_money_counts() {
        let (_dir, store) = store().await;
        let (ledger, now) = (Ledger::default(), OffsetDateTime::now_utc());
        let unknown = Claim { cost: None, ..claim("ann", None, 1) };
        let refused = ledger.reserve(&store, now, &unknown).await.err().unwrap().to_string();
        assert!(refused.contains("the price of a/b is not known"), "{refused}");
        let free = Claim { budget: tokens(10), ..unknown };
        ledger.reserve(&store, now, &free).await.unwrap();
    }
}
