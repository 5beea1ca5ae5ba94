//! Requests to providers.

use std::{
    hash::{BuildHasher, RandomState},
    time::{Duration, SystemTime},
};

use bytes::{Bytes, BytesMut};
use helmdeck_egress::{Connection, Connector, Policy, path};
use helmdeck_store::vault::Secret;
use helmdeck_wire::error::with_causes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, Uri, header};
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use rustls::Error as TlsError;
use time::{OffsetDateTime, format_description::well_known::Rfc2822};
use tokio::time::{Instant, timeout_at};

use crate::{
    Malformed,
    error::GatewayError,
    provider::{Auth, Provider},
};

/// How providers see us.
const USER_AGENT: &str = concat!("helmdeck/", env!("CARGO_PKG_VERSION"));
/// The version of Anthropic's API for clients that name none.
const ANTHROPIC_VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");
/// The largest answer that is not streamed.
pub const MAX_ANSWER: usize = 64 << 20;
/// How much of an error is read.
pub const MAX_ERROR: usize = 64 << 10;

/// Makes requests to providers. Cheap to clone.
#[derive(Clone)]
pub struct Upstream {
    /// For addresses on the Internet.
    guarded: Connector,
    /// For addresses that the operator chose.
    services: Connector,
    hasher: RandomState,
}

/// A request.
pub struct Outgoing<'a> {
    /// Who gets it.
    pub provider: &'a Provider,
    /// The path below its address.
    pub path: &'a str,
    /// Its method.
    pub method: Method,
    /// Headers of the client that are passed on.
    pub headers: HeaderMap,
    /// The key.
    pub key: Option<&'a Secret>,
    /// The body.
    pub body: Vec<u8>,
    /// When the head of the answer has to be there, and how long that is from the start.
    pub deadline: (Instant, Duration),
}

impl Upstream {
    /// Requests under this policy.
    pub fn new(policy: Policy) -> Result<Self, TlsError> {
        Ok(Self {
            guarded: Connector::new(policy)?,
            services: Connector::for_services()?,
            hasher: RandomState::new(),
        })
    }

    /// A number that tells keys apart, and says nothing about them.
    pub fn mark(&self, key: Option<&Secret>) -> u64 {
        self.hasher.hash_one(key.map(Secret::reveal))
    }

    /// Sends a request, and returns the head of the answer. Dropping the answer closes the connection,
    /// which is how providers learn that nobody waits. Redirects are answers.
    pub async fn send(&self, request: Outgoing<'_>) -> Result<Response<Incoming>, GatewayError> {
        let name = || request.provider.name.clone();
        let (deadline, after) = request.deadline;
        let late = |_| GatewayError::Timeout { provider: name(), after };
        let connector = if request.provider.is_configured { &self.services } else { &self.guarded };
        let url = format!("{}{}", request.provider.url, request.path);
        let connected = timeout_at(deadline, connector.connect(&url)).await.map_err(late)?;
        let Connection { stream, authority, .. } =
            connected.map_err(|source| GatewayError::Unreachable { provider: name(), source })?;
        let broken = |error: hyper::Error| GatewayError::Broken {
            provider: name(),
            reason: with_causes(&error),
        };
        let sending = async {
            let (mut sender, connection) =
                http1::handshake::<_, Full<Bytes>>(TokioIo::new(stream)).await.map_err(broken)?;
            // It ends with the answer.
            helmdeck_task::spawn(connection);
            let message = message(&request, &url, &authority)?;
            sender.send_request(message).await.map_err(broken)
        };
        timeout_at(deadline, sending).await.map_err(late)?
    }
}

fn message(
    request: &Outgoing<'_>,
    url: &str,
    authority: &str,
) -> Result<Request<Full<Bytes>>, GatewayError> {
    let wrong = |reason: &'static str| GatewayError::Malformed {
        provider: request.provider.name.clone(),
        reason: Malformed::new(reason),
    };
    let uri: Uri = path(url).parse().map_err(|_| wrong("its address is not valid"))?;
    let mut message = Request::new(Full::new(Bytes::from(request.body.clone())));
    *message.method_mut() = request.method.clone();
    *message.uri_mut() = uri;
    let headers = message.headers_mut();
    *headers = request.headers.clone();
    let host = HeaderValue::try_from(authority).map_err(|_| wrong("its address is not valid"))?;
    headers.insert(header::HOST, host);
    headers.insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
    headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    if !request.body.is_empty() {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    if request.provider.auth == Auth::Anthropic {
        headers.entry("anthropic-version").or_insert(ANTHROPIC_VERSION);
    }
    if let Some(key) = request.key {
        let (name, prefix) = match request.provider.auth {
            Auth::Bearer => (header::AUTHORIZATION, "Bearer "),
            Auth::Anthropic => (HeaderName::from_static("x-api-key"), ""),
            Auth::Google => (HeaderName::from_static("x-goog-api-key"), ""),
        };
        let text = key.text()?.trim();
        let value = HeaderValue::try_from(format!("{prefix}{text}"));
        let mut value =
            value.map_err(|_| wrong("its key has characters that no header can have"))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(message)
}

/// Reads a whole body. `None` if it is larger than that.
pub async fn read(mut body: Incoming, most: usize) -> Result<Option<Bytes>, hyper::Error> {
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        if bytes.len() + data.len() > most {
            return Ok(None);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(Some(bytes.freeze()))
}

/// How long an answer asks to wait: seconds, milliseconds or a date.
pub fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(millis) = text("retry-after-ms").and_then(|it| it.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(millis / 1000.0).ok();
    }
    let value = text("retry-after")?;
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = OffsetDateTime::parse(&value.replace("GMT", "+0000"), &Rfc2822).ok()?;
    Some(SystemTime::from(date).duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        net::IpAddr,
        pin::Pin,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
    };

    use helmdeck_egress::Resolve;
    use helmdeck_wire::ErrorCode;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
    };

    use super::*;
    use crate::Family;

    /// Says that every name is on this machine.
    struct Here;

    impl Resolve for Here {
        fn resolve<'a, 'b, 'c>(
            &'a self,
            _: &'b str,
        ) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'c>>
        where
            'a: 'c,
            'b: 'c,
            Self: 'c,
        {
            Box::pin(async { Ok(vec![IpAddr::from([127, 0, 0, 1])]) })
        }
    }

    /// A provider that sends everyone elsewhere, its port, and how often it was asked.
    async fn redirecting() -> (u16, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = asked.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                let mut head = [0; 1024];
                let _ = stream.read(&mut head).await;
                let answer = format!(
                    "HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1:{port}/private\r\n\
                     content-length: 0\r\n\r\n"
                );
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        (port, asked)
    }

    async fn send(address: &str, is_configured: bool) -> Result<Response<Incoming>, GatewayError> {
        let policy = Policy::new(Vec::new(), Vec::new());
        let upstream = Upstream {
            guarded: Connector::new(policy).unwrap().with_resolver(Here),
            services: Connector::for_services().unwrap().with_resolver(Here),
            hasher: RandomState::new(),
        };
        let provider =
            Provider { is_configured, ..Provider::custom("relay", Family::Chat, address) };
        let after = Duration::from_secs(10);
        let request = Outgoing {
            provider: &provider,
            path: "/models",
            method: Method::GET,
            headers: HeaderMap::new(),
            key: None,
            body: Vec::new(),
            deadline: (Instant::now() + after, after),
        };
        upstream.send(request).await
    }

    #[tokio::test]
    async fn a_private_address_is_refused_unless_the_operator_chose_it_also_behind_a_name() {
        let (port, asked) = redirecting().await;
        for host in ["127.0.0.1", "models.test"] {
            let address = format!("http://{host}:{port}");
            let refused = send(&address, false).await.err().unwrap();
            assert_eq!(refused.code(), ErrorCode::EgressDenied, "{host}: {refused}");
            assert_eq!(asked.swap(0, Ordering::SeqCst), 0, "{host}");
            send(&address, true).await.unwrap();
            assert_eq!(asked.swap(0, Ordering::SeqCst), 1, "{host}");
        }
    }

    #[tokio::test]
    async fn a_redirect_is_an_answer_and_not_followed() {
        let (port, asked) = redirecting().await;
        let answer = send(&format!("http://127.0.0.1:{port}"), true).await.unwrap();
        assert_eq!(answer.status(), 307);
        assert_eq!(asked.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_wait_is_read_in_every_form() {
        let now = SystemTime::from(OffsetDateTime::from_unix_timestamp(784_111_767).unwrap());
        for (name, value, expected) in [
            ("retry-after", "7", Some(7000)),
            ("retry-after", "0.5", Some(500)),
            ("retry-after-ms", "250", Some(250)),
            ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT", Some(10_000)),
            ("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("retry-after", "soon", None),
            ("retry-after", "-1", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::from_static(value));
            let found = retry_after(&headers, now);
            assert_eq!(found, expected.map(Duration::from_millis), "{value}");
        }
    }
}
