//! `http.fetch`: sends a request to a web server, with secrets of the vault.

use std::{collections::BTreeMap, time::Duration};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use helmdeck_egress::Target;
use helmdeck_store::vault::{Destination, Encoding as Spelling, Redactor};
use helmdeck_wire::{artifact::file_name, nature::Nature};
use http::{HeaderMap, HeaderName, HeaderValue, Method as HttpMethod, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Context, HttpRequest, HttpResponse, Pack, PackError, PackResult, Routing,
    authorized::Finished,
    http_client::{authority, path},
};

/// How much of a response is kept in memory.
const MAX_RESPONSE: usize = 16 << 20;
/// How much of a response is in the output; all of a longer one is an artifact.
const MAX_INLINE: usize = 256 << 10;
/// The beginning of a placeholder.
const PLACEHOLDER: &str = "${vault:";

/// Send a request to a web server.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "HttpFetch")]
struct Input {
    /// The address. `${vault:NAME}` in path and query is replaced by a secret of the vault.
    #[schemars(
        length(min = 1, max = 16384),
        regex(pattern = r"^[Hh][Tt][Tt][Pp][Ss]?://[^\s\x00]+$")
    )]
    #[schemars(extend("x-expected" = "an address that begins with http:// or https://"))]
    url: String,
    /// The method.
    #[serde(default)]
    method: Method,
    /// Headers. `${vault:NAME}` in a value is replaced by a secret of the vault.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// The body. `${vault:NAME}` is replaced by a secret of the vault.
    #[serde(default)]
    #[schemars(length(max = 4_194_304))]
    body: Option<String>,
    /// Seconds to wait for the whole response.
    #[serde(default = "timeout")]
    #[schemars(range(min = 1, max = 300))]
    timeout_s: u32,
    /// Whether to store the response as an artifact, however small it is.
    #[serde(default)]
    save: bool,
}

fn timeout() -> u32 {
    30
}

/// Whether a call has a method that only reads.
fn only_reads(input: &Value) -> bool {
    let method = input.get("method").and_then(Value::as_str).unwrap_or("GET");
    matches!(method, "GET" | "HEAD")
}

/// A method.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schemars(rename = "HttpFetchMethod")]
enum Method {
    #[default]
    Get,
    Post,
    Put,
    Delete,
    Patch,
    Head,
}

impl From<Method> for HttpMethod {
    fn from(method: Method) -> Self {
        match method {
            Method::Get => Self::GET,
            Method::Post => Self::POST,
            Method::Put => Self::PUT,
            Method::Delete => Self::DELETE,
            Method::Patch => Self::PATCH,
            Method::Head => Self::HEAD,
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "HttpFetchOutput")]
struct Output {
    /// Status of the response. An error status is a result, not a failure.
    status: u16,
    /// Headers of the response; repeated ones are joined by a comma.
    headers: BTreeMap<String, String>,
    /// The body, or its beginning.
    body: String,
    /// How `body` is written.
    encoding: Encoding,
    /// Whether `body` is not all of it.
    truncated: bool,
    /// Bytes of the response.
    size: usize,
    /// Where the response came from, after redirects.
    url: String,
    /// The whole response, if it is too long for `body`.
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact_key: Option<String>,
}

/// How bytes are written in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "HttpFetchEncoding")]
enum Encoding {
    #[serde(rename = "utf-8")]
    Utf8,
    #[serde(rename = "base64")]
    Base64,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("http.fetch", run)
        .doc(
            "Send an HTTP request and return the response. `${vault:NAME}` in address, headers and body is \
             replaced by a secret of the vault, if the caller may use it and it is for this host. Calls to \
             helmdeck's own API, such as http://localhost:3000/api/v1/desktop/click, need no token.",
        )
        .nature(Nature { open_world: true, ..Nature::default().changes_world() })
        .cacheable_if(only_reads)
        .timeout_s(330)
        .switch(crate::pack::Switch::HttpFetch)
        .example(
            "Call an API with a credential of the vault",
            serde_json::json!({ "url": "https://api.example.com/v1/items", "headers": { "authorization": "Bearer ${vault:example-key}" } }),
        )
        .routing(Routing {
            accepts: &["url"],
            produces: &["text", "json", "artifact"],
            intent_keywords: &["http", "fetch", "api", "request", "download", "rest", "webhook"],
            typical_use: "Call an API, or download a file.",
            limitations: &["No JavaScript: use web.scrape for pages that need it.", "16 MiB at most."],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    let request = HttpRequest {
        method: input.method.into(),
        url: input.url.clone(),
        headers: headers(&input.headers)?,
        body: Bytes::from(input.body.clone().unwrap_or_default()),
        max_bytes: MAX_RESPONSE,
        timeout: Duration::from_secs(input.timeout_s.into()),
    };
    let own = context.own_api.clone().filter(|api| api.serves(&input.url));
    let response = match own {
        Some(api) => api.call(context.caller.clone(), request).await?,
        None => {
            let asked = &input.url;
            let finish = |request| -> Finished<'_> { Box::pin(finish(&context, asked, request)) };
            context.http.send_finished(request, finish).await?
        }
    };
    output(&context, response, input.save).await
}

/// Replaces placeholders. The connection is allowed and open.
async fn finish(
    context: &Context,
    asked: &str,
    mut request: HttpRequest,
) -> PackResult<HttpRequest> {
    if authority(&request.url)? != authority(asked)? {
        return without_placeholders(request);
    }
    let target = Target::from_url(&request.url)
        .map_err(|error| PackError::invalid("url", error.to_string()))?;
    let (host, path) = (target.host.to_string(), path(&request.url));
    // The vault records the path, which may be a server's that repeats a secret.
    let path =
        context.secrets.redactor().apply(path.split('?').next().unwrap_or_default()).into_owned();
    let path = path.as_str();
    let to = Destination { host: host.trim_matches(['[', ']']), port: Some(target.port), path };
    // An address that a server redirects to is not the caller's.
    if request.url == asked && asked.contains(PLACEHOLDER) {
        request.url = context.secrets.substitute(asked, Spelling::Url, to).await?;
    }
    for (name, value) in &mut request.headers {
        let Some(text) = value.to_str().ok().filter(|text| text.contains(PLACEHOLDER)) else {
            continue;
        };
        let text = context.secrets.substitute(text, Spelling::Plain, to).await?;
        *value = HeaderValue::try_from(text).map_err(|_| {
            PackError::invalid("headers", format!("the secret for {name} has line breaks"))
        })?;
        value.set_sensitive(true);
    }
    if let Ok(text) = std::str::from_utf8(&request.body)
        && text.contains(PLACEHOLDER)
    {
        let text = context.secrets.substitute(text, Spelling::Plain, to).await?;
        request.body = Bytes::from(text);
    }
    Ok(request)
}

/// A request that was redirected to another host. Secrets are for the host that the caller named.
fn without_placeholders(mut request: HttpRequest) -> PackResult<HttpRequest> {
    let text = std::str::from_utf8(&request.body).unwrap_or_default();
    if text.contains(PLACEHOLDER) {
        let message = format!(
            "the server redirects to {}: its body names a secret, which is not sent there",
            request.url
        );
        return Err(PackError::invalid("url", message));
    }
    let has = |value: &HeaderValue| value.to_str().is_ok_and(|it| it.contains(PLACEHOLDER));
    let named: Vec<_> = request.headers.iter().filter(|(_, it)| has(it)).collect();
    let named: Vec<_> = named.into_iter().map(|(name, _)| name.clone()).collect();
    for name in named {
        request.headers.remove(name);
    }
    Ok(request)
}

fn headers(given: &BTreeMap<String, String>) -> PackResult<HeaderMap> {
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let invalid = || PackError::invalid("headers", format!("{name:?} is not a valid header"));
        let name = HeaderName::try_from(name).map_err(|_| invalid())?;
        if [header::HOST, header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::CONNECTION]
            .contains(&name)
        {
            let message = format!("{name} follows from url and body: leave it out");
            return Err(PackError::invalid("headers", message));
        }
        headers.insert(name, HeaderValue::try_from(value).map_err(|_| invalid())?);
    }
    Ok(headers)
}

async fn output(context: &Context, response: HttpResponse, save: bool) -> PackResult<Output> {
    let mut headers = BTreeMap::<String, String>::new();
    for (name, value) in &response.headers {
        let value = String::from_utf8_lossy(value.as_bytes());
        let joined = headers.entry(name.as_str().to_owned()).or_default();
        if !joined.is_empty() {
            joined.push_str(", ");
        }
        joined.push_str(&value);
    }
    let size = response.body.len();
    let redactor = context.secrets.redactor();
    let whole = without_secrets(&redactor, &response);
    let artifact_key = match save || whole.len() > MAX_INLINE {
        true => {
            let kind = headers.get("content-type").map_or("", String::as_str);
            let kind = kind.split(';').next().unwrap_or_default().trim();
            // Before it is cut or changed: a part of a secret would not be recognised.
            let name = name(&redactor.apply(&response.url));
            let made = context.artifacts.put(&name, kind, whole.clone()).await?;
            Some(made.key)
        }
        false => None,
    };
    let (body, encoding) = written(&whole);
    Ok(Output {
        status: response.status.as_u16(),
        headers,
        body,
        encoding,
        truncated: response.truncated || whole.len() > MAX_INLINE,
        size,
        url: response.url,
        artifact_key,
    })
}

/// The body with its secrets replaced. This comes before anything is cut: a part of a secret would not
/// be recognised. If the response is cut already, what may be the beginning of a secret is left out.
fn without_secrets(redactor: &Redactor, response: &HttpResponse) -> Bytes {
    let body = &response.body;
    if redactor.is_empty() {
        return body.clone();
    }
    match response.truncated {
        true => redactor.stream().push(body).into(),
        false => redactor.apply_bytes(body).into_owned().into(),
    }
}

/// The beginning of a body: as text if it is text.
fn written(body: &Bytes) -> (String, Encoding) {
    let part = body.get(..MAX_INLINE).unwrap_or(body);
    let text = match std::str::from_utf8(part) {
        Ok(text) => Some(text),
        // A character may be cut at the end.
        Err(error) if error.error_len().is_none() && part.len() < body.len() => {
            part.get(..error.valid_up_to()).and_then(|part| std::str::from_utf8(part).ok())
        }
        Err(_) => None,
    };
    match text {
        Some(text) => (text.to_owned(), Encoding::Utf8),
        None => (BASE64_STANDARD.encode(part), Encoding::Base64),
    }
}

/// A file name for an address.
fn name(url: &str) -> String {
    let path = path(url);
    let last = path.split('?').next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
    if last.is_empty() || last.contains(PLACEHOLDER) {
        "response".to_owned()
    } else {
        file_name(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_text_and_other_bytes_are_base64() {
        assert_eq!(written(&Bytes::from("é")), ("é".to_owned(), Encoding::Utf8));
        assert_eq!(written(&Bytes::from_static(&[0xff])), ("/w==".to_owned(), Encoding::Base64));
        let long = Bytes::from("é".repeat(MAX_INLINE));
        let (text, encoding) = written(&long.slice(1..));
        assert_eq!(encoding, Encoding::Base64, "it begins within a character");
        assert!(!text.is_empty());
        let odd = Bytes::from(format!("a{}", "é".repeat(MAX_INLINE)));
        let (text, encoding) = written(&odd);
        assert_eq!((encoding, text.len()), (Encoding::Utf8, MAX_INLINE - 1));
    }

    #[test]
    fn a_response_that_was_cut_has_no_part_of_a_secret_at_its_end() {
        let mut redactor = Redactor::default();
        redactor.add_bytes(b"sk-0123456789");
        let body = Bytes::from_static(b"a sk-0123456789 b sk-01234");
        let mut response = HttpResponse {
            status: http::StatusCode::OK,
            headers: HeaderMap::new(),
            body,
            truncated: true,
            url: String::new(),
        };
        assert_eq!(without_secrets(&redactor, &response), "a ••• b ");
        response.truncated = false;
        assert_eq!(without_secrets(&redactor, &response), "a ••• b sk-01234");
    }

    #[test]
    fn a_redirect_to_another_host_loses_headers_with_secrets_and_a_body_with_one_is_not_sent() {
        let mut request = HttpRequest::get("http://b.example/");
        let secret = HeaderValue::from_static("${vault:key}");
        request.headers.insert("x-api-key", secret);
        request.headers.insert("x-other", HeaderValue::from_static("kept"));
        let sent = without_placeholders(request.clone()).unwrap();
        assert_eq!(sent.headers.keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["x-other"]);
        request.body = Bytes::from_static(b"key=${vault:key}");
        assert!(without_placeholders(request).is_err());
    }

    #[test]
    fn a_download_is_named_after_its_address() {
        assert_eq!(name("http://a.example/b/c.tar.gz?x=/y"), "c.tar.gz");
        assert_eq!(name("http://a.example/"), "response");
        assert_eq!(name("http://a.example/${vault:key}"), "response");
    }
}
