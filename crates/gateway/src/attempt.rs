//! One model of a chain: its request, and as many tries as are safe.

use std::time::{Duration, SystemTime};

use helmdeck_store::{ModelCall, vault::Secret};
use helmdeck_wire::{error::with_causes, model::ModelOutcome};
use http::{HeaderMap, Method, Response, StatusCode};
use hyper::body::Incoming;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout_at};

use crate::{
    Family, Malformed,
    body::{Body, Schemas},
    budget::Claim,
    calls::Permit,
    conversation::Usage,
    error::{GatewayError, Trigger},
    estimate,
    family::Target,
    gateway::{Answer, Gateway, IGNORED, INSTEAD_OF, MODEL, ModelRequest},
    meter::Meter,
    model_id::ModelId,
    models::Facts,
    provider::Provider,
    streaming::{StreamSettings, Streaming},
    upstream::{self, MAX_ANSWER, MAX_ERROR, Outgoing},
};

/// How often a provider is asked that says that it did nothing.
const TRIES: u32 = 3;
/// The longest wait for a provider. Longer ones are for the client to decide.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// The first wait for a provider that does not say how long.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// Most tokens of an answer that a client of another family did not limit.
const MOST_OUTPUT: u64 = 32_000;

/// A request in the words of its provider.
struct Prepared {
    family: Family,
    path: String,
    body: Vec<u8>,
    headers: HeaderMap,
    passes: bool,
    with_usage: bool,
    ignored: Vec<String>,
}

/// Everything about one call that its tries share.
struct Attempt<'a> {
    asked: &'a ModelRequest,
    provider: &'a Provider,
    id: &'a ModelId,
    instead_of: Option<&'a ModelId>,
    key: Option<Secret>,
    facts: Option<Facts>,
    prepared: Prepared,
    /// Names the answer.
    name: String,
    estimated_input: u64,
}

impl Gateway {
    /// Calls one model. Failures that `later` models are for are not tried again here.
    pub(crate) async fn attempt(
        &self,
        asked: &ModelRequest,
        id: &ModelId,
        instead_of: Option<&ModelId>,
        later: &[Trigger],
    ) -> Result<Answer, GatewayError> {
        let provider = self.provider(id)?;
        let facts = self.facts(id, provider);
        let salt = random()?;
        let prepared = prepare(asked, provider, id, facts.as_ref(), salt)?;
        let key = self.key(&asked.caller, provider).await?;
        let estimated_input = estimate::of_input(&asked.body);
        let name = format!("{salt:016x}");
        let attempt = Attempt {
            asked,
            provider,
            id,
            instead_of,
            key,
            facts,
            prepared,
            name,
            estimated_input,
        };
        let mark = self.shared.upstream.mark(attempt.key.as_ref());
        if let Some(wait) = self.cooling(id, mark) {
            if later.contains(&Trigger::RateLimit) || wait > LONGEST_WAIT {
                return Err(attempt.told_to_wait(wait));
            }
            sleep(wait).await;
        }
        let mut tries = 0;
        loop {
            tries += 1;
            let error = match self.call(&attempt).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let wait = error.retry_after().unwrap_or(FIRST_WAIT * 2_u32.pow(tries - 1));
            if error.says_later() {
                self.cool(id, mark, wait);
            }
            let has_next = error.trigger().is_some_and(|trigger| later.contains(&trigger));
            let again = error.may_be_repeated() && !has_next && tries < TRIES;
            if !again || wait > LONGEST_WAIT {
                return Err(error);
            }
            sleep(wait).await;
        }
    }

    /// One request to the provider.
    async fn call(&self, attempt: &Attempt<'_>) -> Result<Answer, GatewayError> {
        let permit = self.shared.calls.begin(&attempt.asked.caller.subject)?;
        let mut meter = self.meter(attempt).await?;
        let deadlines = self.shared.settings.deadlines;
        let (streams, began) = (attempt.asked.stream, Instant::now());
        let after = if streams { deadlines.idle } else { deadlines.whole };
        let Prepared { path, headers, body, .. } = &attempt.prepared;
        let sent = self.shared.upstream.send(Outgoing {
            provider: attempt.provider,
            path,
            method: Method::POST,
            headers: headers.clone(),
            key: attempt.key.as_ref(),
            body: body.clone(),
            deadline: (began + after, after),
        });
        let reply = async {
            let response = sent.await?;
            match response.status().is_success() {
                true => Ok(response),
                false => Err(attempt.refused(response, began + after).await),
            }
        };
        let response = match reply.await {
            Ok(response) => response,
            Err(error) => {
                meter.end(error.outcome());
                return Err(error);
            }
        };
        let answer = match streams {
            true => {
                let deadline = began + deadlines.stream;
                attempt
                    .stream(response, meter, permit, (deadlines.idle, deadline), self.created())
                    .await?
            }
            false => {
                attempt
                    .whole(response, meter, permit, (began + after, after), self.created())
                    .await?
            }
        };
        let mut answer = answer.with(MODEL, &attempt.id.to_string());
        if let Some(wanted) = attempt.instead_of {
            answer = answer.with(INSTEAD_OF, &wanted.to_string());
        }
        if !attempt.prepared.ignored.is_empty() {
            answer = answer.with(IGNORED, &attempt.prepared.ignored.join(", "));
        }
        Ok(answer)
    }

    /// Reserves what the call could use, and begins to measure it.
    async fn meter(&self, attempt: &Attempt<'_>) -> Result<Meter, GatewayError> {
        let Attempt { asked, provider, id, facts, estimated_input, .. } = attempt;
        let caller = asked.caller.subject.as_str();
        let most = facts.as_ref().and_then(|facts| facts.max_output);
        let output = estimate::of_answers(&asked.body, most);
        let usage = Usage { input: *estimated_input, output, ..Usage::default() };
        let claim = Claim {
            caller,
            budget: self.budget(caller).await?,
            run: asked.run.as_ref(),
            model: &id.to_string(),
            tokens: usage.total(),
            cost: facts.as_ref().map(|facts| facts.cost(&usage)),
        };
        let now = self.now();
        let reservation = self.shared.ledger.reserve(&self.shared.store, now, &claim).await?;
        let row = ModelCall {
            at: now,
            caller: caller.to_owned(),
            run: asked.run.as_ref().map(|run| run.id.clone()),
            provider: provider.name.clone(),
            model: id.model.clone(),
            instead_of: attempt.instead_of.map(ToString::to_string),
            input_tokens: *estimated_input,
            cached_tokens: 0,
            output_tokens: 0,
            estimated: true,
            cost_nanos: None,
            latency_ms: 0,
            outcome: ModelOutcome::Cancelled,
        };
        Ok(Meter::new("chat", row, facts.clone(), reservation, self.shared.records.clone()))
    }

    fn created(&self) -> i64 {
        self.now().unix_timestamp()
    }
}

impl Attempt<'_> {
    fn told_to_wait(&self, wait: Duration) -> GatewayError {
        GatewayError::Refused {
            provider: self.provider.name.clone(),
            status: StatusCode::TOO_MANY_REQUESTS,
            message: format!("it asked to wait for {} s more", wait.as_secs()),
            retry_after: Some(wait),
            answer: (self.prepared.family, bytes::Bytes::new()),
        }
    }

    /// The error that a provider answered.
    async fn refused(&self, response: Response<Incoming>, deadline: Instant) -> GatewayError {
        let status = response.status();
        let retry_after = upstream::retry_after(response.headers(), SystemTime::now());
        // Whatever cannot be read is left out.
        let reading = timeout_at(deadline, upstream::read(response.into_body(), MAX_ERROR)).await;
        let body = reading.ok().and_then(Result::ok).flatten().unwrap_or_default();
        let family = self.prepared.family;
        let (kind, message) = family.read_error(&body);
        let message = match (kind.is_empty(), message.is_empty()) {
            (_, true) => status.canonical_reason().unwrap_or("no explanation").to_owned(),
            (true, _) => message,
            (false, _) => format!("{message} ({kind})"),
        };
        let provider = self.provider.name.clone();
        GatewayError::Refused { provider, status, message, retry_after, answer: (family, body) }
    }

    async fn whole(
        &self,
        response: Response<Incoming>,
        mut meter: Meter,
        _permit: Permit,
        (deadline, after): (Instant, Duration),
        created: i64,
    ) -> Result<Answer, GatewayError> {
        let provider = || self.provider.name.clone();
        let reading = timeout_at(deadline, upstream::read(response.into_body(), MAX_ANSWER)).await;
        let read = match reading {
            Ok(Ok(Some(body))) => self.translated(&body, &mut meter, created).map(|it| (body, it)),
            Ok(Ok(None)) => {
                let reason =
                    Malformed::new(format!("the answer is larger than {MAX_ANSWER} bytes"));
                Err(GatewayError::Malformed { provider: provider(), reason })
            }
            Ok(Err(error)) => {
                let reason = with_causes(&error);
                Err(GatewayError::Broken { provider: provider(), reason })
            }
            Err(_) => Err(GatewayError::Timeout { provider: provider(), after }),
        };
        match read {
            Ok((body, translated)) => {
                meter.end(ModelOutcome::Ok);
                Ok(match translated {
                    None => Answer::json(StatusCode::OK, body),
                    Some(reply) => Answer::json(StatusCode::OK, reply.to_string()),
                })
            }
            Err(error) => {
                meter.end(error.outcome());
                Err(error)
            }
        }
    }

    /// The answer in the client's family, unless it passes as it is.
    fn translated(
        &self,
        body: &[u8],
        meter: &mut Meter,
        created: i64,
    ) -> Result<Option<Value>, GatewayError> {
        let malformed =
            |reason| GatewayError::Malformed { provider: self.provider.name.clone(), reason };
        let value: Value = serde_json::from_slice(body)
            .map_err(|_| malformed(Malformed::new("model returned no parseable JSON")))?;
        let family = self.prepared.family;
        meter.used(family.usage(&value));
        if self.prepared.passes && family == Family::Responses {
            return Ok(None);
        }
        let mut reply = family.read_reply(&value, &self.name).map_err(malformed)?;
        if self.prepared.passes {
            return Ok(None);
        }
        if reply.model.is_empty() {
            reply.model = self.id.to_string();
        }
        Ok(Some(self.asked.family.write_reply(&reply, created)))
    }

    async fn stream(
        &self,
        response: Response<Incoming>,
        meter: Meter,
        permit: Permit,
        (idle, deadline): (Duration, Instant),
        created: i64,
    ) -> Result<Answer, GatewayError> {
        let Prepared { family, passes, with_usage, .. } = &self.prepared;
        let way = StreamSettings {
            from: *family,
            to: self.asked.family,
            id: self.name.clone(),
            created,
            with_usage: *with_usage,
            passes: *passes,
            idle,
            deadline,
        };
        let body = response.into_body();
        let begun = Streaming::begin(&self.provider.name, body, &way, meter, permit).await?;
        Ok(Answer::events(begun.into_stream()))
    }
}

/// Writes the request for a provider.
fn prepare(
    asked: &ModelRequest,
    provider: &Provider,
    id: &ModelId,
    facts: Option<&Facts>,
    salt: u64,
) -> Result<Prepared, GatewayError> {
    let listed = facts.and_then(Facts::family);
    let family = provider.family_for(asked.family, &id.model, listed);
    let model = provider.model_name(&id.model);
    let path = family.path(&model, asked.stream);
    let options = asked.body.value("stream_options").unwrap_or_default();
    let with_usage = options.get("include_usage") == Some(&Value::Bool(true));
    if family == asked.family {
        let (body, headers) = (passed(asked, provider, &model), asked.headers.clone());
        let (body, passes, ignored) = (body.bytes(), true, Vec::new());
        return Ok(Prepared { family, path, body, headers, passes, with_usage, ignored });
    }
    let (value, schemas): (Value, Schemas) = asked.body.marked(salt)?;
    let mut request = asked.family.read_request(&value)?;
    request.stream = asked.stream;
    let max_output = facts.and_then(|facts| facts.max_output).map(|most| most.min(MOST_OUTPUT));
    let to = Target { model: &model, max_output, quirks: provider.quirks };
    let body = schemas.write(&family.write_request(&request, to)?);
    let mut ignored: Vec<String> =
        request.ignored.iter().map(|name| name.escape_default().to_string()).collect();
    ignored.extend(family.unsaid(&request, asked.family));
    let (headers, passes) = (HeaderMap::new(), false);
    let with_usage = request.stream_usage;
    Ok(Prepared { family, path, body, headers, passes, with_usage, ignored })
}

/// The request of a client in the family of the provider, for this model.
fn passed(asked: &ModelRequest, provider: &Provider, model: &str) -> Body {
    let mut body = asked.body.clone();
    match asked.family {
        Family::Gemini => {
            body.remove("model");
            body.remove("stream");
        }
        Family::Chat | Family::Responses | Family::Messages => body.set("model", &json!(model)),
    }
    if asked.family != Family::Chat || !asked.stream {
        return body;
    }
    // Those that count unasked may refuse the question.
    if !provider.quirks.asks_for_usage {
        body.remove("stream_options");
    } else {
        let mut options = asked.body.value("stream_options").unwrap_or_else(|| json!({}));
        if let Value::Object(options) = &mut options {
            options.insert("include_usage".to_owned(), json!(true));
        }
        body.set("stream_options", &options);
    }
    body
}

/// A number that nobody can guess.
fn random() -> Result<u64, GatewayError> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(helmdeck_store::StoreError::Random)?;
    Ok(u64::from_be_bytes(bytes))
}
