//! Which models a caller can use: those that its providers list now.

use std::{
    collections::HashMap,
    time::{Duration, Instant, SystemTime},
};

use futures_util::future::join_all;
use helmdeck_store::vault::{Secret, Usable};
use helmdeck_wire::{
    Caller,
    model::{KeyTest, Model, ModelList, Provider as Listed, ProviderProblem},
    vault::CredentialSource,
};
use http::{HeaderMap, Method};
use parking_lot::Mutex;
use serde_json::Value;
use time::OffsetDateTime;
use tokio::time::{Instant as Moment, timeout_at};

use crate::{
    Family,
    error::{GatewayError, add_key},
    gateway::Gateway,
    json::{field, list, text},
    model_id::ModelId,
    models::Facts,
    provider::Provider,
    settings::Rule,
    upstream::{self, Outgoing},
};

/// How long a list is used again.
const FRESH: Duration = Duration::from_secs(600);
/// The same for programs of the operator, which may start and stop.
const FRESH_LOCAL: Duration = Duration::from_secs(15);
/// How long a provider may take to list its models.
const DEADLINE: Duration = Duration::from_secs(10);
/// The same for a program on this machine, which may not run at all.
const DEADLINE_LOCAL: Duration = Duration::from_secs(2);
/// The largest list.
const MAX_LIST: usize = 16 << 20;
/// How many lists are kept.
const MAX_LISTS: usize = 200;

/// Lists of models, as providers sent them.
#[derive(Default)]
pub struct Catalogue {
    /// By provider and key.
    lists: Mutex<HashMap<String, Fetched>>,
    /// Prices that providers told.
    learned: Mutex<HashMap<String, Facts>>,
}

/// A list, or why there is none.
#[derive(Clone)]
struct Fetched {
    at: Instant,
    when: OffsetDateTime,
    models: Result<Vec<String>, String>,
}

impl Catalogue {
    /// What a provider told of a model.
    pub fn learned(&self, id: &ModelId) -> Option<Facts> {
        self.learned.lock().get(&id.to_string()).cloned()
    }

    fn kept(&self, name: &str, fresh: Duration) -> Option<Fetched> {
        self.lists.lock().get(name).filter(|list| list.at.elapsed() < fresh).cloned()
    }

    fn keep(&self, name: String, list: Fetched) {
        let mut lists = self.lists.lock();
        if lists.len() >= MAX_LISTS {
            lists.clear();
        }
        lists.insert(name, list);
    }
}

impl Gateway {
    /// The models that a caller can use now. A provider that fails is named, and hides no other.
    pub async fn models(&self, caller: &Caller) -> Result<ModelList, GatewayError> {
        let settings = &self.shared.settings;
        let asked = settings.providers.iter().map(|provider| self.list(caller, provider));
        let mut models = Vec::new();
        let mut problems = Vec::new();
        let mut fetched_at = self.now();
        for (provider, list) in settings.providers.iter().zip(join_all(asked).await) {
            let Some(list) = list? else { continue };
            fetched_at = fetched_at.min(list.when);
            match list.models {
                Ok(names) => models.extend(names.iter().map(|name| self.describe(provider, name))),
                // Nobody configured a program on this machine, so it need not run.
                Err(_) if provider.is_local && !self.is_chosen(provider) => {}
                Err(message) => {
                    let provider = provider.name.clone();
                    problems.push(ProviderProblem { provider, message });
                }
            }
        }
        let default_model = settings.default_model.to_string();
        let rule = settings.rule(&settings.default_model);
        let fallbacks =
            rule.map(|rule| rule.fallbacks.iter().map(|it| it.model.to_string()).collect());
        let hint = models.is_empty().then(|| no_models().to_owned());
        Ok(ModelList {
            count: models.len(),
            models,
            default_model,
            fallbacks: fallbacks.unwrap_or_default(),
            vision_model: settings.vision_model().to_string(),
            vision_pinned: settings.pinned.get().is_some(),
            chains: settings.rules.iter().map(Rule::describe).collect(),
            problems,
            hint,
            fetched_at,
        })
    }

    /// The providers, and whether a caller can use them.
    pub async fn providers(&self, caller: &Caller) -> Result<Vec<Listed>, GatewayError> {
        let mut listed = Vec::new();
        for provider in &self.shared.settings.providers {
            let key = self.usable(caller, provider).await?.map(|usable| usable.source);
            let available = match provider.is_local {
                true => self.list(caller, provider).await?.is_some_and(|list| list.models.is_ok()),
                false => key.is_some() || !provider.needs_key,
            };
            let hint = match (available, provider.is_local) {
                (true, _) => None,
                (false, true) => Some(format!("nothing answers at {}", provider.url)),
                (false, false) => Some(add_key(&provider.name)),
            };
            listed.push(Listed {
                name: provider.name.clone(),
                url: provider.url.clone(),
                families: provider.families.iter().map(|it| it.as_str().to_owned()).collect(),
                needs_key: provider.needs_key,
                key,
                available,
                hint,
            });
        }
        Ok(listed)
    }

    /// Why no model can be called, if that is so. Tools that need one say it.
    pub async fn unavailable(&self, caller: &Caller) -> Result<Option<&'static str>, GatewayError> {
        for provider in &self.shared.settings.providers {
            let ready = match provider.is_local {
                true => self.list(caller, provider).await?.is_some_and(|it| it.models.is_ok()),
                false => !provider.needs_key || self.usable(caller, provider).await?.is_some(),
            };
            if ready {
                return Ok(None);
            }
        }
        Ok(Some(no_models()))
    }

    /// Asks a provider whether it accepts a key: the one with this id, or the one that the caller
    /// would use.
    pub async fn test_key(
        &self,
        caller: &Caller,
        provider: &str,
        id: Option<&str>,
    ) -> Result<KeyTest, GatewayError> {
        let unknown = || GatewayError::UnknownModel(format!("no provider is called {provider}"));
        let provider = self.shared.settings.provider(provider).ok_or_else(unknown)?;
        let began = Instant::now();
        let key = match id {
            Some(id) => {
                let to = provider.destination();
                self.shared.vault.resolve_by_id(caller, id, to).await.map(Some).map_err(Into::into)
            }
            None => self.key(caller, provider).await,
        };
        let answered = match key {
            Ok(key) => self.get(key, provider, provider.key_test).await,
            Err(error) => Err(error),
        };
        let latency_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        match answered {
            Ok(_) => Ok(KeyTest { ok: true, error: None, latency_ms }),
            Err(error @ (GatewayError::Vault(_) | GatewayError::Store(_))) => Err(error),
            Err(error) => Ok(KeyTest { ok: false, error: Some(error.to_string()), latency_ms }),
        }
    }

    /// Whether the operator chose the address of a provider.
    fn is_chosen(&self, provider: &Provider) -> bool {
        let known = crate::provider::KNOWN.iter().find(|known| known.name == provider.name);
        known.is_none_or(|known| known.url != provider.url)
    }

    fn describe(&self, provider: &Provider, name: &str) -> Model {
        let id = ModelId { provider: provider.name.clone(), model: name.to_owned() };
        let facts = self.facts(&id, provider);
        let of = |read: fn(&Facts) -> f64| facts.as_ref().map(read);
        Model {
            id: id.to_string(),
            provider: id.provider,
            context_tokens: facts.as_ref().and_then(|facts| facts.context),
            max_output_tokens: facts.as_ref().and_then(|facts| facts.max_output),
            input_usd_per_mtok: of(|facts| facts.input),
            output_usd_per_mtok: of(|facts| facts.output),
        }
    }

    async fn usable(
        &self,
        caller: &Caller,
        provider: &Provider,
    ) -> Result<Option<Usable>, GatewayError> {
        let (name, to) = (provider.key_name(), provider.destination());
        Ok(self.shared.vault.usable(caller, &name, to).await?)
    }

    /// The list of a provider; `None` if the caller has no key for it.
    async fn list(
        &self,
        caller: &Caller,
        provider: &Provider,
    ) -> Result<Option<Fetched>, GatewayError> {
        let key = match provider.is_local {
            true => None,
            false => self.usable(caller, provider).await?,
        };
        if key.is_none() && provider.needs_key {
            return Ok(None);
        }
        let source = key.as_ref().map(|key| (&key.id, key.updated_at, key.source));
        let name = match source {
            Some((id, at, CredentialSource::Vault)) => format!("{} {id} {at}", provider.name),
            Some((id, ..)) => format!("{} {id}", provider.name),
            None => provider.name.clone(),
        };
        let fresh = if provider.is_local { FRESH_LOCAL } else { FRESH };
        if let Some(kept) = self.shared.catalogue.kept(&name, fresh) {
            return Ok(Some(kept));
        }
        let path = match provider.families.first() {
            Some(Family::Gemini) => "/models?pageSize=1000",
            Some(Family::Messages) => "/models?limit=1000",
            _ => "/models",
        };
        let models = match self.key(caller, provider).await {
            Ok(key) => self.get(key, provider, path).await,
            Err(error) => Err(error),
        };
        let models =
            models.map(|body| self.read_list(provider, &body)).map_err(|it| it.to_string());
        let list = Fetched { at: Instant::now(), when: self.now(), models };
        self.shared.catalogue.keep(name, list.clone());
        Ok(Some(list))
    }

    /// The names in a list, in the provider's order. Remembers prices that it tells.
    fn read_list(&self, provider: &Provider, body: &Value) -> Vec<String> {
        let mut names = Vec::new();
        let listed = Some(list(body, "data")).filter(|listed| !listed.is_empty());
        for model in listed.unwrap_or_else(|| list(body, "models")) {
            let Some(name) = text(model, "id").or_else(|| text(model, "name")) else { continue };
            let name = name.strip_prefix("models/").unwrap_or(name);
            let name = match provider.name == "openrouter" {
                true => name.strip_prefix("openrouter/").unwrap_or(name),
                false => name,
            };
            let Ok(id) = ModelId::parse(&format!("{}/{name}", provider.name)) else { continue };
            if let Some(facts) = listed_facts(model, &id) {
                self.shared.catalogue.learned.lock().insert(facts.id.clone(), facts);
            }
            names.push(name.to_owned());
        }
        names
    }

    /// What a provider answers at a path.
    async fn get(
        &self,
        key: Option<Secret>,
        provider: &Provider,
        path: &str,
    ) -> Result<Value, GatewayError> {
        let after = if provider.is_local { DEADLINE_LOCAL } else { DEADLINE };
        let deadline = Moment::now() + after;
        let name = || provider.name.clone();
        let response = self
            .shared
            .upstream
            .send(Outgoing {
                provider,
                path,
                method: Method::GET,
                headers: HeaderMap::new(),
                key: key.as_ref(),
                body: Vec::new(),
                deadline: (deadline, after),
            })
            .await?;
        let (status, headers) = (response.status(), response.headers().clone());
        let reading = upstream::read(response.into_body(), MAX_LIST);
        let late = |_| GatewayError::Timeout { provider: name(), after };
        let read = timeout_at(deadline, reading).await.map_err(late)?;
        let body = read.ok().flatten().unwrap_or_default();
        if !status.is_success() {
            let family = provider.families.first().copied().unwrap_or(Family::Chat);
            let (_, message) = family.read_error(&body);
            let retry_after = upstream::retry_after(&headers, SystemTime::now());
            let answer = (family, body);
            return Err(GatewayError::Refused {
                provider: name(),
                status,
                message,
                retry_after,
                answer,
            });
        }
        serde_json::from_slice(&body).map_err(|_| GatewayError::Malformed {
            provider: name(),
            reason: crate::Malformed::new("the list of models is not JSON"),
        })
    }
}

/// What to do without any model.
pub fn no_models() -> &'static str {
    "no model is available: add a key with `helmdeck models add-key openrouter`, or start Ollama on \
     this machine"
}

/// Prices and limits in a list, as OpenRouter has them: dollars for one token, as text.
fn listed_facts(model: &Value, id: &ModelId) -> Option<Facts> {
    let pricing = field(model, "pricing")?;
    let price = |name: &str| {
        let price: f64 = text(pricing, name)?.parse().ok()?;
        (0.0..1.0).contains(&price).then_some(price * 1e6)
    };
    Some(Facts {
        id: id.to_string(),
        input: price("prompt")?,
        output: price("completion")?,
        cached: price("input_cache_read"),
        cache_write: price("input_cache_write"),
        context: field(model, "context_length").and_then(Value::as_u64),
        max_output: field(model, "top_provider")
            .and_then(|it| it.get("max_completion_tokens"))
            .and_then(Value::as_u64),
        family: None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn prices_of_a_list_are_dollars_for_a_million_tokens() {
        let id = ModelId::parse("openrouter/a/b").unwrap();
        let model = json!({
            "id": "a/b", "context_length": 1000, "top_provider": { "max_completion_tokens": 10 },
            "pricing": { "prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0" },
        });
        let facts = listed_facts(&model, &id).unwrap();
        assert_eq!(
            (facts.input.round(), facts.output.round(), facts.cached),
            (3.0, 15.0, Some(0.0))
        );
        assert_eq!((facts.context, facts.max_output), (Some(1000), Some(10)));
        // OpenRouter's router itself has no price.
        let auto = json!({ "pricing": { "prompt": "-1", "completion": "-1" } });
        assert_eq!(listed_facts(&auto, &id), None);
    }
}
