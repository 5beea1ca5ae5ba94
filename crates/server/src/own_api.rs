//! The API as packs call it: in process, as the caller of their job.

use axum::{Router, body::Body};
use helmdeck_egress::{Host, Target};
use helmdeck_packs::{HttpRequest, HttpResponse, OwnApi, OwnReply, PackError, PackResult};
use helmdeck_sessions::Caller;
use helmdeck_wire::ErrorCode;
use http::{Request, header};
use http_body_util::{BodyExt, Limited};
use tokio::time::timeout;
use tower::ServiceExt;

use crate::{App, token::Claims};

/// The address in the documentation, on whatever port the server listens.
const DOCUMENTED: &str = "localhost:3000";
/// Logging out needs the token itself.
const LOGIN_PATHS: &str = "/api/v1/auth/";

/// Marks a request of a job, whose caller was identified when the job began. It cannot come from a
/// connection.
#[derive(Debug, Clone)]
pub struct OwnCall(pub Claims);

/// The routes of this server.
pub struct OwnRoutes {
    app: App,
    routes: Router,
}

impl OwnRoutes {
    /// The API with these routes.
    pub fn new(app: App, routes: Router) -> Self {
        Self { app, routes }
    }

    async fn answer(&self, caller: Caller, request: HttpRequest) -> PackResult<HttpResponse> {
        let path = path(&request.url);
        if path.starts_with(LOGIN_PATHS) {
            let message = format!("{LOGIN_PATHS} cannot be called by a pack");
            return Err(PackError::invalid("url", message));
        }
        if self.app.revoked.contains(&caller.token) {
            let message = "the token of the caller is revoked";
            return Err(PackError::new(ErrorCode::CredentialInvalid, message));
        }
        let bad = |_| PackError::invalid("url", format!("{path:?} is not a valid path"));
        let mut message =
            Request::builder().uri(path.as_str()).body(Body::from(request.body)).map_err(bad)?;
        *message.method_mut() = request.method;
        *message.headers_mut() = request.headers;
        // The caller is known; a cookie or an origin would ask for more checks.
        for name in [header::AUTHORIZATION, header::COOKIE, header::ORIGIN] {
            message.headers_mut().remove(name);
        }
        message.extensions_mut().insert(OwnCall(Claims::for_one_call(&caller)));
        let Ok(response) = self.routes.clone().oneshot(message).await;
        let (head, body) = response.into_parts();
        let collected = Limited::new(body, request.max_bytes).collect().await;
        let body = collected.map_err(|_| {
            let message = format!("the reply is larger than {} bytes", request.max_bytes);
            PackError::failed(message)
        })?;
        Ok(HttpResponse {
            status: head.status,
            headers: head.headers,
            body: body.to_bytes(),
            truncated: false,
            url: request.url,
        })
    }
}

impl OwnApi for OwnRoutes {
    fn serves(&self, url: &str) -> bool {
        let Ok(target) = Target::from_url(url) else { return false };
        if target.to_string() == DOCUMENTED {
            return true;
        }
        let own = self.app.addr;
        let is_here = match &target.host {
            Host::Name(name) => name == "localhost",
            Host::Address(address) => address.is_loopback() || *address == own.ip(),
        };
        let public = self.app.public_base.as_ref();
        let public = public.and_then(|base| Target::from_url(&base.to_string()).ok());
        (is_here && target.port == own.port()) || public.is_some_and(|public| public == target)
    }

    fn call(&self, caller: Caller, request: HttpRequest) -> OwnReply<'_> {
        let limit = request.timeout;
        Box::pin(async move {
            timeout(limit, self.answer(caller, request)).await.unwrap_or_else(|_| {
                let message = format!("no complete answer within {} s", limit.as_secs());
                Err(PackError::new(ErrorCode::Timeout, message))
            })
        })
    }
}

/// Path and query of an address.
fn path(url: &str) -> String {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let rest = rest.split('#').next().unwrap_or_default();
    match rest.find(['/', '?']) {
        Some(at) => {
            let path = rest.get(at..).unwrap_or_default();
            if path.starts_with('/') { path.to_owned() } else { format!("/{path}") }
        }
        None => "/".to_owned(),
    }
}
