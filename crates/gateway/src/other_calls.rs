//! Calls besides answers: embeddings, and counting tokens.

use std::time::SystemTime;

use helmdeck_store::ModelCall;
use helmdeck_wire::{error::with_causes, model::ModelOutcome};
use http::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use crate::{
    Family, Invalid, Malformed,
    budget::Claim,
    conversation::Usage,
    error::GatewayError,
    estimate,
    gateway::{Answer, Gateway, MODEL, ModelRequest},
    gemini::embeddings,
    json::count,
    meter::Meter,
    model_id::ModelId,
    provider::Provider,
    upstream::{self, MAX_ANSWER, Outgoing},
};

impl Gateway {
    /// Embeddings, in the API of OpenAI.
    pub async fn embed(&self, asked: ModelRequest) -> Result<Answer, GatewayError> {
        if asked.body.value("model").is_none() {
            return Err(Invalid::new("model", "it is missing").into());
        }
        let id = self.wanted(&asked.body)?;
        let provider = self.provider(&id)?;
        let model = provider.model_name(&id.model);
        let (path, body) = match provider.families.first() {
            Some(Family::Gemini) => {
                let (value, _) = asked.body.marked(0)?;
                let body = embeddings::write(&value, &model)?.to_string().into_bytes();
                (format!("/models/{model}:batchEmbedContents"), body)
            }
            Some(Family::Messages) => {
                let reason = format!("{} has no embeddings: use another provider", provider.name);
                return Err(Invalid::new("model", reason).into());
            }
            _ => {
                let mut body = asked.body.clone();
                body.set("model", &json!(model));
                ("/embeddings".to_owned(), body.bytes())
            }
        };
        let tokens = estimate::of_input(&asked.body);
        let mut meter = self.small_meter(&asked, &id, provider, tokens).await?;
        let sent = self.send_whole(&asked, provider, &path, body).await;
        let read = sent.and_then(|body| {
            let value: Value = serde_json::from_slice(&body).map_err(|_| malformed(provider))?;
            Ok((body, value))
        });
        let (body, value) = match read {
            Ok(read) => read,
            Err(error) => {
                meter.end(error.outcome());
                return Err(error);
            }
        };
        meter.end(ModelOutcome::Ok);
        let answer = match provider.families.first() {
            Some(Family::Gemini) => {
                let reply = embeddings::read(&value, &id.to_string(), tokens);
                let provider = provider.name.clone();
                let reply = reply.map_err(|reason| GatewayError::Malformed { provider, reason })?;
                Answer::json(StatusCode::OK, reply.to_string())
            }
            _ => {
                let usage = value.get("usage").cloned().unwrap_or_default();
                let input = count(&usage, "prompt_tokens");
                meter.used((input > 0).then(|| Usage { input, ..Usage::default() }));
                Answer::json(StatusCode::OK, body)
            }
        };
        Ok(answer.with(MODEL, &id.to_string()))
    }

    /// Counts the tokens of a request of Messages: by the provider, or else by our estimate.
    pub async fn count_tokens(&self, asked: ModelRequest) -> Result<Answer, GatewayError> {
        let id = self.wanted(&asked.body)?;
        let provider = self.provider(&id)?;
        if provider.families.first() != Some(&Family::Messages) {
            let tokens = estimate::of_input(&asked.body);
            return Ok(Answer::json(StatusCode::OK, json!({ "input_tokens": tokens }).to_string()));
        }
        let mut body = asked.body.clone();
        body.set("model", &json!(provider.model_name(&id.model)));
        let counted =
            self.send_whole(&asked, provider, "/messages/count_tokens", body.bytes()).await?;
        Ok(Answer::json(StatusCode::OK, counted).with(MODEL, &id.to_string()))
    }

    async fn small_meter(
        &self,
        asked: &ModelRequest,
        id: &ModelId,
        provider: &Provider,
        tokens: u64,
    ) -> Result<Meter, GatewayError> {
        let facts = self.facts(id, provider);
        let usage = Usage { input: tokens, ..Usage::default() };
        let caller = asked.caller.subject.as_str();
        let claim = Claim {
            caller,
            budget: self.budget(caller).await?,
            run: asked.run.as_ref(),
            model: &id.to_string(),
            tokens,
            cost: facts.as_ref().map(|facts| facts.cost(&usage)),
        };
        let now = self.now();
        let reservation = self.shared.ledger.reserve(&self.shared.store, now, &claim).await?;
        let row = ModelCall {
            at: now,
            caller: caller.to_owned(),
            run: asked.run.as_ref().map(|run| run.id.clone()),
            provider: id.provider.clone(),
            model: id.model.clone(),
            instead_of: None,
            input_tokens: tokens,
            cached_tokens: 0,
            output_tokens: 0,
            estimated: true,
            cost_nanos: None,
            latency_ms: 0,
            outcome: ModelOutcome::Cancelled,
        };
        Ok(Meter::new("embeddings", row, facts, reservation, self.shared.records.clone()))
    }

    /// Sends a request once, and reads the whole answer.
    async fn send_whole(
        &self,
        asked: &ModelRequest,
        provider: &Provider,
        path: &str,
        body: Vec<u8>,
    ) -> Result<bytes::Bytes, GatewayError> {
        let _permit = self.shared.calls.begin(&asked.caller.subject)?;
        let key = self.key(&asked.caller, provider).await?;
        let after = self.shared.settings.deadlines.whole;
        let deadline = Instant::now() + after;
        let name = || provider.name.clone();
        let request = Outgoing {
            provider,
            path,
            method: Method::POST,
            headers: asked.headers.clone(),
            key: key.as_ref(),
            body,
            deadline: (deadline, after),
        };
        let response = self.shared.upstream.send(request).await?;
        let (status, headers) = (response.status(), response.headers().clone());
        let read = timeout_at(deadline, upstream::read(response.into_body(), MAX_ANSWER)).await;
        let read = read.map_err(|_| GatewayError::Timeout { provider: name(), after })?;
        let broken = |error: hyper::Error| GatewayError::Broken {
            provider: name(),
            reason: with_causes(&error),
        };
        let body = read.map_err(broken)?.ok_or_else(|| malformed(provider))?;
        if status.is_success() {
            return Ok(body);
        }
        let family = provider.families.first().copied().unwrap_or(Family::Chat);
        let (_, message) = family.read_error(&body);
        let retry_after = upstream::retry_after(&headers, SystemTime::now());
        let (provider, answer) = (name(), (family, body));
        Err(GatewayError::Refused { provider, status, message, retry_after, answer })
    }
}

fn malformed(provider: &Provider) -> GatewayError {
    let reason = Malformed::new("the answer is not JSON, or too large");
    GatewayError::Malformed { provider: provider.name.clone(), reason }
}
