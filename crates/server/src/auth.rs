//! Who is calling, and may they: the token and the scope of every operation, checked in one place.

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use helmdeck_sessions::Caller;
use helmdeck_wire::ErrorCode;
use http::{HeaderMap, header};

use crate::{
    Access, App,
    error::{ApiError, ApiResult},
    token::Signer,
};

/// What stands before one operation.
#[derive(Clone)]
pub struct Gate {
    pub app: App,
    pub access: Access,
}

/// Lets a request through to its handler, which finds the [`Caller`] in the extensions.
pub async fn admit(
    State(gate): State<Gate>,
    mut request: Request,
    next: Next,
) -> ApiResult<Response> {
    if let Access::Needs(scope) = gate.access {
        let caller = caller(&gate.app.signer, request.headers())?;
        tracing::Span::current().record("caller", caller.subject.as_str());
        if !caller.may(scope) {
            let scope = scope.as_str();
            let message = format!("this token lacks the scope {scope}: make one that has it");
            return Err(ApiError::new(ErrorCode::Forbidden, message));
        }
        request.extensions_mut().insert(caller);
    }
    Ok(next.run(request).await)
}

fn caller(signer: &Signer, headers: &HeaderMap) -> ApiResult<Caller> {
    let token = headers.get(header::AUTHORIZATION).and_then(|v| v.to_str().ok()).and_then(bearer);
    let token = token.ok_or_else(|| {
        let message = "send a token as `Authorization: Bearer <token>`; log in at \
                       /api/v1/auth/login or make one with `helmdeck token`";
        ApiError::new(ErrorCode::MissingBearer, message)
    })?;
    let claims = signer
        .verify(token)
        .map_err(|refused| ApiError::new(ErrorCode::InvalidToken, refused.to_string()))?;
    Ok(Caller { subject: claims.sub, scopes: claims.scopes })
}

/// The token of an `Authorization` header; the scheme's case does not matter.
fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bearer_token_is_read_whatever_the_case_of_the_scheme() {
        assert_eq!(bearer("Bearer abc"), Some("abc"));
        assert_eq!(bearer("bearer  abc "), Some("abc"));
        for other in ["", "Bearer", "Bearer ", "Basic abc", "abc"] {
            assert_eq!(bearer(other), None, "{other:?}");
        }
    }
}
