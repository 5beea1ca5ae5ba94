//! A streamed answer on its way to the client.

use std::{collections::VecDeque, convert::Infallible, time::Duration};

use bytes::Bytes;
use futures_util::{Stream, stream};
use helmdeck_wire::{error::with_causes, model::ModelOutcome};
use http::StatusCode;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::{
    Family, Malformed,
    calls::Permit,
    conversation::{Delta, StreamFailure},
    error::GatewayError,
    family::{Decode, Encode},
    json::list,
    meter::Meter,
    responses::Indexes,
    sse::{Event, Parser},
};

/// A streamed answer. Dropping it cancels the call.
pub struct Streaming {
    provider: String,
    body: Incoming,
    parser: Parser,
    /// For streams of Responses.
    indexes: Option<Indexes>,
    decoder: Box<dyn Decode>,
    encoder: Box<dyn Encode>,
    /// Whether the client gets the events of the provider as they are.
    passes: bool,
    /// Whether the client did not ask for the usage that we asked for.
    hides_usage: bool,
    meter: Meter,
    idle: Duration,
    deadline: Instant,
    /// Events that were read and not sent yet.
    ready: VecDeque<(Event, Vec<Delta>)>,
    done: bool,
    /// One of the calls that may run at once.
    _permit: Permit,
}

/// How a stream is read and written.
pub struct StreamSettings {
    /// The family of the provider.
    pub from: Family,
    /// The family of the client.
    pub to: Family,
    /// Names what has no id.
    pub id: String,
    /// When it began, in seconds since 1970.
    pub created: i64,
    /// Whether the client gets a chunk with the usage.
    pub with_usage: bool,
    /// Whether events pass as they are.
    pub passes: bool,
    /// Longest silence.
    pub idle: Duration,
    /// When it has to end.
    pub deadline: Instant,
}

/// Why no event came.
enum Stopped {
    End,
    Silent,
    Late,
    Broken(String),
}

impl Streaming {
    /// Waits for the first event. An error there is like an error instead of an answer: another model
    /// may be called.
    pub async fn begin(
        provider: &str,
        body: Incoming,
        way: &StreamSettings,
        meter: Meter,
        permit: Permit,
    ) -> Result<Self, GatewayError> {
        let mut streaming = Self {
            provider: provider.to_owned(),
            body,
            parser: Parser::default(),
            indexes: (way.from == Family::Responses).then(Indexes::default),
            decoder: way.from.decoder(&way.id),
            encoder: way.to.encoder(way.created, way.with_usage),
            passes: way.passes,
            hides_usage: way.passes && way.from == Family::Chat && !way.with_usage,
            meter,
            idle: way.idle,
            deadline: way.deadline,
            ready: VecDeque::new(),
            done: false,
            _permit: permit,
        };
        loop {
            let event = match streaming.event().await {
                Ok(event) => event,
                Err(stopped) => return Err(streaming.refuse(stopped)),
            };
            let mut deltas = Vec::new();
            streaming.decoder.read(&event, &mut deltas);
            if let Some(Delta::Failed(failure)) = deltas.first() {
                return Err(streaming.failed(way.from, failure, event.data.as_bytes()));
            }
            let is_first = !deltas.is_empty();
            streaming.ready.push_back((event, deltas));
            if is_first {
                return Ok(streaming);
            }
        }
    }

    fn failed(&mut self, family: Family, failure: &StreamFailure, body: &[u8]) -> GatewayError {
        let status = match failure.kind.as_str() {
            kind if kind.contains("overloaded") => StatusCode::SERVICE_UNAVAILABLE,
            kind if kind.contains("rate_limit") => StatusCode::TOO_MANY_REQUESTS,
            _ => StatusCode::BAD_GATEWAY,
        };
        let error = GatewayError::Refused {
            provider: self.provider.clone(),
            status,
            message: failure.message.clone(),
            retry_after: None,
            answer: (family, Bytes::copy_from_slice(body)),
        };
        self.meter.end(error.outcome());
        error
    }

    fn refuse(&mut self, stopped: Stopped) -> GatewayError {
        let provider = self.provider.clone();
        let error = match stopped {
            Stopped::End => {
                let reason = Malformed::new("the stream ended before it began");
                GatewayError::Malformed { provider, reason }
            }
            Stopped::Silent | Stopped::Late => GatewayError::Timeout { provider, after: self.idle },
            Stopped::Broken(reason) => GatewayError::Broken { provider, reason },
        };
        self.meter.end(error.outcome());
        error
    }

    /// The next event of the provider.
    async fn event(&mut self) -> Result<Event, Stopped> {
        let mut event = self.sent_event().await?;
        if let Some(indexes) = &mut self.indexes {
            indexes.complete(&mut event);
        }
        Ok(event)
    }

    async fn sent_event(&mut self) -> Result<Event, Stopped> {
        loop {
            match self.parser.event() {
                Ok(Some(event)) => return Ok(event),
                Ok(None) => {}
                Err(error) => return Err(Stopped::Broken(error.to_string())),
            }
            let silence = Instant::now() + self.idle;
            let (until, late) = match silence < self.deadline {
                true => (silence, Stopped::Silent),
                false => (self.deadline, Stopped::Late),
            };
            match timeout_at(until, self.body.frame()).await {
                Ok(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        self.parser.push(&data);
                    }
                }
                Ok(Some(Err(error))) => return Err(Stopped::Broken(with_causes(&error))),
                Ok(None) => match self.parser.finish() {
                    Ok(Some(event)) => return Ok(event),
                    Ok(None) => return Err(Stopped::End),
                    Err(error) => return Err(Stopped::Broken(error.to_string())),
                },
                Err(_) => return Err(late),
            }
        }
    }

    /// The next bytes for the client.
    async fn bytes(&mut self) -> Option<Bytes> {
        while !self.done {
            let (event, deltas) = match self.ready.pop_front() {
                Some(ready) => ready,
                None => match self.event().await {
                    Ok(event) => {
                        let mut deltas = Vec::new();
                        self.decoder.read(&event, &mut deltas);
                        (event, deltas)
                    }
                    Err(stopped) => return self.last(stopped),
                },
            };
            let written = self.write(&deltas);
            let bytes = match self.passes {
                true if self.hides_usage && is_usage(&event) => continue,
                true => event.raw,
                false => Bytes::from(written),
            };
            if !bytes.is_empty() {
                return Some(bytes);
            }
        }
        None
    }

    fn write(&mut self, deltas: &[Delta]) -> String {
        let mut written = String::new();
        for delta in deltas {
            self.meter.see(delta);
            self.done |= matches!(delta, Delta::End | Delta::Failed(_));
            self.encoder.write(delta, &mut written);
        }
        written
    }

    /// The last bytes, when no more events come.
    fn last(&mut self, stopped: Stopped) -> Option<Bytes> {
        self.done = true;
        let mut deltas = Vec::new();
        if matches!(stopped, Stopped::End) {
            self.decoder.finish(&mut deltas);
        }
        if deltas.contains(&Delta::End) {
            let written = self.write(&deltas);
            // Clients of this family need no end either.
            return (!self.passes).then(|| Bytes::from(written));
        }
        let provider = &self.provider;
        let (outcome, kind, what) = match stopped {
            Stopped::End => {
                (ModelOutcome::Cut, "provider_error", "ended the answer early".to_owned())
            }
            Stopped::Broken(why) => {
                (ModelOutcome::Cut, "provider_error", format!("broke the connection: {why}"))
            }
            Stopped::Silent => {
                let what = format!("sent nothing for {} s", self.idle.as_secs());
                (ModelOutcome::Timeout, "timeout", what)
            }
            Stopped::Late => (ModelOutcome::Timeout, "timeout", "took too long".to_owned()),
        };
        let message = format!("{provider} {what}; the answer is incomplete and was not repeated");
        self.meter.end(outcome);
        let mut written = String::new();
        let failed = Delta::Failed(StreamFailure { kind: kind.to_owned(), message });
        self.encoder.write(&failed, &mut written);
        Some(Bytes::from(written))
    }

    /// The stream for the client.
    pub fn into_stream(self) -> impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static {
        stream::unfold(self, async |mut streaming| {
            let bytes = streaming.bytes().await?;
            Some((Ok(bytes), streaming))
        })
    }
}

/// Whether an event is only the usage at the end of a stream of Chat.
fn is_usage(event: &Event) -> bool {
    if !event.data.contains("\"usage\"") {
        return false;
    }
    let Ok(chunk) = serde_json::from_str::<Value>(&event.data) else { return false };
    list(&chunk, "choices").is_empty() && chunk.get("usage").is_some_and(Value::is_object)
}
