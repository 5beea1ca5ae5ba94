//! What follows an attempt: nothing, another attempt, or a dead letter. No I/O.

use std::time::Duration;

use helmdeck_wire::{
    ErrorCode,
    webhook::{Delivery, DeliveryState},
};
use http::{StatusCode, header};
use time::OffsetDateTime;

use crate::{HttpResponse, PackError};

/// Pauses between attempts, in seconds. The last attempt is about eight hours after the first.
const PAUSES_S: [u64; 7] = [5, 30, 120, 600, 1800, 7200, 18_000];
/// The longest pause that a receiver can ask for.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(3600);
/// Longest error that is stored.
const MAX_ERROR: usize = 500;

/// The result of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attempt {
    /// The receiver accepted it.
    Accepted(u16),
    /// It may succeed later, after a pause that the receiver asked for.
    Later { status: Option<u16>, why: String, retry_after: Option<Duration> },
    /// It would fail again.
    Refused { status: Option<u16>, why: String },
}

impl Attempt {
    /// The result by the receiver's answer.
    pub fn answered(response: &HttpResponse) -> Self {
        let code = response.status;
        let (status, why) = (Some(code.as_u16()), format!("the receiver answered {code}"));
        match code {
            code if code.is_success() => Self::Accepted(code.as_u16()),
            code if code.is_redirection() => {
                Self::Refused { status, why: format!("{why}: redirects are not followed") }
            }
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS => {
                Self::Later { status, why, retry_after: retry_after(response) }
            }
            code if code.is_server_error() => {
                Self::Later { status, why, retry_after: retry_after(response) }
            }
            _ => Self::Refused { status, why },
        }
    }

    /// The result if there was no answer.
    pub fn failed(error: &PackError) -> Self {
        let why = error.to_string();
        match error.code() {
            ErrorCode::EgressDenied | ErrorCode::InvalidInput => {
                Self::Refused { status: None, why }
            }
            _ => Self::Later { status: None, why, retry_after: None },
        }
    }

    /// The delivery after this attempt.
    pub fn record(self, mut delivery: Delivery, now: OffsetDateTime) -> Delivery {
        delivery.attempts += 1;
        delivery.next_attempt_at = None;
        let (status, why) = match self {
            Self::Accepted(status) => {
                delivery.state = DeliveryState::Delivered;
                delivery.delivered_at = Some(now);
                (Some(status), None)
            }
            Self::Refused { status, why } => {
                delivery.state = DeliveryState::Dead;
                (status, Some(why))
            }
            Self::Later { status, why, retry_after } => {
                let index = usize::try_from(delivery.attempts - 1).unwrap_or(usize::MAX);
                match PAUSES_S.get(index) {
                    Some(seconds) => {
                        let pause = Duration::from_secs(*seconds);
                        let pause = pause.max(retry_after.unwrap_or_default());
                        delivery.next_attempt_at = Some(now + pause);
                    }
                    None => delivery.state = DeliveryState::Dead,
                }
                (status, Some(why))
            }
        };
        delivery.last_status = status;
        delivery.last_error = why.map(|why| why.chars().take(MAX_ERROR).collect());
        delivery
    }
}

/// The pause that a receiver asks for, in seconds. Dates are ignored.
fn retry_after(response: &HttpResponse) -> Option<Duration> {
    let value = response.headers.get(header::RETRY_AFTER)?.to_str().ok()?;
    let seconds = value.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(MAX_RETRY_AFTER))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use helmdeck_wire::{job::JobId, webhook::DeliveryId};
    use http::{HeaderMap, HeaderValue};

    use super::*;

    const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

    fn answered(status: u16, retry_after: Option<&'static str>) -> Attempt {
        let mut headers = HeaderMap::new();
        if let Some(value) = retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static(value));
        }
        let status = StatusCode::from_u16(status).unwrap();
        let (body, url) = (Bytes::new(), String::new());
        Attempt::answered(&HttpResponse { status, headers, body, truncated: false, url })
    }

    fn delivery(attempts: u32) -> Delivery {
        Delivery {
            id: DeliveryId::new("msg-1"),
            job_id: JobId::new("job-1"),
            pack: "git.log".to_owned(),
            url: "http://a/".to_owned(),
            signed: false,
            state: DeliveryState::Pending,
            attempts,
            last_status: None,
            last_error: None,
            next_attempt_at: Some(NOW),
            created_at: NOW,
            delivered_at: None,
        }
    }

    #[test]
    fn answers_are_accepted_refused_or_tried_again() {
        for status in [200, 202, 204] {
            assert_eq!(answered(status, None), Attempt::Accepted(status));
        }
        for status in [301, 307, 400, 401, 404, 410] {
            assert!(matches!(answered(status, None), Attempt::Refused { .. }), "{status}");
        }
        for status in [408, 425, 429, 500, 502, 503] {
            assert!(matches!(answered(status, None), Attempt::Later { .. }), "{status}");
        }
        let failed = |code| Attempt::failed(&PackError::new(code, "x"));
        assert!(matches!(failed(ErrorCode::EgressDenied), Attempt::Refused { .. }));
        assert!(matches!(failed(ErrorCode::HandlerFailed), Attempt::Later { .. }));
        assert!(matches!(failed(ErrorCode::Timeout), Attempt::Later { .. }));
    }

    #[test]
    fn pauses_grow_until_the_last_attempt_which_leaves_a_dead_letter() {
        let mut tried = delivery(0);
        for pause in PAUSES_S {
            tried = answered(500, None).record(tried, NOW);
            assert_eq!(tried.next_attempt_at, Some(NOW + Duration::from_secs(pause)));
            assert_eq!(tried.state, DeliveryState::Pending);
        }
        let dead = answered(500, None).record(tried, NOW);
        assert_eq!((dead.state, dead.attempts), (DeliveryState::Dead, 8));
        assert_eq!((dead.last_status, dead.next_attempt_at), (Some(500), None));
        assert!(dead.last_error.unwrap().contains("500"));
    }

    #[test]
    fn a_receiver_can_ask_for_a_longer_pause_but_not_forever() {
        let pause = |value| {
            let next = answered(429, Some(value)).record(delivery(0), NOW).next_attempt_at;
            (next.unwrap() - NOW).whole_seconds()
        };
        assert_eq!((pause("90"), pause("1"), pause("99999999"), pause("soon")), (90, 5, 3600, 5));
    }

    #[test]
    fn an_accepted_delivery_forgets_its_last_error() {
        let tried = answered(500, None).record(delivery(0), NOW);
        let done = answered(200, None).record(tried, NOW);
        assert_eq!((done.state, done.attempts), (DeliveryState::Delivered, 2));
        assert_eq!((done.last_error, done.delivered_at), (None, Some(NOW)));
    }
}
