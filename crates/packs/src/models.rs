//! Models, for a job's caller.

use helmdeck_gateway::{
    AnswerBody, Body, Family, Gateway, GatewayError, ModelId, ModelRequest, Run as Share, nanos,
    no_models,
};
use helmdeck_sessions::{Caller, Scope};
use helmdeck_vision::{GatewayModel, eyes::Spent};
use helmdeck_wire::{ErrorCode, job::JobId};
use http::HeaderMap;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{PackError, PackResult};

/// What a call may use of models, besides the budget of its caller.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PackModelBudget")]
pub struct ModelBudget {
    /// Tokens.
    #[serde(default)]
    pub tokens: Option<u64>,
    /// Dollars.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub usd: Option<f64>,
}

/// The models that a job's caller may use. Calls count for the caller and for the job.
#[derive(Clone)]
pub struct Models {
    gateway: Gateway,
    caller: Caller,
    job: JobId,
}

/// What a model wrote.
#[derive(Debug, Clone, Default)]
pub struct Written {
    /// The text.
    pub text: String,
    /// Whether the text ends at the limit of tokens.
    pub truncated: bool,
    /// What it used.
    pub spent: Spent,
}

/// Refuses a call that needs a model if its caller may not use any, or if there is none.
pub async fn check(gateway: &Gateway, caller: &Caller) -> PackResult<()> {
    if !caller.may(Scope::MODELS_USE) {
        let message = format!("the token lacks the scope {}", Scope::MODELS_USE);
        return Err(PackError::new(ErrorCode::Forbidden, message));
    }
    match missing(gateway, caller).await? {
        Some(reason) => Err(PackError::new(ErrorCode::NoModelKey, reason)),
        None => Ok(()),
    }
}

/// Why a caller has no model, and the command that changes it.
pub async fn missing(gateway: &Gateway, caller: &Caller) -> PackResult<Option<String>> {
    let providers = gateway.providers(caller).await.map_err(failed)?;
    let some = providers.iter().any(|provider| provider.available);
    Ok((!some).then(|| no_models().to_owned()))
}

impl Models {
    pub(crate) fn new(gateway: Gateway, caller: Caller, job: JobId) -> Self {
        Self { gateway, caller, job }
    }

    /// The model with this id, or the server's model of vision.
    pub fn choose_vision(&self, wanted: Option<&str>) -> PackResult<ModelId> {
        match wanted {
            None => Ok(self.gateway.settings().vision_model()),
            wanted => self.choose(wanted),
        }
    }

    /// The model with this id, or the server's default.
    pub fn choose(&self, wanted: Option<&str>) -> PackResult<ModelId> {
        let settings = self.gateway.settings();
        let Some(wanted) = wanted else { return Ok(settings.default_model.clone()) };
        let id = ModelId::parse(wanted)
            .map_err(|invalid| PackError::invalid("model", format!("model: {invalid}")))?;
        if settings.provider(&id.provider).is_none() {
            let names: Vec<_> = settings.providers.iter().map(|it| it.name.as_str()).collect();
            let message = format!(
                "model: {id}: no provider is called {}: use one of {}",
                id.provider,
                names.join(", ")
            );
            let hint = "GET /v1/models lists the models that you can use";
            return Err(PackError::invalid("model", message).hint(hint));
        }
        Ok(id)
    }

    /// A model that sees a desktop.
    pub fn on_desktop(&self, id: ModelId, budget: ModelBudget) -> GatewayModel {
        let share = self.share(budget);
        GatewayModel::new(self.gateway.clone(), self.caller.clone(), id, true, share)
    }

    /// Asks a model, in messages as OpenAI Chat has them.
    pub async fn write(
        &self,
        id: &ModelId,
        messages: &[Value],
        max_tokens: u32,
        budget: ModelBudget,
    ) -> PackResult<Written> {
        // OpenAI's newer models refuse the old name, and others do not know the new one.
        let limit = if id.provider == "openai" { "max_completion_tokens" } else { "max_tokens" };
        let body = json!({ "model": id.to_string(), "messages": messages, limit: max_tokens });
        let body = Body::parse(body.to_string().as_bytes()).map_err(|e| failed(e.into()))?;
        let asked = ModelRequest {
            caller: self.caller.clone(),
            family: Family::Chat,
            body,
            stream: false,
            headers: HeaderMap::new(),
            run: Some(self.share(budget)),
        };
        // The gateway has its own deadlines.
        let answer = self.gateway.ask(asked).await.map_err(failed)?;
        let answered = answer.model();
        let id = answered.as_ref().unwrap_or(id);
        let AnswerBody::Whole(bytes) = answer.body else {
            return Err(malformed(id, "the reply is a stream"));
        };
        if !answer.status.is_success() {
            let (_, message) = Family::Chat.read_error(&bytes);
            let status = answer.status.as_u16();
            let message = format!("{} answered {status}: {message}", id.provider);
            return Err(PackError::new(ErrorCode::ProviderError, message));
        }
        let reply: Value =
            serde_json::from_slice(&bytes).map_err(|_| malformed(id, "the reply is not JSON"))?;
        self.written(id, &reply)
    }

    fn written(&self, id: &ModelId, reply: &Value) -> PackResult<Written> {
        let choice = reply.pointer("/choices/0");
        let choice = choice.ok_or_else(|| malformed(id, "the reply has no choices"))?;
        let text = choice.pointer("/message/content").and_then(Value::as_str).unwrap_or_default();
        let finish = choice.get("finish_reason").and_then(Value::as_str).unwrap_or_default();
        if text.trim().is_empty() {
            return Err(malformed(
                id,
                match finish {
                    "length" => "the reply is empty: its tokens were used up before any text",
                    "content_filter" => "the reply is empty: the provider's filter held it back",
                    _ => "the reply is empty",
                },
            ));
        }
        let spent = Family::Chat.usage(reply).map_or(Spent::default(), |usage| Spent {
            input_tokens: usage.input,
            cached_tokens: usage.cached,
            output_tokens: usage.output,
            cost_usd: self.gateway.cost(id, &usage),
        });
        Ok(Written { text: text.to_owned(), truncated: finish == "length", spent })
    }

    fn share(&self, budget: ModelBudget) -> Share {
        let mut share = Share { id: self.job.as_str().to_owned(), ..Share::default() };
        share.budget.tokens = budget.tokens;
        share.budget.cost_nanos = budget.usd.map(nanos);
        share
    }
}

fn malformed(id: &ModelId, what: &str) -> PackError {
    let hint = "try another model, or a simpler instruction";
    PackError::new(ErrorCode::InvalidOutput, format!("{id}: {what}")).hint(hint)
}

/// An error of the gateway as an error of a pack.
fn failed(error: GatewayError) -> PackError {
    let (message, hint) = (error.to_string(), error.hint());
    let wait = error.retry_after();
    let mut new = PackError::new(error.code(), message);
    if let Some(hint) = hint {
        new = new.hint(hint);
    }
    match wait {
        Some(wait) => new.retry_after_s(wait.as_secs().max(1)),
        None => new,
    }
}
