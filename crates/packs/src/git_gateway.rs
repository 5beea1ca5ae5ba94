//! Git with a credential: a port on the session's loopback that leads to one repository.
//!
//! Git in the session connects to the port without a credential. The requests arrive here, outside
//! of the session, and leave through the egress policy with the credential added (ADR 54). The port
//! leads nowhere else, and a push may only set the branch that was asked for.

mod push;
mod ssh;

use std::{collections::BTreeMap, convert::Infallible, sync::Arc, time::Duration};

use bytes::Bytes;
use helmdeck_sessions::{ClientForward, Session};
use helmdeck_wire::{ErrorCode, forward::ForwardRule};
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, header,
};
use http_body_util::{BodyExt, Either, Full, combinators::UnsyncBoxBody};
use hyper::{
    body::Incoming, client::conn::http1 as client, server::conn::http1, service::service_fn,
};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::{io::DuplexStream, task::JoinSet, time::timeout};

use crate::{
    Context, HttpClient, PackError, PackResult,
    git_credential::{Access, GitCredential},
    http_client::{USER_AGENT, authority, join, path},
    repository::git_environment,
};

pub use push::Update;

/// How long a server may take to begin its answer.
const ANSWER: Duration = Duration::from_secs(300);
/// How many ports are tried.
const TRIES: u8 = 8;
/// How many redirects of the first request are followed.
const MAX_REDIRECTS: u8 = 5;

type Answer = Response<Either<Incoming, Full<Bytes>>>;
type Outgoing = UnsyncBoxBody<Bytes, hyper::Error>;
type Headers = Vec<(HeaderName, HeaderValue)>;

/// What git may do with the repository.
#[derive(Debug, Clone)]
pub enum Permission {
    /// Fetch.
    Fetch,
    /// This push.
    Push(Update),
}

impl Permission {
    fn service(&self) -> &'static str {
        match self {
            Self::Fetch => "git-upload-pack",
            Self::Push(_) => "git-receive-pack",
        }
    }
}

/// The repository behind the port.
struct Gateway {
    http: HttpClient,
    /// First segment of every path, so that only this git uses the port.
    key: String,
    /// The repository, as redirects have it.
    base: Mutex<String>,
    authorization: HeaderValue,
    permission: Permission,
    /// Why a request was refused or failed. Git would show only a status.
    failure: Mutex<Option<PackError>>,
}

/// Runs `work` while git in the session reaches a repository with a credential. `work` gets the
/// environment for git, which still names the repository by its address.
pub async fn with_credential<T>(
    context: &Context,
    url: &str,
    credential: GitCredential,
    permission: Permission,
    work: impl AsyncFnOnce(BTreeMap<String, String>) -> PackResult<T>,
) -> PackResult<T> {
    match credential.access {
        Access::Header(header) => with_header(context, url, header, permission, work).await,
        Access::Key(key) => ssh::with_key(context, *key, permission, work).await,
    }
}

/// The same by HTTP.
async fn with_header<T>(
    context: &Context,
    url: &str,
    authorization: HeaderValue,
    permission: Permission,
    work: impl AsyncFnOnce(BTreeMap<String, String>) -> PackResult<T>,
) -> PackResult<T> {
    let gateway = Arc::new(Gateway {
        http: context.http.clone(),
        key: random_key()?,
        base: Mutex::new(url.trim_end_matches('/').to_owned()),
        authorization,
        permission,
        failure: Mutex::default(),
    });
    let session = context.session()?;
    let (forward, port) = open_port(context, session).await?;
    let environment = environment(&format!("http://127.0.0.1:{port}/{}", gateway.key), url);
    let done = tokio::select! {
        done = work(environment) => done,
        ended = serve(session, forward, |stream| gateway.clone().serve(stream)) => Err(ended),
    };
    let failure = gateway.failure.lock().take();
    done.map_err(|error| failure.unwrap_or(error))
}

/// Git's settings, with the port in place of the repository's address.
fn environment(port: &str, url: &str) -> BTreeMap<String, String> {
    let mut environment = git_environment();
    let count = environment.get("GIT_CONFIG_COUNT").and_then(|count| count.parse().ok());
    let count: usize = count.unwrap_or_default();
    environment.insert(format!("GIT_CONFIG_KEY_{count}"), format!("url.{port}.insteadOf"));
    environment.insert(format!("GIT_CONFIG_VALUE_{count}"), url.to_owned());
    environment.insert("GIT_CONFIG_COUNT".to_owned(), (count + 1).to_string());
    environment
}

fn random_key() -> PackResult<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| PackError::internal(&error))?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

/// Opens a free port on the session's loopback.
async fn open_port(context: &Context, session: &Session) -> PackResult<(ClientForward, u16)> {
    let mut tries = 0;
    loop {
        let mut bytes = [0; 2];
        getrandom::fill(&mut bytes).map_err(|error| PackError::internal(&error))?;
        let port = 20_000 + u16::from_ne_bytes(bytes) % 12_000;
        let rule = ForwardRule { port, to: port };
        tries += 1;
        match session.forward_from_client(&context.caller, rule).await {
            Ok(forward) => return Ok((forward, port)),
            Err(error) if error.public_code() == ErrorCode::PortInUse && tries < TRIES => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Serves connections to the port until the session ends.
async fn serve<F: Future<Output = ()> + Send + 'static>(
    session: &Session,
    mut forward: ClientForward,
    serve: impl Fn(DuplexStream) -> F,
) -> PackError {
    // Dropping it ends every connection.
    let mut connections = JoinSet::new();
    while let Some(name) = forward.next().await {
        if let Some(stream) = session.bring_forwarded(&name) {
            connections.spawn(serve(stream));
        }
        while connections.try_join_next().is_some() {}
    }
    PackError::new(ErrorCode::SessionUnavailable, "the session has ended")
}

impl Gateway {
    async fn serve(self: Arc<Self>, stream: DuplexStream) {
        let service = service_fn(|request: Request<Incoming>| {
            let gateway = self.clone();
            async move { Ok::<_, Infallible>(gateway.answer(request).await) }
        });
        // Git closes connections as it likes.
        let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
    }

    async fn answer(&self, request: Request<Incoming>) -> Answer {
        match self.pass_on(request).await {
            Ok(answer) => answer,
            Err(error) => {
                // The first failure is the cause of the others.
                self.failure.lock().get_or_insert(error);
                refusal(StatusCode::FORBIDDEN)
            }
        }
    }

    async fn pass_on(&self, request: Request<Incoming>) -> PackResult<Answer> {
        let service = self.permission.service();
        let refs = format!("/info/refs?service={service}");
        let call = format!("/{service}");
        let asked = request.uri().path_and_query().map_or("", |it| it.as_str());
        let inner = asked.strip_prefix('/').and_then(|it| it.strip_prefix(self.key.as_str()));
        let asks_refs = request.method() == Method::GET && inner == Some(refs.as_str());
        let calls = request.method() == Method::POST && inner == Some(call.as_str());
        let mut headers = kept(request.headers());
        if asks_refs {
            return self.references(headers, &refs).await;
        }
        if !calls {
            // Another program, or something that git does without.
            return Ok(refusal(StatusCode::NOT_FOUND));
        }
        let url = format!("{}{call}", self.base.lock());
        let length = request.headers().get(header::CONTENT_LENGTH).cloned();
        headers.extend(length.map(|length| (header::CONTENT_LENGTH, length)));
        let body: Outgoing = match &self.permission {
            Permission::Fetch => request.into_body().boxed_unsync(),
            Permission::Push(update) => push::checked(request, update).await?,
        };
        let response = self.exchange(Method::POST, &url, headers, body).await?;
        self.accepted(response, &url)
    }

    /// The first request of git. Redirects on the same server are followed here, so that git's later
    /// requests come here as well.
    async fn references(&self, headers: Headers, refs: &str) -> PackResult<Answer> {
        for _ in 0..=MAX_REDIRECTS {
            let base = self.base.lock().clone();
            let url = format!("{base}{refs}");
            let body = Full::<Bytes>::default().map_err(|never| match never {}).boxed_unsync();
            let response = self.exchange(Method::GET, &url, headers.clone(), body).await?;
            if !response.status().is_redirection() {
                return self.accepted(response, &url);
            }
            let location = response.headers().get(header::LOCATION).and_then(|it| it.to_str().ok());
            let next = location.and_then(|location| join(&url, location)).unwrap_or_default();
            if authority(&next).ok() != authority(&url).ok() {
                let message = format!(
                    "{base} redirects to another server, which does not get the credential: use its \
                     address, and a credential for its host"
                );
                return Err(PackError::invalid("url", message));
            }
            let Some(moved) = next.strip_suffix(refs) else {
                return Err(PackError::failed(format!("{base} redirects to no repository")));
            };
            *self.base.lock() = moved.to_owned();
        }
        Err(PackError::failed("the repository redirects too often"))
    }

    /// Sends a request with the credential.
    async fn exchange(
        &self,
        method: Method,
        url: &str,
        headers: Headers,
        body: Outgoing,
    ) -> PackResult<Response<Incoming>> {
        let connection = self.http.connect(url).await?;
        let broken = |error: hyper::Error| {
            let error = helmdeck_wire::error::with_causes(&error);
            PackError::failed(format!("the git server broke off: {error}"))
        };
        let stream = TokioIo::new(connection.stream);
        let (mut sender, driver) =
            client::handshake::<_, Outgoing>(stream).await.map_err(broken)?;
        // Ends with the connection, which both sides close after the response.
        helmdeck_task::spawn(driver);
        let mut message = Request::new(body);
        *message.method_mut() = method;
        *message.uri_mut() = path(url)
            .parse::<Uri>()
            .map_err(|_| PackError::invalid("url", "the repository's path is not valid"))?;
        message.headers_mut().extend(headers);
        let host = HeaderValue::try_from(connection.authority)
            .map_err(|_| PackError::invalid("url", "the repository's host is not valid"))?;
        message.headers_mut().insert(header::HOST, host);
        message.headers_mut().insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
        message.headers_mut().insert(header::AUTHORIZATION, self.authorization.clone());
        let late = |_| PackError::new(ErrorCode::Timeout, "the git server does not answer");
        timeout(ANSWER, sender.send_request(message)).await.map_err(late)?.map_err(broken)
    }

    /// The response for git, without headers that it does not need.
    fn accepted(&self, response: Response<Incoming>, url: &str) -> PackResult<Answer> {
        let status = response.status();
        if status == StatusCode::UNAUTHORIZED || status == StatusCode::FORBIDDEN {
            let (_, host) = authority(url)?;
            let message = format!("{host} rejected the credential ({})", status.as_u16());
            let hint = "check that it is valid, and that it may access this repository";
            return Err(PackError::new(ErrorCode::CredentialInvalid, message).hint(hint));
        }
        let (head, body) = response.into_parts();
        let mut answer = Response::new(Either::Left(body));
        *answer.status_mut() = status;
        for name in [header::CONTENT_TYPE, header::CONTENT_ENCODING, header::CACHE_CONTROL] {
            if let Some(value) = head.headers.get(&name) {
                answer.headers_mut().insert(name, value.clone());
            }
        }
        Ok(answer)
    }
}

/// Headers of git that its server needs.
fn kept(headers: &HeaderMap) -> Headers {
    let protocol = HeaderName::from_static("git-protocol");
    let names = [
        header::ACCEPT,
        header::ACCEPT_ENCODING,
        header::CONTENT_TYPE,
        header::CONTENT_ENCODING,
        protocol,
    ];
    let value = |name: HeaderName| Some((name.clone(), headers.get(name)?.clone()));
    names.into_iter().filter_map(value).collect()
}

fn refusal(status: StatusCode) -> Answer {
    let mut answer = Response::new(Either::Right(Full::default()));
    *answer.status_mut() = status;
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_finds_the_port_in_place_of_the_repository() {
        let environment = environment("http://127.0.0.1:20000/key", "https://a.example/b.git");
        assert_eq!(environment["GIT_CONFIG_COUNT"], "4");
        assert_eq!(environment["GIT_CONFIG_KEY_3"], "url.http://127.0.0.1:20000/key.insteadOf");
        assert_eq!(environment["GIT_CONFIG_VALUE_3"], "https://a.example/b.git");
    }
}
