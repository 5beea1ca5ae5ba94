//! Models in the APIs of OpenAI and Anthropic, for their SDKs: `/v1/…`.
//!
//! Errors here have the shape that those SDKs expect.

use std::sync::Arc;

use axum::{
    Json,
    body::Body as Outgoing,
    extract::{Path, Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use helmdeck_gateway::{
    Answer, AnswerBody, Body, Family, Gateway, GatewayError, ModelRequest, Run, SHOULD_RETRY, nanos,
};
use helmdeck_sessions::Caller;
use helmdeck_store::ModelBudgetRow;
use helmdeck_task::BoxFuture;
use helmdeck_wire::{ErrorCode, model::Model};
use http::{HeaderMap, HeaderName, HeaderValue, header};
use serde_json::{Value, json};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::{
    App, body,
    error::{ApiError, ApiResult},
};

/// Where all of it is.
pub const PREFIX: &str = "/v1/";
/// The largest request. Pictures make requests large.
const MAX_BODY: usize = 32 << 20;
/// Headers that providers of the same family get.
const PASSED: [&str; 2] = ["anthropic-version", "anthropic-beta"];
/// Names the piece of work that a call belongs to.
const RUN: &str = "x-helmdeck-run";
/// How many tokens it may use.
const RUN_TOKENS: &str = "x-helmdeck-run-tokens";
/// How many dollars it may use.
const RUN_USD: &str = "x-helmdeck-run-usd";
/// How Anthropic's SDKs send their key.
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// Accepts a token as Anthropic's SDKs send it.
pub fn accept_api_key(request: &mut Request) {
    let headers = request.headers_mut();
    if headers.contains_key(header::AUTHORIZATION) {
        return;
    }
    let token = headers.remove(API_KEY).and_then(|it| it.to_str().map(str::to_owned).ok());
    let value = token.and_then(|token| HeaderValue::try_from(format!("Bearer {token}")).ok());
    if let Some(mut value) = value {
        value.set_sensitive(true);
        headers.insert(header::AUTHORIZATION, value);
    }
}

/// Gives errors the shape that the client's SDK expects.
pub async fn shape_errors(request: Request, next: Next) -> Response {
    let family = family_of(&request);
    let response = next.run(request).await;
    let error = response.extensions().get::<Arc<ApiError>>().cloned();
    // The request log writes the body of internal errors.
    let Some(error) = error.filter(|error| error.code != ErrorCode::Internal) else {
        return response;
    };
    let (mut parts, _) = response.into_parts();
    let message = match error.hint.as_deref().filter(|hint| !error.message.contains(hint)) {
        Some(hint) => format!("{}: {hint}", error.message),
        None => error.message.clone(),
    };
    let (status, code) = (parts.status.as_u16(), error.code.as_str());
    let shaped = family.error(status, code, &message, error.field.as_deref()).to_string();
    parts.headers.remove(header::CONTENT_LENGTH);
    // A call that failed late may have been paid for.
    if parts.status.is_server_error() && error.retryable != Some(true) {
        parts.headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"));
    }
    Response::from_parts(parts, Outgoing::from(shaped))
}

fn family_of(request: &Request) -> Family {
    let messages = request.uri().path().starts_with("/v1/messages");
    match messages || request.headers().contains_key("anthropic-version") {
        true => Family::Messages,
        false => Family::Chat,
    }
}

type Called = BoxFuture<'static, Result<Answer, GatewayError>>;

/// `POST /v1/chat/completions`.
pub async fn chat(State(app): State<App>, request: Request) -> ApiResult<Response> {
    call(app, request, Family::Chat, |models, asked| {
        Box::pin(async move { models.ask(asked).await })
    })
    .await
}

/// `POST /v1/responses`.
pub async fn responses(State(app): State<App>, request: Request) -> ApiResult<Response> {
    let ask =
        |models: Gateway, asked| -> Called { Box::pin(async move { models.ask(asked).await }) };
    call(app, request, Family::Responses, ask).await
}

/// `POST /v1/messages`.
pub async fn messages(State(app): State<App>, request: Request) -> ApiResult<Response> {
    let ask =
        |models: Gateway, asked| -> Called { Box::pin(async move { models.ask(asked).await }) };
    call(app, request, Family::Messages, ask).await
}

/// `POST /v1/messages/count_tokens`.
pub async fn count_tokens(State(app): State<App>, request: Request) -> ApiResult<Response> {
    let count = |models: Gateway, asked| -> Called {
        Box::pin(async move { models.count_tokens(asked).await })
    };
    call(app, request, Family::Messages, count).await
}

/// `POST /v1/embeddings`.
pub async fn embeddings(State(app): State<App>, request: Request) -> ApiResult<Response> {
    let embed =
        |models: Gateway, asked| -> Called { Box::pin(async move { models.embed(asked).await }) };
    call(app, request, Family::Chat, embed).await
}

async fn call(
    app: App,
    request: Request,
    family: Family,
    ask: impl FnOnce(Gateway, ModelRequest) -> Called,
) -> ApiResult<Response> {
    let (parts, content) = request.into_parts();
    let caller = parts.extensions.get::<Caller>().cloned();
    let caller = caller.ok_or_else(|| ApiError::internal("the request has no caller"))?;
    let run = run(&parts.headers)?;
    let bytes = body::read(content, MAX_BODY).await?;
    let body = Body::parse(&bytes)
        .map_err(|error| ApiError::new(ErrorCode::InvalidJson, error.to_string()))?;
    let passed = PASSED.iter().filter_map(|name| {
        let name = HeaderName::from_static(name);
        parts.headers.get(&name).map(|value| (name, value.clone()))
    });
    let headers = HeaderMap::from_iter(passed.filter(|_| family == Family::Messages));
    let stream = body.is_true("stream");
    let asked = ModelRequest { caller, family, body, stream, headers, run };
    let answer = ask(app.models.clone(), asked).await?;
    Ok(response(answer))
}

fn response(answer: Answer) -> Response {
    let body = match answer.body {
        AnswerBody::Whole(bytes) => Outgoing::from(bytes),
        AnswerBody::Stream(stream) => Outgoing::from_stream(stream),
    };
    (answer.status, answer.headers, body).into_response()
}

/// The run that a request belongs to.
fn run(headers: &HeaderMap) -> ApiResult<Option<Run>> {
    let text =
        |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default().trim());
    let wrong = |name: &str, expected: &str| {
        let message = format!("{name}: expected {expected}");
        ApiError::new(ErrorCode::InvalidInput, message).of_field(name, Vec::new())
    };
    let tokens = text(RUN_TOKENS)
        .map(|text| text.parse::<u64>().map_err(|_| wrong(RUN_TOKENS, "a whole number of tokens")));
    let dollars = text(RUN_USD).map(|text| {
        let dollars = text.parse::<f64>().ok().filter(|dollars| (0.0..1e6).contains(dollars));
        dollars.ok_or_else(|| wrong(RUN_USD, "dollars such as 0.50"))
    });
    let (tokens, dollars) = (tokens.transpose()?, dollars.transpose()?);
    let Some(id) = text(RUN) else {
        return match tokens.is_some() || dollars.is_some() {
            true => Err(wrong(RUN, "the name of the run that has this budget")),
            false => Ok(None),
        };
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "._:-".contains(c);
    if id.is_empty() || id.len() > 100 || !id.chars().all(plain) {
        return Err(wrong(RUN, "1 to 100 letters, digits, `.`, `_`, `:` or `-`"));
    }
    let budget = ModelBudgetRow { tokens, cost_nanos: dollars.map(nanos) };
    Ok(Some(Run { id: id.to_owned(), budget }))
}

/// `GET /v1/models`.
pub async fn list(State(app): State<App>, request: Request) -> ApiResult<Json<Value>> {
    let family = family_of(&request);
    let caller = caller(&request)?;
    let list = app.models.models(&caller).await?;
    let models = list.models.iter().map(|model| describe(model, family, list.fetched_at));
    let models: Vec<_> = models.collect();
    Ok(Json(match family {
        Family::Messages => {
            let id = |model: Option<&Model>| model.map(|model| model.id.clone());
            json!({
                "data": models, "has_more": false,
                "first_id": id(list.models.first()), "last_id": id(list.models.last()),
            })
        }
        _ => json!({ "object": "list", "data": models }),
    }))
}

/// `GET /v1/models/{id}`.
pub async fn show(
    State(app): State<App>,
    Path(id): Path<String>,
    request: Request,
) -> ApiResult<Json<Value>> {
    let family = family_of(&request);
    let list = app.models.models(&caller(&request)?).await?;
    let found = list.models.iter().find(|model| model.id == id);
    let found = found.ok_or_else(|| {
        let message = format!("{id} is not among the models: GET /v1/models lists them");
        ApiError::new(ErrorCode::ModelNotFound, message)
    })?;
    Ok(Json(describe(found, family, list.fetched_at)))
}

fn caller(request: &Request) -> ApiResult<Caller> {
    let caller = request.extensions().get::<Caller>().cloned();
    caller.ok_or_else(|| ApiError::internal("the request has no caller"))
}

/// A model for an SDK. Providers do not agree on when it was made, so that is when it was listed.
fn describe(model: &Model, family: Family, listed: OffsetDateTime) -> Value {
    match family {
        Family::Messages => json!({
            "type": "model", "id": model.id, "display_name": model.id, "lifecycle": "active",
            "created_at": listed.format(&Rfc3339).unwrap_or_default(),
            "max_input_tokens": model.context_tokens, "max_tokens": model.max_output_tokens,
        }),
        _ => json!({
            "id": model.id, "object": "model", "created": listed.unix_timestamp(),
            "owned_by": model.provider,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn a_run_has_a_name_and_may_have_a_budget() {
        assert!(run(&headers(&[])).unwrap().is_none());
        let found = run(&headers(&[(RUN, "job-1"), (RUN_TOKENS, "500"), (RUN_USD, "0.25")]));
        let found = found.unwrap().unwrap();
        assert_eq!((found.id.as_str(), found.budget.tokens), ("job-1", Some(500)));
        assert_eq!(found.budget.cost_nanos, Some(250_000_000));
        for (bad, field) in [
            (headers(&[(RUN, "a b")]), RUN),
            (headers(&[(RUN, "")]), RUN),
            (headers(&[(RUN_TOKENS, "5")]), RUN),
            (headers(&[(RUN, "a"), (RUN_TOKENS, "many")]), RUN_TOKENS),
            (headers(&[(RUN, "a"), (RUN_USD, "-1")]), RUN_USD),
        ] {
            assert_eq!(run(&bad).unwrap_err().field.as_deref(), Some(field));
        }
    }
}
