//! The HTTP side of the proxy: absolute-form requests, and CONNECT.

use std::{convert::Infallible, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{
    HeaderValue, Method, Request, Response, StatusCode, Uri, Version,
    header::{EXPECT, HOST},
    uri::{PathAndQuery, Scheme as UriScheme},
};
use http_body_util::{BodyExt, Either, Full, Limited};
use hyper::{
    body::Incoming, server::conn::http1::Builder, service::service_fn, upgrade::OnUpgrade,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use parking_lot::Mutex;
use tokio::{select, time::timeout};

use crate::{
    ConnectionGate, EgressError, Scheme, Target,
    activity::{Activity, Metered},
    headers::{self, Switches},
    host,
    page::{self, Format},
    proxy::Client,
    tunnel::Tunnel,
    upstream::{Outgoing, Upstream, copy_of},
};

/// The largest head of a request.
const MAX_HEAD: usize = 64 << 10;
const MAX_FIELDS: usize = 256;
/// How much of a refused body is read.
const MAX_DRAIN: usize = 1 << 20;
const DRAIN_DEADLINE: Duration = Duration::from_secs(1);

type Answer = Either<Incoming, Full<Bytes>>;

/// Serves a client until it disconnects, including its tunnel.
pub(crate) async fn serve(
    stream: Metered<Client>,
    gate: &ConnectionGate,
    activity: &Arc<Activity>,
) {
    let exchange = Arc::new(Exchange {
        gate: gate.clone(),
        activity: Arc::clone(activity),
        kept: Mutex::new(None),
        tunnel: Mutex::new(None),
    });
    let service = service_fn(|request| {
        let exchange = Arc::clone(&exchange);
        async move { Ok::<_, Infallible>(exchange.answer(request).await) }
    });
    let connection = Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(gate.limits().head)
        .max_buf_size(MAX_HEAD)
        .max_headers(MAX_FIELDS)
        .preserve_header_case(true)
        .auto_date_header(false)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    // hyper answers invalid requests where possible; nothing more to do.
    let served = connection.await;
    let tunnel = exchange.tunnel.lock().take();
    if let (Ok(()), Some(tunnel)) = (served, tunnel) {
        tunnel.run(activity).await;
    }
}

/// The sequential requests of one client connection.
struct Exchange {
    gate: ConnectionGate,
    activity: Arc<Activity>,
    /// The connection of the last request, kept for the next one to the same target.
    kept: Mutex<Option<Upstream>>,
    /// The tunnel that starts when HTTP ends on this connection.
    tunnel: Mutex<Option<Tunnel>>,
}

impl Exchange {
    async fn answer(&self, mut request: Request<Incoming>) -> Response<Answer> {
        let target = shown_target(request.uri());
        let (format, answered) = if request.method() == Method::CONNECT {
            (Format::Text, self.connect(&mut request).await)
        } else {
            (Format::wanted(request.headers()), self.forward(request).await)
        };
        answered.unwrap_or_else(|error| page::refusal(&error, &target, format).map(Either::Right))
    }

    async fn connect(
        &self,
        request: &mut Request<Incoming>,
    ) -> Result<Response<Answer>, EgressError> {
        let authority = request.uri().authority().map_or("", |authority| authority.as_str());
        let target = Target::parse(authority, None)?;
        let dialled = self.gate.open(&target, Scheme::Connect).await?;
        let upstream = Metered::new(dialled.stream, &self.activity);
        let client = hyper::upgrade::on(request);
        *self.tunnel.lock() = Some(Tunnel::Connect { client, upstream });
        Ok(Response::new(Either::Right(Full::default())))
    }

    async fn forward(
        &self,
        mut request: Request<Incoming>,
    ) -> Result<Response<Answer>, EgressError> {
        let mut upstream = match self.upstream(request.uri()).await {
            Ok(upstream) => upstream,
            Err(error) => {
                drain(request).await;
                return Err(error);
            }
        };
        let upgrades = headers::upgrade(request.headers()).is_some();
        let client = upgrades.then(|| hyper::upgrade::on(&mut request));
        let request = outgoing(request)?;
        let copy = if upstream.is_used() { copy_of(&request) } else { None };
        let response = match self.answer_of(&mut upstream, request).await {
            Ok(response) => response,
            // A server may close a kept connection at any time, even during a request.
            Err(Unanswered { error: EgressError::Broken(broken), unsent }) => {
                let again = unsent.or(copy).ok_or(EgressError::Broken(broken))?;
                upstream = self.fresh(upstream.target()).await?;
                self.answer_of(&mut upstream, again).await.map_err(|failed| failed.error)?
            }
            Err(failed) => return Err(failed.error),
        };
        self.pass_on(response, upstream, client)
    }

    /// The kept connection if it leads to the same target, or a new one.
    async fn upstream(&self, uri: &Uri) -> Result<Upstream, EgressError> {
        let target = forward_target(uri)?;
        let kept = self.kept.lock().take();
        if let Some(mut kept) = kept
            && kept.takes(&target).await
        {
            self.gate.reused(&target, Scheme::Http, kept.address());
            return Ok(kept);
        }
        self.fresh(&target).await
    }

    async fn fresh(&self, target: &Target) -> Result<Upstream, EgressError> {
        let dialled = self.gate.open(target, Scheme::Http).await?;
        Upstream::begin(dialled, target.clone(), &self.activity).await
    }

    async fn answer_of(
        &self,
        upstream: &mut Upstream,
        request: Request<Outgoing>,
    ) -> Result<Response<Incoming>, Unanswered> {
        let limit = self.gate.limits().answer;
        select! {
            answer = upstream.send(request) => answer.map_err(|mut failed| {
                let unsent = failed.take_message();
                Unanswered { error: EgressError::Broken(failed.into_error()), unsent }
            }),
            () = self.activity.quiet(limit) => {
                Err(Unanswered { error: EgressError::AnswerDeadline, unsent: None })
            }
        }
    }

    fn pass_on(
        &self,
        mut response: Response<Incoming>,
        upstream: Upstream,
        client: Option<OnUpgrade>,
    ) -> Result<Response<Answer>, EgressError> {
        let switches = if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            let client = client.ok_or(EgressError::Nonsense("101 without being asked"))?;
            let other = hyper::upgrade::on(&mut response);
            let tunnel = Tunnel::Upgrade { client, upstream: other, carrier: upstream };
            *self.tunnel.lock() = Some(tunnel);
            Switches::Protocol
        } else {
            // INVARIANT: the response body is read before the next request replaces this.
            *self.kept.lock() = Some(upstream);
            Switches::Nothing
        };
        headers::clean_response(response.headers_mut(), switches);
        *response.version_mut() = Version::HTTP_11;
        Ok(response.map(Either::Left))
    }
}

/// A request without an answer.
struct Unanswered {
    error: EgressError,
    /// The request, if nothing of it was sent.
    unsent: Option<Request<Outgoing>>,
}

/// The target as shown in a refusal: never with path or query.
fn shown_target(uri: &Uri) -> String {
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    authority.rsplit('@').next().unwrap_or_default().to_owned()
}

fn forward_target(uri: &Uri) -> Result<Target, EgressError> {
    let refuse = |reason| Err(host::bad(&shown_target(uri), reason));
    match uri.scheme() {
        Some(scheme) if *scheme == UriScheme::HTTP => Target::parse(&shown_target(uri), Some(80)),
        Some(scheme) if *scheme == UriScheme::HTTPS => refuse("use CONNECT for https"),
        Some(_) => refuse("only http is forwarded; use CONNECT for other protocols"),
        None => refuse("this is a proxy; send an absolute URL"),
    }
}

/// The request as sent to the server.
fn outgoing(request: Request<Incoming>) -> Result<Request<Outgoing>, EgressError> {
    let (mut head, body) = request.into_parts();
    let host = HeaderValue::from_str(&shown_target(&head.uri));
    headers::clean_request(&mut head.headers);
    head.headers.insert(HOST, host.map_err(|_| host::bad("", "the host is not text"))?);
    let path = head.uri.path_and_query().cloned();
    head.uri = path.unwrap_or_else(|| PathAndQuery::from_static("/")).into();
    head.version = Version::HTTP_11;
    Ok(Request::from_parts(head, Either::Left(body)))
}

/// Reads a refused body up to a limit, so that the client can read the refusal.
async fn drain(request: Request<Incoming>) {
    // Reading would make this client send its body.
    if request.headers().contains_key(EXPECT) {
        return;
    }
    let mut body = Limited::new(request.into_body(), MAX_DRAIN);
    let reading = async { while let Some(Ok(_)) = body.frame().await {} };
    let _ = timeout(DRAIN_DEADLINE, reading).await;
}
