//! A model behind the gateway.

use futures_util::future::BoxFuture;
use helmdeck_gateway::{
    AnswerBody, Body, Gateway, GatewayError, ModelId, ModelRequest, Run as Share,
};
use helmdeck_wire::Caller;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use crate::{
    dialect::{Dialect, choose, choose_for},
    eyes::{Model, ModelFailure, Reply, Spent},
    request::headers,
};

/// A model, as a caller uses it for one run.
pub struct GatewayModel {
    gateway: Gateway,
    caller: Caller,
    id: ModelId,
    name: String,
    dialect: Dialect,
    share: Share,
}

impl GatewayModel {
    /// The model with this id, for a run with a budget.
    pub fn new(
        gateway: Gateway,
        caller: Caller,
        id: ModelId,
        on_desktop: bool,
        share: Share,
    ) -> Self {
        let dialect = match gateway.settings().provider(&id.provider) {
            Some(provider) => choose_for(provider, &id.model, on_desktop),
            None => choose(&id.provider, &id.model, on_desktop),
        };
        Self { gateway, caller, name: id.to_string(), id, dialect, share }
    }

    async fn send(&self, body: Value) -> Result<Reply, ModelFailure> {
        let body = Body::parse(body.to_string().as_bytes())
            .map_err(|error| ModelFailure::Provider(error.to_string()))?;
        let mut passed = HeaderMap::new();
        for (name, value) in headers(self.dialect) {
            passed.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let family = self.dialect.family();
        let asked = ModelRequest {
            caller: self.caller.clone(),
            family,
            body,
            stream: false,
            headers: passed,
            run: Some(self.share.clone()),
        };
        // The gateway has its own deadlines.
        let answer = self.gateway.ask(asked).await.map_err(failure)?;
        let answered = answer.model();
        let AnswerBody::Whole(bytes) = answer.body else {
            return Err(ModelFailure::Provider("the answer is a stream".to_owned()));
        };
        if !answer.status.is_success() {
            let (_, message) = family.read_error(&bytes);
            let status = answer.status.as_u16();
            return Err(ModelFailure::Provider(format!(
                "{} answered {status}: {message}",
                self.id.provider
            )));
        }
        let body: Value = serde_json::from_slice(&bytes)
            .map_err(|_| ModelFailure::Malformed("the answer is not JSON".to_owned()))?;
        let spent = family.usage(&body).map_or(Spent::default(), |usage| Spent {
            input_tokens: usage.input,
            cached_tokens: usage.cached,
            output_tokens: usage.output,
            cost_usd: self.gateway.cost(answered.as_ref().unwrap_or(&self.id), &usage),
        });
        Ok(Reply { body, spent })
    }
}

impl Model for GatewayModel {
    fn id(&self) -> &str {
        &self.name
    }

    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn ask(&self, body: Value) -> BoxFuture<'_, Result<Reply, ModelFailure>> {
        Box::pin(self.send(body))
    }
}

fn failure(error: GatewayError) -> ModelFailure {
    let message = match error.hint().filter(|hint| !error.to_string().contains(hint.as_str())) {
        Some(hint) => format!("{error}: {hint}"),
        None => error.to_string(),
    };
    match error {
        GatewayError::Budget(_) => ModelFailure::Budget(message),
        GatewayError::Malformed { .. } => ModelFailure::Malformed(message),
        _ => ModelFailure::Provider(message),
    }
}
