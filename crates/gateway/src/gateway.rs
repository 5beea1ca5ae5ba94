//! The door: calls models for callers.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures_util::{Stream, stream::BoxStream};
use helmdeck_egress::Policy;
use helmdeck_store::{
    ModelBudgetRow, Store, Vault,
    vault::{Secret, VaultError},
};
use helmdeck_wire::Caller;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use parking_lot::Mutex;
use rustls::Error as TlsError;
use time::OffsetDateTime;
use tokio_util::task::TaskTracker;

use crate::{
    Family, Invalid,
    body::Body,
    budget::{Ledger, Run},
    calls::Calls,
    catalogue::Catalogue,
    conversation::Usage,
    error::GatewayError,
    meter::Records,
    model_id::ModelId,
    models::{Facts, dollars},
    provider::Provider,
    settings::Settings,
    upstream::Upstream,
};

/// How many waits that providers asked for are remembered.
const MAX_COOLING: usize = 1000;

/// Calls models for callers. Cheap to clone.
#[derive(Clone)]
pub struct Gateway {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub settings: Settings,
    pub store: Store,
    pub vault: Vault,
    pub upstream: Upstream,
    pub ledger: Ledger,
    pub records: Arc<Records>,
    pub catalogue: Catalogue,
    pub calls: Calls,
    /// Until when a provider asked not to be called, by model and key.
    cooling: Mutex<HashMap<(ModelId, u64), Instant>>,
    now: Now,
}

/// Tells the time.
pub type Now = Arc<dyn Fn() -> OffsetDateTime + Send + Sync>;

/// A request of a client.
pub struct ModelRequest {
    /// Who asks.
    pub caller: Caller,
    /// How.
    pub family: Family,
    /// What.
    pub body: Body,
    /// Whether the answer is streamed.
    pub stream: bool,
    /// Headers that are passed on within a family.
    pub headers: HeaderMap,
    /// The piece of work that it belongs to.
    pub run: Option<Run>,
}

/// An answer for a client.
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// Headers: the type of the body, and which model answered.
    pub headers: HeaderMap,
    /// The body.
    pub body: AnswerBody,
}

/// The body of an answer.
pub enum AnswerBody {
    /// All of it.
    Whole(Bytes),
    /// Events. Dropping it cancels the call.
    Stream(BoxStream<'static, Result<Bytes, std::convert::Infallible>>),
}

/// The model that answered.
pub const MODEL: HeaderName = HeaderName::from_static("x-helmdeck-model");
/// The model that was asked for, if another one answered.
pub const INSTEAD_OF: HeaderName = HeaderName::from_static("x-helmdeck-instead-of");
/// Tells SDKs whether to send a request again. Those of OpenAI and Anthropic obey it.
pub const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");
/// Fields of the request that the model's provider has no equivalent for.
pub const IGNORED: HeaderName = HeaderName::from_static("x-helmdeck-ignored");

impl Gateway {
    /// A gateway with these settings.
    pub fn new(
        settings: Settings,
        policy: Policy,
        store: Store,
        vault: Vault,
        now: Now,
    ) -> Result<Self, TlsError> {
        let records = Records { store: store.clone(), tasks: TaskTracker::new() };
        let shared = Shared {
            settings,
            store,
            vault,
            upstream: Upstream::new(policy)?,
            ledger: Ledger::default(),
            records: Arc::new(records),
            catalogue: Catalogue::default(),
            calls: Calls::default(),
            cooling: Mutex::default(),
            now,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// What the operator chose.
    pub fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// Waits until all calls that ended are recorded.
    pub async fn flush(&self) {
        let tasks = &self.shared.records.tasks;
        tasks.close();
        tasks.wait().await;
        tasks.reopen();
    }

    /// The model of a request, or the default one.
    pub(crate) fn wanted(&self, body: &Body) -> Result<ModelId, GatewayError> {
        match body.text("model").filter(|text| !text.is_empty()) {
            Some(text) => Ok(ModelId::parse(&text)?),
            None if body.value("model").is_some_and(|value| !value.is_null()) => {
                Err(Invalid::new("model", "expected a string").into())
            }
            None => Ok(self.shared.settings.default_model.clone()),
        }
    }

    /// The provider of a model.
    pub(crate) fn provider(&self, id: &ModelId) -> Result<&Provider, GatewayError> {
        self.shared.settings.provider(&id.provider).ok_or_else(|| {
            let known = &self.shared.settings.providers;
            let names: Vec<_> = known.iter().map(|provider| provider.name.as_str()).collect();
            let message = format!(
                "{id}: no provider is called {}: use one of {}",
                id.provider,
                names.join(", ")
            );
            GatewayError::UnknownModel(message)
        })
    }

    /// The key of a provider, for a caller.
    pub(crate) async fn key(
        &self,
        caller: &Caller,
        provider: &Provider,
    ) -> Result<Option<Secret>, GatewayError> {
        if provider.is_local {
            return Ok(None);
        }
        let to = provider.destination();
        match self.shared.vault.resolve(caller, &provider.key_name(), to).await {
            Ok(secret) => Ok(Some(secret)),
            Err(VaultError::NotFound { .. }) if !provider.needs_key => Ok(None),
            Err(VaultError::NotFound { .. }) => {
                Err(GatewayError::NoKey { provider: provider.name.clone() })
            }
            Err(other) => Err(other.into()),
        }
    }

    /// What is known of a model.
    pub(crate) fn facts(&self, id: &ModelId, provider: &Provider) -> Option<Facts> {
        let known = self.shared.settings.models.facts(id).cloned();
        let known = known.or_else(|| self.shared.catalogue.learned(id));
        known.or_else(|| provider.is_local.then(Facts::default))
    }

    /// Dollars for what a call used, if its provider says so or the price is known.
    pub fn cost(&self, id: &ModelId, usage: &Usage) -> Option<f64> {
        let facts = || self.facts(id, self.provider(id).ok()?);
        usage.cost.or_else(|| facts().map(|facts| dollars(facts.cost(usage))))
    }

    /// The budget of a caller.
    pub(crate) async fn budget(&self, caller: &str) -> Result<ModelBudgetRow, GatewayError> {
        let own = self.shared.store.model_budget(caller).await?;
        Ok(own.unwrap_or(self.shared.settings.budget))
    }

    pub(crate) fn now(&self) -> OffsetDateTime {
        (self.shared.now)()
    }

    /// Remembers that a provider asked to wait.
    pub(crate) fn cool(&self, id: &ModelId, mark: u64, wait: Duration) {
        let (now, mut cooling) = (Instant::now(), self.shared.cooling.lock());
        cooling.retain(|_, until| *until > now);
        if cooling.len() < MAX_COOLING {
            cooling.insert((id.clone(), mark), now + wait);
        }
    }

    /// How long a provider still wants to be left alone.
    pub(crate) fn cooling(&self, id: &ModelId, mark: u64) -> Option<Duration> {
        let cooling = self.shared.cooling.lock();
        let until = cooling.get(&(id.clone(), mark))?;
        Some(until.saturating_duration_since(Instant::now())).filter(|wait| !wait.is_zero())
    }
}

impl Answer {
    /// The model that answered: it may be a fallback of the one that was asked.
    pub fn model(&self) -> Option<ModelId> {
        ModelId::parse(self.headers.get(MODEL)?.to_str().ok()?).ok()
    }

    pub(crate) fn json(status: StatusCode, body: impl Into<Bytes>) -> Self {
        Self::new(status, "application/json", AnswerBody::Whole(body.into()))
    }

    pub(crate) fn events(
        stream: impl Stream<Item = Result<Bytes, std::convert::Infallible>> + Send + 'static,
    ) -> Self {
        Self::new(StatusCode::OK, "text/event-stream", AnswerBody::Stream(Box::pin(stream)))
    }

    fn new(status: StatusCode, media_type: &'static str, body: AnswerBody) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
        Self { status, headers, body }
    }

    /// Adds a header, unless its value has characters that no header can have.
    pub(crate) fn with(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::try_from(value) {
            self.headers.insert(name, value);
        }
        self
    }
}
