//! Replies that take long: clients and proxies hang up on a connection that is silent.
//!
//! A call of 2026-07-28 that sends no progress has nothing to answer until it ends. After a while, its
//! reply becomes a stream of events whose comments keep the connection alive, and whose only event is
//! the answer. A client that hangs up still cancels the call.

use std::{pin::Pin, time::Duration};

use ::http::{StatusCode, header};
use axum::{
    body::{Body, BodyDataStream},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use helmdeck_sessions::Clock;

use crate::body;

/// How long a connection may be silent. Proxies wait a minute, and some less.
pub const SILENCE: Duration = Duration::from_secs(15);
/// A line of a stream of events that means nothing.
const COMMENT: Bytes = Bytes::from_static(b": working\n\n");
/// The most bytes of an answer; the door bounds them far below.
const MAX_ANSWER: usize = 64 << 20;

type Handling = Pin<Box<dyn Future<Output = Response> + Send>>;

/// What a stream of events does.
enum State {
    /// It has just begun.
    Begun(Handling),
    /// It waits for the answer.
    Waiting(Handling),
    /// It passes on the events of the answer.
    Events(BodyDataStream),
    Over,
}

/// Whether a response is a stream of events.
pub fn is_stream(response: &Response) -> bool {
    let media_type = response.headers().get(header::CONTENT_TYPE);
    media_type.is_some_and(|it| it.as_bytes().starts_with(b"text/event-stream"))
}

/// The response of a request, or a stream of events that begins without it.
pub async fn answered(clock: Clock, mut handling: Handling) -> Response {
    tokio::select! {
        response = &mut handling => return response,
        () = clock.sleep_until(clock.now() + SILENCE) => {}
    }
    let events = stream::unfold(State::Begun(handling), move |state| {
        let clock = clock.clone();
        async move {
            step(&clock, state).await.map(|(bytes, state)| (Ok::<_, axum::Error>(bytes), state))
        }
    });
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache"),
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (StatusCode::OK, headers, Body::from_stream(events)).into_response()
}

/// The next bytes of a stream.
async fn step(clock: &Clock, mut state: State) -> Option<(Bytes, State)> {
    loop {
        state = match state {
            State::Begun(handling) => return Some((COMMENT, State::Waiting(handling))),
            State::Waiting(mut handling) => {
                let response = tokio::select! {
                    response = &mut handling => response,
                    () = clock.sleep_until(clock.now() + SILENCE) => {
                        return Some((COMMENT, State::Waiting(handling)));
                    }
                };
                if is_stream(&response) {
                    State::Events(response.into_body().into_data_stream())
                } else {
                    return Some((event(response).await?, State::Over));
                }
            }
            State::Events(mut events) => {
                let bytes = events.next().await?.ok()?;
                return Some((bytes, State::Events(events)));
            }
            State::Over => return None,
        };
    }
}

/// A message of the protocol as an event. Its JSON has no line breaks.
async fn event(response: Response) -> Option<Bytes> {
    let message = body::read(response.into_body(), MAX_ANSWER).await.ok()?;
    let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(&message).is_ok();
    let text = std::str::from_utf8(&message).ok().filter(|_| is_json)?;
    Some(Bytes::from(format!("event: message\ndata: {}\n\n", text.replace('\n', " "))))
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use http_body_util::BodyExt;
    use tokio::sync::oneshot;

    use super::*;

    /// Reads until this text has come.
    async fn read(body: &mut Body, wanted: &str) -> String {
        let mut read = String::new();
        while !read.contains(wanted) {
            let frame = body.frame().await.expect("the stream goes on").unwrap();
            read.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
        }
        read
    }

    #[tokio::test]
    async fn a_quick_answer_is_passed_on_as_it_is() {
        let quick = Box::pin(async { (StatusCode::ACCEPTED, "done").into_response() });
        let response = answered(Clock::default(), quick).await;
        assert_eq!(response.status(), StatusCode::ACCEPTED);
    }

    #[tokio::test]
    async fn a_late_answer_is_an_event_after_comments() {
        let (clock, control) = Clock::controlled();
        let (answer, late) = oneshot::channel();
        let handling = Box::pin(async move { late.await.unwrap() });
        let answering = tokio::spawn(answered(clock, handling));
        // Until it listens to the clock, advancing has no effect on it.
        let response = loop {
            control.advance(SILENCE);
            tokio::task::yield_now().await;
            if answering.is_finished() {
                break answering.await.unwrap();
            }
        };
        assert!(is_stream(&response) && response.status() == StatusCode::OK);
        let mut body = response.into_body();
        read(&mut body, ": working\n\n").await;
        answer.send(axum::Json("answer").into_response()).unwrap();
        assert!(read(&mut body, "answer").await.ends_with("event: message\ndata: \"answer\"\n\n"));
        assert!(body.frame().await.is_none(), "the answer is the last event");
    }

    #[tokio::test]
    async fn hanging_up_on_the_stream_cancels_the_call() {
        let (clock, control) = Clock::controlled();
        let (held, dropped) = oneshot::channel::<()>();
        let handling = Box::pin(async move {
            let _held = held;
            pending().await
        });
        let answering = tokio::spawn(answered(clock, handling));
        while !answering.is_finished() {
            control.advance(SILENCE);
            tokio::task::yield_now().await;
        }
        drop(answering.await.unwrap());
        assert!(dropped.await.is_err());
    }
}
