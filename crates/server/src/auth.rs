//! Authentication and authorization: checks the token, cookie or ticket and the scope of every
//! operation.

use std::sync::Arc;

use axum::{
    extract::{Query, Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use helmdeck_sessions::{Caller, Scope};
use helmdeck_wire::{ErrorCode, history::ActorKind};
use http::{HeaderMap, Method, StatusCode, header, request::Parts};
use serde::Deserialize;

use crate::{
    Access, App,
    connection_limits::{Connection, Who},
    cookie,
    error::{ApiError, ApiResult},
    mcp, model_api, origin,
    own_api::OwnCall,
    serve::Peer,
    ticket,
    token::Claims,
    tool::lacks,
};

/// A header that only our own page can send. Pages of other sites cannot add it.
const CSRF: &str = "x-helmdeck-csrf";
/// Prefix of a ticket among WebSocket subprotocols, for clients that keep it out of URLs.
const TICKET_PROTOCOL: &str = "helmdeck.ticket.";

/// The requirements of one operation.
#[derive(Clone)]
pub struct RouteAccess {
    pub app: App,
    pub access: Access,
    /// Whether it is a health check, which is always answered.
    pub health: bool,
    /// Whether a refusal tells MCP clients where to read about authorization.
    pub mcp: bool,
    /// Whether SDKs of models may send the token in their own header.
    pub models: bool,
}

/// A ticket of a request. The handler checks it against the session in the path.
#[derive(Debug, Clone)]
pub struct PresentedTicket(pub String);

/// Refuses a request without a bearer token, such as the page's. `verb` says what needs the token.
pub fn require_bearer(parts: &Parts, verb: &str) -> ApiResult<()> {
    if parts.headers.contains_key(header::AUTHORIZATION) {
        return Ok(());
    }
    let message = format!("{verb} with a token: `Authorization: Bearer <token>`");
    Err(ApiError::new(ErrorCode::MissingBearer, message))
}

/// Admits a request to its handler, which finds the [`Caller`] in the extensions.
pub async fn admit(
    State(route): State<RouteAccess>,
    mut request: Request,
    next: Next,
) -> ApiResult<Response> {
    if route.models {
        model_api::accept_api_key(&mut request);
    }
    let connection = request.extensions().get::<Arc<Connection>>().cloned();
    let count = |who: Who<'_>| match &connection {
        Some(connection) => connection.serves(who),
        None => Ok(()),
    };
    let scope = match route.access {
        Access::Open => {
            count(if route.health { Who::Health } else { Who::Anonymous })?;
            None
        }
        Access::Needs(scope) => Some(Some(scope)),
        Access::AnyToken => Some(None),
        Access::Linked(_) if has_link(&request) => {
            count(Who::Anonymous)?;
            None
        }
        Access::Linked(scope) => Some(Some(scope)),
        Access::Watches => match presented_ticket(&request) {
            Some(ticket) => {
                origin::check_live(&route.app.origins, request.headers())?;
                let id = ticket::id_if_signed(&route.app.signer, &ticket);
                count(id.as_deref().map_or(Who::Anonymous, Who::Caller))?;
                request.extensions_mut().insert(PresentedTicket(ticket));
                None
            }
            None => Some(Some(Scope::SESSIONS_ACT)),
        },
    };
    if let Some(scope) = scope {
        let own = request.extensions_mut().remove::<OwnCall>();
        let identified = match own {
            Some(OwnCall(claims)) => Ok(claims),
            None => identify(&route.app, request.method(), request.headers()),
        };
        let claims = match identified {
            Ok(claims) => claims,
            Err(refused) if route.mcp => return Ok(challenged(&route.app, &request, refused)),
            Err(refused) => return Err(refused),
        };
        let address = request.extensions().get::<Peer>().map(|Peer(address)| *address);
        let caller = Caller { address, ..caller(&claims) };
        tracing::Span::current().record("caller", caller.subject.as_str());
        if let Some(scope) = scope.filter(|scope| !caller.may(*scope)) {
            return Err(lacks(scope));
        }
        count(Who::Caller(&caller.token))?;
        route.app.token_use.note(&caller.token);
        request.extensions_mut().insert(caller);
        request.extensions_mut().insert(claims);
    }
    Ok(next.run(request).await)
}

/// The refusal of an MCP client, with the address of the metadata that it looks for.
fn challenged(app: &App, request: &Request, refused: ApiError) -> Response {
    let mut response = refused.into_response();
    if response.status() == StatusCode::UNAUTHORIZED
        && let Some(challenge) = mcp::challenge(app, request.headers())
    {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

/// The claims of a request's token or cookie.
pub fn identify(app: &App, method: &Method, headers: &HeaderMap) -> ApiResult<Claims> {
    let authorization = headers.get(header::AUTHORIZATION).and_then(|v| v.to_str().ok());
    let (token, by_cookie) = match (authorization.and_then(bearer), cookie::read(app, headers)) {
        (Some(token), _) => (token, false),
        (None, Some(token)) => (token, true),
        (None, None) => {
            let message = "send a token as `Authorization: Bearer <token>`; log in at \
                           /api/v1/auth/login or create one with `helmdeck token`";
            return Err(ApiError::new(ErrorCode::MissingBearer, message));
        }
    };
    if by_cookie {
        // Browsers send the cookie with any request. The header proves that the page itself sent
        // it.
        origin::check(&app.origins, headers)?;
        if *method != Method::GET && *method != Method::HEAD && !headers.contains_key(CSRF) {
            let message = "a request with a cookie needs the header `X-Helmdeck-CSRF: 1`";
            return Err(ApiError::new(ErrorCode::Csrf, message));
        }
    }
    let invalid = |message: String| ApiError::new(ErrorCode::InvalidToken, message);
    let claims = app.signer.verify(token).map_err(|refused| invalid(refused.to_string()))?;
    if app.revoked.contains(&caller(&claims).token) {
        return Err(invalid("the token is revoked: log in again, or create a new one".to_owned()));
    }
    Ok(claims)
}

/// The caller with these claims.
pub fn caller(claims: &Claims) -> Caller {
    let token = match claims.jti.as_str() {
        // Tokens from other issuers may have no id.
        "" => format!("{}@{}", claims.sub, claims.iat),
        id => id.to_owned(),
    };
    // Only the signed claim counts: an agent can send its token as a cookie, too.
    let kind = if claims.human { ActorKind::Human } else { ActorKind::Agent };
    let (subject, scopes) = (claims.sub.clone(), claims.scopes.clone());
    Caller { subject, scopes, token, kind, label: claims.client.clone(), address: None }
}

/// Whether a request comes by a signed link.
fn has_link(request: &Request) -> bool {
    let query = request.uri().query().unwrap_or_default();
    query.split('&').any(|pair| pair.starts_with("signature="))
}

/// The ticket in the query or among the subprotocols.
fn presented_ticket(request: &Request) -> Option<String> {
    #[derive(Deserialize)]
    struct TicketQuery {
        ticket: Option<String>,
    }
    let query = Query::<TicketQuery>::try_from_uri(request.uri()).ok();
    query.and_then(|Query(query)| query.ticket).or_else(|| {
        let protocols = request.headers().get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
        let mut protocols = protocols.filter_map(|v| v.to_str().ok()).flat_map(|v| v.split(','));
        protocols.find_map(|p| p.trim().strip_prefix(TICKET_PROTOCOL)).map(str::to_owned)
    })
}

/// The token of an `Authorization` header. The scheme is case-insensitive.
fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bearer_scheme_is_case_insensitive() {
        assert_eq!(bearer("Bearer abc"), Some("abc"));
        assert_eq!(bearer("bearer  abc "), Some("abc"));
        for other in ["", "Bearer", "Bearer ", "Basic abc", "abc"] {
            assert_eq!(bearer(other), None, "{other:?}");
        }
    }

    #[test]
    fn a_ticket_is_found_in_the_query_and_among_the_subprotocols() {
        let request = |uri: &str, protocols: &str| {
            Request::builder()
                .uri(uri)
                .header(header::SEC_WEBSOCKET_PROTOCOL, protocols)
                .body(axum::body::Body::empty())
                .unwrap()
        };
        let found = |uri, protocols| presented_ticket(&request(uri, protocols));
        assert_eq!(found("/vnc?role=view&ticket=abc", "binary").as_deref(), Some("abc"));
        assert_eq!(found("/vnc", "binary, helmdeck.ticket.x.y").as_deref(), Some("x.y"));
        assert_eq!(found("/vnc?role=view", "binary"), None);
    }
}
