//! Webhooks: the end of a job is reported to a URL.
//!
//! The store has a row for each delivery; `webhook/sender.rs` makes the attempts. `webhook/message.rs`
//! is what a receiver gets, and `webhook/retry.rs` decides when to try again.

mod message;
mod retry;
mod sender;

use std::fmt;

use helmdeck_wire::webhook::DeliveryId;

use crate::{PackError, PackResult, http_client::authority};

pub(crate) use sender::Sender;

/// Where a call wants the end of its job reported.
#[derive(Clone)]
pub struct Webhook {
    /// The address.
    pub(crate) url: String,
    /// The secret that signs the report.
    pub(crate) secret: Option<String>,
}

impl Webhook {
    /// A webhook. Fails if the address or the secret cannot be used.
    pub fn new(url: String, secret: Option<String>) -> PackResult<Self> {
        authority(&url).map_err(|error| {
            let message = error.to_string();
            let message = message.trim_start_matches("url: ");
            PackError::invalid("webhook_url", format!("webhook_url: {message}"))
        })?;
        if let Some(secret) = &secret {
            message::signing_key(secret)?;
        }
        Ok(Self { url, secret })
    }

    /// Host and port of the receiver.
    pub fn host(&self) -> &str {
        authority(&self.url).map_or("", |(_, host)| host)
    }
}

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook").field("signed", &self.secret.is_some()).finish_non_exhaustive()
    }
}

pub(crate) fn new_id() -> PackResult<DeliveryId> {
    let mut bytes = [0; 12];
    getrandom::fill(&mut bytes).map_err(|error| PackError::internal(&error))?;
    Ok(DeliveryId::from_random(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_webhook_has_a_web_address_without_credentials_and_a_usable_secret() {
        let webhook = |url: &str, secret: Option<&str>| {
            Webhook::new(url.to_owned(), secret.map(str::to_owned))
        };
        assert!(webhook("http://callback:8080/done", Some("hunter22")).is_ok());
        assert!(webhook("https://a.example/x", Some("whsec_aHVudGVyMg==")).is_ok());
        for url in ["ftp://a/b", "a.example", "http://me:pass@a/"] {
            let error = webhook(url, None).unwrap_err();
            assert_eq!(error.body().field.as_deref(), Some("webhook_url"), "{url}");
            assert!(!error.to_string().contains("url: url"), "{error}");
        }
        let error = webhook("http://a/", Some("whsec_not base64")).unwrap_err();
        assert_eq!(error.body().field.as_deref(), Some("webhook_secret"));
        let shown = format!("{:?}", webhook("http://a/", Some("hunter22")).unwrap());
        assert!(!shown.contains("hunter22"), "{shown}");
    }
}
