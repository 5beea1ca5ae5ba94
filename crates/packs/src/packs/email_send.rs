//! `email.send`: sends an e-mail through Resend.

use std::time::Duration;

use bytes::Bytes;
use helmdeck_egress::Target;
use helmdeck_store::vault::Destination;
use helmdeck_wire::{ErrorCode, nature::Nature};
use http::{HeaderName, HeaderValue, Method, StatusCode, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    Context, HttpRequest, HttpResponse, Pack, PackError, PackResult, Routing,
    authorized::Finished,
    json::{at, without_nulls},
};

/// The credential.
const KEY: &str = "resend-api-key";
/// Sender of accounts without a domain. It reaches only the account's own address.
const ONBOARDING: &str = "onboarding@resend.dev";
/// How long a request may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// A second job with this key sends nothing.
const IDEMPOTENCY: HeaderName = HeaderName::from_static("idempotency-key");

/// Send an e-mail.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "EmailSend")]
struct Input {
    /// Who gets it: an address, or several.
    to: Addresses,
    /// The subject.
    #[schemars(length(min = 1, max = 998), regex(pattern = r"^[^\r\n]+$"))]
    #[schemars(extend("x-expected" = "one line of text"))]
    subject: String,
    /// The text, as HTML.
    #[serde(default)]
    #[schemars(length(min = 1, max = 5_000_000))]
    html: Option<String>,
    /// The text, for readers without HTML.
    #[serde(default)]
    #[schemars(length(min = 1, max = 5_000_000))]
    text: Option<String>,
    /// The sender, `Name <address>` or an address, in a verified domain of the account; an address
    /// of the first one by default.
    #[serde(default)]
    from: Option<Address>,
    /// Who gets a copy.
    #[serde(default)]
    cc: Option<Addresses>,
    /// Who gets a copy that others do not see.
    #[serde(default)]
    bcc: Option<Addresses>,
    /// Where answers go.
    #[serde(default)]
    reply_to: Option<Addresses>,
}

/// An address, with or without a name.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
struct Address(
    #[schemars(
        length(min = 3, max = 400),
        regex(pattern = r"^([^<>\r\n]*<[^@<>\s]+@[^@<>\s]+>|[^@<>\s]+@[^@<>\s]+)$"),
        extend("x-expected" = "an address such as ann@example.com, or Ann <ann@example.com>")
    )]
    String,
);

impl Address {
    /// What follows the `@`.
    fn domain(&self) -> &str {
        let address = self.0.rsplit('<').next().unwrap_or_default().trim_end_matches('>');
        address.rsplit('@').next().unwrap_or_default()
    }
}

/// One address or several.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "EmailAddresses")]
enum Addresses {
    /// One.
    One(Address),
    /// Several.
    Several(#[schemars(length(min = 1, max = 50))] Vec<Address>),
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EmailSendOutput")]
struct Output {
    /// Id of the message at Resend.
    message_id: String,
    /// The sender.
    from: String,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("email.send", run)
        .doc("Send an e-mail through Resend. The vault's `resend-api-key` is the account.")
        .nature(Nature { open_world: true, ..Nature::default().changes_world() })
        .credential(KEY)
        .timeout_s(120)
        .switch(crate::pack::Switch::Email)
        .example(
            "A short message",
            serde_json::json!({ "to": "ann@example.com", "subject": "The build is done", "text": "All tests pass." }),
        )
        .routing(Routing {
            accepts: &["text", "html", "address"],
            produces: &["message"],
            intent_keywords: &["email", "mail", "send", "notify", "message"],
            typical_use: "Tell a person about a result.",
            limitations: &["No attachments: send a link to the artifact."],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    if input.html.is_none() && input.text.is_none() {
        return Err(PackError::invalid("html", "html or text: one of them is needed"));
    }
    let from = sender(&context, input.from).await?;
    let body = json!({
        "from": from, "to": input.to, "subject": input.subject, "html": input.html,
        "text": input.text, "cc": input.cc, "bcc": input.bcc, "reply_to": input.reply_to,
    });
    let body = without_nulls(body);
    let response = send(&context, Method::POST, "/emails", Some(&body)).await?;
    let said = said(&response);
    match (response.status.is_success(), at(&said, "id").as_str()) {
        (true, Some(id)) => Ok(Output { message_id: id.to_owned(), from }),
        _ => Err(failure(&response, &said)),
    }
}

/// The sender: the given one if its domain is verified, or else one of the first verified domain.
async fn sender(context: &Context, given: Option<Address>) -> PackResult<String> {
    let response = send(context, Method::GET, "/domains", None).await?;
    let said = said(&response);
    if !response.status.is_success() {
        // Keys that may only send cannot list domains; Resend checks the sender itself.
        let only_sends = at(&said, "name") == "restricted_api_key";
        return match given {
            Some(Address(from)) if only_sends => Ok(from),
            None if only_sends => {
                let message = "from: the key cannot list domains, so the sender must be given";
                Err(PackError::invalid("from", message))
            }
            _ => Err(failure(&response, &said)),
        };
    }
    let domains = at(&said, "data").as_array().into_iter().flatten();
    let verified = domains.filter(|domain| at(domain, "status") == "verified");
    let verified: Vec<&str> = verified.filter_map(|domain| at(domain, "name").as_str()).collect();
    let Some(from) = given else {
        let domain = verified.first();
        return Ok(domain.map_or(ONBOARDING.to_owned(), |domain| format!("helmdeck@{domain}")));
    };
    let domain = from.domain();
    let is_verified = verified.iter().any(|name| name.eq_ignore_ascii_case(domain));
    if is_verified || from.0.contains(ONBOARDING) {
        return Ok(from.0);
    }
    let known = if verified.is_empty() { "none".to_owned() } else { verified.join(", ") };
    let message =
        format!("from: {domain} is not a verified domain of the account; verified: {known}");
    Err(PackError::invalid("from", message))
}

async fn send(
    context: &Context,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> PackResult<HttpResponse> {
    let endpoint = &context.endpoints.resend;
    let mut request = HttpRequest::get(&format!("{}{path}", endpoint.url));
    request.method = method;
    request.timeout = TIMEOUT;
    if let Some(body) = body {
        let job = HeaderValue::try_from(context.job.as_str());
        request.headers.insert(IDEMPOTENCY, job.unwrap_or(HeaderValue::from_static("job")));
        let json = HeaderValue::from_static("application/json");
        request.headers.insert(header::CONTENT_TYPE, json);
        request.body = Bytes::from(body.to_string());
    }
    let finish = |request| -> Finished<'_> { Box::pin(authorize(context, request)) };
    context.client_of(endpoint).send_finished(request, finish).await
}

/// Adds the key. The connection is allowed and open.
async fn authorize(context: &Context, mut request: HttpRequest) -> PackResult<HttpRequest> {
    let target = Target::from_url(&request.url)
        .map_err(|error| PackError::failed(format!("Resend: {error}")))?;
    let (host, path) = (target.host.to_string(), crate::http_client::path(&request.url));
    let to = Destination { host: &host, port: Some(target.port), path: &path };
    let secret = context.secrets.named(KEY, to).await?;
    let value = HeaderValue::try_from(format!("Bearer {}", secret.text()?.trim()));
    let mut value =
        value.map_err(|_| PackError::failed(format!("vault: {KEY} is not a key of Resend")))?;
    value.set_sensitive(true);
    request.headers.insert(header::AUTHORIZATION, value);
    Ok(request)
}

fn said(response: &HttpResponse) -> Value {
    serde_json::from_slice(&response.body).unwrap_or_default()
}

fn failure(response: &HttpResponse, said: &Value) -> PackError {
    let reason = at(said, "message").as_str().unwrap_or("no reason given");
    let message = format!("Resend refused ({}): {reason}", response.status.as_u16());
    match response.status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN
            if at(said, "name") != "validation_error" =>
        {
            PackError::new(ErrorCode::CredentialInvalid, message)
        }
        StatusCode::TOO_MANY_REQUESTS => {
            let wait = response.headers.get(header::RETRY_AFTER).and_then(|it| it.to_str().ok());
            let wait = wait.and_then(|it| it.parse().ok()).unwrap_or(1);
            PackError::new(ErrorCode::QuotaExceeded, message).retry_after_s(wait)
        }
        status if status.is_client_error() => PackError::new(ErrorCode::InvalidInput, message),
        _ => PackError::failed(message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_domain_of_a_sender_is_found_with_and_without_a_name() {
        for from in ["a@b.example", "Ann <a@b.example>", "\"A @ B\" <a@b.example>"] {
            assert_eq!(Address(from.to_owned()).domain(), "b.example");
        }
    }
}
