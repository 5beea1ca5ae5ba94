//! Login and logout for programs and the page.

use axum::{
    Extension, Json,
    extract::State,
    response::{AppendHeaders, IntoResponse},
};
use helmdeck_sessions::Caller;
use helmdeck_store::AuditEntry;
use helmdeck_wire::ErrorCode;
use http::{HeaderMap, StatusCode, header};
use schemars::JsonSchema;
use serde::Serialize;
use time::OffsetDateTime;

use crate::{
    App,
    body::Body,
    cookie,
    error::{ApiError, ApiResult},
    login::{Credentials, LoggedIn},
    origin,
    serve::Peer,
    token::Claims,
    tool::{Call, NoInput},
};

/// The current login.
#[derive(Serialize, JsonSchema)]
pub struct Me {
    /// The token's subject.
    pub subject: String,
    /// What the token allows.
    pub scopes: Vec<String>,
    /// When it expires.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub expires_at: OffsetDateTime,
}

impl From<Claims> for Me {
    fn from(claims: Claims) -> Self {
        let info = claims.info();
        Self { subject: info.subject, scopes: info.scopes, expires_at: info.expires_at }
    }
}

/// Returns a token for the admin's user name and password.
pub async fn login(
    State(app): State<App>,
    Extension(Peer(peer)): Extension<Peer>,
    Body(credentials): Body<Credentials>,
) -> ApiResult<Json<LoggedIn>> {
    Ok(Json(app.login.log_in(&app, credentials, peer).await?))
}

/// Login of the page, which gets a cookie that scripts cannot read. Pages of other sites cannot log
/// their visitors in here: their forms have another content type, and their scripts another origin.
pub async fn log_in_by_cookie(
    State(app): State<App>,
    Extension(Peer(peer)): Extension<Peer>,
    headers: HeaderMap,
    Body(credentials): Body<Credentials>,
) -> ApiResult<impl IntoResponse> {
    origin::check(&app.origins, &headers)?;
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    if !kind.trim().eq_ignore_ascii_case("application/json") {
        let message = "send the header `Content-Type: application/json`";
        return Err(ApiError::new(ErrorCode::InvalidInput, message));
    }
    let LoggedIn { token, .. } = app.login.log_in(&app, credentials, peer).await?;
    let me = Me::from(app.signer.verify(&token).map_err(ApiError::internal)?);
    let seconds = (me.expires_at - OffsetDateTime::now_utc()).whole_seconds();
    let set = AppendHeaders([(header::SET_COOKIE, cookie::set(&app, &token, seconds))]);
    Ok((set, Json(me)))
}

/// Deletes the cookie and revokes its token.
pub async fn log_out(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(claims): Extension<Claims>,
) -> ApiResult<impl IntoResponse> {
    app.revoked.add(&caller.token, claims.info().expires_at).await?;
    app.audit.record(AuditEntry::new("login.ended").actor(&caller).target(&caller.token));
    let gone = AppendHeaders([(header::SET_COOKIE, cookie::set(&app, "", 0))]);
    Ok((StatusCode::NO_CONTENT, gone))
}

/// Describes the caller.
pub async fn me(call: Call, _: NoInput) -> ApiResult<Me> {
    Ok(call.claims.into())
}
