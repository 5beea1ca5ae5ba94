//! GitHub's REST API: requests, pages, errors, and what replies keep of its objects.

mod objects;

use std::time::Duration;

use bytes::Bytes;
use helmdeck_egress::Target;
use helmdeck_store::vault::Destination;
use helmdeck_wire::{ErrorCode, artifact::percent_encoded};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use time::OffsetDateTime;

use crate::{
    Context, HttpRequest, HttpResponse, PackError, PackResult, authorized::Finished, json::at,
};

pub use objects::{Comment, Found, Issue, PullRequest, Release};

/// The credential that is used if the caller names none.
const TOKEN: &str = "github-token";
/// How long one request may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Largest reply that is read.
const MAX_REPLY: usize = 16 << 20;
/// How many objects GitHub returns at once.
const PER_PAGE: usize = 100;
/// How many pages one call reads.
const MAX_PAGES: usize = 20;

/// A repository: `owner/name`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub struct Repo(
    #[schemars(
        length(min = 3, max = 200),
        regex(pattern = r"^[A-Za-z0-9_.-]*[A-Za-z0-9_-][A-Za-z0-9_.-]*/[A-Za-z0-9_.-]*[A-Za-z0-9_-][A-Za-z0-9_.-]*$"),
        extend("x-expected" = "a repository such as octocat/Hello-World")
    )]
    String,
);

impl Repo {
    /// The path of something in the repository.
    pub fn path(&self, rest: &str) -> String {
        format!("/repos/{}/{rest}", self.0)
    }
}

/// The state of issues and pull requests.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "GithubState")]
pub enum State {
    /// Open ones.
    #[default]
    Open,
    /// Closed ones.
    Closed,
    /// All.
    All,
}

impl State {
    /// As the API writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
            Self::All => "all",
        }
    }
}

/// The name of a credential.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub struct CredentialName(
    #[schemars(
        length(min = 1, max = 64),
        regex(pattern = "^[A-Za-z0-9_.-]+$"),
        extend("x-expected" = "the name of a credential of the vault")
    )]
    pub String,
);

/// GitHub, for one job.
pub struct GitHub<'a> {
    context: &'a Context,
    credential: Option<&'a CredentialName>,
    /// Whether requests without a token make sense.
    anonymous: bool,
}

/// Objects of several pages.
pub struct Pages {
    /// The objects.
    pub items: Vec<Value>,
    /// Whether there are more.
    pub truncated: bool,
    /// How many there are altogether, as a search says.
    pub total: Option<u64>,
}

impl<'a> GitHub<'a> {
    /// For requests that read. Public objects need no token.
    pub fn reading(context: &'a Context, credential: Option<&'a CredentialName>) -> Self {
        Self { context, credential, anonymous: credential.is_none() }
    }

    /// For requests that change something.
    pub fn writing(context: &'a Context, credential: Option<&'a CredentialName>) -> Self {
        Self { context, credential, anonymous: false }
    }

    /// Reads an object.
    pub async fn get(&self, path: &str) -> PackResult<Value> {
        self.parse(&self.send(Method::GET, &self.url(path), None).await?)
    }

    /// Creates an object.
    pub async fn post(&self, path: &str, body: &Value) -> PackResult<Value> {
        self.parse(&self.send(Method::POST, &self.url(path), Some(body)).await?)
    }

    /// Reads objects, page by page, until there are enough that `keep` accepts.
    pub async fn list(
        &self,
        path: &str,
        query: &[(&str, Option<&str>)],
        limit: usize,
        keep: impl Fn(&Value) -> bool,
    ) -> PackResult<Pages> {
        let mut url = self.url(path);
        let size = limit.min(PER_PAGE).to_string();
        let given = query.iter().filter_map(|(name, value)| Some((*name, (*value)?)));
        for (at, (name, value)) in given.chain([("per_page", size.as_str())]).enumerate() {
            url.push(if at == 0 { '?' } else { '&' });
            url.push_str(&format!("{name}={}", percent_encoded(value, "")));
        }
        let mut pages = Pages { items: Vec::new(), truncated: false, total: None };
        for _ in 0..MAX_PAGES {
            let response = self.send(Method::GET, &url, None).await?;
            let reply = self.parse(&response)?;
            pages.total = reply.get("total_count").and_then(Value::as_u64);
            let items = reply.get("items").unwrap_or(&reply);
            let items = items.as_array().into_iter().flatten().filter(|item| keep(item));
            pages.items.extend(items.cloned());
            let next = next_page(&response.headers).filter(|next| self.is_ours(next));
            if pages.items.len() >= limit {
                pages.truncated = pages.items.len() > limit || next.is_some();
                pages.items.truncate(limit);
                return Ok(pages);
            }
            let Some(next) = next else { return Ok(pages) };
            url = next;
        }
        pages.truncated = true;
        Ok(pages)
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.context.endpoints.github.url)
    }

    /// Whether an address belongs to the API: the token is sent there.
    fn is_ours(&self, url: &str) -> bool {
        let base = &self.context.endpoints.github.url;
        url.strip_prefix(base.as_str()).is_some_and(|rest| rest.starts_with(['/', '?']))
    }

    async fn send(
        &self,
        method: Method,
        url: &str,
        body: Option<&Value>,
    ) -> PackResult<HttpResponse> {
        let mut headers = HeaderMap::new();
        let accept = HeaderValue::from_static("application/vnd.github+json");
        headers.insert(header::ACCEPT, accept);
        headers.insert("x-github-api-version", HeaderValue::from_static("2022-11-28"));
        if body.is_some() {
            let json = HeaderValue::from_static("application/json");
            headers.insert(header::CONTENT_TYPE, json);
        }
        let request = HttpRequest {
            method,
            url: url.to_owned(),
            headers,
            body: body.map_or(Bytes::new(), |body| Bytes::from(body.to_string())),
            max_bytes: MAX_REPLY,
            timeout: TIMEOUT,
        };
        let endpoint = &self.context.endpoints.github;
        let finish = |request| -> Finished<'_> { Box::pin(self.authorize(request)) };
        let response = self.context.client_of(endpoint).send_finished(request, finish).await?;
        if response.truncated {
            let message = format!("GitHub's reply is larger than {MAX_REPLY} bytes: ask for less");
            return Err(PackError::failed(message));
        }
        match response.status.is_success() {
            true => Ok(response),
            false => Err(failure(&response, &self.parse(&response).unwrap_or_default())),
        }
    }

    /// Reads a reply. The token is replaced before texts are cut: a part of it would not be recognised.
    fn parse(&self, response: &HttpResponse) -> PackResult<Value> {
        let reply = serde_json::from_slice(&response.body)
            .map_err(|_| PackError::failed("GitHub answered with something other than JSON"))?;
        Ok(self.context.secrets.redactor().apply_json(reply))
    }

    /// Adds the token. The connection is allowed and open.
    async fn authorize(&self, mut request: HttpRequest) -> PackResult<HttpRequest> {
        let target = Target::from_url(&request.url)
            .map_err(|error| PackError::failed(format!("GitHub: {error}")))?;
        let host = target.host.to_string();
        let path = crate::http_client::path(&request.url);
        let to = Destination { host: &host, port: Some(target.port), path: &path };
        let name = self.credential.map_or(TOKEN, |CredentialName(name)| name.as_str());
        let secret = match self.context.secrets.named(name, to).await {
            Ok(secret) => secret,
            Err(error) if self.anonymous && error.code() == ErrorCode::CredentialInvalid => {
                return Ok(request);
            }
            Err(error) => return Err(error),
        };
        let value = format!("Bearer {}", secret.text()?.trim());
        let mut value = HeaderValue::try_from(value)
            .map_err(|_| PackError::invalid("credential", format!("{name} is not a token")))?;
        value.set_sensitive(true);
        request.headers.insert(header::AUTHORIZATION, value);
        Ok(request)
    }
}

/// The address of the next page in a `Link` header.
fn next_page(headers: &HeaderMap) -> Option<String> {
    let links = headers.get(header::LINK)?.to_str().ok()?;
    links.split(',').find_map(|link| {
        let (address, parameters) = link.split_once(';')?;
        let is_next =
            parameters.split(';').any(|it| matches!(it.trim(), "rel=\"next\"" | "rel=next"));
        let address = address.trim().strip_prefix('<')?.strip_suffix('>')?;
        is_next.then(|| address.to_owned())
    })
}

/// The error for a refused request.
fn failure(response: &HttpResponse, said: &Value) -> PackError {
    let (status, headers) = (response.status, &response.headers);
    let message = format!("GitHub refused ({}): {}", status.as_u16(), reason(said));
    if let Some(wait) = rate_limited(status, headers) {
        let hint = "GitHub limits requests; a token has a higher limit";
        return PackError::new(ErrorCode::QuotaExceeded, message).retry_after_s(wait).hint(hint);
    }
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            let hint = "store a token with the needed rights as `github-token`, or name another";
            PackError::new(ErrorCode::CredentialInvalid, message).hint(hint)
        }
        StatusCode::NOT_FOUND | StatusCode::GONE => {
            let hint = "it does not exist, or the token cannot see it";
            PackError::new(ErrorCode::InvalidInput, message).hint(hint)
        }
        StatusCode::UNPROCESSABLE_ENTITY | StatusCode::BAD_REQUEST => {
            PackError::new(ErrorCode::InvalidInput, message)
        }
        StatusCode::CONFLICT => PackError::new(ErrorCode::SchemaMismatch, message),
        _ => PackError::failed(message),
    }
}

/// What GitHub says about a refused request, with the fields that are wrong.
fn reason(said: &Value) -> String {
    let mut text = at(said, "message").as_str().unwrap_or("no reason given").to_owned();
    for error in at(said, "errors").as_array().into_iter().flatten().take(5) {
        let part = |name: &str| at(error, name).as_str().unwrap_or_default();
        let detail = match (error.as_str(), part("message")) {
            (Some(whole), _) => whole.to_owned(),
            (None, "") => format!("{} {}", part("field"), part("code")),
            (None, message) => message.to_owned(),
        };
        text.push_str("; ");
        text.push_str(detail.trim());
    }
    text.chars().take(1000).collect()
}

/// Seconds to wait, if the limit of requests is the reason.
fn rate_limited(status: StatusCode, headers: &HeaderMap) -> Option<u64> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.parse::<i64>().ok();
    let limited = status == StatusCode::TOO_MANY_REQUESTS || status == StatusCode::FORBIDDEN;
    let waits = number("retry-after").or_else(|| {
        let spent = number("x-ratelimit-remaining") == Some(0);
        let now = OffsetDateTime::now_utc().unix_timestamp();
        number("x-ratelimit-reset").filter(|_| spent).map(|reset| reset - now)
    });
    let waits = waits.or((status == StatusCode::TOO_MANY_REQUESTS).then_some(60));
    waits.filter(|_| limited).map(|seconds| u64::try_from(seconds).unwrap_or(0).max(1))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_next_page_is_in_the_link_header() {
        let of = |text| HeaderMap::from_iter([(header::LINK, HeaderValue::from_static(text))]);
        let links = of("<https://a.example/?page=1>; rel=\"prev\", <https://a.example/?page=3>; \
                        rel=\"next\", <https://a.example/?page=9>; rel=\"last\"");
        assert_eq!(next_page(&links).as_deref(), Some("https://a.example/?page=3"));
        assert_eq!(next_page(&of("<https://a.example/?page=1>; rel=\"first\"")), None);
        assert_eq!(next_page(&HeaderMap::new()), None);
    }

    #[test]
    fn a_refusal_names_the_wrong_fields() {
        let said = json!({ "message": "Validation Failed", "errors": [
            { "resource": "Issue", "field": "title", "code": "missing_field" },
            { "message": "No commits between main and main" },
        ] });
        let text = "Validation Failed; title missing_field; No commits between main and main";
        assert_eq!(reason(&said), text);
    }

    #[test]
    fn a_spent_limit_says_when_to_come_back() {
        let reset = OffsetDateTime::now_utc().unix_timestamp() + 100;
        let headers = HeaderMap::from_iter([
            ("x-ratelimit-remaining".parse().unwrap(), HeaderValue::from(0)),
            ("x-ratelimit-reset".parse().unwrap(), HeaderValue::from(reset)),
        ]);
        let wait = rate_limited(StatusCode::FORBIDDEN, &headers).unwrap();
        assert!((90..=100).contains(&wait), "{wait}");
        assert_eq!(rate_limited(StatusCode::FORBIDDEN, &HeaderMap::new()), None);
        assert_eq!(rate_limited(StatusCode::NOT_FOUND, &headers), None);
        assert_eq!(rate_limited(StatusCode::TOO_MANY_REQUESTS, &HeaderMap::new()), Some(60));
    }
}
